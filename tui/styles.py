"""The few text styles that widgets put on words themselves; all else is in the .tcss files. Theme colours only."""

# Not `$text-muted`: inside Content its 60 % are lost, and it comes out as full white.
MUTED = "$foreground 60%"
FAINT = "$foreground 20%"
WORD = "bold $text-accent"
ACCENT = "$text-accent"
HEADING = "bold $text-primary"
ERROR = "$text-error"
WARNING = "$text-warning"
SUCCESS = "$text-success"
