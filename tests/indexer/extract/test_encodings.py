"""Encodings of text: UTF-8 if the bytes are, as declared in the sense of browsers, or as the bytes seem."""

import codecs
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.clean import clean_characters
from longsearch.indexer.extract.reader import Extraction
from longsearch.indexer.extract.readers import decoding
from longsearch.indexer.extract.readers.alphabets import CODECS, likeliest
from longsearch.indexer.extract.readers.encodings import codec_named

Extract = Callable[[bytes, str], Extraction]
SWEDISH = "Färjan gick över sundet; skepparen sade: ”i år går ingen båt” – och gick hem."
JAPANESE = "製造番号①の部品は㈱北浜製作所へ、№7の箱で送ること。髙橋まで。"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("ISO-8859-1", "cp1252", SWEDISH),
        ("latin1", "cp1252", SWEDISH),
        ("iso-8859-9", "cp1254", "İskele çok ıssız; “vapur” gelmiş."),
        ("gb2312", "gb18030", "那座桥由镕工和喆先生设计，价格是€5。"),
        ("x-gbk", "gb18030", "那座桥由镕工和喆先生设计。"),
        ("big5", "big5hkscs", "碼頭的燈塔啱啱修好，嘅時間唔知。"),
        ("shift_jis", "cp932", JAPANESE),
        ("x-sjis", "cp932", JAPANESE),
        ("ks_c_5601-1987", "cp949", "똠방각하가 부두에서 배를 기다렸다."),
        ("tis-620", "cp874", "เรือลำนี้ออกจากท่าเรือตอนเช้า"),
        ("windows-1251", "cp1251", "Паром отходит в полдень — «если будет погода»."),
        ("x-mac-cyrillic", "mac_cyrillic", "Паром отходит в полдень."),
        ("macintosh", "mac_roman", SWEDISH),
        ("cp850", "cp850", "Färjan gick över sundet"),
        ("IBM437", "cp437", "Färjan gick över sundet"),
        ("dos-866", "cp866", "Паром отходит в полдень."),
        ("utf-7", "utf_7", "Färjan går"),
        ("HZ-GB-2312", "hz", "码头管理员每天早上都要记录"),
    ],
)
def test_a_declared_encoding_is_read_as_browsers_and_old_programs_meant_it(label: str, codec: str, text: str) -> None:
    assert decoding.decode(text.encode(codec), label) == text
    page = f'<html><head><meta charset="{label}"></head><body><p>{text}</p></body></html>'
    assert decoding.decode_html(page.encode(codec)) == page


def test_mail_in_a_korean_encoding_that_browsers_refuse_is_read() -> None:
    text = "부두 관리인은 매일 아침 기록했다"
    assert decoding.decode_part(text.encode("iso2022_kr"), "ISO-2022-KR") == text


@pytest.mark.parametrize(
    "label", ["iso-8859-1", "windows-1252", "gbk", "shift_jis", "us-ascii", "koi8-r", "nonsense", ""]
)
def test_valid_utf8_is_utf8_whatever_is_declared(label: str) -> None:
    assert decoding.decode(SWEDISH.encode(), label) == SWEDISH


def test_two_bytes_that_are_utf8_by_chance_are_read_as_declared() -> None:
    assert decoding.decode("港口（泄）".encode("gbk")[:2] + "茅".encode("gbk"), "gbk") == "港茅"


def test_utf8_with_a_broken_end_that_is_called_latin_1_is_utf8() -> None:
    assert decoding.decode(SWEDISH.encode() + b"\xc3", "iso-8859-1") == SWEDISH + "\ufffd"


@pytest.mark.parametrize("label", ["euc-jp", "iso-2022-jp"])
def test_characters_that_nec_and_ibm_added_are_read_in_every_japanese_encoding(label: str) -> None:
    plain = "製造番号 の部品は "
    row_13 = {"euc-jp": b"\xad\xa1\xad\xea", "iso-2022-jp": b"\x1b$B\x2d\x21\x2d\x6a\x1b(B"}[label]
    data = plain.encode("euc_jp" if label == "euc-jp" else "iso2022_jp") + row_13
    assert decoding.decode(data, label) == plain + "①㈱"


