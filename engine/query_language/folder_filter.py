"""Decides which of several indexed folders a query searches: `folder:` and `-folder:`. Pure: names in, names out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from longsearch.engine.errors import QueryError
from longsearch.engine.query_language.file_filter import folded


@dataclass(frozen=True, slots=True)
class FolderFilter:
    """The names of folders, as they were typed. Case does not matter."""

    names: tuple[str, ...] = ()
    """Search only these; () for all."""
    excluded: tuple[str, ...] = ()

    @classmethod
    def of(cls, typed: Iterable[tuple[str, bool]]) -> "FolderFilter":
        """Build a filter from (name, is excluded)."""
        listed = list(typed)
        return cls(
            tuple(name for name, is_excluded in listed if not is_excluded),
            tuple(name for name, is_excluded in listed if is_excluded),
        )

    @property
    def admits_all(self) -> bool:
        """Whether no folder was named."""
        return not (self.names or self.excluded)

    def chosen(self, known: Sequence[str]) -> list[str]:
        """Return those of the known names that the filter admits, in their order.

        A typed name is a folder's name or, if no folder is called so, the beginning of one or more names or of a part
        of them: `pap` for `work/papers`.
        Raises QueryError for a name that fits no folder, and if no folder is left.
        """
        wanted = {name for typed in self.names for name in _named(typed, known)} if self.names else set(known)
        left = wanted - {name for typed in self.excluded for name in _named(typed, known)}
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
