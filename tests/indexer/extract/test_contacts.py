"""Address books: people with their names, numbers, addresses and notes."""

from collections.abc import Callable

from longsearch.indexer.extract.reader import Extraction

Extract = Callable[[bytes, str], Extraction]
OLD = (
    "BEGIN:VCARD\r\nVERSION:2.1\r\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:S=C3=B8rlie;Siv;;Dr.;\r\n"
    "FN:Siv\r\nTEL;WORK;VOICE:+47 431 1\r\n"
    "ADR;HOME;ENCODING=QUOTED-PRINTABLE:;;Sea Way 4=0D=0AYard;Vik;;12;=\r\nNorway\r\n"
    "PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQ\r\n SkZJRgAB\r\n\r\nREV:20200101\r\nEND:VCARD\r\n"
)
NEW = (
    "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ane Berg\r\nORG:Vik line;Board\r\n"
    "item1.EMAIL;TYPE=INTERNET:mailto:ane@vik.example\r\n"
    'item1.X-ABLabel:_$!<Boat>!$_\r\nADR;TYPE="home,work";LABEL="a;b:c":;;Pier 1;Vik;;;\r\n'
    "NOTE:Two boats\\, on\r\n"
    " e wreck\\; rents both.\\nCall late.\r\nKEY:data:application/pgp-keys;base64,AAAA\r\n"
    "RELATED:urn:uuid:77\r\nX-SPOUSE:Bo\r\nTEL;VALUE=uri;TYPE=cell:tel:+47-555\r\nEND:VCARD\r\n"
)


def test_each_card_is_a_heading_with_what_it_says(extract: Extract) -> None:
    document = extract((OLD + NEW).encode(), "people.vcf").document
    assert [heading.title for heading in document.headings] == ["Siv", "Ane Berg"]
    assert document.text == (
        "Siv\n\nName: Dr. Siv Sørlie\nPhone (work): +47 431 1\nAddress (home): Sea Way 4 Yard, Vik, 12, Norway\n\n"
        "Ane Berg\n\nOrganization: Vik line, Board\nE-mail (Boat): ane@vik.example\n"
        "Address (home, work): Pier 1, Vik\n\nNote: Two boats, one wreck; rents both.\n"
        "Call late.\n\nSpouse: Bo\nPhone (cell): +47-555"
    )


def test_a_card_without_a_name_is_called_after_what_it_says(extract: Extract) -> None:
    cards = ("N:Holm;Eva;;;", "ORG:Harbour office", "TEL:77820")
    source = "".join(f"BEGIN:VCARD\n{line}\nEND:VCARD\n" for line in cards)
    headings = extract(source.encode("utf-16"), "a.vcard").document.headings
    assert [heading.title for heading in headings] == ["Eva Holm", "Harbour office", "77820"]


def test_a_file_that_holds_no_card_is_read_as_text(extract: Extract) -> None:
    assert extract(b"no card in it", "a.vcf").document.text == "no card in it"


def test_a_card_that_is_attached_to_a_message_is_read(extract: Extract) -> None:
    message = "Content-Type: multipart/mixed; boundary=A\n\n--A\nContent-Type: text/plain\n\nMy card.\n--A\n"
    message += f"Content-Type: text/x-vcard; name=a.vcf\n\n{NEW}\n--A--\n"
    text = extract(message.encode(), "a.eml").document.text
    assert "My card." in text and "E-mail (Boat): ane@vik.example" in text
