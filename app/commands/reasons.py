"""The option `--explain`: why each hit has its score, as text or in the JSON."""

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longsearch.engine.types.results import DocumentHit, Reason


def add_option(parser: ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what each word, the passage, the excerpt and the document gave to a score, what chance reaches, and"
        " where the metadata were read",
    )


def in_json(hit: "DocumentHit", is_wanted: bool) -> dict[str, Any]:
    """Return the key `reason` for a hit in JSON; {} if it is not wanted."""
    return {"reason": hit.reason and _rounded(hit.reason)} if is_wanted else {}


def _rounded(reason: "Reason") -> dict[str, Any]:
    from dataclasses import asdict  # `--help` need not pay for it

    lines = reason.lines and {"weak": reason.lines[0], "good": reason.lines[1]}
    points = {"by_words": reason.by_words, "by_meaning": reason.by_meaning}
    found: dict[str, Any] = _with_four_digits(asdict(reason) | points)
    return found | {"lines": lines}


def _with_four_digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_four_digits(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_four_digits(own) for own in value]
    return round(value, 4) if isinstance(value, float) else value
