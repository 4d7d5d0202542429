"""Says when a folder holds many documents that its model does not read, and what to do about it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from longsearch.engine.languages.names import name_of
from longsearch.engine.languages.stop_words import STOP_WORDS, language_of_question

_LEAST_SHARE = 0.2
_SHOWN = 3


def describe_languages(counts: Mapping[str, int], model: str, folder: str, has_multilingual: bool) -> str:
    """Return a sentence if a fifth or more of the documents are not in English and `model` is the one for English.

    `counts`: the number of documents in each language (see `store.languages.counts`). `has_multilingual`: whether this
    longsearch came with the model for other languages.
    """
    others = {code: n for code, n in counts.items() if code not in ("", "en")}
    n_all = sum(counts.values())
    if model != "bundled" or not others or sum(others.values()) < _LEAST_SHARE * n_all:
        return ""
    most = sorted(others.items(), key=lambda entry: -entry[1])[:_SHOWN]
    listed = ", ".join(f"{name_of(code)} {n / n_all:.0%}" for code, n in most)
    found = f"{sum(others.values()) / n_all:.0%} of the documents are not in English ({listed})"
    if has_multilingual:
        return f"{found}; the model multilingual reads their meaning: longsearch index --model multilingual {folder}"
    return f"{found}; they are found by words, but the model for English does not read their meaning"


def advice_about(root: Path, counts: Mapping[str, int]) -> str:
    """Return that sentence for a folder that is indexed; "" if its model reads its documents."""
    from longsearch.app.models.folder_models import folder_model
    from longsearch.app.paths import in_shell

    folder = folder_model(root)
    return describe_languages(counts, folder.next_model or folder.model, in_shell(root), has_multilingual())


def note_about_question(query: str, roots: Sequence[Path]) -> str:
    """Return a note if the question is in a language that the model of none of these folders reads; else ""."""
    from longsearch.app.models.folder_models import folder_model

    code = language_of_question(query, STOP_WORDS)
    if not code or any(folder_model(root).model != "bundled" for root in roots):
        return ""
    return f"a question in {name_of(code)}: the model for English reads little of its meaning, its words are looked up"


def has_multilingual() -> bool:
    """Whether the model for other languages is here."""
    from longsearch.engine.models.hub import shipped_model

    return (shipped_model("multilingual") / "config.json").exists()
