"""`longsearch search`: results on paper or as JSON; those of `like` too."""

import json
import shutil
import textwrap
from argparse import Namespace
from typing import Any

from app import vectors
from app.paths import find_index, resolve_root
from app.searching import search_index
from engine.amounts import counted
from engine.printable import in_short, printable
from engine.types import DocumentHit, PassageHit, SearchMode, SearchResults

_SHOWN_PASSAGES = 2
_SHOWN_CHARACTERS = 400


def run(options: Namespace) -> int:
    """0 where something was found, 1 where not."""
    root, under = find_index(options.folder)
    mode = SearchMode(options.mode)
    results = search_index(
        root, options.query, mode, vectors.from_anywhere, options.instruction, under=under, k=options.k
    )
    if not results.hits and root.is_dir():
        resolve_root(root / under)  # raises where nothing was found because there is no such folder
    return report(results, options.json)


def report(results: SearchResults, as_json: bool) -> int:
    """Print the results. 0 where there are any, 1 where not."""
    if as_json:
        print(json.dumps(to_json(results), indent=2))
    else:
        print(to_text(results, shutil.get_terminal_size().columns))
    return 0 if results.hits else 1


def to_json(results: SearchResults) -> dict[str, Any]:
    """The documented form; see the README."""
    asked = {"like": results.similar_to} if results.similar_to else {"query": results.query}
    return {
        **asked,
        "mode": results.mode.value,
        "instruction": results.instruction,
        "took_ms": round(results.took_ms, 1),
        "note": results.note,
        "results": [_hit_to_json(hit) for hit in results.hits],
    }


def to_text(results: SearchResults, width: int) -> str:
    """For a person; nothing in it can drive the terminal."""
    lines = [f"({printable(results.note)})"] if results.note else []
    for hit in results.hits:
        lines.append(f"{hit.rank:>3}. {printable(hit.title)}  [{hit.score:.2f}]")
        lines.append(f"     {printable(hit.path)}")
        for passage in hit.passages[:_SHOWN_PASSAGES]:
            place = f"p. {passage.page}" if passage.page else passage.heading
            text = printable(in_short(_shown_text(passage).removeprefix(f"{place}\n")))
            lines += textwrap.wrap(
                f"{printable(place)}: {text}" if place else text,
                max(width, 40),
                initial_indent="     > ",
                subsequent_indent="       ",
            )
        lines.append("")
    found = counted(len(results.hits), "document") if results.hits else "nothing found"
    how = f"like {printable(results.similar_to)}" if results.similar_to else results.mode.value
    return "\n".join([*lines, f"{found}, {how}, {results.took_ms:.0f} ms"])


def _shown_text(passage: PassageHit) -> str:
    """The first 400 characters of the passage, or 400 further on in which its excerpt is seen."""
    text = passage.text
    if passage.excerpt is None or passage.excerpt[1] - passage.start <= _SHOWN_CHARACTERS:
        return text[:_SHOWN_CHARACTERS]
    first = min(passage.excerpt[0] - passage.start, len(text) - _SHOWN_CHARACTERS)
    return "…" + text[text.rfind(" ", 0, first) + 1 : first + _SHOWN_CHARACTERS]


def _hit_to_json(hit: DocumentHit) -> dict[str, Any]:
    passages = [
        {
            "page": passage.page,
            "heading": passage.heading,
            "start": passage.start,
            "stop": passage.stop,
            "text": passage.text,
            "score": round(passage.score, 4),
            "excerpt": list(passage.excerpt) if passage.excerpt else None,
        }
        for passage in hit.passages
    ]
    return {
        "rank": hit.rank,
        "path": hit.path,
        "title": hit.title,
        "score": round(hit.score, 4),
        "passages": passages,
    }
