"""A late pattern does what a compiled one does."""

import re

import pytest

from longsearch.engine.late_patterns import late_pattern

TEXT, FLAGS = r"(?P<day>\d+)\s*may", re.IGNORECASE


@pytest.mark.parametrize("method", ["search", "match", "fullmatch", "findall", "split"])
@pytest.mark.parametrize("text", ["12 May", "on 3 may and 4 MAY", "June"])
def test_a_late_pattern_finds_what_a_compiled_one_finds(method: str, text: str) -> None:
    late, twin = (getattr(made, method)(text) for made in (late_pattern(TEXT, FLAGS), re.compile(TEXT, FLAGS)))
    if isinstance(twin, re.Match):
        assert (late.span(), late.groupdict()) == (twin.span(), twin.groupdict())
    else:
        assert late == twin


def test_a_pattern_is_compiled_once_and_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = list[str]()
    made = late_pattern("a+")
    monkeypatch.setattr(
        re, "compile", lambda text, flags, compile=re.compile: compiled.append(text) or compile(text, flags)
    )
    assert made.pattern == "a+"
    assert compiled == []
    assert [made.sub("b", "xaa"), made.sub("b", "a")] == ["xb", "b"]
    assert compiled == ["a+"]


def test_a_pattern_that_is_none_raises_what_re_raises() -> None:
    with pytest.raises(re.error):
        late_pattern("(").search("x")
