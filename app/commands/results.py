"""Prints the results of a search as text, JSON or records: all of the commands that find documents print them here.

Text shows the part of a passage that answers, and the metadata that tell documents apart.
"""

import json
import os
import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.commands import records
from longsearch.app.commands.links import has_links, link
from longsearch.engine.amounts import counted
from longsearch.engine.errors import LongsearchError
from longsearch.engine.metadata_lines import describe, of_document
from longsearch.engine.places import place_of
from longsearch.engine.printable import condensed, printable
from longsearch.engine.reason_lines import reason_lines

if TYPE_CHECKING:
    from longsearch.engine.types.documents import MetadataValue
    from longsearch.engine.types.results import Answer, DocumentHit, PassageHit, Reason, SearchResults

LAST_HITS = "last-hits.json"
"""The file that `open-hit` reads."""
_N_REMEMBERED = 1_000
_N_ANSWERS = 3
"""The sentences in JSON, unless `--answers` asks for more."""
_N_FULL = 3
"""The first hits are shown with two passages, the others with one, so that ten hits fit into a screen or two."""
NOTHING_ANSWERS = "Nothing here answers that; the nearest:"
SHOWN_CHARACTERS = 240
_LONGEST_WORD = 40
"""A cut is moved back to the blank before it if one is that near: Chinese and Thai have none."""


def show(results: "SearchResults", options: Namespace) -> int:
    """Print the results as the options say, and remember them for `open-hit`. Returns 0, or 1 if there are none.

    Of these options a command may lack all but `json`.
    """
    _remember(results)
    given = vars(options)
    explain, n_answers = given.get("explain", False), given.get("answers")
    if given.get("format") is not None or given.get("print0"):
        records.write(results, options)
    elif options.json:
        print(json.dumps(to_json(results, explain, n_answers or _N_ANSWERS), indent=2))
    elif n_answers and (results.answers(1) or not results.hits):  # a list without words has no sentences
        print("\n".join(_answer_lines(results, n_answers, explain)))
    else:
        is_linked = sys.stdout.isatty() and has_links(os.environ)
        print(to_text(results, shutil.get_terminal_size().columns, explain, is_linked))
    return 0 if results.hits else 1


def _remember(results: "SearchResults") -> None:
    """Keep where the hits lie for `open-hit`, not the query and no text. A folder that cannot be written costs that.

    Of each hit: its path, the page of its best sentences, and where they stand in the index of which folder.
    """
    from longsearch.app.paths import data_folder
    from longsearch.engine.json_files import replace_object

    hits = []
    for hit in results.hits[:_N_REMEMBERED]:
        place: list[int | str | None] = [None]
        for best in hit.passages[:1]:
            place = [best.page, hit.root, hit.document_id, *(best.excerpt or (best.start, best.stop))]
        hits.append([hit.path, *place])
    with suppress(OSError, LongsearchError):
        replace_object(data_folder() / LAST_HITS, {"hits": hits})


def to_json(results: "SearchResults", explain: bool = False, n_answers: int = _N_ANSWERS) -> dict[str, Any]:
    """Return the results as the JSON object that the documentation describes."""
    from longsearch.app.folders.names import descriptions

    about = descriptions()
    asked = {"like": results.similar_to} if results.similar_to else {"query": results.query}
    return {
        **asked,
        "corrected": results.corrected or None,
        "understood": results.understood or None,
        "mode": results.mode.value,
        "instruction": results.instruction,
        "took_ms": round(results.took_ms, 1),
        "vector_ms": round(results.vector_ms, 1),
        "soft_tokens": results.soft_tokens,
        "note": results.note,
        "folders": [
            {"name": folder.name, "path": folder.root, "away": folder.away, "problem": folder.problem}
            for folder in results.folders
        ],
        "verdict": results.verdict,
        "answers": [_answer_to_json(answer) for answer in results.answers(n_answers)],
        "results": [
            _hit_to_json(hit) | {"folder_about": about.get(hit.root)} | _reason_to_json(hit, explain)
            for hit in results.hits
        ],
    }


def _answer_to_json(answer: "Answer") -> dict[str, Any]:
    from longsearch.app.paths import shown_path
    from longsearch.app.viewing.viewer import line_of

    hit, passage = answer.hit, answer.passage
    return {
        "sentence": passage.sentence,
        "document": shown_path(hit.path),
        "page": passage.page,
        "heading": passage.heading,
        "place": place_of(hit.path, passage),
        "line": line_of(Path(hit.path), passage.sentence),
        "score": round(answer.score, 4),
        "probability": None if passage.probability is None else round(passage.probability, 4),
    }


def _answer_lines(results: "SearchResults", n: int, explain: bool) -> list[str]:
    lines = []
    for answer in results.answers(n):
        lines.append(_answer_line(answer))
        lines += [f"     {line}" for line in reason_lines(answer.hit, answer.passage)] if explain else []
    lines = [NOTHING_ANSWERS, *lines] if lines and results.verdict == "nothing" else lines or ["nothing found"]
    return [f"({printable(results.note)})", *lines] if results.note else lines


def _answer_line(answer: "Answer") -> str:
    """An answering sentence on one line, with its document and its place."""
    hit, passage = answer.hit, answer.passage
    place = place_of(hit.path, passage, passage.is_ocr) or passage.heading
    return printable(condensed(f"{passage.sentence} ({', '.join(filter(None, (hit.title, place)))})"))


