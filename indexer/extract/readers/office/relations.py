"""Follow the relations between the parts of an Office Open XML archive. Knows no format."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.xml_events import parse


@dataclass(slots=True)
class _Relations:
    folder: str
    targets: dict[str, tuple[str, str]] = field(default_factory=dict)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join(self.folder, attributes.get("Target", "")))
            self.targets[attributes.get("Id", "")] = (kind, target.lstrip("/"))

    def end(self, name: str) -> None: ...

    def characters(self, text: str) -> None: ...


def relations_of(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return (kind, name of the other part) by the id of each relation of `part`; {} if it has none."""
    folder, name = posixpath.split(part)
    found = _Relations(folder)
    parse(archive.read(posixpath.join(folder, "_rels", f"{name}.rels")) or b"", found)
    return found.targets
