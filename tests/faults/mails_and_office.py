"""Makes a folder of mails with attachments and of office files, sound ones and damaged ones.

    python -m tests.faults.mails_and_office FOLDER --mails 1000 --office 200

Each file holds a word of its own, so that a search can prove that it was read: `heron` and the number of a mail,
`attached` and the number of a mail in its attachment, `ledger` and the number of an office file.
"""

import argparse
import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.indexer.extract.book_writing import docx_parts, epub_parts, paragraph
from tests.indexer.extract.mail_writing import mbox_entry, message
from tests.indexer.extract.office_writing import odf_parts, odf_rows, pptx_parts, shape, xlsx_parts, zipped
from tests.indexer.pdf_writing import lines_of, pdf

SUBJECTS = ("Lunch", "Re: Lunch", "Costs of the crane", "Grüße aus Köln", "вопрос", "会议", "")
SENTENCES = (
    "The crane lifts the beam at noon.",
    "Die Kosten stehen in der Tabelle.",
    "Nous partons demain matin.",
    "Can you send me the report of last year?",
    "> At five o'clock?",
    "Yes, at five.",
)
Make = Callable[[str], bytes]


def _notebook(word: str) -> bytes:
    cells = [{"cell_type": "markdown", "source": f"# Heat\n\n{word}"}, {"cell_type": "code", "source": "x = 1"}]
    return json.dumps({"cells": cells}).encode()


MAKERS: dict[str, Make] = {
    "pptx": lambda word: zipped(pptx_parts([shape("Costs", kind="title"), shape(f"about {word}")], {1: "a note"})),
    "xlsx": lambda word: zipped(xlsx_parts({"Budget": [["Item", "Cost"], [word, 7.0], ["rope", 8.0]]})),
    "docx": lambda word: zipped(docx_parts(paragraph("Title", "Heading1") + paragraph(f"about {word}"))),
    "odt": lambda word: zipped(odf_parts("text", f"<text:h>Heat</text:h><text:p>about {word}</text:p>")),
    "ods": lambda word: zipped(
        odf_parts("spreadsheet", f'<table:table table:name="A">{odf_rows(("a", word))}</table:table>')
    ),
    "odp": lambda word: zipped(odf_parts("presentation", f"<draw:page><text:p>about {word}</text:p></draw:page>")),
    "epub": lambda word: zipped(epub_parts({"a.xhtml": f"<h1>One</h1><p>about {word}</p>"}, "A book")),
    "pdf": lambda word: pdf([lines_of(f"The first page is about {word}"), lines_of("The second page")]),
    "rtf": lambda word: rb"{\rtf1\ansi{\info{\title Rope}} about " + word.encode() + rb"\par}",
    "csv": lambda word: f"Item;Cost\n{word};7\nrope;8\n".encode(),
    "ipynb": _notebook,
    "fb2": lambda word: f"<FictionBook><body><section><p>about {word}</p></section></body></FictionBook>".encode(),
    "md": lambda word: f"# Rope\n\nabout {word}\n".encode(),
    "html": lambda word: f"<h1>Rope</h1><p>about {word}".encode(),
}
OFFICE = ("pptx", "xlsx", "docx", "odt", "ods", "odp", "rtf", "csv", "ipynb", "fb2")


def _cut_off(data: bytes, random_: random.Random) -> bytes:
    return data[: random_.randrange(1, len(data))]


def _spliced(data: bytes, random_: random.Random) -> bytes:
    for _ in range(4):
        at = random_.randrange(len(data))
        data = data[:at] + random_.randbytes(random_.randrange(9)) + data[at + random_.randrange(9) :]
    return data


def _other_format(data: bytes, random_: random.Random) -> bytes:
    return MAKERS[random_.choice(OFFICE)]("elsewhere")


def _bytes(data: bytes, random_: random.Random) -> bytes:
    return random_.randbytes(2_000)


def _bomb(data: bytes, random_: random.Random) -> bytes:
    return _zip_bomb()


@cache
def _zip_bomb() -> bytes:
    bomb = " " * 30_000_000
    members = ("content.xml", "ppt/presentation.xml", "word/document.xml", "xl/workbook.xml", "[Content_Types].xml")
    return zipped(dict.fromkeys(members, bomb))


def _entities(data: bytes, random_: random.Random) -> bytes:
    declared = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    content = f"{declared}]><FictionBook><body><p>&j;</p></body></FictionBook>"
    members = ("content.xml", "ppt/presentation.xml", "word/document.xml", "[Content_Types].xml")
    return zipped(dict.fromkeys(members, content)) if data.startswith(b"PK") else content.encode()


DAMAGE = (_cut_off, _spliced, _other_format, _bytes, _bomb, _entities)


def write(folder: Path, n_mails: int, n_office: int) -> dict[str, list[str]]:
    """Write the files, and return the words that each sound one must be found by, by path under `folder`.

    Every sixth mail has a damaged attachment, every eleventh is damaged itself, and every fourth office file is. One
    mailbox holds the sound mails again.
    """
    random_ = random.Random(7)
    words: dict[str, list[str]] = {}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "all.mbox").open("wb") as mailbox:
        for number in range(n_mails):
            data, found_by = _mail(number, random_)
            if number % 11 == 10:
                data = DAMAGE[number % 4](data, random_)
            else:
                mailbox.write(mbox_entry(data))
                words[f"mail-{number:05}.eml"] = found_by
            (folder / f"mail-{number:05}.eml").write_bytes(data)
    words["all.mbox"] = [word for found_by in words.values() for word in found_by]
    for number in range(n_office):
        suffix = OFFICE[number % len(OFFICE)]
        name, data = f"office-{number:05}.{suffix}", MAKERS[suffix](f"ledger{number}")
        if number % 4 == 3:
            data = DAMAGE[number // 4 % len(DAMAGE)](data, random_)
        else:
            words[name] = [f"ledger{number}"]
        (folder / name).write_bytes(data)
    return words


def _mail(number: int, random_: random.Random) -> tuple[bytes, list[str]]:
    """Return a mail, and the words that it must be found by."""
    body = "\n".join(random_.choices(SENTENCES, k=random_.randrange(1, 30))) + f"\nheron{number}\n"
    suffixes = random_.choices(tuple(MAKERS), k=random_.randrange(4))
    attachments = [(f"{index}.{suffix}", MAKERS[suffix](f"attached{number}")) for index, suffix in enumerate(suffixes)]
    if number % 6 == 5:
        suffix = random_.choice(OFFICE)
        damaged = random_.choice(DAMAGE[:4])(MAKERS[suffix]("damaged"), random_)
        attachments.append((f"damaged.{suffix}", damaged))
    attachments.append(("photo.jpg", random_.randbytes(3_000)))
    made = message(body, random_.choice(SUBJECTS), attachments, html="<p>as a page</p>" if number % 3 else "")
    if number % 50 == 49:
        made.add_attachment(message(f"inner{number}", "attached message"))
    return made.as_bytes(), [f"heron{number}", *([f"attached{number}"] if suffixes else [])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mails", type=int, default=1000)
    parser.add_argument("--office", type=int, default=200)
    options = parser.parse_args()
    write(options.folder, options.mails, options.office)
