"""`longsearch verify`: whether the quotations of a draft stand in the documents, word by word, and where."""

import json
import sys
import textwrap
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from longsearch.app.commands.where import said, title_and_place
from longsearch.app.options import FOLDER, JSON, flag, option
from longsearch.engine.amounts import counted, so_far
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.app.evidence.claims import Support
    from longsearch.app.evidence.verifying import Verdict
    from longsearch.app.search.scope import Scope
    from longsearch.engine.citing.drafts import Quoted

T = TypeVar("T")
HELP = "check the quotations of a draft against your documents"
_LEVELS = {"good": "likely", "weak": "unsure", "chance": "unlikely"}
_CLEAR = "\r\x1b[K"
_SIGNS = {"verbatim": "✓", "changed": "≠", "elsewhere": "→", "nowhere": "✗"}
OPTIONS = (
    option("draft", "what you write: Markdown, LaTeX, Word, OpenDocument, HTML, plain text and more"),
    *FOLDER,
    flag("--all", "print the quotations that are verbatim too"),
    flag(
        "--claims", "show of each sentence that cites a source what that source says nearest to it; it judges no truth"
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Print what is wrong with the quotations, each as it is judged. Returns 0 if all of them are verbatim, else 1.

    Ctrl+C keeps what was judged.
    """
    from longsearch.app.evidence.verifying import Status, text_of, verify
    from longsearch.app.paths import expanded
    from longsearch.app.search.python_door import query_vector
    from longsearch.app.search.scope import Scope
    from longsearch.engine.citing.drafts import quotations_in

    file = expanded(options.draft).resolve()
    text, suffix = text_of(file)
    scope = Scope.chosen(options.folder, options.everywhere)
    if options.claims:
        return _show_claims(options, scope, text, suffix, file)
    draft = quotations_in(text, suffix)
    n_judged = sum(bool(one.pieces) for one in draft)
    n_short = len(draft) - n_judged
    verdicts: list[Verdict] = []
    try:
        for verdict in _with_progress(verify(scope, draft, query_vector, file), n_judged, "quotations"):
            verdicts.append(verdict)
            if not options.json and (options.all or verdict.status is not Status.VERBATIM or verdict.note):
                print(*_lines(verdict), "", sep="\n", flush=True)
    finally:
        counts, n_left = Counter(verdict.status.value for verdict in verdicts), n_judged - len(verdicts)
        if options.json:
            print(json.dumps(_to_json(options.draft, verdicts, counts, n_short, n_left), indent=2))
        elif verdicts or not n_judged:  # an error before the first verdict is all that there is to say
            print(_summary(counts, n_judged, n_short, n_left))
    return 0 if counts[Status.VERBATIM] == n_judged else 1


def _show_claims(options: Namespace, scope: "Scope", text: str, suffix: str, file: Path) -> int:
    """Print what the cited sources say nearest to each claim. Returns 1 if a citation leads to no document, else 0."""
    from longsearch.app.evidence.claims import supports
    from longsearch.app.search.python_door import query_vector
    from longsearch.engine.citing.drafts import claims_in

    claims = claims_in(text, suffix)
    found: list[Support] = []
    try:
        for support in _with_progress(supports(scope, claims, query_vector, file), len(claims), "claims"):
            found.append(support)
            if not options.json:
                print(*_claim_lines(support), "", sep="\n", flush=True)
    finally:
        n_missing, n_left = sum(bool(one.note) for one in found), len(claims) - len(found)
        if options.json:
            about = {"draft": options.draft, "not_looked_up": n_left}
            print(json.dumps({**about, "claims": list(map(_claim_row, found))}, indent=2))
        elif found or not claims:
            missing = f"; {n_missing} cite what is not here" if n_missing else ""
            print(f"{counted(len(found), 'claim')}{missing}{_left(n_left)}")
    return 1 if n_missing else 0


def _claim_lines(support: "Support") -> list[str]:
    claim, place = support.claim, support.place
    lines = textwrap.wrap(f"line {claim.line}  {printable(claim.text)}", 80, subsequent_indent="    ")
    if place:
        level = f"  ({_LEVELS[support.level.value]})" if support.level else ""
        lines += [*_wrapped(f"{title_and_place(place)}{level}"), *said(place)]
    return [*lines, *(_wrapped(f"({printable(support.note)})") if support.note else [])]


def _claim_row(support: "Support") -> dict[str, Any]:
    claim, place = support.claim, support.place
    return {
        "claim": claim.text,
        "line": claim.line,
        "cited": [one.text for one in claim.cited],
        "document": place.path if place else None,
        "title": place.title if place else None,
        "page": place.page if place else None,
        "text": place.text if place else None,
        "level": support.level.value if support.level else None,
        "note": support.note or None,
    }


def _with_progress(verdicts: Iterable[T], n: int, what: str) -> Iterator[T]:
    """Pass the verdicts on, and say on a terminal how many there are, below what is printed of them."""
    is_shown, began = sys.stderr.isatty() and n > 20, time.monotonic()
    try:
        for number, verdict in enumerate(verdicts, start=1):
            if is_shown:
                print(end=_CLEAR, file=sys.stderr, flush=True)
            yield verdict
            if is_shown:
                print(so_far(number, n, what, time.monotonic() - began), end="", file=sys.stderr, flush=True)
    finally:
        if is_shown:
            print(end=_CLEAR, file=sys.stderr, flush=True)


def _summary(counts: "Counter[str]", n_judged: int, n_short: int, n_left: int) -> str:
    if not n_judged and not n_short:
        return "the draft quotes nothing"
    found = ", ".join(f"{counts[status]} {status}" for status in _SIGNS if counts[status]) or "none to judge"
    short = f"; {n_short} of fewer than five words not judged" if n_short else ""
    return f"{counted(n_judged, 'quotation')}: {found}{short}{_left(n_left)}"


def _left(n: int) -> str:
    return f"; {n:,} not looked up" if n else ""


def _lines(verdict: "Verdict") -> list[str]:
    quoted, place = verdict.quoted, verdict.place
    lines = textwrap.wrap(
        f"{_SIGNS[verdict.status]} line {quoted.line}  “{printable(quoted.text)}”", 80, subsequent_indent="    "
    )
    where, shown = (title_and_place(place), said(place)) if place else ("", [])
    match verdict.status.value:
        case "nowhere":
            about = "nowhere" + (f"; the nearest: {where}" if place else "")
        case "changed":
            about = f"changed; {where} says:"
            shown += [f"      {printable(one.shown)}" for one in verdict.differences]
        case "elsewhere":
            about, shown = f"not in the source that is cited ({printable(_cited(quoted))}) but in {where}", []
        case _:
            about, shown = where, []
    note = _wrapped(f"({printable(verdict.note)})") if verdict.note else []
    return [*lines, *_wrapped(about), *shown, *note]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 80, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


def _cited(quoted: "Quoted") -> str:
    return "; ".join(one.text for one in quoted.cited)


def _to_json(
    draft: str, verdicts: "list[Verdict]", counts: "Counter[str]", n_short: int, n_left: int
) -> dict[str, Any]:
    """Return the JSON object that the documentation describes."""
    return {
        "draft": draft,
        "counts": {status: counts[status] for status in _SIGNS},
        "too_short": n_short,
        "not_looked_up": n_left,
        "quotations": [
            {
                "quotation": verdict.quoted.text,
                "line": verdict.quoted.line,
                "status": verdict.status.value,
                "cited": _cited(verdict.quoted) or None,
                "document": verdict.place.path if verdict.place else None,
                "title": verdict.place.title if verdict.place else None,
                "page": verdict.place.page if verdict.place else None,
                "page_label": (verdict.place.page_label or None) if verdict.place else None,
                "text": verdict.place.text if verdict.place else None,
                "differences": [{"draft": one.draft, "document": one.document} for one in verdict.differences],
                "note": verdict.note or None,
            }
            for verdict in verdicts
        ],
    }
