"""Reads what charts and diagrams (SmartArt) of an Office Open XML document say."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from longsearch.indexer.extract.readers.archives import Archive
from longsearch.indexer.extract.readers.office.relations import parse_member, relations_of
from longsearch.indexer.extract.readers.xml_events import is_on
from longsearch.indexer.extract.table_head import CELL_SEPARATOR, as_line

OBJECTS = frozenset({"sp", "grpSp", "graphicFrame", "cxnSp", "pic"})
"""What a slide or a drawing is made of. A person may hide each."""
_SHOWN_BY_LAYOUT = frozenset({"pres", "parTrans", "sibTrans"})
"""Points of a diagram that repeat the text of others."""
_MAX_POINTS = 2_000
"""Points of a series that are read: more are measurements, not labels."""


class HiddenObjects:
    """Follows the objects of a slide or a drawing that are open, and knows whether a person has hidden one of them."""

    def __init__(self) -> None:
        self._open: list[bool] = []
        """Whether each open object is hidden."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins: an object, or what says of the innermost one that it is hidden."""
        if name in OBJECTS:
            self._open.append(False)
        elif name == "cNvPr" and self._open and is_on({"val": attributes.get("hidden", "0")}):
            self._open[-1] = True

    def end(self, name: str) -> None:
        """An element ends."""
        if name in OBJECTS and self._open:
            self._open.pop()

    @property
    def are_around(self) -> bool:
        """Whether what comes next stands in a hidden object."""
        return any(self._open)


def text_of_drawing(archive: Archive, kind: str, part: str) -> Iterator[str]:
    """Yield the text of a part, marked as what it is. `kind`: its relation, such as "chart"."""
    if kind in ("chart", "chartEx"):
        chart = Chart()
        parse_member(archive, part, chart)
        yield from chart.blocks()
        for own_kind, name in relations_of(archive, part).values():
            if own_kind in ("chartUserShapes", "chartUserShape"):
                yield from _shapes(archive, name, "Chart")
    elif kind in ("diagramData", "chartUserShapes"):
        yield from _shapes(archive, part, "Diagram" if kind == "diagramData" else "Chart")


def _shapes(archive: Archive, part: str, mark: str) -> Iterator[str]:
    shapes = Paragraphs()
    parse_member(archive, part, shapes)
    if shapes.lines:
        yield f"{mark}: " + "\n".join(shapes.lines)


class Paragraphs:
    """Collects the paragraphs of DrawingML, a line each."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._words: list[str] = []
        self._is_text = False
        self._n_skipped = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if self._n_skipped or (name == "pt" and attributes.get("type") in _SHOWN_BY_LAYOUT) or name == "Fallback":
            self._n_skipped += 1
        elif name == "t":
            # of SmartArt, "t" is both the text of a point and, inside it, that of a run
            self._is_text = True
        elif name == "br":
            self._words.append(" ")

    def end(self, name: str) -> None:
        """An element ends."""
        if self._n_skipped:
            self._n_skipped -= 1
        elif name == "t":
            self._is_text = False
        elif name == "p":
            words, self._words = " ".join("".join(self._words).split()), []
            self.lines += [words] if words else []

    def characters(self, text: str) -> None:
        """Text of a run."""
        if self._is_text and not self._n_skipped and not text.isspace():
            self._words.append(text)
        elif self._is_text and self._words and not self._n_skipped:
            self._words.append(" ")


@dataclass(slots=True)
class _Series:
    name: str = ""
    labels: dict[int, str] = field(default_factory=dict)
    values: dict[int, str] = field(default_factory=dict)


class Chart:
    """Collects a chart's title, the titles of its axes, and the names, labels and values of its series."""

    def __init__(self) -> None:
        self._titles: list[str] = []
        self._series: list[_Series] = []
        self._path: list[str] = []
        self._words: list[str] = []
        self._place = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        self._path.append(name)
        if name == "ser" or (name == "data" and "chartData" in self._path):
            self._series.append(_Series())
        elif name == "pt":
            self._place = int(place) if (place := attributes.get("idx", "")).isdecimal() else 0
            self._words = []
        elif name in ("v", "p"):
            self._words = []

    def end(self, name: str) -> None:
        """An element ends."""
        words = " ".join("".join(self._words).split())
        if name == "p" and words:
            self._titles.append(words)
            self._words = []
        elif name == "v" and "tx" in self._path and words and "pt" not in self._path and not self._series:
            self._titles.append(words)
        elif name in ("v", "pt") and words and self._series:
            self._take(self._series[-1], words)
            self._words = []
        self._path.pop()

    def _take(self, series: _Series, words: str) -> None:
        if self._place >= _MAX_POINTS:
            return
        if "tx" in self._path:
            series.name = series.name or words
        elif "cat" in self._path or "strDim" in self._path or "xVal" in self._path:
            above = series.labels.get(self._place, "")
            series.labels[self._place] = f"{words} {above}".strip()  # of several levels, the outermost comes last
        elif "val" in self._path or "numDim" in self._path or "yVal" in self._path:
            series.values[self._place] = words

    def characters(self, text: str) -> None:
        """Text between tags."""
        if self._path and self._path[-1] in ("t", "v", "pt"):
            self._words.append(text)

    def blocks(self) -> Iterator[str]:
        """Yield the chart as a block: its titles, and a row for each label."""
        labels: dict[int, str] = {}
        for series in self._series:
            labels = {**series.labels, **labels}
        lines = [*self._titles]
        names = [series.name for series in self._series]
        if any(names):
            lines.append(CELL_SEPARATOR.join(("", *names) if labels else names).strip())
        for place in sorted(labels):
            row = (labels[place], *(series.values.get(place, "") for series in self._series))
            lines.append(as_line(row))
        if lines:
            yield "Chart: " + "\n".join(lines)
