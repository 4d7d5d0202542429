"""The two themes made for this app. Every text has a contrast of at least 4.5 on its ground (WCAG 2.1): a test checks.

There is one accent, the amber of a marker pen: it lights the sentence that answers, and what has the focus.
"""

from dataclasses import replace

from textual.theme import Theme

DARK, LIGHT = "longsearch-dark", "longsearch-light"

THEMES = (
    Theme(
        DARK,
        primary="#d9a648",
        secondary="#8fa3b8",
        accent="#d9a648",
        warning="#e0a458",
        error="#f08a8a",
        success="#8cc98c",
        foreground="#dcdcd6",
        background="#16181c",
        surface="#1d2025",
        panel="#24272d",
        dark=True,
        variables={
            "text-muted": "#a3a6a8",
            "text-primary": "#e8bd6b",
            "text-accent": "#e8bd6b",
            "primary-muted": "#3b3220",
            "border": "#d9a648",
            "border-blurred": "#4a4e55",
            "footer-background": "#1d2025",
            "footer-key-foreground": "#e8bd6b",
            "footer-description-foreground": "#b8bab8",
            "input-selection-background": "#d9a648 35%",
            "block-cursor-background": "#3b3220",
            "block-cursor-blurred-background": "#3b3220",
            "block-cursor-foreground": "#f0ede4",
            "scrollbar": "#3a3e45",
            "scrollbar-hover": "#4a4e55",
            "scrollbar-background": "#16181c",
        },
    ),
    Theme(
        LIGHT,
        primary="#8a5a00",
        secondary="#44586c",
        accent="#c98a10",
        warning="#8f4d00",
        error="#a8232f",
        success="#1f6b34",
        foreground="#24262a",
        background="#fbfaf6",
        surface="#f2f0ea",
        panel="#e9e6de",
        dark=False,
        variables={
            "text-muted": "#54565a",
            "text-primary": "#7a4f00",
            "text-accent": "#7a4f00",
            "text-warning": "#8a4600",
            "text-error": "#a01f2b",
            "text-success": "#1b6130",
            "primary-muted": "#f1dfb8",
            "border": "#8a5a00",
            "border-blurred": "#b9b5aa",
            "footer-background": "#f2f0ea",
            "footer-key-foreground": "#7a4f00",
            "footer-description-foreground": "#4a4c50",
            "input-selection-background": "#c98a10 35%",
            "block-cursor-background": "#f1dfb8",
            "block-cursor-blurred-background": "#f1dfb8",
            "block-cursor-foreground": "#24262a",
            "scrollbar": "#d3cfc4",
            "scrollbar-hover": "#b9b5aa",
            "scrollbar-background": "#fbfaf6",
        },
    ),
)

_ACCENTS = ("border", "text-primary", "text-accent", "footer-key-foreground")
_TINTS = ("primary-muted", "block-cursor-background", "block-cursor-blurred-background", "input-selection-background")
LIT = "lit-background"
"""The variable for the tint of the sentence that answers. A theme need not have it."""


def in_16_colours(theme: Theme) -> Theme:
    """Return one of the two for a terminal with 16 colours, which shows the nearest of its own for each.

    The tint of a theme would be shown as its ground, or too near to the text: here it is blue or bright yellow.
    """
    ground, accent, tint = ("#000000", "#ffff55", "#0000aa") if theme.dark else ("#ffffff", "#0000aa", "#ffff55")
    roles = {**dict.fromkeys(_ACCENTS, accent), **dict.fromkeys((*_TINTS, LIT), tint), "footer-background": ground}
    variables = {**theme.variables, **roles}
    changed = replace(theme, primary=accent, accent=accent, variables=variables)
    return replace(changed, background=ground, surface=ground, panel=ground)
