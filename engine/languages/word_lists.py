"""Whether a word is one of its language, by the lists of pyspellchecker: Arabic, Basque, Dutch, English and seven more.

A word that documents lack may be right all the same: *dividend* is no typing error of *divided*.
"""

import gzip
import json
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_BEGINNINGS = ("anti", "inter", "multi", "non", "over", "un", "under")
_LEAST_REST = 5  # letters: "untill" is no "till" with a beginning
_CONTRACTED = frozenset(
    [
        "aint",
        "arent",
        "cant",
        "couldnt",
        "didnt",
        "doesnt",
        "dont",
        "hadnt",
        "hasnt",
        "havent",
        "isnt",
        "mustnt",
        "shouldnt",
        "wasnt",
        "werent",
        "wont",
        "wouldnt",
        "hes",
        "heres",
        "lets",
        "shes",
        "thats",
        "theres",
        "theyre",
        "theyve",
        "weve",
        "whats",
        "youre",
        "youve",
    ]
)


def is_listed(word: str, languages: Iterable[str]) -> bool:
    """Whether the word stands in the list of one of these languages, or is an English one with a common beginning."""
    small = word.casefold()
    if any(_holds(code, small) for code in languages):
        return True
    rests = (small.removeprefix(one) for one in _BEGINNINGS if small.startswith(one))
    return small in _CONTRACTED or any(len(rest) >= _LEAST_REST and _holds("en", rest) for rest in rests)


def _holds(language: str, word: str) -> bool:
    """Whether a list holds the word: looked for in its JSON, because to parse all of it takes 0.2 to 0.5 s."""
    return f"\n{json.dumps(word, ensure_ascii=False)}:".encode() in _list(language)


@lru_cache(maxsize=2)
def _list(language: str) -> bytes:
    """The list of a language, a word and its frequency on each line; b"" without one."""
    package = find_spec("spellchecker")  # not imported: it loads what nobody needs
    places = list(package.submodule_search_locations or ()) if package else []
    file = Path(places[0]) / "resources" / f"{language}.json.gz" if places else None
    return gzip.decompress(file.read_bytes()) if file is not None and file.is_file() else b""
