"""Finds the files that a PDF associates with itself or with its pages (`/AF`) and lists nowhere else.

pdfium knows only files that the document lists or that are pinned to a page. pypdf is opened for the others.
"""

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from longsearch.indexer.extract.pdf.annotations import Pinned
from longsearch.indexer.extract.wire.limits import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS


def associated_files(data: bytes) -> list[Pinned]:
    """Return the files that the catalogue and the pages of a PDF are associated with."""
    import pypdf

    found: list[Pinned] = []
    with suppress(Exception):  # pypdf raises errors of any class for damaged files
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return []
        n_pages = len(reader.pages)
        for page, holder in ((n_pages - 1, reader.root_object), *enumerate(reader.pages)):
            for file in _files(holder, page):
                found.append(file)
                if len(found) >= MAX_ATTACHMENTS:
                    return found
    return found


def _files(holder: Any, page: int) -> Iterator[Pinned]:
    for reference in holder.get("/AF") or ():
        specification = reference.get_object()
        streams = specification.get("/EF", {})
        stream = streams.get("/UF") or streams.get("/F")
        if stream is not None:
            data = stream.get_object().get_data()
            name = str(specification.get("/UF") or specification.get("/F") or "")
            kind = str(stream.get_object().get("/Subtype") or "").lstrip("/")
            yield Pinned(page, name, kind, data if len(data) <= MAX_ATTACHMENT_BYTES else b"")
