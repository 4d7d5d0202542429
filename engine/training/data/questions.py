"""Makes questions of sentences, for languages in which few questions of people may be used.

A few words of a sentence take the place of `{}` in a question of their language, such as "Kiedy {}?". The result is
seldom a good sentence, but a student that reads it beside its teacher learns how questions begin and end, and what
words mean in them. Lewis et al., "Unsupervised Question Answering by Cloze Translation", arXiv 1906.04980, trained
readers on such questions ("noisy cloze").
"""

import re

from longsearch.engine.languages.scripts import SIGNS

_LEAST_WORDS, _MOST_WORDS = 2, 10
# vowel signs and points are no \w
_PUNCTUATION = re.compile(rf"[^\w\s{SIGNS}\u200c\u200d'’/-]|\s[-'’/]+\s")

_QUESTIONS = {
    "ar": """
    ما هو {}؟ | ما هي {}؟ | من هو {}؟ | متى {}؟ | أين {}؟ | كيف {}؟ | لماذا {}؟ | كم عدد {}؟ | في أي عام {}؟ |
    من الذي {}؟ | ما اسم {}؟ | هل {}؟
    """,
    "bn": """
    {} কী? | {} কে? | {} কোথায় অবস্থিত? | {} কবে হয়েছিল? | {} কেন? | {} কীভাবে? | কোন সালে {}? | কে {}? | {} কত? |
    {} এর নাম কী?
    """,
    "cs": """
    Co je {}? | Kdo {}? | Kdy {}? | Kde {}? | Proč {}? | Jak {}? | Kolik {}? | Ve kterém roce {}? |
    Jak se jmenuje {}? | Který {}? | Čím {}? | Odkud {}?
    """,
    "de": """
    Was ist {}? | Wer {}? | Wann {}? | Wo {}? | Warum {}? | Wie {}? | Wie viele {}? | In welchem Jahr {}? |
    Wie heißt {}? | Welche {}? | Wodurch {}? | Woher {}? | Seit wann {}?
    """,
    "el": """
    Τι είναι {}; | Ποιος {}; | Πότε {}; | Πού {}; | Γιατί {}; | Πώς {}; | Πόσα {}; | Ποια χρονιά {}; |
    Πώς λέγεται {}; | Ποια {}; | Από πού {};
    """,
    "es": """
    ¿Qué es {}? | ¿Quién {}? | ¿Cuándo {}? | ¿Dónde {}? | ¿Por qué {}? | ¿Cómo {}? | ¿Cuántos {}? | ¿En qué año {}? |
    ¿Cómo se llama {}? | ¿Cuál es {}? | ¿Qué {}? | ¿De qué {}? | ¿A qué {}? | ¿Cuánto {}?
    """,
    "fr": """
    Qu'est-ce que {} ? | Qui {} ? | Quand {} ? | Où {} ? | Pourquoi {} ? | Comment {} ? | Combien de {} ? |
    En quelle année {} ? | Comment s'appelle {} ? | Quel est {} ? | Quelle est {} ? | Que {} ? | De quoi {} ? |
    À quelle date {} ? | Qui est {} ?
    """,
    "he": """
    מה זה {}? | מי {}? | מתי {}? | איפה {}? | למה {}? | איך {}? | כמה {}? | באיזו שנה {}? | מה שמו של {}? | איזה {}? |
    מדוע {}?
    """,
    "hi": """
    {} क्या है? | {} कौन है? | {} कहाँ है? | {} कब हुआ? | {} क्यों? | {} कैसे? | किस वर्ष {}? | किसने {}? |
    {} कितने हैं? | {} का नाम क्या है?
    """,
    "it": """
    Che cos'è {}? | Chi {}? | Quando {}? | Dove {}? | Perché {}? | Come {}? | Quanti {}? | In che anno {}? |
    Come si chiama {}? | Qual è {}? | Quale {}? | Cosa {}? | Di cosa {}? | A chi {}? | Quanto {}? | Da chi {}?
    """,
    "nl": """
    Wat is {}? | Wie {}? | Wanneer {}? | Waar {}? | Waarom {}? | Hoe {}? | Hoeveel {}? | In welk jaar {}? |
    Hoe heet {}? | Welke {}?
    """,
    "pl": """
    Co to jest {}? | Kto {}? | Kiedy {}? | Gdzie {}? | Dlaczego {}? | Jak {}? | Ile {}? | W którym roku {}? |
    Jak nazywa się {}? | Który {}? | Jaki {}? | Jaka jest {}? | Czym {}? | Co {}? | Kim był {}? | Z czego {}? |
    Czyj {}? | Skąd {}? | Do czego {}?
    """,
    "pt": """
    O que é {}? | Quem {}? | Quando {}? | Onde {}? | Por que {}? | Como {}? | Quantos {}? | Em que ano {}? |
    Como se chama {}? | Qual é {}? | Quais {}? | O que {}? | De que {}? | Quanto {}?
    """,
    "ru": """
    Что такое {}? | Кто {}? | Когда {}? | Где {}? | Почему {}? | Как {}? | Сколько {}? | В каком году {}? |
    Как называется {}? | Какой {}? | Какая {}? | Чем {}? | Что {}? | Кем был {}? | Откуда {}? | Кто такой {}? |
    Из чего {}? | Где находится {}?
    """,
    "sv": """
    Vad är {}? | Vem {}? | När {}? | Var {}? | Varför {}? | Hur {}? | Hur många {}? | Vilket år {}? | Vad heter {}? |
    Vilken {}?
    """,
    "tr": """
    {} nedir? | {} kimdir? | {} nerededir? | {} ne zaman oldu? | {} hangi yılda oldu? | {} neden? | {} nasıl? |
    {} kaç tanedir? | {} kim tarafından yapılmıştır? | {} adı nedir? | Kim {}? | Hangi {}? | {} nerede bulunur? |
    {} hangisidir? | Ne zaman {}?
    """,
    "uk": """
    Що таке {}? | Хто {}? | Коли {}? | Де {}? | Чому {}? | Як {}? | Скільки {}? | У якому році {}? |
    Як називається {}? | Який {}? | Чим {}? | Звідки {}?
    """,
    "vi": """
    {} là gì? | {} là ai? | {} ở đâu? | {} khi nào? | Tại sao {}? | Làm thế nào {}? | {} bao nhiêu? | {} năm nào? |
    Ai {}? | Tên của {} là gì? | {} như thế nào? | Khi nào {}? | {} được gọi là gì? | Vì sao {}? | {} thuộc nước nào?
    """,
}
QUESTIONS = {language: [question.strip() for question in listed.split("|")] for language, listed in _QUESTIONS.items()}
"""Questions by language."""


def question_of(sentence: str, language: str, drawn: int) -> str:
    """Make a question of a few words of `sentence`, chosen by the number `drawn`; "" if the language has none."""
    questions = QUESTIONS.get(language)
    if not questions:
        return ""
    words = _PUNCTUATION.sub(" ", sentence).split()
    if not words:
        return ""
    drawn, which = divmod(drawn, len(questions))
    drawn, more = divmod(drawn, _MOST_WORDS - _LEAST_WORDS + 1)
    length = _LEAST_WORDS + more
    start = drawn % max(1, len(words) - length + 1)
    return questions[which].format(" ".join(words[start : start + length]))
