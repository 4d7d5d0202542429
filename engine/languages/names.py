"""Names of languages, for people."""

import unicodedata

from longsearch.engine.languages.codes import language_code

_NAMES = """
af Afrikaans|am Amharic|ar Arabic|az Azerbaijani|be Belarusian|bg Bulgarian|bn Bengali|bs Bosnian|ca Catalan|cs Czech|
cy Welsh|da Danish|de German|el Greek|en English|eo Esperanto|es Spanish|et Estonian|eu Basque|fa Persian|fi Finnish|
fr French|ga Irish|gl Galician|gu Gujarati|he Hebrew|hi Hindi|hr Croatian|hu Hungarian|hy Armenian|id Indonesian|
is Icelandic|it Italian|ja Japanese|ka Georgian|kk Kazakh|km Khmer|kn Kannada|ko Korean|ku Kurdish|ky Kyrgyz|la Latin|
lb Luxembourgish|lo Lao|lt Lithuanian|lv Latvian|mk Macedonian|ml Malayalam|mn Mongolian|mr Marathi|ms Malay|mt Maltese|
my Burmese|ne Nepali|nl Dutch|no Norwegian|oc Occitan|or Odia|pa Punjabi|pl Polish|ps Pashto|pt Portuguese|ro Romanian|
ru Russian|sa Sanskrit|sd Sindhi|si Sinhala|sk Slovak|sl Slovenian|so Somali|sq Albanian|sr Serbian|sv Swedish|
sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|tk Turkmen|tl Tagalog|tr Turkish|tt Tatar|ug Uyghur|uk Ukrainian|ur Urdu|
uz Uzbek|vi Vietnamese|yi Yiddish|yo Yoruba|zh Chinese|zu Zulu
"""
_NAME_OF = dict(entry.split(" ", 1) for entry in _NAMES.replace("\n", "").split("|"))
_CODE_OF = {name.casefold(): code for code, name in _NAME_OF.items()}


def name_of(code: str) -> str:
    """Return the English name of a language; the code itself if the name is not known, "unknown" for ""."""
    return _NAME_OF.get(code, code) or "unknown"


def code_of(typed: str) -> str:
    """Return the code of a language typed as its code or its name, in any case: "de" for "German", "deutsch", "ger"."""
    clean = unicodedata.normalize("NFC", typed).strip().casefold()
    return _CODE_OF.get(clean) or language_code(clean) or clean
