"""Follow the relations between the parts of an Office Open XML archive. Knows no format."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.xml_events import Handler, parse


@dataclass(slots=True)
class _Relations:
    folder: str
    targets: dict[str, tuple[str, str]] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name != "Relationship":
            return
        if attributes.get("TargetMode") == "External":
            self.addresses[attributes.get("Id", "")] = attributes.get("Target", "")
        else:
            kind = attributes.get("Type", "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join(self.folder, attributes.get("Target", "")))
            self.targets[attributes.get("Id", "")] = (kind, target.lstrip("/"))

    def end(self, name: str) -> None: ...

    def characters(self, text: str) -> None: ...


def relations_of(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return (kind, name of the other part) by the id of each relation of `part`; {} if it has none."""
    return _relations(archive, part).targets


def addresses_of(archive: Archive, part: str) -> dict[str, str]:
    """Return the address by the id of each relation of `part` to what lies outside the archive."""
    return _relations(archive, part).addresses


def _relations(archive: Archive, part: str) -> _Relations:
    folder, name = posixpath.split(part)
    found = _Relations(folder)
    parse_member(archive, posixpath.join(folder, "_rels", f"{name}.rels"), found)
    return found


def main_part(archive: Archive, usual: str) -> str:
    """Return the name of the part that holds the text; `usual` if the archive does not say."""
    targets = relations_of(archive, "").values()
    return next((name for kind, name in targets if kind == "officeDocument"), usual)


def parse_member(archive: Archive, name: str, handler: Handler) -> str:
    """Send the events of a member, if it is there, to `handler`. Return what is wrong with it, or ""."""
    with archive.open(name) as file:
        return parse(file, handler) if file is not None else ""
