"""Shows a number as Excel does with a format such as `0.0%`, `00000`, `#,##0.00 [$€-407]` or `d. mmmm yyyy`.

Pure functions. What depends on the machine, such as the short date, is written as ISO 8601. Months and days have the
names of the language that a format asks for, else their English ones.
"""

import locale
import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

from longsearch.indexer.extract.readers.office.excel.dates import shown_date

GENERAL = "General"
BUILT_IN = {
    0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0", 6: "$#,##0", 7: "$#,##0.00",
    8: "$#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd",
    15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    41: "#,##0", 42: "$#,##0", 43: "#,##0.00", 44: "$#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0", 49: "@",
    **dict.fromkeys((27, 30, 31, 36, 50, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((28, 29, 51), 'm"月"d"日"'), **dict.fromkeys((32, 55), "h:mm"),
    **dict.fromkeys((33, 56), "h:mm:ss"),
    34: "yyyy-mm", 35: 'm"月"d"日"', 59: "0", 60: "0.00", 61: "#,##0", 62: "#,##0.00", 67: "0%", 68: "0.00%",
}  # fmt: skip
"""Formats that a workbook names by number alone."""
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<ampm>AM/PM|A/P|上午/下午)|(?P<general>General|Standard)|(?P<digits>[0#?][0#?.,]*|\.[0#?]+)|(?P<exponent>E[+-])"
    r"|(?P<date>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?|[eE]+|[bBgG]+)|(?P<at>@)|(?P<percent>%)|(?P<slash>/)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)")
_LOCALE_NUMBER = re.compile("[0-9A-Fa-f]{3,8}")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_MAX_CODE_CHARACTERS = 300
_EXACT = 2**53
"""Whole numbers below it are stored exactly."""
Token = tuple[str, str]


def shown_number(value: float, code: str, is_1904: bool = False) -> str:
    """Return `value` as Excel shows it with the format `code`. A date that lacks its year or day has it beside it."""
    sections = _sections(code[:_MAX_CODE_CHARACTERS])
    tokens, is_absolute = _chosen(sections, value)
    if any(kind == "date" for kind, _ in tokens):
        return shown_date(value, tokens, is_1904) or general(value)
    if tokens == [("general", "")]:
        return general(value)
    return _number(abs(value) if is_absolute else value, tokens)


def shown_text(text: str, code: str) -> str:
    """Return `text` as Excel shows it: with what the format puts around it."""
    if "@" not in code or code == "@":
        return text
    sections = _sections(code[:_MAX_CODE_CHARACTERS])
    tokens = next((tokens for tokens in reversed(sections) if ("at", "@") in tokens), None)
    return "".join(text if kind == "at" else word for kind, word in tokens) if tokens else text


def general(value: float) -> str:
    """Return a number with all its digits, and without an exponent."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if float(value).is_integer() and abs(value) < _EXACT:  # Excel shows 15 digits of them, the file may have 16
        return str(int(value))
    digits = f"{value:.15g}"
    return f"{Decimal(digits):f}" if "e" in digits else digits


@lru_cache(maxsize=1_000)
def _sections(code: str) -> tuple[list[Token], ...]:
    """Return the tokens of each section: for positive numbers, negative ones, zero, and text."""
    sections: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code):
        kind, word = str(match.lastgroup), match[match.lastgroup or 0]
        if kind == "other" and word == ";":
            sections.append([])
        else:
            sections[-1] += _token(kind, word)
    return tuple(map(_settled, sections))


def _token(kind: str, word: str) -> list[Token]:
    if kind == "bracket":
        return _bracket(word)
    if kind in ("quoted", "escaped", "slash"):
        return [("slash" if kind == "slash" else "text", word)]
    if kind == "space":
        return [("text", " ")]
    if kind == "fill":
        return [("text", " ")]
    if kind == "general":
        return [("general", "")]
    if kind == "ampm":
        return [("date", "AM/PM" if word.casefold() != "a/p" else "A/P")]
    return [("text" if kind == "other" else kind, word)]


def _bracket(word: str) -> list[Token]:
    """Read what stands in brackets: a currency, a condition, elapsed hours, a colour."""
    if word.startswith("$"):
        symbol, _, code = word[1:].partition("-")
        return [*([("text", symbol)] if symbol else []), ("language", _language(code))]
    if _CONDITION.fullmatch(word):
        return [("condition", word)]
    return [("date", f"[{word.lower()}]")] if _ELAPSED.fullmatch(word) else []


def _language(code: str) -> str:
    """Return the language of Windows's number of a locale, such as 407, or of its name; "" if it has none."""
    if _LOCALE_NUMBER.fullmatch(code):
        return locale.windows_locale.get(int(code, 16) & 0xFFFF, "")[:2]
    return code[:2].lower()


def _settled(tokens: list[Token]) -> list[Token]:
    """Make letters of dates text if they stand in a format of numbers, and drop what surrounds "General" alone."""
    has_digits = any(kind in ("digits", "general") for kind, _ in tokens)
    is_date = any(kind == "date" and word.lower().strip("egb") != "" for kind, word in tokens)
    if is_date:
        return [("text", word) if kind in ("slash", "percent") else (kind, word) for kind, word in tokens]
    settled = [("text", word) if kind == "date" else (kind, word) for kind, word in tokens if kind != "language"]
    if not has_digits and any(kind == "slash" for kind, _ in settled):
        return [("text", word) if kind == "slash" else (kind, word) for kind, word in settled]
    return settled


def _chosen(sections: tuple[list[Token], ...], value: float) -> tuple[list[Token], bool]:
    """Return the section for `value` without its condition, and whether it shows no sign of its own."""
    conditions = [next((word for kind, word in tokens if kind == "condition"), "") for tokens in sections]
    plain = [[token for token in tokens if token[0] != "condition"] for tokens in sections]
    if any(conditions):
        for place, condition in enumerate(conditions):
            if condition and _holds(condition, value):
                is_for_negatives = condition.startswith("<") and not _holds(condition, 0)
                return plain[place], value < 0 and (place > 0 or is_for_negatives)
        rest = [place for place, condition in enumerate(conditions) if not condition]
        return plain[rest[0] if rest else -1], False
    numbers = [tokens for tokens in plain if ("at", "@") not in tokens] or plain
    if value < 0 and len(numbers) > 1:
        return numbers[1], True
    if value == 0 and len(numbers) > 2:
        return numbers[2], False
    return numbers[0], False


def _holds(condition: str, value: float) -> bool:
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return False
    limit = float(match[2])
    return {
        "<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit, "=": value == limit,
        "<>": value != limit,
    }[match[1]]  # fmt: skip


def _number(value: float, tokens: list[Token]) -> str:
    """Show a number: the digits of all placeholders in turn, with what stands between them."""
    percent = sum(kind == "percent" for kind, _ in tokens)
    pattern = "".join(word for kind, word in tokens if kind == "digits")
    if not pattern:
        plain = general(value * 100**percent)
        return "".join(plain if kind in ("at", "general") else word for kind, word in tokens).strip()
    if any(kind == "slash" for kind, _ in tokens):
        return _fraction(value, tokens)
    places = [place for place, (kind, _) in enumerate(tokens) if kind == "digits"]
    exponent = next((place for place, (kind, _) in enumerate(tokens) if kind == "exponent"), None)
    try:
        number = Decimal(repr(value)) * 100**percent
    except InvalidOperation:
        return str(value)
    if exponent is not None:
        written = _scientific(number, tokens[places[0]][1], tokens[exponent][1], len(tokens[places[-1]][1]))
        words = (word for place, (_, word) in enumerate(tokens) if place not in (*places[1:], exponent))
        return "".join(written if word == tokens[places[0]][1] else word for word in words).strip()
    return _filled(number, tokens, places, pattern)


def _filled(number: Decimal, tokens: list[Token], places: list[int], pattern: str) -> str:
    """Show a number. Text may part its placeholders, as in `000-00-0000`. Beside one in thousands, show it whole."""
    whole_pattern, _, decimals = pattern.partition(".")
    last = tokens[places[-1]][1]
    n_thousands = len(last) - len(last.rstrip(","))
    scaled = abs(number).scaleb(-3 * n_thousands)
    n_decimals = sum(character in "0#?" for character in decimals)
    rounded = scaled.quantize(Decimal(1).scaleb(-n_decimals), rounding=ROUND_HALF_UP) if scaled < 10**22 else scaled
    whole, _, fraction = f"{rounded:f}".partition(".")
    whole = whole.lstrip("0").rjust(whole_pattern.count("0"), "0")
    fraction = _trimmed(fraction, decimals)
    sign = "-" if number < 0 and (whole + fraction).strip("0") else ""
    if len(places) == 1:
        grouped = _grouped(whole) if "," in whole_pattern.rstrip(",") else whole
        written = grouped + (f".{fraction}" if fraction else "")
        shown = "".join(written if place in places else word for place, (_, word) in enumerate(tokens))
    else:
        shown = _spread(whole, fraction, tokens, places)
    return f"{sign}{shown.strip()}" + (f" ({number.normalize():f})" if n_thousands else "")


def _trimmed(fraction: str, decimals: str) -> str:
    """Drop the zeros at the end that the format does not ask for."""
    marks = [character for character in decimals if character in "0#?"]
    kept = list(fraction[: len(marks)])
    while kept and kept[-1] == "0" and marks[len(kept) - 1] != "0":
        kept.pop()
    return "".join(kept)


def _grouped(whole: str) -> str:
    groups = []
    while len(whole) > 3:
        groups.append(whole[-3:])
        whole = whole[:-3]
    return ",".join((whole, *reversed(groups)))


def _spread(whole: str, fraction: str, tokens: list[Token], places: list[int]) -> str:
    """Give each group of placeholders its digits, from the right; the first group takes what is left."""
    shown = [word for _, word in tokens]
    left = whole
    for place in reversed(places):
        word, _, decimals = tokens[place][1].partition(".")
        n_own = sum(character in "0#?" for character in word)
        n_taken = len(left) if place == places[0] else min(n_own, len(left))
        own, left = left[len(left) - n_taken :], left[: len(left) - n_taken]
        shown[place] = own + (f".{fraction}" if decimals and fraction else "")
    return "".join(shown)


def _scientific(number: Decimal, pattern: str, sign: str, n_digits: int) -> str:
    n_decimals = sum(character in "0#?" for character in pattern.partition(".")[2])
    mantissa, _, exponent = f"{number:.{n_decimals}E}".partition("E")
    power = int(exponent or 0)
    return f"{mantissa}E{'-' if power < 0 else '+' if sign.endswith('+') else ''}{abs(power):0{n_digits}}"


def _fraction(value: float, tokens: list[Token]) -> str:
    """Show a number as 2 1/4."""
    slash = next(place for place, (kind, _) in enumerate(tokens) if kind == "slash")
    after = "".join(word for _, word in tokens[slash + 1 :])
    fixed = re.search(r"\d+", after.replace("0", "")) if re.search(r"[1-9]", after) else None
    most = int(re.sub(r"\D", "", after) or 1) if fixed else 10 ** max(1, sum(c in "#?0" for c in after)) - 1
    has_whole = sum(kind == "digits" for kind, _ in tokens[:slash]) > 1
    whole, rest = divmod(abs(value), 1) if has_whole else (0, abs(value))
    part = Fraction(round(rest * most), most) if fixed else Fraction(rest).limit_denominator(most)
    if has_whole and part == 1:
        whole, part = whole + 1, Fraction(0)
    over = f"{round(rest * most)}/{most}" if fixed else f"{part.numerator}/{part.denominator}"
    written = f"{int(whole)} {over}" if whole and part else str(int(whole)) if has_whole and not part else over
    return f"-{written}" if value < 0 else written
