"""The names of months are those of Unicode's CLDR."""

import babel
import pytest

from longsearch.engine.languages.analysis import folded
from longsearch.engine.languages.months import MONTHS


@pytest.mark.parametrize(
    "code", ["da", "de", "en", "es", "fi", "fr", "hu", "it", "nb", "nl", "pl", "pt", "ru", "sv", "tr", "uk"]
)
@pytest.mark.parametrize("context", ["format", "stand-alone"])
def test_every_name_of_a_month_is_known(code: str, context: str) -> None:
    for number, name in babel.Locale.parse(code).months[context]["wide"].items():
        assert number in MONTHS[folded(name)]
