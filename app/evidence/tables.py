"""Fills a table of evidence: questions down, documents across, in each cell the sentence that answers best.

The file is its own memory. What stands in a cell stays, whoever wrote it; an empty cell is looked up. Until the table
is complete, a list beside it names the empty cells that were looked up already.
"""

import json
import math
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock

from longsearch.app.evidence.grids import FORMATS
from longsearch.app.search.query_vectors import VectorSource
from longsearch.app.search.scope import Scope, opened
from longsearch.app.search.searching import Question, search
from longsearch.app.user_data.user_file import replace_named
from longsearch.engine.errors import LongsearchError
from longsearch.engine.places import place_of
from longsearch.engine.printable import condensed, printable
from longsearch.engine.quantities import quantities
from longsearch.engine.store import documents, files
from longsearch.engine.types.results import ChanceLevel, DocumentHit, SearchMode, Verdict

_CORNER = "question"
_SAVED_EACH_S = 20
_AROUND = 60
"""Characters on each side of a quantity, and the rest of the words in which they end."""
_PLACE = re.compile(r" \[[^\[\]]*\]$")
# A folder's best document is expected to answer, most of a table's are not: so these lines, in log odds, are stricter
# than those of `Verdict`. Drawn on 120 questions about stories and pages of the government, each asked of the document
# that answers and of four others, and on 115 cells of privacy policies, which all answer. Of 480 cells without an
# answer they call 2 likely and 7 unsure (7 and 17 by the lines of `Verdict`), of 235 with one 108 and 59 (153 and 15).
_LIKELY_FROM, _UNSURE_FROM = 0.8, -0.8
_PER_BETTER = 0.25
"""What each point loses by which another document of these folders answers more surely."""
_BY_CHANCE = {ChanceLevel.GOOD: "likely", ChanceLevel.WEAK: "unsure"}


@dataclass(frozen=True, slots=True)
class Column:
    """A document of the table."""

    name: str
    """Its path in its folder; with several folders, after the folder's name."""
    root: str
    path: str
    """Relative to `root`."""

    @property
    def file(self) -> str:
        """Its whole path."""
        return os.path.join(self.root, self.path)  # noqa: PTH118 - Path would normalise a hostile name


