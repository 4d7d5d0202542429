"""Writes a number as office programs number lists: 7, vii, G, seventh. Pure functions."""

from collections.abc import Callable, Sequence

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_UNIT_NAMES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_TEN_NAMES = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS, _TENS = _UNIT_NAMES.split(), _TEN_NAMES.split()
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
              "twelve": "twelfth"}  # fmt: skip
_CHINESE = "〇一二三四五六七八九"
_ALPHABETS: dict[str, Sequence[str]] = {
    "Letter": "abcdefghijklmnopqrstuvwxyz",
    "russian": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "hebrew1": "אבגדהוזחטיכלמנסעפצקרשת",
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicAbjad": "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ",
    "thaiLetters": "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "aiueo": "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ",
    "iroha": "ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽ",
    "chicago": "*†‡§",
    "koreanLegal": ("하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉", "열"),
    "ideographEnclosedCircle": "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉",
    "irohaFullWidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
}
_DIGITS = {
    "hindiNumbers": "०१२३४५६७८९",
    "hindiVowels": "०१२३४५६७८९",
    "thaiNumbers": "๐๑๒๓๔๕๖๗๘๙",
    "arabicIndic": "٠١٢٣٤٥٦٧٨٩",
    "decimalFullWidth": "０１２３４５６７８９",
    "decimalFullWidth2": "０１２３４５６７８９",
    "taiwaneseDigital": "○一二三四五六七八九",
    "ideographDigital": _CHINESE,
    "japaneseDigitalTenThousand": _CHINESE,
    "koreanDigital": "영일이삼사오육칠팔구",
    "koreanDigital2": "零一二三四五六七八九",
}
_MOST_LETTERS = 1_000
"""A number above it is not written in letters: "aaaa…" would fill pages."""


def numeral(number: int, numeral_format: str) -> str:
    """Return `number` in a format that is named as in Word's files; in digits if the format is not known."""
    if numeral_format == "none":
        return ""
    if numeral_format in _DIGITS:
        return "".join(_DIGITS[numeral_format][int(digit)] for digit in str(abs(number)))
    write = _WRITERS.get(numeral_format)
    if write is not None and number > 0:
        return write(number)
    kind = numeral_format.removesuffix("Lower").removesuffix("Upper")
    kind = kind.removeprefix("lower").removeprefix("upper")
    if kind in _ALPHABETS and 0 < number <= _MOST_LETTERS:
        letters = _repeated(number, _ALPHABETS[kind])
        return letters.upper() if "pper" in numeral_format else letters
    return str(number)


def padded(number: int, sample: str) -> str:
    """Return `number` with as many digits as the sample "001, 002, 003, ..." shows."""
    return str(number).zfill(len(sample.partition(",")[0].strip()))


def roman(number: int) -> str:
    """Return a number in small Roman numerals."""
    if number > 20 * _MOST_LETTERS:
        return str(number)
    written = ""
    for value, letters in _ROMAN:
        n_times, number = divmod(number, value)
        written += letters * n_times
    return written


def _repeated(number: int, letters: Sequence[str]) -> str:
    """Return a, …, z, aa, bb, …, as Word counts."""
    n_times, place = divmod(number - 1, len(letters))
    return letters[place] * (n_times + 1)


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _cardinal(number: int) -> str:
    if number < 20:
        return _UNITS[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens - 1] + (f"-{_UNITS[rest]}" if rest else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        return f"{_UNITS[hundreds]} hundred" + (f" {_cardinal(rest)}" if rest else "")
    return str(number)


def _ordinal_text(number: int) -> str:
    words = _cardinal(number)
    if words.isdigit():
        return _ordinal(number)
    head, separator, last = words.rpartition("-" if "-" in words else " ")
    last = _IRREGULAR.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return f"{head}{separator}{last}".capitalize()


def _chinese(number: int) -> str:
    """Return 十一 for 11, 二十 for 20, 一百零三 for 103; digit by digit from 1,000."""
    if number >= 1000:
        return "".join(_CHINESE[int(digit)] for digit in str(number))
    hundreds, rest = divmod(number, 100)
    tens, units = divmod(rest, 10)
    written = f"{_CHINESE[hundreds]}百" if hundreds else ""
    if hundreds and rest and not tens:
        written += "零"
    if tens:
        written += ("" if tens == 1 and not hundreds else _CHINESE[tens]) + "十"
    return written + (_CHINESE[units] if units else "")


def _circled(number: int) -> str:
    return chr(0x2460 + number - 1) if number <= 20 else str(number)


_WRITERS: dict[str, Callable[[int], str]] = {
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "decimalZero": lambda number: f"{number:02}",
    "ordinal": _ordinal,
    "cardinalText": lambda number: _cardinal(number).capitalize(),
    "ordinalText": _ordinal_text,
    "numberInDash": lambda number: f"- {number} -",
    "hex": lambda number: f"{number:X}",
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalEnclosedParen": lambda number: f"({number})",
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    **dict.fromkeys(
        ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting",
         "taiwaneseCountingThousand", "koreanCounting", "ideographLegalTraditional", "chineseLegalSimplified"),
        _chinese,
    ),
}  # fmt: skip
