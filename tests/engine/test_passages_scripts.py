"""Passages and excerpts of every script end at its sentences; English ones are cut as they always were."""

import hashlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine import passages
from longsearch.engine.passages import RULES, cut_excerpts, cut_passages
from longsearch.engine.types.documents import Passage

_TEXTS = {
    "Chinese": "反应堆在第二台泵失效后失去了冷却剂，后面的阀门一直开着。操作员看了稳压器的水位，错误地认为容器是满的。"
    "衰变热仍为满功率的百分之六！这足以在一小时内烧开一个游泳池吗？",
    "Japanese": "二台目のポンプが故障し、後ろの弁が開いたままだったため"
    "、原子炉は冷却材を失った。運転員は加圧器の水位を読み、"
    "容器が満水だと誤って判断した。崩壊熱は全出力の六パーセントで続いていた。",
    "Hindi": "दूसरा पंप बंद होने पर रिएक्टर ने अपना शीतलक खो दिया। संचालकों ने स्तर पढ़ा और गलत निष्कर्ष निकाला। "
    "क्षय ऊष्मा पूरी शक्ति के छह प्रतिशत पर चलती रही।",
    "Arabic": "فقد المفاعل سائل التبريد عندما تعطلت المضخة الثانية وبقي الصمام مفتوحا. هل قرأ المشغلون المستوى؟ "
    "استمرت حرارة الاضمحلال عند ستة في المئة من الطاقة الكاملة.",
    "Urdu": "دوسرا پمپ خراب ہونے پر ری ایکٹر نے اپنا کولنٹ کھو دیا۔ آپریٹروں نے سطح پڑھی اور غلط نتیجہ نکالا۔ "
    "حرارت پوری طاقت کے چھ فیصد پر جاری رہی۔",
    "Burmese": "ဒုတိယပန့်ပျက်သောအခါ ဓာတ်ပေါင်းဖိုသည် အအေးပေးရည်ဆုံးရှုံးခဲ့သည်။ အော်ပရေတာများသည် ရေမှတ်ကိုဖတ်ခဲ့ကြသည်။ အပူသည် ဆက်လက်ရှိနေခဲ့သည်။",
    "Khmer": "រ៉េអាក់ទ័របានបាត់បង់សារធាតុត្រជាក់នៅពេលស្នប់ទីពីរខូច។ ប្រតិបត្តិករបានអានកម្រិតទឹក។ កំដៅនៅតែបន្តនៅប្រាំមួយភាគរយនៃថាមពលពេញ។",
    "Thai": "เครื่องปฏิกรณ์สูญเสียสารหล่อเย็นเมื่อปั๊มตัวที่สองขัดข้อง และวาล์วด้านหลังยังเปิดอยู่ "
    "ผู้ปฏิบัติงานอ่านระดับน้ำ "
    "และสรุปผิดว่าถังเต็ม ความร้อนยังคงอยู่ที่ร้อยละหกของกำลังเต็มที่ ",
    "Russian": "Реактор потерял теплоноситель, когда отказал второй насос. Операторы прочли уровень и решили, т. е. "
    "ошиблись, что корпус полон. Остаточное тепло составляло шесть процентов.",
    "Armenian": "Ռեակտորը կորցրեց հովացուցիչը, երբ երկրորդ պոմպը խափանվեց։ Օպերատորները կարդացին "
    "մակարդակը։ Ջերմությունը "
    "շարունակվում էր վեց տոկոսի վրա։",
    "Korean": "두 번째 펌프가 고장 나자 원자로는 냉각재를 잃었다. 운"
    "전원들은 수위를 읽고 용기가 가득 찼다고 잘못 판단했다. "
    "붕괴열은 전체 출력의 육 퍼센트로 계속되었다.",
}
_ENDS = "。！？।؟۔။។։."


def tokens(text: str) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Offsets of pieces of at most three characters, about what a multilingual vocabulary makes of any script."""
    return np.array([match.start() for match in re.finditer(r"\S{1,3}", text)], np.int64)


def spans(text: str, found: list[Passage]) -> list[str]:
    return [text[passage.start : passage.stop] for passage in found]


@pytest.mark.parametrize("script", sorted(_TEXTS))
def test_a_page_of_any_script_gives_passages_of_the_usual_length(script: str) -> None:
    text = (_TEXTS[script].strip() + " ") * 20
    found = cut_passages(text, tokens(text))
    assert len(found) >= 3
    assert all(100 <= passage.n_tokens <= 160 for passage in found[:-1])
    if script != "Thai":  # no full stop
        assert all(span[-1] in _ENDS for span in spans(text, found))
    else:
        assert all(text[passage.stop] == " " for passage in found[:-1])


@pytest.mark.parametrize("script", sorted(_TEXTS))
def test_a_passage_of_any_script_gives_excerpts_of_a_sentence_or_two(script: str) -> None:
    text = _TEXTS[script].strip() + " " + _TEXTS[script].strip()
    found = cut_excerpts(text)
    assert 2 <= len(found) <= 12
    n_whole = sum(text[stop - 1] in _ENDS for _, stop in found)
    assert n_whole >= len(found) / 2 or script == "Thai"
    assert "".join(text[start:stop] for start, stop in found).replace(" ", "") == text.replace(" ", "")


def test_a_small_letter_after_a_russian_abbreviation_begins_no_sentence() -> None:
    text = _TEXTS["Russian"]
    assert not any(text[stop - 5 : stop].endswith("т. е.") for _, stop in cut_excerpts(text))


LATIN = st.characters(max_codepoint=0x3FF) | st.sampled_from("“”’…–—•∑→≤\u0301")


@given(st.text(alphabet=LATIN, max_size=300), st.sampled_from(["", "漢字", "हिन्दी", "т. е. так", "؟", "။", "ไทย"]))
def test_latin_text_is_cut_as_in_released_versions_even_around_a_foreign_name(latin: str, name: str) -> None:
    text = latin + " " * max(0, 4 * len(name) - len(latin)) + name + latin
    assert not passages._is_in_other_script(text)
    assert passages._ENDS[:2] == (passages._PARAGRAPH_END, passages._SENTENCE_END)


def test_the_expressions_of_released_versions_are_unchanged() -> None:
    """Every index of today was made with them: another expression would need another name of the rules."""
    frozen = hashlib.sha256()
    for pattern in (*passages._ENDS, passages._WORD_OR_MARK):
        frozen.update(pattern.pattern.encode())
    assert frozen.hexdigest() == "094bf3d3b0eb029705594d1b8ffacdbc7ea22322615c3a44292c01d7cac25600"


def test_the_rules_have_their_old_name_so_no_index_is_made_anew() -> None:
    assert RULES == "100-160-40-v3, 13-26-7"
