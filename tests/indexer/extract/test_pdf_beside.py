"""What lies in a PDF beside its pages' own text: forms, notes, files, layers that are off, printed page numbers."""

import zlib
from collections.abc import Callable

import pytest

from longsearch.indexer.extract.pdf.layers import Layers
from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.readers.xfa import lines_of
from longsearch.indexer.extract.sources import Held
from tests.indexer.extracting import page_text
from tests.indexer.pdf_writing import CATALOG, FIRST_PAGE, content, pdf, stream
from tests.indexer.pdf_writing import lines_of as page_of

Extract = Callable[..., Extraction]
PLAIN = [page_of("Lease of the boathouse\nOwner\nHolder")]


def made(annotations: list[bytes], pages: list[object] | None = None, catalog: bytes = b"", **more: bytes) -> bytes:
    """Return a PDF whose first page has these annotations; `more`: o1001=… further objects."""
    pages = pages or PLAIN  # type: ignore[assignment]
    numbers = [1100 + index for index in range(len(annotations))]
    refs = b" ".join(b"%d 0 R" % number for number in numbers)
    layers = b"/Properties << /L1 1001 0 R /L2 1002 0 R >>"
    kids = b"/Resources << /Font << /F1 3 0 R >> /XObject << /X0 1000 0 R >> %s >>" % layers
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Annots [%s] %s >>" % (
        FIRST_PAGE + 1,
        refs,
        kids,
    )
    root = b"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R %s >>" % catalog.replace(b"REFS", refs)
    extra = {FIRST_PAGE: page, CATALOG: root} | dict(zip(numbers, annotations, strict=True))
    return pdf(pages, extra=extra | {int(key[1:]): body for key, body in more.items()})  # type: ignore[arg-type]


def widget(kind: bytes, entries: bytes, y: int, x: int = 200) -> bytes:
    return b"<< /Type /Annot /Subtype /Widget /FT /%s %s /F 4 /Rect [%d %d %d %d] >>" % (
        kind,
        entries,
        x,
        y,
        x + 90,
        y + 12,
    )


def form(*widgets: bytes) -> bytes:
    return made(list(widgets), catalog=b"/AcroForm << /Fields [REFS] >>")


def test_values_of_fields_stand_in_the_row_of_their_label(extract: Extract) -> None:
    data = form(widget(b"Tx", b"/T (owner) /V (Signe Moe)", 704), widget(b"Tx", b"/T (holder) /V (Aksel Lie)", 690))
    assert extract(data).document.text == "Lease of the boathouse\nOwner Signe Moe\nHolder Aksel Lie"


def test_a_field_without_a_label_is_called_by_its_name(extract: Extract) -> None:
    data = form(widget(b"Tx", b"/T (f1) /TU (Length of the keel) /V (nine ells)", 500))
    assert "Length of the keel: nine ells" in extract(data).document.text


def test_choices_and_ticked_boxes_are_read_and_empty_ones_are_not(extract: Extract) -> None:
    choice = b"/Ff 131072 /T (port) /V (n) /Opt [[(n) (Norby)] [(e) (Esch)]]"
    looks = b"/AP << /N << /%s 1000 0 R /Off 1000 0 R >> >>"
    data = form(
        widget(b"Ch", choice, 600),
        widget(b"Btn", b"/T (sail) /V /Ketch /AS /Ketch " + looks % b"Ketch", 580),
        widget(b"Btn", b"/T (motor) /V /Off /AS /Off " + looks % b"Diesel", 560),
        widget(b"Tx", b"/T (secret) /Ff 8192 /V (open sesame)", 540),
        widget(b"Tx", b"/T (gone) /V (hidden words)", 520).replace(b"/F 4", b"/F 2"),
    )
    data = data.replace(b"1000 0 obj", b"1000 0 obj")
    text = extract(data).document.text
    assert "port: Norby" in text
    assert "sail: [x] Ketch" in text
    assert "Diesel" not in text and "open sesame" not in text and "hidden words" not in text


def test_a_value_that_its_parent_holds_is_read(extract: Extract) -> None:
    child = b"<< /Type /Annot /Subtype /Widget /Parent 1001 0 R /F 4 /Rect [200 704 290 716] >>"
    parent = b"<< /FT /Tx /T (owner) /V (\xfe\xff\x00S\x00\xf8\x00r\x00e\x00n) /Kids [1100 0 R] >>"
    data = made([child], catalog=b"/AcroForm << /Fields [1001 0 R] >>", o1001=parent)
    assert "Owner Søren" in extract(data).document.text


