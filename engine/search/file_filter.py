"""Which files a query is about: `in:` and `type:`, and the folder it is asked of. Pure: paths in, yes or no out."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class FileFilter:
    """A path, relative to the root, must hold all of `parts`, be of any of `types`, and hold or be none of the rest."""

    under: str = ""
    """The folder it must lie in, relative to the root; "" for any."""
    parts: tuple[str, ...] = ()
    """Of a path, folded as `folded` does."""
    types: tuple[str, ...] = ()
    """Endings of names, folded, without the dot."""
    parts_excluded: tuple[str, ...] = ()
    types_excluded: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: Iterable[tuple[str, str, bool]]) -> "FileFilter":
        """Of (field, value, whether it is excluded), as typed: the field is `in` or `type`."""
        kept: dict[tuple[str, bool], list[str]] = {}
        for field, value, is_excluded in said:
            own = folded(value).removeprefix("." if field == "type" else "")
            kept.setdefault((field, is_excluded), []).append(own)
        parts, types, without_parts, without_types = (
            tuple(kept.get((field, is_excluded), ())) for is_excluded in (False, True) for field in ("in", "type")
        )
        return cls("", parts, types, without_parts, without_types)

    @property
    def is_by_name(self) -> bool:
        """Whether names of files matter, not their folder alone."""
        return bool(self.parts or self.types or self.parts_excluded or self.types_excluded)

    @property
    def is_of_all(self) -> bool:
        """Whether every file is asked."""
        return not self.is_by_name and self.under.strip("/") in ("", ".")

    def admits(self, path: str) -> bool:
        """Whether a file at `path`, which lies in the folder, is one of them."""
        if not self.is_by_name:
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
        """As it was typed, without the folder."""
        typed = {"in:": self.parts, "type:": self.types, "-in:": self.parts_excluded, "-type:": self.types_excluded}
        return " ".join(
            field + (f'"{value}"' if " " in value else value) for field, values in typed.items() for value in values
        )


def folded(text: str) -> str:
    """In small letters and composed: macOS writes an umlaut in names as two characters."""
    return unicodedata.normalize("NFC", text).casefold()
