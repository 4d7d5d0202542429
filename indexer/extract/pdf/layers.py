"""Leave out the layers of a PDF that are switched off, as a reader of the page does not see them.

pdfium draws pages without such layers, but its text has them, and it says of no letter in which layer it stands. A page
that holds a hidden layer is therefore written anew, without what the layer shows, by pypdf. This is done page by page,
and only in files that have layers which are off.
"""

import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from longsearch.indexer.extract.sources import Source

_MAX_FILE_BYTES = 200_000_000
"""Size of a PDF up to which layers are looked for: pypdf keeps the whole file in memory."""
_MAX_UNPACKED_BYTES = 100_000_000
_STREAM = re.compile(rb">>\s{0,20}stream(?:\r\n|\s)")
_MAX_ENTRIES_BYTES = 400
"""Bytes before a stream in which its entries stand."""
_LAYERS = b"/OCProperties"
_HIDES = re.compile(rb"/OFF(?!\s*\[\s*\])|/AnyOff|/AllOff|/Not\b")
"""What hides a layer: it is off, or is shown while another one is off."""
_OBJECTS = b"/ObjStm"
_ANNOTATION = re.compile(
    rb"/Subtype(?!\s*/(?:Link|Popup|Image|Form|Type[013]|Type1C|MMType1|TrueType|CIDFontType[02]C?|OpenType|XML)[\s/<>])"
)
"""The subtype of an annotation other than a link; those of pictures, forms, fonts and XMP are none."""
_ASSOCIATED = re.compile(rb"/AF\s*(?:\[|\d)")
_SHOWS = frozenset({*b"Tj TJ ' \" Do sh f F f* B B* b b* S s".split(), b"INLINE IMAGE"})
"""Operators that draw something."""
_MAX_DEPTH = 8


class Layers:
    """The layers of one PDF that are off, and what else a look at its bytes tells."""

    def __init__(self, path: Source, data: bytes | None) -> None:
        """`data`: the bytes of the file, if they are known."""
        self._off: set[int] = set()
        self._reader: Any = None
        self.has_associated_files = False
        """Whether the file names files with which it or one of its pages is associated (see `associated`)."""
        self.may_annotate = self.may_label = True
        """Whether a page may have an annotation that is no link, or a label."""
        if path.stat().st_size > _MAX_FILE_BYTES:
            return
        data = path.read_bytes() if data is None else data
        may_hide, self.has_associated_files, self.may_annotate, self.may_label = _marks_in(data)
        if may_hide:
            with suppress(Exception):  # pypdf raises errors of any class for damaged files; then nothing is left out
                self._open(data)

    def _open(self, data: bytes) -> None:
        import pypdf

        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return
        properties = _dictionary(reader.root_object.get("/OCProperties"))
        self._off = set(_off(properties))
        self._reader = reader if self._off or b"/OCMD" in data else None

    def without_hidden(self, index: int) -> bytes | None:
        """Return a PDF of page `index` alone without what is hidden; None if nothing on it is, or pypdf fails."""
        if self._reader is None:
            return None
        try:
            page = self._reader.pages[index]
            if not self._strip(page, page, 0, set()):
                return None
            import pypdf

            writer = pypdf.PdfWriter()
            writer.add_page(page)
            written = io.BytesIO()
            writer.write(written)
            return written.getvalue()
        except (MemoryError, RecursionError):
            raise
        except Exception:
            return None

    def unseen_annotations(self, index: int) -> set[int]:
        """Return the numbers of the annotations of page `index` in layers that are off."""
        if self._reader is None:
            return set()
        with suppress(Exception):  # as in `without_hidden`
            annotations = _list(self._reader.pages[index].get("/Annots"))
            known = [_dictionary(annotation) for annotation in annotations]
            layers = {number: found.raw_get("/OC") for number, found in enumerate(known) if "/OC" in found}
            return {number for number, layer in layers.items() if self._is_hidden(layer)}
        return set()

    def _strip(self, page: Any, holder: Any, depth: int, seen: set[int]) -> bool:
        """Remove what is hidden from a page or a form, and from its forms. Return whether anything was."""
        from pypdf.generic import ContentStream, NameObject

        resources = _dictionary(holder.get("/Resources", page.get("/Resources")))
        hidden = {name for name, value in _items(resources, "/Properties") if self._is_hidden(value)}
        forms = _items(resources, "/XObject")
        unseen = {name for name, value in forms if self._is_hidden(_dictionary(value).get("/OC"))}
        changed = False
        for _, value in forms if depth < _MAX_DEPTH else ():
            form = _dictionary(value)
            if form.get("/Subtype") == "/Form" and id(form) not in seen:
                seen.add(id(form))
                changed |= self._strip(page, form, depth + 1, seen)
        if not hidden and not unseen:
            return changed
        stream = page.get_contents() if holder is page else holder
        kept = ContentStream(stream, self._reader)
        kept.operations = list(_shown(kept.operations, hidden, unseen))
        if holder is page:
            page[NameObject("/Contents")] = kept
        else:
            holder.set_data(kept.get_data())
        return True

    def _is_hidden(self, value: Any) -> bool:
        """Return whether a group of content, or what says how several groups decide together, is off."""
        group = _dictionary(value)
        if group.get("/Type") != "/OCMD":
            return _number(value) in self._off
        if expression := group.get("/VE"):
            return not self._holds(expression, 0)
        members = group.get("/OCGs")
        members = members.get_object() if hasattr(members, "get_object") else members
        groups = members if isinstance(members, list) else [group.raw_get("/OCGs")] if members else []
        off = [_number(member) in self._off for member in groups]
        if not off:
            return False
        match group.get("/P", "/AnyOn"):
            case "/AllOn":
                return any(off)
            case "/AnyOff":
                return not any(off)
            case "/AllOff":
                return not all(off)
        return all(off)

    def _holds(self, expression: Any, depth: int) -> bool:
        """Return the value of a visibility expression: ["/Not", …], ["/And", …], ["/Or", …] or a group."""
        known = expression.get_object() if hasattr(expression, "get_object") else expression
        if not isinstance(known, list) or depth > _MAX_DEPTH:
            return _number(expression) not in self._off
        values = [self._holds(value, depth + 1) for value in known[1:]]
        if known[0] == "/Not":
            return not all(values)
        return all(values) if known[0] == "/And" else any(values)