def test_notes_comments_and_replies_follow_their_page_with_their_authors(extract: Extract) -> None:
    data = made(
        [
            b"<< /Type /Annot /Subtype /Text /Rect [9 9 20 20] /Contents (Where is the deed?) /T (Signe) >>",
            b"<< /Type /Annot /Subtype /Text /Rect [9 9 20 20] /Contents (In the chest.) /T (Aksel) /IRT 1100 0 R >>",
            b"<< /Type /Annot /Subtype /StrikeOut /Rect [72 718 260 732] /QuadPoints [72 732 260 732 72 718 260 718]"
            b" /Contents (Not any more) >>",
            b"<< /Type /Annot /Subtype /Popup /Rect [9 9 20 20] /Contents (Where is the deed?) >>",
            b"<< /Type /Annot /Subtype /Highlight /Rect [72 718 260 732] /QuadPoints [72 732 260 732 72 718 260 718]"
            b" >>",
        ]
    )
    assert extract(data).document.text.split("\n\n")[1:] == [
        "Note by Signe: Where is the deed?",
        "Reply by Aksel: In the chest.",
        "Comment on “Lease of the boathouse”: Not any more",
    ]


def test_text_that_was_typed_onto_a_page_is_read_in_its_place(extract: Extract) -> None:
    typed = b"<< /Type /Annot /Subtype /FreeText /Rect [72 715 300 719] /Contents (Void since 1911) /DA (/F1 9 Tf) >>"
    assert extract(made([typed])).document.text.split("\n") == [
        "Lease of the boathouse",
        "Void since 1911",
        "Owner",
        "Holder",
    ]


def test_files_inside_and_pinned_files_are_read_at_their_page(extract: Extract) -> None:
    spec = b"<< /Type /Filespec /F (%s) /UF (%s) /EF << /F %d 0 R >> >>"
    pin = b"<< /Type /Annot /Subtype /FileAttachment /Rect [9 9 20 20] /FS 1003 0 R >>"
    inner = pdf([page_of("The ropes are tarred")])
    data = made(
        [pin],
        [page_of("First leaf"), page_of("Second leaf")],
        b"/Names << /EmbeddedFiles << /Names [(a.pdf) 1001 0 R (b.xyz) 1005 0 R] >> >>",
        o1001=spec % (b"a.pdf", b"a.pdf", 1002),
        o1002=stream(inner, b"/Type /EmbeddedFile"),
        o1003=spec % (b"ropes.csv", b"ropes.csv", 1004),
        o1004=stream(b"rope,ells\nstay,12\n", b"/Type /EmbeddedFile"),
        o1005=spec % (b"b.xyz", b"b.xyz", 1006),
        o1006=stream(b"\x00\x01", b"/Type /EmbeddedFile"),
    )
    extraction = extract(data)
    assert "Attachment: ropes.csv" in page_text(extraction, 1) and "12" in page_text(extraction, 1)
    assert "Attachment: a.pdf\n\nThe ropes are tarred" in page_text(extraction, 2)
    assert "Attachment: b.xyz" in page_text(extraction, 2)
    document = extraction.document
    for heading in document.headings:
        assert heading.title.startswith(("Attachment", "a.pdf", "ropes"))
    assert any(document.text[heading.start :].startswith("Attachment: a.pdf") for heading in document.headings)


