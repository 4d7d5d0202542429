"""`longsearch search`: search an indexed folder, or all, with filters as options or in the query."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from longsearch.app.commands import records
from longsearch.app.commands.actions import THINK
from longsearch.app.commands.results import show

HELP = "search an indexed folder, or all of them"
MODES = ("hybrid", "meaning", "words")
"""The values of `engine.types.results.SearchMode`, which is not imported here because it takes 20 ms."""
LEVELS = ("unlikely", "unsure", "likely", "chance", "weak", "good")
"""The levels of hits, and their names before: the values of `engine.types.results.ChanceLevel`."""
_READ_FOR = ("unsure", "likely")
_FIELDS = (
    ("author", "NAME", "only documents by this author (a name, or a part of it)"),
    ("title", "WORDS", "only documents with these words in their title"),
    ("tag", "TAG", "only documents with this tag"),
    ("date", "RANGE", "only documents of this time: 2021, 2021-05, 2021..2023, 2021.."),
    ("since", "AGE", "only documents since then: 30d, 6w, 3m, 2y or 2021-05"),
    ("lang", "CODE", "only documents in this language: de, en"),
    ("type", "ENDING", "only files with this ending: pdf"),
    ("in", "PATH", "only files with this text in their path"),
)
_QUERY_HELP = (
    'what you mean; may hold "quoted phrases", -excluded words, (this OR that) AND NOT other, "near words"~5, star*,'
    " >=40 kg or ~120 mm in any unit, and fields: author:hinton, date:2021..2023, tag:steel, lang:de, type:pdf"
    " (put -- before a query that begins with -); filters alone list documents"
)
_SORTS = ("score", "date", "name")
"""The values of `engine.query_language.fields.Sort`."""


def add_options(parser: ArgumentParser) -> None:
    """Add the options of `longsearch search`."""
    parser.add_argument(
        "query",
        help=_QUERY_HELP,
    )
    add_folder_options(parser)
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="hybrid",
        help="match by words and meaning together (hybrid, the default), or by one of the two",
    )
    parser.add_argument("--unfold", action="store_true", help="list documents that say nearly the same apart")
    parser.add_argument("--literal", action="store_true", help="search for each word as it is typed, errors and all")
    parser.add_argument(
        "--instruction", default="", metavar="TEXT", help="one sentence that says what kind of passage to look for"
    )
    help_text = (
        "show only hits that are at least unsure, or likely; by the old names weak and good chance alone decides"
    )
    parser.add_argument("--min", choices=LEVELS, default="unlikely", metavar="LEVEL", help=help_text)
    parser.add_argument("--think", **THINK)
    add_result_options(parser)
    parser.add_argument(
        "--answers",
        type=_positive,
        metavar="N",
        help="print only the N sentences that answer best, a line each, with document and page (JSON has 3)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what each word, the passage, the excerpt and the document gave to a score, what chance reaches, and"
        " where the metadata were read",
    )
    records.add_options(parser)
    _add_filters(parser)


def _add_filters(parser: ArgumentParser) -> None:
    """Add the options. Each but `--sort` may be given several times, as in a query."""
    group = parser.add_argument_group("filters", "The same as in a query: --author lee is author:lee.")
    for name, metavar, help_text in _FIELDS:
        group.add_argument(f"--{name}", action="append", default=[], metavar=metavar, help=help_text, dest=f"{name}_")
    group.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="KEY:VALUE",
        help="only documents whose front matter or other metadata say so, such as status:draft; -KEY:VALUE leaves out",
    )
    parser.add_argument(
        "--sort",
        choices=_SORTS,
        help="order of the documents found (default: by score; without words in the query, by date)",
    )


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

    from longsearch.app.folders.choosing import chosen_index
    from longsearch.app.models import query_vectors as vectors
    from longsearch.app.models.encoders import thinking
    from longsearch.app.paths import resolve_root, url_of
    from longsearch.app.search.scope import Scope
    from longsearch.app.search.searching import Question, search
    from longsearch.engine.types.results import SearchMode

    scope = Scope.at(chosen_index(options.folder, options.everywhere))
    mode = SearchMode(options.mode)
    steps = None if mode is SearchMode.WORDS else thinking(options.think)
    source = partial(vectors.from_anywhere, steps=steps)
    also = [(name, value) for name, _, _ in _FIELDS for value in getattr(options, f"{name}_")]
    also += [(key.strip(), value) for key, _, value in (text.partition(":") for text in options.field)]
    also += [("sort", options.sort)] if options.sort else []
    asked = Question(
        options.query,
        mode,
        options.instruction,
        options.k,
        also,
        explain=options.explain,
        read=bool(options.answers) or options.min in _READ_FOR,
        unfold=options.unfold,
        literal=options.literal,
    )
    results = search(scope, asked, source)
    if scope.is_one and not results.hits:
        root = Path(scope.folders[0].root)
        if root.is_dir() and not url_of(root):
            resolve_root(root / scope.under)  # raises if nothing was found because that folder does not exist
    return show(replace(results, soft_tokens=steps).at_least(options.min), options)
