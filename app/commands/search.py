"""`longsearch search`: print results as text or JSON; `longsearch similar` prints its results the same way."""

import json
import shutil
import textwrap
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from longsearch.app.commands import filters, reasons, records, snippets
from longsearch.engine.amounts import counted
from longsearch.engine.metadata_lines import describe
from longsearch.engine.places import place_name
from longsearch.engine.printable import condensed, printable
from longsearch.engine.reason_lines import reason_lines

if TYPE_CHECKING:
    from longsearch.engine.types.documents import MetadataValue
    from longsearch.engine.types.results import DocumentHit, SearchResults

HELP = "search an indexed folder, or all of them"
MODES = ("hybrid", "meaning", "words")
"""The values of `engine.types.results.SearchMode`, which is not imported here because it takes 20 ms."""
LEVELS = ("chance", "weak", "good")
"""The values of `engine.types.results.ChanceLevel`."""
_N_FULL = 3
"""The first hits are shown with two passages, the others with one, so that ten hits fit into a screen or two."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch search`."""
    parser.add_argument(
        "query",
        help='what you mean; may hold "quoted phrases", -excluded words and fields: author:hinton, date:2021..2023,'
        " tag:steel, lang:de, type:pdf (put -- before a query that begins with -); without words, filters alone list"
        " documents",
    )
    add_folder_options(parser)
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="hybrid",
        help="match by words and meaning together (hybrid, the default), or by one of the two",
    )
    parser.add_argument(
        "--instruction", default="", metavar="TEXT", help="one sentence that says what kind of passage to look for"
    )
    parser.add_argument(
        "--min",
        choices=LEVELS,
        default="chance",
        help="show only hits that are at least this much better than chance (default: chance, which is all)",
    )
    add_think_option(parser)
    add_result_options(parser)
    reasons.add_option(parser)
    records.add_options(parser)
    filters.add_options(parser)


def add_folder_options(parser: ArgumentParser) -> None:
    """Add the folder of a command, and the option for all folders."""
    parser.add_argument(
        "folder",
        nargs="?",
        default="",
        help="an indexed folder, a folder inside one, or a store as lance:URI (default: this folder; outside any, all"
        " indexed folders)",
    )
    parser.add_argument("--everywhere", action="store_true", help="all indexed folders, wherever you are")


def add_think_option(parser: ArgumentParser) -> None:
    """Add the option for models with the readout `generative`."""
    parser.add_argument(
        "--think",
        type=int,
        metavar="K",
        help="let a generative model read each query on for K soft tokens (default: think in the config file, or as"
        " trained)",
    )


