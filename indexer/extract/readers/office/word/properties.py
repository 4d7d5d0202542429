"""Reads the properties of Word's paragraphs, cells and old form fields."""

from collections.abc import Mapping

from longsearch.indexer.extract.readers.office.word.fields import Fields
from longsearch.indexer.extract.readers.office.word.flows import Paragraph, Table
from longsearch.indexer.extract.readers.office.word.styles import MAX_LEVEL
from longsearch.indexer.extract.readers.xml_events import is_on


def describe_paragraph(paragraph: Paragraph, name: str, attributes: Mapping[str, str], is_of_mark: bool) -> None:
    """Take a property. `is_of_mark`: it belongs to the end of the paragraph, not to its text."""
    value = attributes.get("val", "")
    match name:
        case "pStyle":
            paragraph.style = value
        case "numId":
            paragraph.list_id = value
        case "ilvl":
            paragraph.place = _number(value, 0)
        case "outlineLvl":
            paragraph.outline = _number(value, MAX_LEVEL)
        case "framePr":
            paragraph.is_drop_cap = attributes.get("dropCap", "none") != "none"
        case "del" | "moveFrom" if is_of_mark:
            paragraph.is_gone = True
        case "vanish" if is_of_mark:
            paragraph.is_mark_hidden = is_on(attributes)


def describe_cell(table: Table, name: str, attributes: Mapping[str, str]) -> None:
    """Take a property of a table's open row or cell."""
    value = attributes.get("val", "")
    match name:
        case "del" | "hidden" if is_on(attributes):
            table.is_row_gone = True
        case "tblHeader":
            table.is_head = is_on(attributes)
        case "gridBefore":
            table.skip_columns(_number(value, 0))
        case "gridSpan":
            table.span(_number(value, 1))
        case "vMerge":
            table.go_on(value in ("", "continue"))
        case "hMerge" if value in ("", "continue"):
            table.remove_cell()
        case "cellDel":
            table.remove_cell()


def describe_field(fields: Fields, name: str, attributes: Mapping[str, str]) -> None:
    """Take a property of a form field: whether a box is ticked, the choices of a list."""
    value = attributes.get("val", "")
    match name:
        case "checkBox":
            fields.check(False)
        case "checked" | "default":
            fields.tick(is_on(attributes))
        case "listEntry":
            fields.offer(value)
        case "result":
            fields.choose(_number(value, 0))


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else default