def test_a_declaration_that_does_not_fit_is_not_believed() -> None:
    text = "Паром отходит в полдень, а капитан ещё спит на верхней палубе."
    assert decoding.decode(SWEDISH.encode("cp1252"), "gbk") == SWEDISH
    assert decoding.decode(text.encode("cp1251"), "utf-8") == text


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize(
    "text",
    [
        "Twelve barges lay at the quay.\r\n",
        "Паром отходит в полдень.\n",
        "渡船已经停航。\n",
        "Η βάρκα έφυγε.\t1911\n",
        "One line alone. ",
    ],
)
def test_wide_characters_without_a_mark_are_read(codec: str, text: str) -> None:
    assert decoding.decode((text * 3).encode(codec)) == text * 3


@pytest.mark.parametrize(
    "data",
    [
        b"\0\1",
        b"\0\1" * 500,
        b"A\0B\0\n\0",
        b"".join(number.to_bytes(2, "little") for number in range(0x41, 0x5B)) * 40,
        "\n".join(map(chr, (*range(0x3A3, 0x3B0), *range(0x410, 0x430), *range(0x5D0, 0x5EA)))).encode("utf-16-le"),
    ],
    ids=["two bytes", "one number", "two letters", "counted up, no line", "letters of many scripts"],
)
def test_numbers_that_make_letters_are_no_text_of_wide_characters(data: bytes) -> None:
    with pytest.raises(ExtractionError, match="binary data"):
        decoding.decode(data)


def test_a_part_that_declares_wide_characters_may_be_short() -> None:
    assert decoding.decode_part("één".encode("utf-16-le"), "utf-16") == "één"


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp850", "Færgen sejler ikke på søndag, så vi må blive på øen."),
        ("cp437", "El capitán pidió café y pan; mañana zarpará según él."),
        ("cp852", "Kapitan żąda zapłaty za węgiel, a my płyniemy później."),
        ("cp866", "Паром отходит в полдень."),
        ("mac_roman", "El capitán pidió café; mañana zarpará, según él."),
        ("mac_roman", "Die Fähre fährt heute nicht über den großen See."),
        ("mac_cyrillic", "Паром отходит в полдень, капитан спит."),
        ("cp850", "Das Müll-Schiff"),
        ("mac_roman", "une jetée"),
        ("cp1252", "El capitán anotó cada mañana la hora: ¿dónde está el señor Núñez?"),
        ("iso8859_2", "Kierownik portu zapisywał każdego ranka, żeby urząd miał źródło."),
        ("iso8859_2", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
        ("iso8859_15", "Le cœur du vieux port : l'œuvre des pêcheurs vendue 5 €."),
        ("iso8859_5", "Смотритель порта каждое утро записывал время отплытия парома."),
        ("iso8859_6", "كان مدير الميناء يسجل كل صباح وقت مغادرة العبارة."),
        ("iso8859_7", "Ο λιμενάρχης έγραφε κάθε πρωί. Άλλοτε έμενε. Ύστερα έφυγε."),
        ("cp1125", "Доглядач порту щоранку записував час відплиття порома."),
        ("cp437", "┌──────┐\r\n│ Café │\r\n└──────┘\r\n"),
    ],
)
def test_files_of_dos_and_of_old_macs_are_read(codec: str, text: str) -> None:
    assert decoding.decode(text.encode(codec)) == text


def test_a_declaration_of_utf8_that_is_untrue_does_not_make_western_text_cyrillic() -> None:
    assert (
        decoding.decode_part("déjà vu “x” und mehr déjà vu".encode("cp1252"), "utf-8") == "déjà vu “x” und mehr déjà vu"
    )


def test_a_text_that_makes_sense_in_no_encoding_is_left_to_the_detector() -> None:
    assert likeliest(b"a\xd7b\xf7c\xd7d\xf7e", "cp1258") == "cp1258"
    assert likeliest(b"", "koi8_r") == "koi8_r"


@given(st.binary(max_size=300), st.sampled_from(CODECS))
def test_any_bytes_have_a_likeliest_encoding(data: bytes, otherwise: str) -> None:
    assert likeliest(data, otherwise) in CODECS


def test_controls_of_latin_1_are_the_letters_of_windows_that_they_stand_for() -> None:
    assert clean_characters("\x93no coal\x94 \x96 5 \x80\x85") == "“no coal” – 5 €…"
    assert clean_characters("one line\x85another") == "one line\nanother"
    assert clean_characters("a\x81b") == "a\ufffdb"


