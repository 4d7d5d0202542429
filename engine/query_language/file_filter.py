"""Decides which files a query searches (`in:`, `type:`, `lang:`), and which of several indexed folders (`folder:`).

Pure: paths and names in, yes or no out.
The index knows the languages: `retrieval` leaves out documents in others.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath

from longsearch.engine.errors import QueryError
from longsearch.engine.languages.names import code_of
from longsearch.engine.query_language.fields import quoted


@dataclass(frozen=True, slots=True)
class FileFilter:
    """Admits a file if its path contains all of `parts`, its type is one of `types`, and no exclusion applies."""

    under: str = ""
    """The folder to search, relative to the root; "" for all."""
    parts: tuple[str, ...] = ()
    """Parts of a path, as `folded` returns them."""
    types: tuple[str, ...] = ()
    """File name extensions, folded, without the dot; () for any."""
    parts_excluded: tuple[str, ...] = ()
    types_excluded: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """ISO 639 codes; () for any."""
    languages_excluded: tuple[str, ...] = ()

    @classmethod
    def of(cls, typed: Iterable[tuple[str, str, bool]]) -> "FileFilter":
        """Build a filter from (field, value, is excluded) as typed; the field is `in`, `type` or `lang`."""
        values: dict[tuple[str, bool], list[str]] = {}
        for field, value, is_excluded in typed:
            clean = code_of(value) if field == "lang" else folded(value).removeprefix("." if field == "type" else "")
            values.setdefault((field, is_excluded), []).append(clean)
        fields = {
            name + ending: tuple(values.get((field, is_excluded), ()))
            for field, name in (("in", "parts"), ("type", "types"), ("lang", "languages"))
            for is_excluded, ending in ((False, ""), (True, "_excluded"))
        }
        return cls("", **fields)

    def admits(self, path: str) -> bool:
        """Whether the filter admits the file at `path`, which is relative to the root and lies in the folder."""
        if not (self.parts or self.types or self.parts_excluded or self.types_excluded):
            return True
        path = folded(path)
        ending = PurePosixPath(path).suffix.removeprefix(".")
        return (
            all(part in path for part in self.parts)
            and not any(part in path for part in self.parts_excluded)
            and (not self.types or ending in self.types)
            and ending not in self.types_excluded
        )

    def __str__(self) -> str:
        """The filter as it was typed, without the folder."""
        typed = {
            "in:": self.parts, "type:": self.types, "lang:": self.languages,
            "-in:": self.parts_excluded, "-type:": self.types_excluded, "-lang:": self.languages_excluded,
        }  # fmt: skip
        return " ".join(
            field + (f'"{value}"' if " " in value else value) for field, values in typed.items() for value in values
        )


def folded(text: str) -> str:
    """Return `text` in lower case and composed: macOS writes an umlaut in a file name as two characters."""
    return unicodedata.normalize("NFC", text).casefold()


@dataclass(frozen=True, slots=True)
class FolderFilter:
    """The names of folders, as they were typed. Case does not matter."""

    typed: tuple[tuple[str, bool], ...]
    """(name, is excluded): search only those that are not excluded; all if there are none."""

    def __str__(self) -> str:
        """The filter as one may type it."""
        named = [f"{'-' * is_excluded}folder:{quoted(name)}" for name, is_excluded in self.typed]
        return " ".join(sorted(named, key=lambda text: text.startswith("-")))

    def chosen(self, known: Sequence[str]) -> list[str]:
        """Return those of the known names that the filter admits, in their order.

        A typed name is a folder's name or, if no folder is called so, the beginning of one or more names or of a part
        of them: `pap` for `work/papers`.
        Raises QueryError for a name that fits no folder, and if no folder is left.
        """
        named, excluded = (
            {name for typed, is_excluded in self.typed if is_excluded == wanted for name in _named(typed, known)}
            for wanted in (False, True)
        )
        left = (named or set(known)) - excluded
        if not left and known:
            raise QueryError("The query leaves out every folder", "Name a folder to search: folder:NAME")
        return [name for name in known if name in left]


def _named(typed: str, known: Sequence[str]) -> list[str]:
    """The known names that were meant. Raises QueryError if there are none."""
    key = folded(typed)
    found = [name for name in known if folded(name) == key] or [
        name for name in known if f"/{key}" in f"/{folded(name)}"
    ]
    if not found:
        near = get_close_matches(key, map(folded, known), n=1)
        meant = [name for name in known if folded(name) in near] or known
        raise QueryError(f"No folder is called {typed}", f"Did you mean {' or '.join(meant)}?")
    return found
