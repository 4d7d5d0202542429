"""How a query names folders, `folder:papers`, and how the app lists them. Pure: text and folders in, text out."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from longsearch.engine.amounts import counted
from longsearch.tui.text.display import below_home, shown

if TYPE_CHECKING:
    from longsearch.engine.types.results import Folder

_FIELD = re.compile(r'(?<!\S)-?folder:(?:"[^"]*"?|\S*)\s*')


def folder_field(name: str) -> str:
    """Return what a query says to search this folder only."""
    return f'folder:"{name}"' if " " in name or not re.match(r"[\w./-]", name) else f"folder:{name}"


def with_folder(query: str, name: str | None) -> str:
    """Return the query for this folder only, or for all folders (None)."""
    rest = _FIELD.sub("", query).strip()
    if name is None:
        return rest
    return f"{rest} {folder_field(name)}".strip() + " "


def place_line(folders: "Sequence[Folder]") -> str:
    """Return the names of the folders for the frame of the query; one that is away says so."""
    names = [shown(folder.name) + _mark(folder) for folder in folders]
    return f"all folders: {', '.join(names)}" if names else "all folders"


def folder_lines(folders: "Sequence[Folder]") -> list[tuple[str, str]]:
    """Return for each folder its name, and in words how much it holds, where it is, and what is wrong with it."""
    return [
        (
            shown(folder.name),
            " · ".join(
                filter(
                    None,
                    (
                        counted(folder.n_documents, "document"),
                        shown(below_home(folder.root)),
                        shown(f"away: {folder.away}" if folder.away else ""),
                        shown(folder.problem),
                    ),
                )
            ),
        )
        for folder in folders
    ]


def _mark(folder: "Folder") -> str:
    if folder.problem:
        return " (unreadable)"
    return " (away)" if folder.away else ""
