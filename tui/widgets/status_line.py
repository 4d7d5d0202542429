"""The line above the footer: the progress of the index, or what just happened."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from longsearch.tui.text import progress_words, styles
from longsearch.tui.text.display import bar, clip, shown

if TYPE_CHECKING:
    from longsearch.engine.types.progress import IndexProgress

_BAR_WIDTH = 12
_MIN_WIDTH_WITH_BAR = 60


class StatusLine(Widget):
    """Progress, a warning that indexing does not run, the last notice or error. Texts have passed through `shown`."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1; }
    """
    progress: reactive[str] = reactive("")
    share: reactive[float | None] = reactive(None)
    """Share of the tokens embedded, 0 to 1; None draws no bar, because nothing is left to do."""
    offline: reactive[str] = reactive("")
    """Why indexing does not run, or ""."""
    news: reactive[str] = reactive("")
    """The news of the saved searches, or ""; it stands before the progress."""
    notice: reactive[str] = reactive("")
    error: reactive[str] = reactive("")

    def render(self) -> Content:
        """Draw the most important of the four: error, notice, warning, progress."""
        width = self.content_size.width
        if self.error:
            return Content.styled(clip(f"✗ {self.error}", width), styles.ERROR)
        if self.notice:
            return Content.styled(clip(f"✓ {self.notice}", width), styles.SUCCESS)
        if self.offline:
            return Content.styled(clip(f"! {self.offline} · {self.progress}", width), styles.WARNING)
        news = Content.styled(f"{clip(self.news, width // 2)}  ", styles.ACCENT) if self.news else Content("")
        return news + self._progress(width - news.cell_length)

    def _progress(self, width: int) -> Content:
        if self.share is None or width < _MIN_WIDTH_WITH_BAR:
            return Content.styled(clip(self.progress, width), styles.MUTED)
        full, rest = bar(self.share, _BAR_WIDTH)
        text = clip(self.progress, width - _BAR_WIDTH - 1)
        return Content.assemble((full, styles.ACCENT), (rest, styles.FAINT), " ", (text, styles.MUTED))

    def show_progress(self, progress: "IndexProgress | None") -> None:
        """Show how far the index is; None: it is being opened."""
        self.progress = progress_words.progress_line(progress)
        if progress is not None:
            self.share = progress_words.share_embedded(progress)
            self.offline = shown(progress.problem)

    def say(self, notice: str = "", error: str = "") -> None:
        """Show a notice or an error; if both are empty, the progress again."""
        self.notice, self.error = notice, error
