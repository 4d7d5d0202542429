"""E-mail: headers, bodies, quoted replies, attachments within limits, and mailboxes in constant memory."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.errors import ExtractionError
from longsearch.engine.types.documents import DocumentText
from longsearch.indexer.extract.reader import Extraction, ExtractorProcess
from longsearch.indexer.extract.readers import attachments as attachments_module
from longsearch.indexer.extract.readers.mail import eml as eml_reader
from longsearch.indexer.extract.readers.mail import mbox as mbox_reader
from longsearch.indexer.extract.readers.mail.quoting import MAX_QUOTED_CHARACTERS, Said, without_long_quotations
from longsearch.indexer.extract.sources import Held
from tests.indexer.extract.mail_writing import eml, mbox, mbox_entry, message
from tests.indexer.extract.office_writing import far_xlsb, xlsx_parts, zipped
from tests.indexer.extracting import page_text
from tests.indexer.pdf_writing import lines_of, pdf

Extract = Callable[[bytes, str], Extraction]
REPORT = pdf([lines_of("The first page says one thing"), lines_of("The second page says another")])
DEEP = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000))
BOOK = zipped(xlsx_parts({"Budget": [["Item", "Cost"], ["crane", 7.0]]}))


def places(document: DocumentText) -> list[str]:
    return [heading.title for heading in document.headings]


def values(document: DocumentText, field: str) -> list[str]:
    return [value.value for value in document.metadata if value.field == field]


def test_a_message_says_who_when_and_what(extract: Extract) -> None:
    document = extract(eml("Shall we eat?\n", "Lunch at noon"), "a.eml").document
    assert document.text == (
        "Lunch at noon\n\nFrom: Ann Author <ann@example.org>\nTo: Bob Reader <bob@example.org>\n"
        "Date: Mon, 17 May 2021 12:00:00 +0200\n\nShall we eat?"
    )
    assert document.title == "Lunch at noon"
    assert values(document, "author") == ["Ann Author"]
    assert values(document, "date") == ["2021-05-17"]
    assert values(document, "to") == ["Bob Reader"]


def test_encoded_headers_and_bodies_are_decoded(extract: Extract) -> None:
    data = (
        b"From: =?iso-8859-1?q?Andr=E9?= <a@example.org>\nSubject: =?utf-8?b?R3LDvMOfZSBhdXMgS8O2bG4=?=\n"
        b"Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: 8bit\n\n" + "привет".encode("koi8-r")
    )
    document = extract(data, "a.eml").document
    assert document.title == "Grüße aus Köln"
    assert values(document, "author") == ["André"]
    assert document.text.endswith("привет")


def test_of_two_alternatives_the_plain_text_is_read_and_html_only_if_that_is_empty(extract: Extract) -> None:
    page = "<p>as <b>a page</b></p><script>x()</script>"
    assert extract(eml("as text", html=page), "a.eml").document.text.endswith("\n\nas text")
    assert extract(eml(" ", html=page), "b.eml").document.text.endswith("\n\nas a page")


def test_attachments_are_read_by_the_readers_of_their_formats(extract: Extract) -> None:
    data = eml(
        attachments=[("report.pdf", REPORT), ("plan.xlsx", BOOK), ("photo.jpg", b"\xff\xd8"), ("a.md", b"# Hi\n\nyou")]
    )
    found = extract(data, "a.eml")
    assert found.partial_reason == ""
    assert places(found.document) == [
        "Lunch",
        "Attachment: report.pdf",
        "report.pdf: p. 1",
        "report.pdf: p. 2",
        "Attachment: plan.xlsx",
        'plan.xlsx: sheet "Budget" row 2',
        "Attachment: photo.jpg",
        "Attachment: a.md",
        "a.md: Hi",
    ]
    at = found.document.text.index
    assert found.document.place_at(at("says another")).heading == "report.pdf: p. 2"
    assert found.document.place_at(at("crane | 7")).heading == 'plan.xlsx: sheet "Budget" row 2'


def test_a_message_attached_to_a_message_is_read_with_its_own_attachments(extract: Extract) -> None:
    outer = message("See below.", "Fwd")
    outer.add_attachment(message("The old words.", "Harvest", [("a.txt", b"a note")]))
    found = extract(outer.as_bytes(), "a.eml").document
    assert places(found) == ["Fwd", "Attached message: Harvest", "Attachment: a.txt"]
    assert found.text.endswith("The old words.\n\nAttachment: a.txt\n\na note")


def test_messages_nested_too_deep_are_left_out_and_cost_no_crash(extract: Extract) -> None:
    inner = message("the innermost", "number 0")
    for number in range(1, 12):
        outer = message(f"body {number}", f"number {number}")
        outer.add_attachment(inner)
        inner = outer
    text = extract(inner.as_bytes(), "a.eml").document.text
    assert "body 11" in text
    assert "body 7" in text
    assert "body 6" not in text
    with pytest.raises(ExtractionError, match="too deeply nested"):
        extract(DEEP, "b.eml")


def test_an_attachment_that_cannot_be_read_makes_the_message_partial(extract: Extract) -> None:
    data = eml(
        attachments=[("broken.docx", b"PK\x03\x04 cut off"), ("scan.pdf", pdf([b""])), ("note.txt", b"still read")]
    )
    found = extract(data, "a.eml")
    assert found.partial_reason == (
        "attachments that cannot be read: broken.docx: damaged or cut off: it cannot be unpacked; scan.pdf: no text"
    )
    assert "still read" in found.document.text


def test_attachments_beyond_a_limit_are_named_but_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments_module, "MAX_ATTACHMENTS", 2)
    monkeypatch.setattr(attachments_module, "MAX_ATTACHMENT_BYTES", 100)
    notes = [(f"n{number}.txt", f"note {number}".encode()) for number in range(4)]
    found = eml_reader.read(Held("a.eml", eml(attachments=[("big.txt", b"x" * 101), *notes])))
    assert found.warning == "3 attachments not read: too large, too many or too slow"
    assert "note 1" in found.text
    assert "note 2" not in found.text
    assert "Attachment: n3.txt" in found.text


def test_an_attachment_that_ends_the_reader_costs_only_the_attachments(
    extractor: ExtractorProcess, tmp_path: Path
) -> None:
    data = eml("The words of the message.", attachments=[("far.xlsb", far_xlsb()), ("a.txt", b"a note")])
    for name, whole in (("a.eml", data), ("a.mbox", mbox([data, eml("The next one.")]))):
        (tmp_path / name).write_bytes(whole)
        found = extractor.extract(tmp_path / name)
        assert "The words of the message." in found.document.text
        assert "Attachment: a.txt" in found.document.text
        assert found.partial_reason == "2 attachments not read: one of them ended the reader"
    assert "The next one." in found.document.text


def test_an_encrypted_message_keeps_its_headers_and_says_so(extract: Extract) -> None:
    kind = b"application/pkcs7-mime; smime-type=enveloped-data"
    data = b"From: a@example.org\nSubject: Secret plans\nContent-Type: %s\n\nAAAA\n" % kind
    found = extract(data, "a.eml")
    assert found.partial_reason == "1 encrypted"
    assert found.document.title == "Secret plans"


def test_a_file_that_is_no_message_is_refused(extract: Extract) -> None:
    for data in (b"Just some words without a header.\n\nMore.", b"\x89PNG\r\n\x1a\n" + bytes(50)):
        with pytest.raises(ExtractionError, match="not a message"):
            extract(data, "a.eml")
        with pytest.raises(ExtractionError, match="not a mailbox"):
            extract(data, "a.mbox")


def test_a_message_of_apple_mail_is_read_without_its_property_list(extract: Extract) -> None:
    data = eml("Short.")
    found = extract(b"%d \n" % len(data) + data + b"<?xml version='1.0'?><plist>flags</plist>", "1.emlx")
    assert found.document.text.endswith("Short.")


LONG = "\n".join(f"> The quoted line with the number {number} says something." for number in range(8))


def test_a_short_quotation_stays_in_its_place_and_a_long_one_follows_the_message() -> None:
    own, quoted = without_long_quotations(f"> At five?\nYes.\n{LONG}\n\nSee you.", Said())
    assert own == "> At five?\nYes.\nSee you."
    assert quoted.startswith("The quoted line with the number 0 says something.\n")
    assert quoted.count("\n") == 7


def test_lines_of_an_earlier_message_are_not_repeated() -> None:
    said = Said()
    without_long_quotations(LONG.replace("> ", ""), said)
    assert without_long_quotations(f"I agree.\n\n{LONG}\n> And this is new in the quotation.", said) == (
        "I agree.",
        "And this is new in the quotation.",
    )


def test_text_after_the_line_original_message_counts_as_quoted_and_is_cut() -> None:
    original = "\n".join(f"line number {number} of the message before" for number in range(1000))
    own, quoted = without_long_quotations(f"I agree.\n\n-----Original Message-----\n{original}", Said())
    assert own == "I agree."
    assert quoted.endswith("\n…")
    assert len(quoted) <= MAX_QUOTED_CHARACTERS + 2


@given(st.text(alphabet=st.sampled_from(list("> ab\n-_")), max_size=200))
def test_no_line_of_a_short_message_is_lost_by_moving_quotations(body: str) -> None:
    own, quoted = without_long_quotations(body, Said())
    letters = sorted(character for character in body if character in "ab")
    assert sorted(character for character in own + quoted if character in "ab") == letters


def test_each_message_of_a_mailbox_is_a_page_and_a_section(extract: Extract) -> None:
    messages = [
        eml("From here on we walk.\n\nFrom the harbour.", "Walk"),
        eml("Bring bread.", "Food", sender="Carl <c@example.org>"),
        eml("Later.", "Walk, again"),
    ]
    found = extract(mbox(messages), "Inbox.mbox")
    document = found.document
    assert len(document.page_starts) == 3
    assert places(document) == ["Walk", "Food", "Walk, again"]
    assert "From here on we walk.\n\nFrom the harbour." in page_text(found, 1)
    assert "Bring bread." in page_text(found, 2)
    assert document.page_at(document.text.index("Later.")) == 3
    assert (document.title, values(document, "author")) == ("", ["Ann Author", "Carl"])


def test_a_line_that_only_looks_like_the_start_of_a_message_is_text(extract: Extract) -> None:
    start = b"From a@b Mon May 17 12:00:00 2021\n"
    data = start + b"Subject: One\n\nwords\n" + start + b"\nFrom noon on.\n"
    assert len(extract(data, "a.mbox").document.page_starts) == 1


def test_a_message_that_thunderbird_deleted_is_left_out(extract: Extract) -> None:
    deleted = b"X-Mozilla-Status: 0009\n" + eml("gone", "Deleted")
    found = extract(mbox([eml("here", "Kept"), deleted]), "a.mbox")
    assert places(found.document) == ["Kept"]


def test_a_damaged_message_costs_only_itself() -> None:
    found = mbox_reader.read(Held("a.mbox", mbox([eml("first"), DEEP, eml("last")])))
    assert "first" in found.text
    assert "last" in found.text
    assert found.warning == "1 damaged message"
    assert len(found.page_starts) == 3


def test_a_mailbox_larger_than_the_limit_is_partial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox_reader, "MAX_MAIL_CHARACTERS", 3000)
    found = mbox_reader.read(Held("a.mbox", mbox([eml("x" * 1000, f"number {number}") for number in range(9)])))
    assert found.warning == "only the first 3 messages were read: the mailbox is too large"


def test_a_mailbox_takes_the_memory_of_its_text_and_of_one_message(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    entry = mbox_entry(eml("The number NUMBER has words.", "Number NUMBER", [("p.jpg", b"x" * 400_000)]))
    with path.open("wb") as file:
        for number in range(30):
            file.write(entry.replace(b"NUMBER", str(number).encode()))
    assert path.stat().st_size > 15_000_000
    tracemalloc.start()
    found = mbox_reader.read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.page_starts) == 30
    assert peak < 10_000_000  # two thirds of the file; a message takes 6.5 MB while it is parsed


def test_every_message_of_a_long_mailbox_is_a_section() -> None:
    entry = mbox_entry(b"Subject: Number NUMBER\n\nThe number NUMBER.\n")
    data = b"".join(entry.replace(b"NUMBER", str(number).encode()) for number in range(12_000))
    found = mbox_reader.read(Held("a.mbox", data))
    assert [title for _, title, _ in found.headings] == [f"Number {number}" for number in range(12_000)]
    assert len(found.page_starts) == 12_000