@pytest.mark.parametrize(
    ("first", "catalog", "shown"),
    [
        (b"<< /Type /OCG /Name (x) >>", b"/D << /OFF [1001 0 R] >>", False),
        (b"<< /Type /OCG /Name (x) >>", b"/D << /BaseState /OFF /ON [1002 0 R] >>", False),
        (b"<< /Type /OCG /Name (x) >>", b"/D << /OFF [1002 0 R] >>", True),
        (
            b"<< /Type /OCG /Name (x) /Usage << /View << /ViewState /OFF >> >> >>",
            b"/D << /AS [<< /Event /View /Category [/View] /OCGs [1001 0 R] >>] >>",
            False,
        ),
        (b"<< /Type /OCMD /OCGs [1002 0 R] >>", b"/D << /OFF [1002 0 R] >>", False),
        (b"<< /Type /OCMD /OCGs [1002 0 R 1003 0 R] >>", b"/D << /OFF [1002 0 R] >>", True),
        (b"<< /Type /OCMD /OCGs [1002 0 R 1003 0 R] /P /AllOn >>", b"/D << /OFF [1002 0 R] >>", False),
        (b"<< /Type /OCMD /OCGs 1002 0 R /P /AllOff >>", b"/D << /OFF [1002 0 R] >>", True),
        (b"<< /Type /OCMD /OCGs 1002 0 R /P /AllOff >>", b"/D << >>", False),
        (b"<< /Type /OCMD /VE [/Not 1002 0 R] >>", b"/D << /OFF [] >>", False),
    ],
)
def test_what_a_layer_shows_is_read_only_if_it_is_on(
    extract: Extract, first: bytes, catalog: bytes, shown: bool
) -> None:
    page = content(page_of("Seen by all")) + b"\n/OC /L1 BDC\n" + content(page_of("Old offer", 500)) + b"\nEMC\n"
    page += content(page_of("Seen at last", 400))
    group = b"<< /Type /OCG /Name (y) >>"
    data = made(
        [],
        [page],
        b"/OCProperties << /OCGs [1001 0 R 1002 0 R 1003 0 R] %s >>" % catalog,
        o1001=first,
        o1002=group,
        o1003=group,
    )
    text = extract(data).document.text
    assert "Seen by all" in text and "Seen at last" in text
    assert ("Old offer" in text) is shown


def test_a_note_in_a_hidden_layer_is_not_read(extract: Extract) -> None:
    note = b"<< /Type /Annot /Subtype /Text /Rect [90 700 110 720] /Contents (%s) %s >>"
    data = made(
        [note % (b"seen", b""), note % (b"gone", b"/OC 1001 0 R"), note % (b"on", b"/OC 1002 0 R")],
        [content(page_of("Seen by all"))],
        b"/OCProperties << /OCGs [1001 0 R 1002 0 R] /D << /OFF [1001 0 R] >> >>",
        o1001=b"<< /Type /OCG /Name (x) >>",
        o1002=b"<< /Type /OCG /Name (y) >>",
    )
    assert extract(data).document.text == "Seen by all\n\nNote: seen\n\nNote: on"


def test_a_note_that_has_only_marked_words_is_read(extract: Extract) -> None:
    note = b"<< /Type /Annot /Subtype /Text /Rect [90 700 110 720] /RC (<body><p>ice &amp; <b>fog</b></p></body>) >>"
    assert extract(made([note])).document.text.endswith("Note: ice & fog")


def test_words_that_only_the_look_of_an_annotation_draws_are_read(extract: Extract) -> None:
    kinds = {
        1001: (b"/Subtype /Stamp", "Void"),
        1002: (b"/Subtype /FreeText", "Typed on"),
        1003: (b"/Subtype /Widget /FT /Sig /T (s)", "Signed by Eva"),
        1004: (b"/Subtype /Square", "never read"),
    }
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 700] /Resources << /Font << /F1 3 0 R >> >>"
    looks = {f"o{number}": stream(content(page_of(words, 10)), form) for number, (_, words) in kinds.items()}
    annotations = [
        b"<< /Type /Annot %s /F 4 /Rect [72 400 300 440] /AP << /N %d 0 R >> >>" % (kind, number)
        for number, (kind, _) in kinds.items()
    ]
    text = extract(made(annotations, catalog=b"/AcroForm << /Fields [1102 0 R] >>", **looks)).document.text
    assert text.split("\n\n")[-2:] == ["Stamp: Void", "Signature: Signed by Eva"]
    assert "Typed on" in text and "never read" not in text


def test_the_values_of_two_fields_in_a_row_follow_their_own_words(extract: Extract) -> None:
    ticked = b"/T (r) /V /Yes /AS /Yes /AP << /N << /Yes 1000 0 R /Off 1000 0 R >> >>"
    boxes = (widget(b"Tx", b"/T (b) /V (three)", 718, 190), widget(b"Btn", ticked, 718, 115))
    data = made(
        list(boxes),
        [page_of("Salt wanted        Rye wanted")],
        b"/AcroForm << /Fields [REFS] >>",
        o1000=stream(b"", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]"),
    )
    assert extract(data).document.text == "Salt wanted [x] Rye wanted three"


