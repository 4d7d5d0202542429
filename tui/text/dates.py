"""How many results there are of each year, or of each month of one year, as bars. Pure: hits in, lines out."""

from collections import Counter
from collections.abc import Sequence

from longsearch.engine.metadata_lines import of_document
from longsearch.engine.types.results import DocumentHit

_YEAR, _MONTH = len("2021"), len("2021-05")
_MAX_BARS = 60


def by_date(hits: Sequence[DocumentHit]) -> list[tuple[str, int]]:
    """Return each year, the newest first, with its number of hits; the months if all hits are of one year.

    Years between two others are listed too, so that gaps can be seen. A hit without a date counts nowhere, nor does one
    whose file alone has a date: that is only the day on which it was copied.
    """
    dates = [
        value.value
        for hit in hits
        for value in of_document(hit.metadata)
        if value.field == "date" and value.value[:_YEAR].isdecimal()
    ]
    years = Counter(date[:_YEAR] for date in dates)
    if len(years) == 1:
        months = Counter(date[:_MONTH] for date in dates if len(date) >= _MONTH)
        return sorted(months.items(), reverse=True)
    newest, oldest = (int(end(years, default="0")) for end in (max, min))
    if newest - oldest >= _MAX_BARS:
        return sorted(years.items(), reverse=True)
    return [(f"{year:04}", years[f"{year:04}"]) for year in range(newest, oldest - 1, -1) if years]


def bars(counts: Sequence[tuple[str, int]], width: int) -> list[str]:
    """Return a line for each date: the date, a bar, of which the longest has `width` cells, and the number."""
    most = max((number for _, number in counts), default=1)
    return [
        f"{date:<{_MONTH}}  {'▇' * max(round(number * width / most), 1 if number else 0)} {number or ''}".rstrip()
        for date, number in counts
    ]
