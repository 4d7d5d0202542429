"""The few text styles that widgets apply in code; all others are in the .tcss files. Theme colours only."""

# Not `$text-muted`: inside Content it loses its opacity of 60 % and turns full white.
MUTED = "$foreground 72%"
FAINT = "$foreground 20%"  # rules and empty bars alone: no text
WORD = "bold $text-accent"
ACCENT = "$text-accent"
HEADING = "bold $text-primary"
ERROR = "$text-error"
WARNING = "$text-warning"
SUCCESS = "$text-success"
