"""Turns American spellings of English words into British ones, and the reverse. Pure.

Rules give it, not a dictionary: "metric" has none, "letter" gets "lettre", which no English text holds. A pair that
would mix two words, such as "for" and "four", has too few letters for its rule.
"""

import re
from functools import lru_cache

_ENDINGS = (
    # (letters before, British, American, what may follow)
    ("(?!scou?r)[a-z]{2,}", "our", "or", "|s|ed|ing|able|ably|ful|fully|less|ite|ites|al|ally|ist|ists|er|ers|y"),
    ("[a-z]{3,}", "is", "iz", "e|es|ed|ing|er|ers|able|ation|ations|ational"),
    ("[a-z]{3,}", "ys", "yz", "e|es|ed|ing|er|ers"),
    ("[a-z]{2,}[bt]", "re", "er", "|s"),
    ("[a-z]{3,}en", "c", "s", "e|es|ed|ing"),
    ("[a-z]{3,}", "ogue", "og", "|s"),
)
_BEGINNINGS = (
    ("aesth", "esth"), ("anaem", "anem"), ("anaesth", "anesth"), ("archaeo", "archeo"), ("diarrhoe", "diarrhe"),
    ("encyclopaed", "encycloped"), ("faec", "fec"), ("foet", "fet"), ("gynaec", "gynec"), ("haem", "hem"),
    ("leukaem", "leukem"), ("manoeuv", "maneuv"), ("oesoph", "esoph"), ("oestr", "estr"), ("orthopaed", "orthoped"),
    ("paed", "ped"), ("aluminium", "aluminum"), ("artefact", "artifact"), ("fulfilm", "fulfillm"), ("grey", "gray"),
    ("instalm", "installm"), ("jewellery", "jewelry"), ("judgem", "judgm"), ("mould", "mold"), ("plough", "plow"),
    ("practis", "practic"), ("programme", "program"), ("sceptic", "skeptic"), ("skilful", "skillful"),
    ("sulph", "sulf"), ("tyre", "tire"),
)  # fmt: skip
_ENDING_RULES = [
    (re.compile(rf"({before}){one}({after})"), rf"\g<1>{other}\g<2>")
    for before, british, american, after in _ENDINGS
    for one, other in ((british, american), (american, british))
]


@lru_cache(1024)
def other_spelling(word: str) -> str:
    """Return the word as the other side of the Atlantic spells it, in small letters; "" if no rule knows."""
    small = word.lower()
    for pattern, replacement in _ENDING_RULES:
        if match := pattern.fullmatch(small):
            return match.expand(replacement)
    if not (small.isascii() and small.isalpha()):
        return ""
    for pair in _BEGINNINGS:
        for this, other in (pair, pair[::-1]):
            if small.startswith(this):
                return other + small.removeprefix(this)
    return ""
