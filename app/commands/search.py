"""`longsearch search`: search an indexed folder, or all, with filters as options or in the query."""

from argparse import Namespace
from pathlib import Path

from longsearch.app.commands import records
from longsearch.app.commands.results import show
from longsearch.app.options import FOLDER, RESULTS, THINK, Group, flag, option, positive

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
OPTIONS = (
    option(
        "query",
        'what you mean; may hold "quoted phrases", -excluded words, (this OR that) AND NOT other, "near words"~5,'
        " star*, >=40 kg or ~120 mm in any unit, and fields: author:hinton, date:2021..2023, tag:steel, lang:de,"
        " type:pdf (put -- before a query that begins with -); filters alone list documents",
    ),
    *FOLDER,
    option(
        "--mode",
        "match by words and meaning together (hybrid, the default), or by one of the two",
        choices=MODES,
        default="hybrid",
    ),
    flag("--unfold", "list documents that say nearly the same apart"),
    flag("--literal", "search for each word as it is typed, errors and all"),
    option("--instruction", "one sentence that says what kind of passage to look for", default="", metavar="TEXT"),
    option(
        "--min",
        "show only hits that are at least unsure, or likely; by the old names weak and good chance alone decides",
        choices=LEVELS,
        metavar="LEVEL",
    ),
    THINK,
    *RESULTS,
    option(
        "--answers",
        "print only the N sentences that answer best, a line each, with document and page (JSON has 3)",
        type=positive,
        metavar="N",
    ),
    flag(
        "--explain",
        "say what each word, the passage, the excerpt and the document gave to a score, what chance reaches, and"
        " where the metadata were read",
    ),
    *records.OPTIONS,
    Group(
        "filters",
        "The same as in a query: --author lee is author:lee.",
        (
            *(
                option(f"--{name}", meaning, action="append", default=[], metavar=metavar, dest=f"{name}_")
                for name, metavar, meaning in _FIELDS
            ),
            option(
                "--field",
                "only documents whose front matter or other metadata say so, such as status:draft; -KEY:VALUE leaves"
                " out",
                action="append",
                default=[],
                metavar="KEY:VALUE",
            ),
        ),
    ),
    option(
        "--sort",
        "order of the documents found (default: by score; without words in the query, by date)",
        choices=("score", "date", "name"),  # the values of `engine.query_language.fields.Sort`
    ),
)


def run(options: Namespace) -> int:
    """Search and print. Returns 0, or 1 if nothing was found."""
    from dataclasses import replace
    from functools import partial

    from longsearch.app.models import query_vectors as vectors
    from longsearch.app.models.folder_models import thinking
    from longsearch.app.paths import resolve_root, url_of
    from longsearch.app.search.scope import Scope
    from longsearch.app.search.searching import Question, search
    from longsearch.engine.types.results import SearchMode

    scope = Scope.chosen(options.folder, options.everywhere)
    mode = SearchMode(options.mode)
    steps = None if mode is SearchMode.WORDS else thinking(options.think, (one.root for one in scope.folders))
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
    if options.think is not None and mode is SearchMode.WORDS:
        note = "a search by words does not think: --think counts with --mode hybrid and meaning"
        results = replace(results, note="; ".join(filter(None, (results.note, note))))
    if scope.is_one and not results.hits:
        root = Path(scope.folders[0].root)
        if root.is_dir() and not url_of(root):
            resolve_root(root / scope.under)  # raises if nothing was found because that folder does not exist
    results = results.at_least(options.min) if options.min else results
    return show(replace(results, soft_tokens=steps), options)
