"""The options of `longsearch search` that filter and sort: each is the field of a query with the same name."""

from argparse import ArgumentParser, Namespace

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
_SORTS = ("score", "date", "name")
"""The values of `engine.query_language.fields.Sort`."""


def add_options(parser: ArgumentParser) -> None:
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


def given(options: Namespace) -> list[tuple[str, str]]:
    """Return the filters and the order as (field, value), as `engine.query_language.query.parse` takes them."""
    found = [(name, value) for name, _, _ in _FIELDS for value in getattr(options, f"{name}_")]
    for text in options.field:
        key, _, value = text.partition(":")
        found.append((key.strip(), value))
    return [*found, ("sort", options.sort)] if options.sort else found
