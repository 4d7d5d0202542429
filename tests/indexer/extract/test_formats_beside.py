"""Formats beside the others: subtitles, saved pages, archives, packed files."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable

import pytest

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.formats import Format, format_of
from longsearch.indexer.extract.reader import Extraction
from tests.indexer.pdf_writing import lines_of, pdf

Extract = Callable[[bytes, str], Extraction]
VTT = (
    "WEBVTT\n\nNOTE made by hand\n\nSTYLE\n::cue { color: red }\n\nfirst\n00:01.000 --> 00:04.000 align:start\n"
    "<v Siv Aas>The <b>ice</b> came\nearly &amp; late.\n\n01:02:05.500 --> 01:02:09.000\nThe ice went.\n\n"
    "01:02:09.000 --> 01:02:10.000\nThe ice went.\n"
)
SRT = (
    "1\r\n00:00:01,000 --> 00:00:04,000\r\n{\\an8}<i>The ice came</i>\r\n\r\n"
    "2\r\n00:01:04,500 --> 00:01:08,000\r\n1887 was cold.\r\n"
)


def test_subtitles_are_read_with_speakers_and_times(extract: Extract) -> None:
    document = extract(VTT.encode(), "a.vtt").document
    assert document.text == "Siv Aas: The ice came early & late.\n\nThe ice went."
    assert [heading.title for heading in document.headings] == ["0:00:01", "1:02:05"]
    assert extract(SRT.encode(), "a.srt").document.text == "The ice came\n\n1887 was cold."


def test_a_page_that_a_browser_saved_in_one_file_is_read(extract: Extract) -> None:
    page = (
        "From: <Saved by a browser>\nSubject: Tides\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=A\n\n"
        "--A\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        "<html><head><title>Tides of Vik</title></head><body><p>H=C3=B8yvann at noon.</p></body></html>\n"
        "--A\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--A--\n"
    )
    document = extract(page.encode(), "a.mhtml").document
    assert (document.title, document.text) == ("Tides of Vik", "Høyvann at noon.")


def test_the_frames_of_a_saved_page_stand_in_their_places(extract: Extract) -> None:
    pages = (
        ("http://vik.example/a.html", "", "<p>Before</p><iframe width=9 src=b.html></iframe><p>After</p>"),
        ("http://vik.example/b.html", "", "<p>Inner</p><iframe src='cid:f1@x'></iframe>"),
        ("", "<f1@x>", '<p>Innermost</p><iframe src="http://vik.example/b.html"></iframe>'),
        ("http://vik.example/c.html", "", "<p>No frame shows this</p>"),
    )
    parts = (
        f"--A\nContent-Type: text/html\nContent-Location: {place}\nContent-ID: {key}\n\n{body}\n"
        for place, key, body in pages
    )
    head = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=A\n\n"
    document = extract((head + "".join(parts) + "--A--\n").encode(), "a.mhtml").document
    assert document.text.split() == ["Before", "Inner", "Innermost", "After"]


TAR_MODES = {"tgz": "gz", "tar.gz": "gz", "tar.bz2": "bz2", "tbz2": "bz2", "tar.xz": "xz", "txz": "xz"}


def packed(kind: str, files: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(held, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=held, mode=f"w:{TAR_MODES.get(kind, '')}") as tar:  # type: ignore[call-overload]
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    return held.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar", *TAR_MODES])
def test_the_files_in_an_archive_are_read(extract: Extract, kind: str) -> None:
    inner = packed("zip", {"deep.txt": b"words of the deep"})
    files = {
        "log/a.txt": b"The ice came early.",
        "b.pdf": pdf([lines_of("The ice went")]),
        "c.zip": inner,
        ".hidden": b"unseen words",
        "__MACOSX/a.txt": b"unseen words",
        "d.bin": b"\x00\x01",
    }
    text = extract(packed(kind, files), f"a.{kind}").document.text
    assert "File: log/a.txt\n\nThe ice came early." in text
    assert "The ice went" in text and "words of the deep" in text and "File: d.bin" in text
    assert "unseen" not in text


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_damaged_archive_is_a_reason(extract: Extract, kind: str) -> None:
    with pytest.raises(ExtractionError, match="damaged"):
        extract(packed(kind, {"a.txt": b"words" * 1000})[:300] if kind == "zip" else b"no archive" * 100, f"a.{kind}")


def test_a_packed_file_is_read_if_the_suffix_before_is_that_of_a_format() -> None:
    read = ("a.tar.gz", b"A.TAR.GZ", "a.txt.gz", "a.pdf.bz2", "a.html.xz")
    assert {format_of(name) for name in read} == {Format.ARCHIVE}
    assert {format_of(name) for name in ("tar.gz", "a.gz", "a.bin.gz", "a.gz.gz")} == {None}


@pytest.mark.parametrize(
    ("path", "is_mail"),
    [
        ("cur/1588578000.M20046P2137.host:2,S", True),
        ("mail/new/1588578000.27c448.host", True),
        ("1588578000.V2I8.host!2,RS", True),
        ("new/20200504.jpg", False),
        ("other/1588578000.27c448.host", False),
    ],
)
def test_a_message_of_a_maildir_is_known_by_its_name_and_folder(path: str, is_mail: bool) -> None:
    assert (format_of(path) is Format.MAIL) is is_mail


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_one_packed_file_is_read(extract: Extract, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    assert extract(pack(b"<p>The ice came early.</p>"), f"log.html.{suffix}").document.text == (
        "File: log.html\n\nThe ice came early."
    )
    found = extract(pack(pdf([lines_of("The ice went")])), f"log.pdf.{suffix}")
    assert "The ice went" in found.document.text
    with pytest.raises(ExtractionError, match="damaged"):
        extract(pack(b"The ice came early. " * 50)[:40], f"log.txt.{suffix}")
