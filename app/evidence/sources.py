"""Finds the documents that a draft means by its citations: by key, file, author and year, or a `.bib` file's entry."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path

from longsearch.app.evidence.references import citations
from longsearch.app.search.query_vectors import VectorSource
from longsearch.app.search.scope import Scope, opened
from longsearch.app.search.searching import Question, search
from longsearch.engine.citing.bib_reader import BibEntry, bib_entries, without_latex
from longsearch.engine.citing.cited import Cited
from longsearch.engine.errors import LongsearchError
from longsearch.engine.query_language.file_filter import folded
from longsearch.engine.types.progress import FileStatus
from longsearch.engine.types.results import SearchMode

_K = 50
_MAX_BIB_BYTES = 50_000_000
_LOCAL = re.compile(r"^file:(?://(?:localhost)?(?=/))?", re.IGNORECASE)
_PLACE = re.compile(r"(?<=\w)#[^#/]*\Z")
"""Where in a file a link leads: paper.pdf#page=3."""
_FOLDERS = re.compile(r"\A.*[/\\](?=[^/\\])|/+\Z")
_DOI = re.compile(r"(?<![\w.])10\.\d{4,9}/\S+")
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf)/([\w.-]+?\d)(?:v\d+)?(?:\.pdf)?\Z", re.IGNORECASE)
_LEAST_NAME = 4
"""Letters of a key; a shorter one stands in too many names of files."""
_MAX_NAMES = 50_000
"""Files of a folder among which one that is not read yet is looked for."""


class Sources:
    """Answers which documents a citation means, each citation once."""

    def __init__(self, scope: Scope, source: VectorSource, draft: Path | None = None) -> None:
        """`draft`: the file that cites; links and `.bib` files are looked for beside it."""
        self._scope, self._source = scope, source
        self._folder = draft.parent if draft else None
        self._known: dict[Cited, frozenset[str]] = {}

    def documents(self, cited: Cited) -> frozenset[str]:
        """Return the absolute paths of the documents that may be meant; none if nothing is known of the source."""
        if cited not in self._known:
            self._known[cited] = frozenset(self._linked(cited)) or self._found(self._queries(cited))
        return self._known[cited]

    def missing(self, cited: Cited) -> str:
        """Say why no document is known as this source; "" if one is."""
        if self.documents(cited):
            return ""
        if any(file.is_file() for file in self._files(cited.name)):
            return f"{cited.text} is not indexed"
        wanted = [part for part in (cited.author, cited.year) if part] if cited.author else [cited.name]
        if unread := [name for name in self._unread if all(folded(part) in folded(name) for part in wanted)]:
            return f"{cited.text} is not read yet: {unread[0]}"
        return f"no document is known as {cited.text}"

    def _files(self, name: str) -> list[Path]:
        """Return the paths that a link may mean: beside the draft, with the place in the file and without it."""
        name = _LOCAL.sub("", name)
        if self._folder is None or "://" in name or "\0" in name or not ("/" in name or Path(name).suffix):
            return []
        names = dict.fromkeys((name, _PLACE.sub("", name), _PLACE.sub("", name).replace("\\", "/")))
        return [self._folder / one for one in names]

    def _linked(self, cited: Cited) -> Iterator[str]:
        """Yield the files that a link or an entry of a `.bib` file names, if they are indexed."""
        paths = self._files(cited.name)
        if entry := self._bib.get(cited.name):
            paths += [(self._folder or Path()) / path for path in entry.files]
        wanted = [path.resolve() for path in paths]
        if not wanted:
            return
        with opened(self._scope) as found:
            for folder, index in found.parts:
                for path in wanted:
                    if path.is_relative_to(folder.root):
                        relative = path.relative_to(folder.root).as_posix()
                        if index.document_of(relative) is not None:
                            yield str(path)

    def _queries(self, cited: Cited) -> Iterator[str]:
        """Yield what to ask for, the surest first."""
        name, author, year = (re.sub(r'["\\]', "", part) for part in (_own_name(cited.name), cited.author, cited.year))
        if entry := self._bib.get(cited.name):
            fields = {field: without_latex(value).replace('"', "") for field, value in entry.fields.items()}
            yield from (f'{field}:"{fields[field]}"' for field in ("doi", "title") if fields.get(field))
            author = re.split(r",| and ", fields.get("author", author))[0].split(" ")[-1]
            year = (re.findall(r"\d{4}", fields.get("year", "") + fields.get("date", "")) or [year])[0]
        elif number := _DOI.search(cited.name):
            yield f'doi:"{number[0]}"'
        elif number := _ARXIV.search(cited.name):
            yield from (f'arxiv:"{number[1]}"', f'in:"{number[1]}"')
        elif len(name) >= _LEAST_NAME:
            yield f'in:"{name}"'
        if author and year:
            yield f'author:"{author}" date:{year}'
            yield f'in:"{author}" in:"{year}"'
            yield f'in:"{author}" date:{year}'
            yield f'author:"{author}" in:"{year}"'

    def _found(self, queries: Iterator[str]) -> frozenset[str]:
        found: set[str] = set()
        for query in queries:
            try:
                hits = search(self._scope, Question(query, SearchMode.WORDS, k=_K), self._source).hits
            except LongsearchError:  # such as a field that no document has
                continue
            found.update(path for hit in hits for path in (hit.path, *hit.also_at))
        return frozenset(found)

    @cached_property
    def _bib(self) -> Mapping[str, BibEntry]:
        """The entries of the `.bib` files beside the draft and of the settings, by key."""
        files = [*sorted(self._folder.glob("*.bib")), *citations().bib] if self._folder else list(citations().bib)
        entries: dict[str, BibEntry] = {}
        for file in files:
            try:
                if file.stat().st_size < _MAX_BIB_BYTES:
                    text = file.read_bytes().decode("utf-8", "replace")
                    entries |= {entry.key: entry for entry in bib_entries(text)}
            except OSError:
                continue
        return entries

    @cached_property
    def _unread(self) -> list[str]:
        """The files of the folders that no index holds yet, or that could not be read; [] for an agent."""
        if self._folder is None:
            return []
        with opened(self._scope) as found:
            read = {
                str(Path(folder.root) / one.path)
                for folder, index in found.parts
                for one in index.files()
                if one.status is not FileStatus.FAILED
            }
            roots = [folder.root for folder, _ in found.parts if not folder.away]
        paths = (f"{place}/{name}" for root in roots for place, _, names in os.walk(root) for name in names)
        return [path for path in islice(paths, _MAX_NAMES) if path not in read]


def _own_name(source: str) -> str:
    """Return the name of a file without its folders and the place in it; a key as it is."""
    return _FOLDERS.sub("", _PLACE.sub("", source))