class Table:
    """The cells of one table, by question and name of the document, with the folders that it asks."""

    def __init__(
        self,
        questions: Sequence[str],
        columns: Sequence[Column],
        file: Path | None,
        kind: str,
        scope: Scope,
        source: VectorSource,
    ) -> None:
        """Reads back what the file holds. Raises LongsearchError if it is no table of this kind."""
        self.questions, self.columns, self.file = questions, columns, str(file or "")
        self.documents = [column.name for column in columns]
        self._scope, self._source = scope, source
        self._file, self._kind = file and file.resolve(), kind
        self._lock = Lock()
        """For the cells, which a person may correct while they are filled."""
        self.cells: dict[tuple[str, str], str] = {}
        self.looked_up: set[tuple[str, str]] = set()
        self._found = b""
        """What the file held when it was opened, until that is kept beside it."""
        if self._file is not None and self._file.exists():
            self._read_back(self._file)

    @property
    def _list(self) -> Path | None:
        return self._file and self._file.with_name(f"{self._file.name}.unfinished")

    def _read_back(self, file: Path) -> None:
        self._found = file.read_bytes()
        rows = FORMATS[self._kind][1](self._found)
        if not rows or not rows[0] or rows[0][0].strip() != _CORNER:
            hint = f"give another file to write to, or if it is damaged, what it held before: {_before(file)}"
            raise LongsearchError(f"{file} holds another table", hint)
        for row in rows[1:]:
            for name, text in zip(rows[0][1:], row[1:], strict=False):
                if text.strip():
                    self.cells[condensed(row[0]), name] = text.strip()
        if self._list is not None and self._list.exists():
            lines = self._list.read_text("utf-8").splitlines()
            self.looked_up = {(one[0], one[1]) for one in map(json.loads, lines) if len(one) == 2}

    def open_cells(self) -> list[tuple[str, Column]]:
        """Return the empty cells that were not looked up yet."""
        wanted = ((question, column) for question in self.questions for column in self.columns)
        known = self.cells.keys() | self.looked_up
        return [(question, column) for question, column in wanted if (question, column.name) not in known]

    def text(self) -> bytes:
        """Return the whole table as its file holds it, with the rows and columns that only the file has."""
        names = list(dict.fromkeys([*(one.name for one in self.columns), *(name for _, name in self.cells)]))
        questions = dict.fromkeys([*self.questions, *(question for question, _ in self.cells)])
        rows = [[_CORNER, *names]]
        rows += [[question, *(self.cells.get((question, name), "") for name in names)] for question in questions]
        return FORMATS[self._kind][0](rows)

    def values(self) -> bytes:
        """Return the quantities in the cells as CSV, a row for each: question, document, value, to, unit, words."""
        rows = [["question", "document", "value", "to", "unit", "words"]]
        for (question, name), text in self.cells.items():
            said = _PLACE.sub("", text)
            for one in quantities(said):
                high = f"{one.high:.12g}" if one.high != one.low else ""
                first, last = said.rfind(" ", 0, max(one.start - _AROUND, 0)) + 1, said.find(" ", one.stop + _AROUND)
                around = said[first : last if last >= 0 else len(said)]
                rows.append([question, name, f"{one.low:.12g}", high, one.unit, around])
        return FORMATS["csv"][0](rows)

    def save(self) -> None:
        """Write the file, what it held before, and while cells are open their list. Raises LongsearchError."""
        if self._file is None or self._list is None:
            return
        with self._lock:
            text = self.text()
            if self._found not in (b"", text):
                replace_named(_before(self._file), self._found)
                self._found = b""
            replace_named(self._file, text)
            if self.open_cells():
                lines = (json.dumps(list(one)) for one in sorted(self.looked_up - self.cells.keys()))
                replace_named(self._list, "\n".join(lines).encode())
            else:
                self._list.unlink(missing_ok=True)

    def put(self, question: str, name: str, text: str) -> None:
        """Write a cell; it counts as looked up."""
        with self._lock:
            self.looked_up.add((question, name))
            if text:
                self.cells[question, name] = text
            else:
                self.cells.pop((question, name), None)

    def cell(self, question: str, document: str) -> str:
        """Return the text of a cell; "" for an empty one."""
        return self.cells.get((question, document), "")

    def path_of(self, document: str) -> str:
        """Return the path of a document."""
        return next(one.file for one in self.columns if one.name == document)

    def correct(self, question: str, document: str, text: str) -> None:
        """Write the text of a cell by hand, and the file."""
        self.put(question, document, condensed(printable(text)))
        self.save()

    def fill(self, now: Callable[[], float] = time.monotonic) -> Generator[int, None, None]:
        """Fill the open cells, and yield how many are left after each. What was done is saved, however it ends."""
        answer = answering(self._scope, self._source, frozenset(column.file for column in self.columns))
        self.save()  # whether it can be written is known before the work, not after
        left, saved = self.open_cells(), now()
        try:
            for n_done, (question, column) in enumerate(left, start=1):
                text = answer(question, column)
                if (question, column.name) not in self.cells:  # a person may have written it meanwhile
                    self.put(question, column.name, text)
                if now() - saved > _SAVED_EACH_S:
                    self.save()
                    saved = now()
                yield len(left) - n_done
        finally:
            self.save()


def open_table(questions: Path, scope: Scope, source: VectorSource) -> Table:
    """Open the table that is kept beside a file of questions. Raises LongsearchError for one that asks nothing."""
    file = kept_beside(questions)
    return Table(questions_in(questions), columns_of(scope, (questions, file)), file, "csv", scope, source)


def kept_beside(questions: Path) -> Path:
    """Return the file in which the app keeps the table of a file of questions."""
    return questions.with_name(f"{questions.stem}.table.csv")


