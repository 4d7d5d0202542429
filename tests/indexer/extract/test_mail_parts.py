"""Parts of mail: files in alternatives, messages as files, invitations, Outlook's containers, reports, stubs."""

import base64
from collections.abc import Callable

import pytest

from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.readers.mail.signed import signed_content
from tests.indexer.extract.mail_writing import eml, mbox
from tests.indexer.extract.outlook_writing import msg, tnef
from tests.indexer.pdf_writing import lines_of, pdf

Extract = Callable[[bytes, str], Extraction]
HEAD = "From: Ann <ann@example.org>\nSubject: Ropes\nMIME-Version: 1.0\n"
INNER = "From: Bo <bo@example.org>\nSubject: The winch\n\nThe winch squeals at night.\n"
EVENT = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:7\r\nSUMMARY:Launch of the \r\n lifeboat\r\n"
    "LOCATION:Slipway\\, north side\r\nDTSTART;TZID=Europe/Oslo:20240611T173000\r\nDTEND;VALUE=DATE:20240612\r\n"
    "ORGANIZER;CN=Eva Holm:mailto:eva@example.org\r\nATTENDEE;CN=Per Dahl:mailto:per@example.org\r\n"
    "DESCRIPTION:Wear oilskins.\\nNo dogs.\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def read(extract: Extract, body: str) -> str:
    return extract((HEAD + body).encode(), "a.eml").document.text


def multipart(kind: str, *parts: str, mark: str = "AA") -> str:
    inner = "".join(f"--{mark}\n{part}\n" for part in parts)
    return f"Content-Type: multipart/{kind}; boundary={mark}\n\n{inner}--{mark}--\n"


def test_a_file_inside_alternatives_or_related_parts_is_read(extract: Extract) -> None:
    file = (
        'Content-Type: text/plain; name="list.txt"\nContent-Disposition: inline; filename="list.txt"\n\nSix shackles.'
    )
    page = "Content-Type: text/html\n\n<p>See the list.</p>"
    plain = "Content-Type: text/plain\n\nSee the list."
    for kind in ("mixed", "related"):
        text = read(extract, multipart("alternative", plain, multipart(kind, page, file, mark="BB")))
        assert text.count("See the list.") == 1
        assert "Attachment: list.txt\n\nSix shackles." in text


def tlv(tag: int, content: bytes, has_length: bool = True) -> bytes:
    """Return an element of ASN.1."""
    if not has_length:
        return bytes([tag, 0x80]) + content + b"\0\0"
    return bytes([tag, 0x82]) + len(content).to_bytes(2, "big") + content


@pytest.mark.parametrize("has_length", [True, False])
def test_a_message_that_is_signed_as_a_whole_is_read(extract: Extract, has_length: bool) -> None:
    inner = multipart(
        "mixed", "Content-Type: text/plain\n\nThe deed.", "Content-Type: text/csv; name=a.csv\n\nx,y\n1,2"
    )
    signed_data, data = bytes.fromhex("2a864886f70d010702"), bytes.fromhex("2a864886f70d010701")
    octets = (
        tlv(4, inner.encode())
        if has_length
        else tlv(0x24, tlv(4, inner[:9].encode()) + tlv(4, inner[9:].encode()), False)
    )
    content = tlv(0x30, tlv(6, data) + tlv(0xA0, octets, has_length), has_length)
    whole = tlv(0x30, tlv(2, b"\1") + tlv(0x31, b"") + content, has_length)
    packed = tlv(0x30, tlv(6, signed_data) + tlv(0xA0, whole, has_length), has_length)
    body = base64.encodebytes(packed).decode()
    head = "Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m"
    text = read(extract, f"{head}\nContent-Transfer-Encoding: base64\n\n{body}")
    assert "The deed." in text and "Attachment: a.csv" in text and "smime" not in text
    assert not any(map(signed_content, (packed[:40], b"0\x80" * 5000, tlv(0x30, tlv(6, data)))))


def test_enriched_text_is_read_where_the_plain_text_is_empty(extract: Extract) -> None:
    enriched = "Content-Type: text/enriched\n\n<bold>Six</bold> shackles <<here."
    text = read(extract, multipart("alternative", "Content-Type: text/plain\n\n", enriched))
    assert "Six shackles <here." in text
    assert "Six" not in read(extract, multipart("alternative", "Content-Type: text/plain\n\nPlain.", enriched))