def add_result_options(parser: ArgumentParser, what: str = "documents") -> None:
    """Add the options of every command that prints search results."""
    parser.add_argument("-k", type=_positive, default=10, metavar="N", help=f"{what} to show (default: 10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ArgumentTypeError("must be at least 1")
    return number


def run(options: Namespace) -> int:
    """Search and print. Returns 0, or 1 if nothing was found."""
    from dataclasses import replace
    from functools import partial

    from longsearch.app.everywhere import search_folders
    from longsearch.app.folders.choosing import chosen_index
    from longsearch.app.folders.listing import indexed_folders
    from longsearch.app.models import query_vectors as vectors
    from longsearch.app.models.encoders import thinking
    from longsearch.app.paths import resolve_root, url_of
    from longsearch.app.searching import SearchRequest, search_index
    from longsearch.engine.types.results import SearchMode

    place = chosen_index(options.folder, options.everywhere)
    mode = SearchMode(options.mode)
    steps = None if mode is SearchMode.WORDS else thinking(options.think)
    source = partial(vectors.from_anywhere, steps=steps)
    also = filters.given(options)
    request = SearchRequest(options.query, mode, options.instruction, options.k, also, explain=options.explain)
    if place is None:
        results = search_folders(indexed_folders(), request, source)
    else:
        root, under = place
        results = search_index(root, request, source, under)
        if not results.hits and root.is_dir() and not url_of(root):
            resolve_root(root / under)  # raises if nothing was found because that folder does not exist
    return show(replace(results, soft_tokens=steps).at_least(options.min), options)


def show(results: "SearchResults", options: Namespace) -> int:
    """Print the results as the options say, and remember them for `open-hit`. Returns 0, or 1 if there are none."""
    from longsearch.app.commands import last_hits

    last_hits.remember(results)
    if not records.are_wanted(options):
        return report(results, options.json, getattr(options, "explain", False))
    records.write(results, options)
    return 0 if results.hits else 1


def report(results: "SearchResults", as_json: bool, explain: bool = False) -> int:
    """Print the results. Returns 0, or 1 if there are none."""
    if as_json:
        print(json.dumps(to_json(results, explain), indent=2))
    else:
        print(to_text(results, shutil.get_terminal_size().columns, explain))
    return 0 if results.hits else 1


def to_json(results: "SearchResults", explain: bool = False) -> dict[str, Any]:
    """Return the results as the JSON object that the documentation describes."""
    asked = {"like": results.similar_to} if results.similar_to else {"query": results.query}
    return {
        **asked,
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
        "results": [_hit_to_json(hit) | reasons.in_json(hit, explain) for hit in results.hits],
    }


def to_text(results: "SearchResults", width: int, explain: bool = False) -> str:
    """Return the results as text of `width` columns, without control characters."""
    from longsearch.app.paths import shown_path
    from longsearch.tui.text.wording import ALL_BY_CHANCE, BELOW_BY_CHANCE, first_by_chance, with_language

    lines = [f"({printable(results.note)})"] if results.note else []
    line = first_by_chance(results.hits)
    for number, hit in enumerate(results.hits):
        if number == line:
            lines += [ALL_BY_CHANCE if number == 0 else BELOW_BY_CHANCE, ""]
        score = f"  [{hit.score:.2f}]" if hit.score else ""  # a list without a query has no scores
        lines.append(f"{hit.rank:>3}. {with_language(printable(hit.title), hit.language)}{score}")
        known = hit.metadata if explain or not hit.score else snippets.told(hit.metadata)
        if described := describe(known, with_others=explain):
            lines.append("     " + textwrap.shorten(described, max(width, 40) - 5, placeholder="…"))
        folder = f"  ({printable(hit.folder)})" if results.folders else ""
        lines.append(f"     {printable(shown_path(hit.path))}{folder}")
        for passage in hit.passages[: 2 if number < _N_FULL else 1]:
            place = place_name(hit.path, passage.page, passage.heading, is_ocr=passage.is_ocr) or passage.heading
            text = printable(condensed(snippets.snippet(passage).removeprefix(f"{place}\n")))
            place = "" if place == hit.title else place  # it stands above already
            lines += textwrap.wrap(
                f"{printable(place)}: {text}" if place else text,
                max(width, 40),
                initial_indent="     > ",
                subsequent_indent="       ",
            )
        lines += [f"     {line}" for line in reason_lines(hit)] if explain else []
        lines.append("")
    found = counted(len(results.hits), "document") if results.hits else "nothing found"
    how = f"similar to {printable(results.similar_to)}" if results.similar_to else results.mode.value
    took = f"{results.took_ms:.0f} ms"
    if results.soft_tokens is not None and results.vector_ms:
        took += f" + {results.vector_ms:.0f} ms for {counted(results.soft_tokens, 'soft token')}"
    across = f" in {counted(len(results.folders), 'folder')}" if results.folders else ""
    return "\n".join([*lines, f"{found}{across}, {how}, {took}"])


def _hit_to_json(hit: "DocumentHit") -> dict[str, Any]:
    from longsearch.app.paths import shown_path

    passages = [
        {
            "page": passage.page,
            "heading": passage.heading,
            "place": place_name(hit.path, passage.page, passage.heading),
            "start": passage.start,
            "stop": passage.stop,
            "text": passage.text,
            "score": round(passage.score, 4),
            "excerpt": list(passage.excerpt) if passage.excerpt else None,
            "ocr": passage.is_ocr,
        }
        for passage in hit.passages
    ]
    return {
        "rank": hit.rank,
        "path": shown_path(hit.path),
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