class _Marks:
    """What the bytes of a PDF tell. They are taken text by text, because all of them may be 100 MB."""

    def __init__(self) -> None:
        self.layers = self.files = self.annotations = self.labels = False

    def take(self, text: bytes) -> None:
        """Look for what is not yet found."""
        self.layers = self.layers or _LAYERS in text
        self.files = self.files or (b"/AF" in text and _ASSOCIATED.search(text) is not None)
        self.annotations = self.annotations or _ANNOTATION.search(text) is not None
        self.labels = self.labels or b"/PageLabels" in text


def _marks_in(data: bytes) -> tuple[bool, bool, bool, bool]:
    """Return whether a PDF may hide a layer, knows associated files, may have annotations, and labels of pages.

    What says so may lie in compressed streams of objects, which can be read here unless the file is encrypted.
    """
    outside, objects = outside_and_objects(data)
    is_locked = b"/Encrypt" in outside and bool(objects)
    readable = [] if is_locked else objects
    marks = _Marks()
    marks.take(outside)
    is_whole = not is_locked and outside.count(_OBJECTS) <= len(objects)
    for text, is_all in unpacked(data, readable):
        marks.take(text)
        is_whole &= is_all
    hides = marks.layers and (
        _HIDES.search(outside) is not None or any(_HIDES.search(text) for text, _ in unpacked(data, readable))
    )
    return hides or is_locked, marks.files, not is_whole or marks.annotations, not is_whole or marks.labels


def outside_and_objects(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return what stands outside of the streams, most of a PDF, and (start, stop) of the streams of objects."""
    outside: list[bytes] = []
    objects: list[tuple[int, int]] = []
    at = 0
    while found := _STREAM.search(data, at):
        outside.append(data[at : found.end()])
        at = data.find(b"endstream", found.end())
        if at < 0:  # cut off
            return b"".join((*outside, data[found.end() :])), objects
        if _OBJECTS in outside[-1][-_MAX_ENTRIES_BYTES:]:
            objects.append((found.end(), at))
    return b"".join((*outside, data[at:])), objects


def unpacked(data: bytes, objects: Iterable[tuple[int, int]]) -> Iterator[tuple[bytes, bool]]:
    """Yield (content, whether that is all of it) of each stream of objects, up to a limit of bytes."""
    n_left = _MAX_UNPACKED_BYTES
    for start, stop in objects:
        inflating, text = zlib.decompressobj(), b""
        with suppress(zlib.error):
            text = inflating.decompress(data[start:stop], 20_000_000) if n_left > 0 else b""
        n_left -= len(text)
        yield text, inflating.eof


def _off(properties: Any) -> Iterator[int]:
    """Yield the numbers of the groups that are off when the file is opened."""
    default = _dictionary(properties.get("/D"))
    on = {_number(group) for group in _list(default.get("/ON"))}
    if default.get("/BaseState") == "/OFF":
        yield from ({_number(group) for group in _list(properties.get("/OCGs"))} - on)
    yield from (_number(group) for group in _list(default.get("/OFF")))
    for usage in _list(default.get("/AS")):
        if _dictionary(usage).get("/Event") == "/View":
            for group in _list(_dictionary(usage).get("/OCGs")):
                view = _dictionary(_dictionary(_dictionary(group).get("/Usage")).get("/View"))
                if view.get("/ViewState") == "/OFF":
                    yield _number(group)


def _shown(operations: list[Any], hidden: set[str], unseen: set[str]) -> Iterator[Any]:
    """Yield the operations but those that show something in a hidden layer. What moves the pen stays."""
    open_marks: list[bool] = []
    for operands, operator in operations:
        if operator in (b"BDC", b"BMC"):
            is_off = operator == b"BDC" and operands[:1] == ["/OC"] and operands[1:] and operands[1] in hidden
            open_marks.append(bool(is_off))
        elif operator == b"EMC" and open_marks:
            open_marks.pop()
        is_unseen = operator == b"Do" and operands and operands[0] in unseen
        if not is_unseen and not (operator in _SHOWS and any(open_marks)):
            yield operands, operator


def _number(value: Any) -> int:
    """Return the number of an object by its reference; -1 if it has none."""
    found = value if hasattr(value, "idnum") else getattr(value, "indirect_reference", None)
    return int(found.idnum) if found is not None else -1


def _dictionary(value: Any) -> Any:
    found = value.get_object() if hasattr(value, "get_object") else value
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[Any]:
    found = value.get_object() if hasattr(value, "get_object") else value
    return found if isinstance(found, list) else []


def _items(resources: Any, key: str) -> list[tuple[str, Any]]:
    """Return the names and the unresolved values of a dictionary of the resources."""
    known = _dictionary(resources.get(key))
    return [(name, known.raw_get(name)) for name in known]