def test_bytes_of_a_header_that_are_not_encoded_are_read(extract: Extract) -> None:
    subject = b"Die F\xe4hre f\xe4hrt \xfcber den gro\xdfen See"
    mail = b"From: J\xf6rg <j@example.org>\nSubject: " + subject + b"\n\nAhoi, Kapit\xe4n.\n"
    document = extract(mail, "a.eml").document
    assert document.title == "Die Fähre fährt über den großen See"
    assert "Jörg" in document.text and "Ahoi, Kapitän." in document.text


def test_xml_in_an_encoding_that_expat_does_not_know_is_read(extract: Extract) -> None:
    book = (
        '<?xml version="1.0" encoding="gb2312"?><FictionBook><description><title-info><book-title>渡船</book-title>'
        "</title-info></description><body><section><p>朱镕基说，渡船已经停航。</p></section></body></FictionBook>"
    )
    assert "朱镕基说，渡船已经停航。" in extract(book.encode("gb18030"), "a.fb2").document.text


@given(st.text(alphabet="abc-_. 0123456789\"'ÄİXutfisowincp", max_size=30))
def test_any_label_names_a_codec_of_text_or_none(label: str) -> None:
    codec = codec_named(label)
    assert not codec or isinstance(decoding.decode_part(b"caf\xe9", label), str)
    assert not codec or codecs.lookup(codec)


@pytest.mark.parametrize("label", ["punycode", "idna", "hex", "rot13", "zip", "unicode_escape", "undefined", "utf-8\0"])
def test_labels_of_what_is_no_charset_are_refused(label: str) -> None:
    assert codec_named(label) == ""


def _escaped(text: str, codec: str) -> str:
    """Text as RTF holds it: a second byte that is ASCII stands there as it is."""
    return "".join(f"\\'{byte:02x}" if byte > 127 else chr(byte) for byte in text.encode(codec))


@pytest.mark.parametrize(
    ("head", "charset", "codec", "text"),
    [
        ("\\ansi\\ansicpg1250", 0, "cp1250", "Zażółć gęślą jaźń"),
        ("\\ansi\\ansicpg936", 0, "gb18030", "渡船已经停航，朱镕基说。"),
        ("\\mac", 0, "mac_roman", "La vieille jetée était fermée"),
        ("\\pc", 0, "cp437", "Die Fähre fährt über den See"),
        ("\\pca", 0, "cp850", "Die Fähre fährt über den See"),
        ("\\ansi\\ansicpg1252", 128, "cp932", "製造番号①の部品"),
        ("\\ansi\\ansicpg1252", 129, "cp949", "똠방각하"),
        ("\\ansi\\ansicpg1252", 136, "big5hkscs", "碼頭的燈塔"),
        ("\\ansi\\ansicpg1252", 204, "cp1251", "Паром отходит в полдень"),
        ("\\ansi\\ansicpg1252", 161, "cp1253", "Η βάρκα έφυγε"),
    ],
)
def test_rtf_is_read_in_the_code_page_of_its_fonts(
    extract: Extract, head: str, charset: int, codec: str, text: str
) -> None:
    source = f"{{\\rtf1{head}{{\\fonttbl{{\\f0\\fcharset{charset} Some;}}{{\\f1\\fcharset0 Other;}}}}\\f0 %s\\par end}}"
    assert text in extract((source % _escaped(text, codec)).encode(), "a.rtf").document.text
    assert text in extract((source % "%s").encode().replace(b"%s", text.encode(codec)), "a.rtf").document.text


def test_numbered_characters_of_rtf_are_read_without_their_substitutes(extract: Extract) -> None:
    source = rb"{\rtf1\ansi\uc1 caf\u233?\u8212\'97\u-10179?\u-8704? x\uc0\u1055 \u1072 z{\uc2\u26397\'93\'fa!}}"
    assert extract(source, "a.rtf").document.text == "café—😀 xПаz朝!"


def test_bytes_of_a_picture_in_rtf_are_no_text(extract: Extract) -> None:
    source = b"{\\rtf1\\ansi before {\\pict\\bin13 {\\par hidden}} after}"
    assert extract(source, "a.rtf").document.text.split() == ["before", "after"]


def test_a_note_of_two_words_in_wide_characters_is_read(extract: Extract) -> None:
    assert extract("Før møtet.\n".encode("utf-16-le"), "a.txt").document.text == "Før møtet."
