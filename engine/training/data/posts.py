"""Reads questions and answers from tables: a Stack Exchange dump's Posts.xml, and .csv files of posts.

A .csv file has one row for each post. A question has a `title`; an answer names its question in `parentid` or
`question_id`. The text is in `body` or `content`, the id in `id`. Column names ignore case. Other tables hold no posts.
"""

import csv
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_POSTS_XML, _TABLE = "Posts.xml", ".csv"
_LARGEST_FIELD = 1 << 20  # characters; no post is longer


@dataclass(frozen=True, slots=True)
class Post:
    """A question or an answer."""

    thread: str
    """Id of the question that starts the thread."""
    title: str
    """Title of a question; "" for an answer."""
    body: str
    """HTML or Markdown."""
    is_upvoted: bool
    """Whether its score is above 0, or the table has no score."""


def may_hold_posts(path: Path) -> bool:
    """Return whether the file may hold posts, by its name."""
    return path.name == _POSTS_XML or path.suffix.lower() == _TABLE


def read_posts(path: Path) -> Iterator[Post]:
    """Yield all posts of a file, in order; none if it is another table. The file may be larger than memory."""
    rows = _xml_rows(path) if path.name == _POSTS_XML else _csv_rows(path)
    for row in rows:
        score, title = row.get("score", ""), row.get("title", "").strip()
        thread = row.get("id", "") if title else row.get("parentid") or row.get("question_id") or ""
        body = row.get("body") or row.get("content") or ""
        if thread and body:
            yield Post(thread, title, body, not score or (score.isdecimal() and int(score) > 0))


def _xml_rows(path: Path) -> Iterator[Mapping[str, str]]:
    """Yield each row's attributes. A dump has one row a line and may be larger than memory, so no XML tree is built."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.lstrip().startswith("<row "):
                yield {name.lower(): html.unescape(value) for name, value in re.findall(r'(\w+)="([^"]*)"', line)}


def _csv_rows(path: Path) -> Iterator[Mapping[str, str]]:
    """Yield each row's fields by the names in the header; nothing if the header is not that of posts."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        csv.field_size_limit(_LARGEST_FIELD)
        rows = csv.reader(line.replace("\0", "") for line in lines)
        try:
            names = [name.strip().lower() for name in next(rows, [])]
            if not {"body", "content"} & set(names):
                return
            for row in rows:
                yield dict(zip(names, row, strict=False))
        except csv.Error:  # an endless field, or no CSV: keep the rows read so far
            return