def test_files_that_only_the_document_or_a_page_is_associated_with_are_read(extract: Extract) -> None:
    spec = b"<< /Type /Filespec /F (a.txt) /UF (bill.txt) /EF << /F 1002 0 R >> >>"
    data = made([], catalog=b"/AF [1001 0 R]", o1001=spec, o1002=stream(b"Six shackles.", b"/Type /EmbeddedFile"))
    assert extract(data).document.text.endswith("Attachment: bill.txt\n\nSix shackles.")


def test_a_form_object_in_a_hidden_layer_is_not_read(extract: Extract) -> None:
    look = b"/Type /XObject /Subtype /Form /BBox [0 0 600 700] /OC 1001 0 R /Resources << /Font << /F1 3 0 R >> >>"
    data = made(
        [],
        [content(page_of("Seen by all")) + b"\n/X0 Do"],
        b"/OCProperties << /OCGs [1001 0 R] /D << /OFF [1001 0 R] >> >>",
        o1000=stream(content(page_of("Old offer", 500)), look),
        o1001=b"<< /Type /OCG /Name (x) >>",
    )
    assert extract(data).document.text == "Seen by all"


@pytest.mark.parametrize(
    ("labels", "printed"),
    [
        (b"[0 << /S /r >> 2 << /S /D >>]", ("i", "ii", "1")),
        (b"[0 << /S /D /P (A-) /St 7 >>]", ("A-7", "A-8", "A-9")),
        (b"[0 << /S /D >>]", ()),
        (b"[0 << /P (Cover) >> 1 << /S /A >>]", ("Cover", "A", "B")),
    ],
)
def test_the_printed_numbers_of_pages_are_known(extract: Extract, labels: bytes, printed: tuple[str, ...]) -> None:
    pages = [page_of(f"Leaf {name}") for name in ("one", "two", "three")]
    data = made([], pages, b"/PageLabels << /Nums %s >>" % labels)  # type: ignore[arg-type]
    assert extract(data).document.page_labels == printed


def test_a_form_of_xml_is_read_with_its_captions_and_values() -> None:
    template = (
        b'<template><subform><draw><value><text>Customs of Norby</text></value></draw><field name="a"><caption><value>'
        b"<text>Cargo</text></value></caption></field><draw presence='hidden'><value><text>unseen</text></value></draw>"
        b'<field name="b"/><field name="d"><ui><checkButton/></ui><items><integer>1</integer></items>'
        b'</field><field name="e"><items save="1"><text>n</text><text>s</text></items><items><text>North</text>'
        b"<text>South</text></items></field></subform></template>"
    )
    values = b"<f><a>salt</a><b>40 tons</b><c>loose</c><d>1</d><e>s</e></f>"
    data = b'<xfa:datasets xmlns:xfa="x"><xfa:data>' + values + b"</xfa:data></xfa:datasets>"
    expected = ["Customs of Norby", "Cargo: salt", "b: 40 tons", "d: [x]", "e: South", "c: loose"]
    assert [line for line in lines_of([("template", template), ("datasets", data)]) if line] == expected
    whole = b'<xdp xmlns:xdp="y">' + template + data + b"</xdp>"
    assert lines_of([("", whole)]) == expected


def test_pages_are_asked_for_annotations_unless_none_can_lie_anywhere_in_the_file() -> None:
    def may_annotate(data: bytes) -> bool:
        return Layers(Held("a.pdf", data), data).may_annotate

    def packed(data: bytes) -> bytes:
        return b"<</Type/ObjStm>>\nstream\r\n" + data + b"\nendstream "

    link, note = b"<</Subtype/Link>> <</Subtype /Type1C /Title (streams)>> ", b"<</Subtype /Text>> "
    assert not may_annotate(link)
    assert may_annotate(link + note)
    assert not may_annotate(link + packed(zlib.compress(link)))
    assert may_annotate(link + packed(zlib.compress(link + note)))
    assert may_annotate(link + packed(b"damaged"))
    assert may_annotate(b"<</Encrypt 5 0 R>> " + packed(b"..."))
    assert not may_annotate(b"<</Length 20>> stream\n" + note + b"\nendstream " + link)
    assert may_annotate(b"<</Length 20>> stream\n" + link + b"\nendstream " + note)
