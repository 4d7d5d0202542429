"""Finds formulas in shreds: text of a PDF has the signs of a formula as lines of a few characters.

A column of numbers, a list of letters and lines of code are no formula: one has a sign of mathematics.
"""

from longsearch.engine.late_patterns import late_pattern

MOST_OF_SHRED = 12
"""Characters of a line that may be part of a formula; nor has it a word of four letters."""
_SHRED = rf"(?![^\n]*[^\W\d_]{{4}})(?=[^\n]*\S)[^\n]{{1,{MOST_OF_SHRED}}}"
SHREDS = late_pattern(rf"(?:{_SHRED}\n){{2,60}}{_SHRED}(?=\n|\Z)")
"""Three lines of shreds or more; a formula if one of them has a `SIGN`."""
# operators, pieces of large brackets, also the private characters that TeX's fonts have for them; not "=" and "+":
# code has these too
_SIGNS = "\u2200-\u22ff\u239b-\u23b3\uf8e5-\uf8fe±×÷"
SIGN = late_pattern(f"[{_SIGNS}]")
FORMULA = late_pattern(
    rf"(?=(?:[^\n]{{0,{MOST_OF_SHRED}}}\n){{0,60}}[^\n]{{0,{MOST_OF_SHRED}}}[{_SIGNS}])(?:{_SHRED}\n){{2}}{_SHRED}(?:\n|\Z)"
)
"""The beginning of a sentence that is a formula in shreds."""
