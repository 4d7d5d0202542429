"""A map of the passages that a query found: those that mean the same lie together, as far as a plane can show it."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from longsearch.engine.types.results import DocumentHit, PassageMap
from longsearch.tui.backend.interface import Backend
from longsearch.tui.backend.latest_only import attempt
from longsearch.tui.bindings import MAP
from longsearch.tui.text import styles
from longsearch.tui.text.display import clip, shown
from longsearch.tui.widgets.key_line import KeyLine
from longsearch.tui.widgets.scatter import Scatter, mark_of


class MapScreen(ModalScreen[int | None]):
    """Answers with the index of the document to go to, or None."""

    BINDINGS: ClassVar[list[BindingType]] = MAP

    def __init__(
        self, hits: Sequence[DocumentHit], owners: Sequence[int], passage_map: PassageMap, current: int
    ) -> None:
        """`owners`: the index among `hits` of the document of each passage on the map. `current`: that in view."""
        super().__init__()
        on_map = sorted({owners[place] for place, _, _ in passage_map.points})
        self._hits, self._kept, self._on_map = hits, passage_map.kept, on_map
        self._at = on_map.index(current) if current in on_map else 0
        self._scatter = Scatter([(owners[place], x, y) for place, x, y in passage_map.points])

    def compose(self) -> ComposeResult:
        with Vertical(id="map") as box:
            box.border_title = f"Map of {len(self._scatter.points)} passages"
            box.border_subtitle = kept_in_words(self._kept)
            yield self._scatter
            yield Static(id="map-legend", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        """Light the document in view."""
        self._light()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the legend into the new width."""
        self.call_after_refresh(self._light)

    def _light(self) -> None:
        chosen = self._on_map[self._at]
        self._scatter.chosen = chosen
        width = max(self._scatter.size.width, 1)
        hit = self._hits[chosen]
        title = clip(f"{mark_of(chosen)}  {shown(hit.title) or shown(hit.path.rpartition('/')[2])}", width)
        about = clip(shown(hit.passages[0].text.replace("\n", " ")), width) if hit.passages else ""
        note = clip("Neighbours on the map need not be neighbours in all dimensions.", width)
        legend = [Content.styled(title, "bold"), Content(about), Content.styled(note, styles.MUTED)]
        self.query_one("#map-legend", Static).update(Content("\n").join(legend))

    def action_move(self, step: int) -> None:
        """Light the next document (1) or the one before (-1)."""
        self._at = (self._at + step) % len(self._on_map)
        self._light()

    def on_scatter_clicked(self, event: Scatter.Clicked) -> None:
        """Light the document that was clicked."""
        self._at = self._on_map.index(event.owner)
        self._light()

    def action_choose(self) -> None:
        """Go to the document that is lit."""
        self.dismiss(self._on_map[self._at])

    def action_leave(self) -> None:
        self.dismiss(None)


async def map_of(
    backend: Backend, hits: Sequence[DocumentHit], in_view: DocumentHit | None
) -> tuple[MapScreen | None, str]:
    """Return the map of the passages of these hits, or None and why there is none."""
    owned = [(at, passage.start) for at, hit in enumerate(hits) for passage in hit.passages]
    places = [(hits[at].document_id, start) for at, start in owned]
    passage_map, error = await attempt(backend.passage_map, places)
    if passage_map is None or not passage_map.points:
        return None, error or "a map needs three passages that have been read for their meaning"
    current = next((at for at, hit in enumerate(hits) if hit == in_view), 0)
    return MapScreen(hits, [at for at, _ in owned], passage_map, current), ""


def kept_in_words(kept: tuple[float, float]) -> str:
    """Say how much of the differences the plane shows."""
    return f"2 dimensions show {sum(kept):.0%} of the differences ({kept[0]:.0%} across, {kept[1]:.0%} up)"
