"""Every screen that opens on top of the main one. The app loads this module, after its first frame.

The first frame needs none of them: they take a tenth of the time until then.
"""

from longsearch.tui.screens import (
    basket,
    dialogs,
    files,
    folders,
    help,
    instruction,
    map,
    outline,
    picker,
    side_by_side,
    why,
)

SCREENS = (basket, dialogs, files, folders, help, instruction, map, outline, picker, side_by_side, why)
