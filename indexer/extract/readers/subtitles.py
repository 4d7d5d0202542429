"""Read subtitles (`.vtt`, `.srt`): what is said, line by line; each minute is a place of its own."""

import re
from html import unescape

from longsearch.indexer.extract.readers.decoding import decode, read_bytes
from longsearch.indexer.extract.readers.text_builder import TextBuilder
from longsearch.indexer.extract.sources import Source
from longsearch.indexer.extract.wire.protocol import FileText

_CUE = re.compile(r"^[ \t]*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}[ \t]*-->.*$", re.MULTILINE)
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?[ \t]+([^>]{1,100})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,100}\}")
_NOT_SAID = re.compile(r"^(?:NOTE|STYLE|REGION)\b.*?(?:\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"\n[ \t]*\d{1,6}[ \t]*\Z")
"""The number of the next cue, before its times."""


def read(path: Source) -> FileText:
    """Return the text of the file at `path`. Raises `ExtractionError`."""
    raw = decode(read_bytes(path)).replace("\r\n", "\n").replace("\r", "\n")
    raw = _NOT_SAID.sub("\n", raw)
    cues = list(_CUE.finditer(raw))
    builder = TextBuilder()
    minute, said = -1, ""
    for number, cue in enumerate(cues):
        stop = cues[number + 1].start() if number + 1 < len(cues) else len(raw)
        words = _NUMBER.sub("", "\n" + raw[cue.end() : stop].rstrip())
        words = " ".join(unescape(_TAG.sub("", _SPEAKER.sub(r"\1: ", words))).split())
        hours, minutes = int(cue[1] or 0), int(cue[2])
        if words and words != said:  # a cue often repeats the one before
            if 60 * hours + minutes != minute:
                minute = 60 * hours + minutes
                builder.mark(1, f"{hours}:{minutes:02}:{cue[3]}")
            builder.add(words, tight=True)
            said = words
    if not cues:
        builder.add(raw)
    return builder.file_text()