@pytest.mark.parametrize(
    "head",
    [
        'Content-Type: application/octet-stream; name="winch.eml"',
        "Content-Type: application/octet-stream",
        "Content-Type: message/rfc822",
        'Content-Type: message/global; name="winch.eml"',
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_an_attached_message_is_read_whatever_it_is_called(extract: Extract, head: str, is_packed: bool) -> None:
    inner = base64.encodebytes(INNER.encode()).decode() if is_packed else INNER
    encoding = "\nContent-Transfer-Encoding: base64" if is_packed else ""
    text = read(extract, multipart("mixed", "Content-Type: text/plain\n\nSee below.", f"{head}{encoding}\n\n{inner}"))
    assert "The winch\n" in text and "The winch squeals at night." in text


def test_messages_inside_messages_end_at_some_depth(extract: Extract) -> None:
    data = eml("deepest words", subject="s0")
    for level in range(1, 9):
        data = eml(f"words of {level}", subject=f"s{level}", attachments=[(f"m{level}.eml", data)])
    extraction = extract(data, "a.eml")
    assert "words of 5" in extraction.document.text
    assert "not read" in extraction.partial_reason


def test_an_invitation_says_what_when_where_and_who(extract: Extract) -> None:
    alternative = multipart(
        "alternative",
        "Content-Type: text/plain\n\nYou are invited.",
        f"Content-Type: text/calendar; method=REQUEST; charset=utf-8\n\n{EVENT}",
    )
    packed = base64.encodebytes(EVENT.encode()).decode()
    again = f'Content-Type: application/ics; name="i.ics"\nContent-Transfer-Encoding: base64\n\n{packed}'
    for text in (read(extract, alternative), read(extract, again), extract(EVENT.encode(), "a.ics").document.text):
        assert "Launch of the lifeboat" in text
        assert "Start: 2024-06-11 17:30" in text and "End: 2024-06-12" in text
        assert "Place: Slipway, north side\nOrganizer: Eva Holm <eva@example.org>" in text
        assert "Wear oilskins.\nNo dogs." in text


def test_an_event_says_how_it_repeats_and_values_of_old_calendars_are_unquoted(extract: Extract) -> None:
    source = (
        "BEGIN:VCALENDAR\r\nVERSION:1.0\r\nBEGIN:VEVENT\r\nSUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:M=FChle,"
        "=\r\n geschlossen\r\nRRULE:FREQ=WEEKLY;COUNT=4\r\nCONTACT:Port 7\r\nLOCATION:" + "far away " * 60 + "end\r\n"
        "DESCRIPTION;ENCODING=QUOTED-PRINTABLE:First=0D=0A=\r\nsecond\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    text = extract(source.encode(), "a.ics").document.text
    assert text.startswith("Mühle, geschlossen\n\nRepeats: weekly, count 4\n")
    assert "away end\nContact: Port 7" in text and text.endswith("First\nsecond")


def test_an_invitation_that_lies_twice_in_a_message_is_read_once(extract: Extract) -> None:
    part = f"Content-Type: text/calendar\n\n{EVENT}"
    assert read(extract, multipart("mixed", part, part)).count("Wear oilskins.") == 1


def test_a_calendar_that_cannot_be_parsed_is_read_as_text(extract: Extract) -> None:
    assert "SUMMARY:Regatta" in extract(b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Rega\n tta\n", "a.ics").document.text


def test_a_report_says_why_a_message_did_not_arrive(extract: Extract) -> None:
    report = multipart(
        "report; report-type=delivery-status",
        "Content-Type: text/plain\n\nSorry.",
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.org\n\n"
        "Final-Recipient: rfc822; bo@example.org\nDiagnostic-Code: smtp; 550 no such\n harbour\n",
        "Content-Type: text/rfc822-headers\n\nSubject: Mooring fees\nTo: bo@example.org\n",
    )
    text = read(extract, report)
    assert "Diagnostic-Code: smtp; 550 no such harbour" in text
    assert "Subject: Mooring fees" in text
    packed = base64.encodebytes(
        b"Final-Recipient: rfc822; bo@example.org\n\nDiagnostic-Code: 552 box is full\n"
    ).decode()
    head = "Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n"
    assert "Diagnostic-Code: 552 box is full" in read(extract, multipart("report", head + packed))
    newer = "Content-Type: message/global-delivery-status\n\nReporting-MTA: dns; x\n\nDiagnostic-Code: 550 no böx\n"
    assert "Diagnostic-Code: 550 no böx" in read(extract, multipart("report", newer))
    read_one = "Content-Type: message/disposition-notification\n\nDisposition: manual-action; displayed\n"
    assert "Disposition: manual-action; displayed" in read(extract, multipart("report", read_one))


def test_the_page_is_read_as_well_if_the_plain_text_only_excuses_itself(extract: Extract) -> None:
    page = "Content-Type: text/html\n\n<p>The dock closes on Friday; all boats move to the east basin until noon.</p>"
    stub = "Content-Type: text/plain\n\nPlease use a program that shows HTML."
    text = read(extract, multipart("alternative", stub, page))
    assert "The dock closes on Friday" in text
    address = "https://example.org/" + "x" * 200
    assert "The dock closes on Friday" in read(extract, multipart("alternative", f"{stub}\n{address}", page))
    same = "Content-Type: text/plain\n\nThe dock closes on Friday; all boats move to the east basin until noon."
    assert read(extract, multipart("alternative", same, page)).count("The dock closes") == 1


def test_a_message_whose_parts_are_not_parted_is_read_whole(extract: Extract) -> None:
    assert "The dock closes." in read(
        extract, "Content-Type: multipart/mixed; boundary=B\n\n--A\n\nThe dock closes.\n--A--\n"
    )
    part = "Content-Type: message/partial; id=1; number=1\n\nSubject: Dues\n\nThe dues rise.\n"
    assert "The dues rise." in read(extract, multipart("mixed", part))


def test_lines_that_a_program_broke_are_joined_as_it_says(extract: Extract) -> None:
    body = "Content-Type: text/plain; format=flowed; delsp={}\n\nThe har \nbour is \nclosed.\n"
    assert "The harbour isclosed." in read(extract, body.format("yes"))
    assert "The har bour is closed." in read(extract, body.format("no"))


def test_an_outlook_message_is_read_with_what_is_attached_to_it(extract: Extract) -> None:
    report = pdf([lines_of("The keel is cracked")])
    data = msg(
        {0x37: "Survey of the hull", 0x1000: "See the report.", 0x0C1A: "Holm, Eva", 0x0E04: "Dahl, Per; Ane Berg"},
        {"report.pdf": report},
        inner={0x37: "Older survey", 0x1000: "All was well in spring."},
    )
    document = extract(data, "a.msg").document
    assert document.title == "Survey of the hull"
    assert 'From: "Holm, Eva"\nTo: "Dahl, Per", Ane Berg' in document.text
    assert "See the report." in document.text and "Attachment: report.pdf\n\nThe keel is cracked" in document.text
    assert "Attached message: Older survey" in document.text and "All was well in spring." in document.text


def test_eight_bit_strings_of_outlook_are_read_in_their_code_page(extract: Extract) -> None:
    words = "Осмотр корпуса судна назначен на пятницу, просим быть на причале."
    assert words in extract(msg({0x37: "Hull", 0x1000: words.encode("cp1251")}), "a.msg").document.text
    data = tnef({0x37: "Hull", 0x1000: words.encode("cp1251")}, {}, code_page=1251)
    assert words in extract(data, "a.tnef").document.text


def test_a_winmail_dat_is_unpacked(extract: Extract) -> None:
    hidden = tnef({0x37: "Plans", 0x1013: b"<p>The plans are here.</p>"}, {"plan.txt": b"The mole is four ells high."})
    for name, kind in (("winmail.dat", "application/ms-tnef"), ("", "application/octet-stream")):
        packed = base64.encodebytes(hidden).decode()
        part = f'Content-Type: {kind}; name="{name}"\nContent-Transfer-Encoding: base64\n\n{packed}'
        text = read(extract, multipart("mixed", "Content-Type: text/plain\n\nHello.", part))
        assert "The plans are here." in text
        assert "Attachment: plan.txt\n\nThe mole is four ells high." in text


@pytest.mark.parametrize("length", range(0, 400, 37))
def test_a_winmail_dat_that_is_cut_off_keeps_what_came_before(extract: Extract, length: int) -> None:
    whole = tnef({0x37: "Plans"}, {"plan.txt": b"The mole is four ells high."})
    cut = whole[: max(6, length)]
    packed = base64.encodebytes(cut).decode()
    part = f"Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n{packed}"
    text = read(extract, multipart("mixed", "Content-Type: text/plain\n\nHello.", part))
    assert "Hello." in text


def test_a_subject_is_the_title_however_few_letters_it_has(extract: Extract) -> None:
    for subject in ("1887", "Invoice 2020-0815", "RE: 4711", "img_0001.jpg"):
        assert extract(eml("Twelve sacks.", subject=subject), "a.eml").document.title == subject


def test_mailboxes_read_these_parts_too(extract: Extract) -> None:
    report = HEAD + multipart("mixed", f"Content-Type: text/calendar\n\n{EVENT}")
    assert "Place: Slipway, north side" in extract(mbox([report.encode()]), "a.mbox").document.text