def to_text(results: "SearchResults", width: int, explain: bool = False, is_linked: bool = False) -> str:
    """Return the results as text of `width` columns, without control characters but those of links to the files."""
    from longsearch.app.paths import shown_path, url_of
    from longsearch.engine.types.results import LIST_NAMES
    from longsearch.tui.text import wording

    lines = [f"({printable(results.note)})"] if results.note else []
    lines += [f"understood as: {printable(results.understood)}", ""] if explain and results.understood else []
    stores = set(filter(url_of, {hit.root for hit in results.hits}))
    line = wording.first_unlikely(results.hits)
    for number, hit in enumerate(results.hits):
        if number == line:
            lines += [wording.above_unlikely(results.hits, number), ""]
        score = f"  [{hit.score:.2f}]" if hit.score else ""  # a list without a query has no scores
        lines.append(f"{hit.rank:>3}. {wording.with_language(printable(hit.title), hit.language)}{score}")
        known = hit.metadata if explain or not hit.score else of_document(hit.metadata)
        if described := describe(known, with_others=explain):
            lines.append("     " + textwrap.shorten(described, max(width, 40) - 5, placeholder="…"))
        path = printable(shown_path(hit.path) if hit.root in stores else hit.path)
        folder = f"  ({printable(hit.folder)})" if results.folders else ""
        lines.append(f"     {link(path, hit.path) if is_linked else path}{folder}")
        lines += [f"     {line}" for line in wording.same_elsewhere(hit)] if hit.also_at or hit.versions else []
        for passage in hit.passages[: 2 if number < _N_FULL else 1]:
            place = place_of(hit.path, passage, passage.is_ocr) or passage.heading
            text = printable(condensed(snippet(passage).removeprefix(f"{place}\n")))
            place = "" if place == hit.title else place  # it stands above already
            place = ", ".join(filter(None, (place, LIST_NAMES[passage.furniture])))
            text = f"{printable(place)}: {text}" if place else text
            lines += textwrap.wrap(text, max(width, 40), initial_indent="     > ", subsequent_indent="       ")
        lines += [*(f"     {line}" for line in reason_lines(hit)), ""] if explain else [""]
    found = counted(len(results.hits), "document") if results.hits else "nothing found"
    how = f"similar to {printable(results.similar_to)}" if results.similar_to else results.mode.value
    took = f"{results.took_ms:.0f} ms"
    if results.soft_tokens is not None and results.vector_ms:
        took += f" + {results.vector_ms:.0f} ms for {counted(results.soft_tokens, 'soft token')}"
    found += f" in {counted(len(results.folders), 'folder')}" if results.folders else ""
    return "\n".join([*lines, f"{found}, {how}, {took}"])


def _hit_to_json(hit: "DocumentHit") -> dict[str, Any]:
    from longsearch.app.paths import shown_path

    passages = [
        {
            "page": passage.page,
            "heading": passage.heading,
            "page_label": passage.page_label or None,
            "place": place_of(hit.path, passage),
            "start": passage.start,
            "stop": passage.stop,
            "text": passage.text,
            "score": round(passage.score, 4),
            "excerpt": list(passage.excerpt) if passage.excerpt else None,
            "ocr": passage.is_ocr,
            "list": passage.furniture or None,
        }
        for passage in hit.passages
    ]
    return {
        "rank": hit.rank,
        "path": shown_path(hit.path),
        "also_at": [shown_path(path) for path in hit.also_at],
        "versions": [
            {"path": shown_path(version.path), "title": version.title, "date": version.date} for version in hit.versions
        ],
        "folder": hit.folder,
        "title": hit.title,
        "score": round(hit.score, 4),
        "language": hit.language or None,
        "level": hit.level.value if hit.level else None,
        "passages": passages,
        "metadata": metadata_as_json(hit.metadata),
    }


def metadata_as_json(values: "Sequence[MetadataValue]") -> list[dict[str, str]]:
    """Return each value with its field and its source."""
    return [{"field": value.field, "value": value.value, "source": value.source} for value in values]


def _reason_to_json(hit: "DocumentHit", is_wanted: bool) -> dict[str, Any]:
    """Return the key `reason` for a hit in JSON; {} if it is not wanted."""
    return {"reason": hit.reason and _rounded_reason(hit.reason)} if is_wanted else {}


def _rounded_reason(reason: "Reason") -> dict[str, Any]:
    from dataclasses import asdict  # `--help` need not pay for it

    lines = reason.lines and {"weak": reason.lines[0], "good": reason.lines[1]}
    points = {"by_words": reason.by_words, "by_meaning": reason.by_meaning}
    found: dict[str, Any] = _with_four_digits(asdict(reason) | points)
    return found | {"lines": lines}


def _with_four_digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_four_digits(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_four_digits(own) for own in value]
    return round(value, 4) if isinstance(value, float) else value


def snippet(passage: "PassageHit") -> str:
    """Return the first 240 characters of a passage, or 240 further on that show its excerpt.

    No word is cut; "…" stands for what is left out.
    """
    text, first = passage.text, 0
    if len(text) <= SHOWN_CHARACTERS:
        return text.strip()
    if passage.excerpt is not None and passage.excerpt[1] - passage.start > SHOWN_CHARACTERS:
        first = _between_words(text, min(passage.excerpt[0] - passage.start, len(text) - SHOWN_CHARACTERS))
    stop = _between_words(text, first + SHOWN_CHARACTERS)
    return ("…" if first else "") + text[first:stop].strip() + (" …" if stop < len(text) else "")


def _between_words(text: str, at: int) -> int:
    """Return where the word at an offset begins, or the offset itself in a script without blanks."""
    if at <= 0 or at >= len(text) or text[at].isspace():
        return max(0, min(at, len(text)))
    blank = max(text.rfind(mark, max(0, at - _LONGEST_WORD), at) for mark in " \n")
    return at if blank < 0 else blank + 1
