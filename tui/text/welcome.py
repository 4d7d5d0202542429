"""The welcome text, shown in place of the results until something is typed. Pure."""

from textual.content import Content

from longsearch.engine.types import IndexProgress
from longsearch.tui.text import styles, wording
from longsearch.tui.text.display import shown

_EXAMPLES = (
    ("why did the reactor overheat", "a question or a claim in your own words"),
    ('"loss of coolant"', "these words, one after the other"),
    ("cooling -turbine", "leave out passages with this word"),
)
_EMPTY = (
    "Put documents into it: PDF, Word, EPUB, Markdown, HTML, slides, mails, text and more.",
    "They are found here as soon as they are read. F3 lists every file.",
    "Or look around first: `longsearch demo` opens the app over twelve sample notes.",
)
_EXAMPLE_WIDTH = max(len(example) for example, _ in _EXAMPLES)


def welcome(progress: IndexProgress | None, offline: str) -> list[Content | str]:
    """Return the lines: the status of the index, and how to ask. They are made for 80 columns; longer lines wrap."""
    lines: list[Content | str] = [Content.styled(wording.readiness(progress), "bold")]
    if missing := wording.not_ready(progress):
        lines.append(missing)
    if offline:
        lines += [Content.styled(f"! {offline}", styles.WARNING)]
    if progress and progress.advice:
        lines += ["", shown(progress.advice)]
    if wording.is_empty(progress):
        return [*lines, "", *(Content.styled(line, styles.MUTED) for line in _EMPTY)]
    lines += ["", Content.styled("Type what you mean, for example", styles.MUTED), ""]
    for example, meaning in _EXAMPLES:
        lines.append(
            Content.assemble("  ", (example.ljust(_EXAMPLE_WIDTH), styles.ACCENT), "  ", (meaning, styles.MUTED))
        )
    lines += [
        "",
        Content.styled("↓ chooses a result, Enter goes there, Esc comes back, F1 lists every key.", styles.MUTED),
    ]
    return lines