def questions_in(file: Path) -> list[str]:
    """Return the questions of a file, each once. Raises LongsearchError if it holds none."""
    if not file.is_file():
        raise LongsearchError(f"{file} is not a file", "name a text file with a question on each line")
    lines = (condensed(printable(line)) for line in file.read_bytes().decode("utf-8-sig", "replace").splitlines())
    found = list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
    if not found:
        raise LongsearchError(f"{file} asks nothing", "write a question on each line")
    return found


def columns_of(scope: Scope, own: Iterable[Path] = ()) -> list[Column]:
    """Return the documents of these folders, each once, by the best of its names.

    The table's `own` files are left out: a file of questions would answer each of them.
    """
    left_out = {str(file.resolve()) for file in own}
    with opened(scope) as found:
        paths = [
            (folder, named[0])
            for folder, index in found.parts
            for named in files.paths_of_each(index.db, documents.all_ids(index.db).tolist(), scope.under).values()
        ]
    is_one = len({folder.root for folder, _ in paths}) == 1
    named = ((path if is_one else f"{folder.name}/{path}", folder.root, path) for folder, path in paths)
    columns = (Column(condensed(printable(name)), *place) for name, *place in named)
    return sorted((one for one in columns if one.file not in left_out), key=lambda one: one.name)


def answering(scope: Scope, source: VectorSource, files: Set[str]) -> Callable[[str, Column], str]:
    """Return what finds the text of a cell. A question's vector is made once, and once it is asked of all documents.

    `files`: the whole paths of the table's documents; the folders may hold others.
    """
    known = lru_cache(maxsize=64)(source)

    @lru_cache(maxsize=64)
    def anywhere(question: str) -> float | None:
        asked = Question(question, SearchMode.HYBRID, unfold=True, literal=True, read=True)
        hits = search(scope, asked, known).hits
        return _likeliest([hit for hit in hits if not files.isdisjoint((hit.path, *hit.also_at))])

    def answer(question: str, column: Column) -> str:
        also = [("in", column.path)]
        asked = Question(question, SearchMode.HYBRID, k=3, also=also, unfold=True, literal=True)
        found = search(scope, asked, known).hits
        level = next((hit.level for hit in found if column.file in (hit.path, *hit.also_at)), None)
        if level is ChanceLevel.CHANCE:  # not read: see "A table of evidence" in docs/evidence.md
            return ""
        results = search(scope, replace(asked, read=True), known)
        best = next((one for one in results.answers(15) if column.file in (one.hit.path, *one.hit.also_at)), None)
        if best is None or results.verdict is Verdict.NOTHING:
            return ""
        own = _likeliest([best.hit])
        said = (
            _BY_CHANCE.get(best.hit.level or ChanceLevel.CHANCE) if own is None else level_of(own, anywhere(question))
        )
        if not said:
            return ""
        passage = best.passage
        place = place_of(best.hit.path, passage)
        about = ", ".join(filter(None, (place or passage.heading, said)))
        return condensed(passage.sentence) + (f" [{about}]" if about else "")

    return answer


def level_of(own: float, anywhere: float | None) -> str:
    """Return the level of a cell; "" for an empty one.

    `own`: the probability that its document answers; `anywhere`: that of the likeliest document of all.
    """
    odds, best = (math.log(max(one, 1e-6) / max(1 - one, 1e-6)) for one in (own, own if anywhere is None else anywhere))
    odds -= _PER_BETTER * max(best - odds, 0.0)
    return "likely" if odds >= _LIKELY_FROM else "unsure" if odds >= _UNSURE_FROM else ""


def _likeliest(hits: Sequence[DocumentHit]) -> float | None:
    """Return the highest probability that a passage of these answers; None if none was read."""
    read = [one.probability for hit in hits for one in hit.passages if one.probability is not None]
    return max(read, default=None)


def _before(file: Path) -> Path:
    """Return the copy of what a table held before; no such name is indexed."""
    return file.with_name(f"{file.name}~")
