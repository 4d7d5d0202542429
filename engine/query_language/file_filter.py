"""Decides which files a query searches: `in:`, `type:`, `lang:` and the folder. Pure: paths in, yes or no out.

The index knows the languages: `retrieval` leaves out documents in others.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from longsearch.engine.languages.names import code_of


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

    @property
    def filters_names(self) -> bool:
        """Whether the filter looks at names or types, not only at the folder."""
        return bool(self.parts or self.types or self.parts_excluded or self.types_excluded)

    @property
    def admits_all(self) -> bool:
        """Whether the filter admits every file."""
        return not self.filters_names and not self.filters_languages and self.under.strip("/") in ("", ".")

    @property
    def filters_languages(self) -> bool:
        """Whether the filter asks for languages, or leaves some out."""
        return bool(self.languages or self.languages_excluded)

    def admits(self, path: str) -> bool:
        """Whether the filter admits the file at `path`, which is relative to the root and lies in the folder."""
        if not self.filters_names:
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
