"""How many words of other people's files longsearch finds, by format, beside another reader of the same files.

    python tests/bench/recall.py FOLDER… [--pandoc PROGRAM] [--only docx odt] [--worst 10]

FOLDER holds test files, such as those of Apache POI, Tika, pandoc or pdf.js. Other readers: pandoc for office files,
books and markup (`pip install pypandoc-binary` in an environment of its own has the program), pypdf for PDF, Python's
`email` for mail. Words are compared as sets, file by file: what stands in both, of what the other reader has. Files of
which the other reader has no word are only counted. It prints the formats, why files have no text, and the worst files.
"""

import argparse
import email.policy
import mailbox
import re
import subprocess
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

from pypdf import PdfReader

from longsearch.engine.errors import ExtractionError
from longsearch.indexer.extract.formats import format_of
from longsearch.indexer.extract.reader import ExtractorProcess

_PANDOC = {
    ".docx": "docx", ".docm": "docx", ".dotx": "docx", ".odt": "odt", ".ott": "odt", ".rtf": "rtf", ".epub": "epub",
    ".pptx": "pptx", ".ppsx": "pptx", ".pptm": "pptx", ".xlsx": "xlsx", ".xlsm": "xlsx", ".fb2": "fb2",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".ipynb": "ipynb", ".org": "org", ".rst": "rst",
    ".tex": "latex", ".md": "markdown", ".csv": "csv", ".tsv": "tsv",
}  # fmt: skip
"""How pandoc calls each format that it reads."""
_WORD = re.compile(r"[^\W_]{2,}")
_TIME_S = 60


@dataclass(slots=True)
class Tally:
    """What became of the files of one format."""

    n_files: int = 0
    n_read: int = 0
    n_compared: int = 0
    n_words: int = 0
    """Different words of the other reader, added up over files."""
    n_found: int = 0
    """Those of them that longsearch has."""
    n_more: int = 0
    """Different words that longsearch alone has."""
    reasons: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Read the files and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pandoc", default="pandoc")
    parser.add_argument("--only", nargs="*", default=(), help="these formats alone")
    parser.add_argument("--worst", type=int, default=10, help="how many files of each format to name")
    options = parser.parse_args()
    tallies: dict[str, Tally] = defaultdict(Tally)
    worst: dict[str, list[tuple[int, str]]] = defaultdict(list)
    with ExtractorProcess() as extractor:
        for path in _files(options.folders, {f".{suffix}" for suffix in options.only}):
            if missing := _compare(extractor, path, options.pandoc, tallies[path.suffix.lower()]):
                worst[path.suffix.lower()].append((len(missing), f"{path}: {' '.join(sorted(missing)[:12])}"))
    _print(tallies, worst, options.worst)


def _files(folders: Iterable[Path], only: set[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            suffix = path.suffix.lower()
            if path.is_file() and format_of(path.name) and (not only or suffix in only):
                yield path


def _compare(extractor: ExtractorProcess, path: Path, pandoc: str, tally: Tally) -> set[str]:
    """Read a file with both readers. Return the words that longsearch lacks."""
    tally.n_files += 1
    try:
        extraction = extractor.extract(path)
    except ExtractionError as error:
        tally.reasons[error.message[:100]] += 1
        return set()
    tally.n_read += 1
    theirs, ours = _words(_other_text(path, pandoc)), _words(extraction.document.text)
    tally.n_compared += bool(theirs)
    tally.n_words += len(theirs)
    tally.n_found += len(theirs & ours)
    tally.n_more += len(ours - theirs) if theirs else 0
    return theirs - ours


def _words(text: str) -> set[str]:
    return set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("\xad", "")))


def _other_text(path: Path, pandoc: str) -> str:
    """Return the text that the other reader finds; "" if it cannot read the file."""
    try:
        match path.suffix.lower():
            case ".pdf":
                return "\n".join(page.extract_text() for page in PdfReader(path).pages)
            case ".eml":
                return _text_of_mail(BytesParser(policy=email.policy.default).parsebytes(path.read_bytes()))
            case ".mbox":
                return "\n".join(map(_text_of_mail, mailbox.mbox(path, factory=_message)))
            case suffix if suffix in _PANDOC:
                command = [pandoc, "-f", _PANDOC[suffix], "-t", "plain", "--wrap=none", str(path)]
                done = subprocess.run(command, capture_output=True, timeout=_TIME_S, check=False)
                return done.stdout.decode("utf-8", "replace")
    except Exception:  # the other reader may fail in any way
        return ""
    return ""


def _message(file: object) -> EmailMessage:
    return BytesParser(policy=email.policy.default).parse(file)  # type: ignore[arg-type]


def _text_of_mail(message: EmailMessage) -> str:
    body = message.get_body(("plain", "html"))
    text = body.get_content() if body is not None else ""
    return f"{message.get('subject', '')}\n" + re.sub(r"<[^>]*>", " ", text)


def _print(tallies: dict[str, Tally], worst: dict[str, list[tuple[int, str]]], n_worst: int) -> None:
    print("| format | files | read | compared | words found | more words |\n| --- | --- | --- | --- | --- | --- |")
    for suffix, tally in sorted(tallies.items()):
        share = f"{tally.n_found / tally.n_words:.1%} of {tally.n_words:,}" if tally.n_words else ""
        print(f"| {suffix} | {tally.n_files} | {tally.n_read} | {tally.n_compared} | {share} | {tally.n_more:,} |")
    for suffix, tally in sorted(tallies.items()):
        for reason, number in tally.reasons.most_common():
            print(f"{suffix}: {number} × {reason}")
    for suffix in sorted(worst):
        for number, line in sorted(worst[suffix], reverse=True)[:n_worst]:
            print(f"{suffix} −{number} {line}")


if __name__ == "__main__":
    main()
