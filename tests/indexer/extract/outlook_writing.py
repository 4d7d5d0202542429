"""Write messages of Outlook for tests: `.msg`, a container of OLE, and `winmail.dat`, in TNEF."""

import struct
from collections.abc import Mapping

STRING8, STRING, BINARY, OBJECT = 0x1E, 0x1F, 0x102, 0x0D
_SECTOR = 512
_LEAST = 4096
"""Bytes from which a stream has sectors of its own. Shorter ones are filled up with zeros or spaces."""
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def ole(streams: Mapping[tuple[str, ...], bytes]) -> bytes:
    """Return a container with these streams, each of at least `_LEAST` bytes."""
    folders = sorted({path[:end] for path in streams for end in range(len(path))})
    entries = [*folders, *streams]
    sectors: list[bytes] = []
    fat: list[int] = []

    def add(data: bytes) -> int:
        first, n_sectors = len(fat), -(-len(data) // _SECTOR)
        sectors.extend(data[place : place + _SECTOR].ljust(_SECTOR, b"\0") for place in range(0, len(data), _SECTOR))
        fat.extend([*range(first + 1, first + n_sectors), _END])
        return first

    begins = {path: add(data) for path, data in streams.items()}
    table = b""
    for path in entries:
        siblings = [other for other in entries if other and other[:-1] == path[:-1] and path]
        place = siblings.index(path) if path else 0
        following = entries.index(siblings[place + 1]) if path and place + 1 < len(siblings) else _FREE
        children = [other for other in entries if other and other[:-1] == path]
        child = entries.index(children[0]) if path not in streams and children else _FREE
        name = (path[-1] if path else "Root Entry").encode("utf-16-le") + b"\0\0"
        kind = 5 if not path else 2 if path in streams else 1
        table += name.ljust(64, b"\0") + struct.pack("<HBB3I", len(name), kind, 1, _FREE, following, child)
        table += b"\0" * 36 + struct.pack("<IQ", begins.get(path, _END), len(streams.get(path, b"")))
    directory = add(table)
    n_fat = 1 + (len(fat) + 1) // (_SECTOR // 4)
    first_fat = len(fat)
    fat += [_FAT] * n_fat
    packed = struct.pack(f"<{len(fat)}I", *fat).ljust(n_fat * _SECTOR, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + b"\0" * 6
    head += struct.pack("<9I", 0, n_fat, directory, 0, _LEAST, _END, 0, _END, 0)
    head += struct.pack("<109I", *[*range(first_fat, first_fat + n_fat), *[_FREE] * (109 - n_fat)])
    return head + b"".join(sectors) + packed


def msg(
    properties: Mapping[int, str | bytes],
    attachments: Mapping[str, bytes] | None = None,
    inner: Mapping[int, str] | None = None,
) -> bytes:
    """Return a message with these properties, these files, and perhaps another message attached."""
    streams: dict[tuple[str, ...], bytes] = {("__properties_version1.0",): b"\0" * _LEAST}
    streams |= {(_name(key, value),): _filled(value) for key, value in properties.items()}
    for number, (name, data) in enumerate((attachments or {}).items()):
        folder = f"__attach_version1.0_#{number:08X}"
        streams[folder, "__properties_version1.0"] = b"\0" * _LEAST
        streams[folder, "__substg1.0_3707001F"] = _filled(name)
        streams[folder, "__substg1.0_37010102"] = data.ljust(_LEAST)
    if inner:
        folder = "__attach_version1.0_#000000FF"
        streams[folder, "__properties_version1.0"] = b"\0" * _LEAST
        streams[folder, "__substg1.0_3701000D", "__properties_version1.0"] = b"\0" * _LEAST
        streams |= {(folder, "__substg1.0_3701000D", _name(key, value)): _filled(value) for key, value in inner.items()}
    return ole(streams)


def _name(key: int, value: str | bytes) -> str:
    return f"__substg1.0_{key:04X}{STRING if isinstance(value, str) else BINARY if key == 0x1013 else STRING8:04X}"


def _filled(value: str | bytes) -> bytes:
    return (value.encode("utf-16-le") if isinstance(value, str) else value).ljust(_LEAST, b"\0")


def tnef(properties: Mapping[int, str | bytes], attachments: Mapping[str, bytes], code_page: int = 1252) -> bytes:
    """Return a winmail.dat with these properties and files."""
    out = b"\x78\x9f\x3e\x22\x01\x00" + _attribute(1, 0x9007, struct.pack("<II", code_page, 0))
    packed = struct.pack("<I", len(properties))
    for key, value in properties.items():
        kind = STRING if isinstance(value, str) else BINARY if key in (0x1013, 0x1009) else STRING8
        data = value.encode("utf-16-le") + b"\0\0" if isinstance(value, str) else value
        packed += struct.pack("<HHII", kind, key, 1, len(data)) + data + b"\0" * (-len(data) % 4)
    out += _attribute(1, 0x9003, packed)
    for name, data in attachments.items():
        out += _attribute(2, 0x9002, b"\0" * 14)
        out += _attribute(2, 0x8010, name.encode(f"cp{code_page}") + b"\0") + _attribute(2, 0x800F, data)
    return out


def _attribute(level: int, name: int, value: bytes) -> bytes:
    return struct.pack("<BHHI", level, name, 6, len(value)) + value + struct.pack("<H", sum(value) & 0xFFFF)
