"""Letters of the fonts Symbol and Wingdings, which have numbers of their own, in Unicode."""

_SYMBOL = dict(zip(
    range(0x21, 0x7F),
    "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    strict=True,
)) | dict(zip(
    range(0xA1, 0xFF),
    "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…│─↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪€〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
    strict=True,
))  # fmt: skip
_WINGDINGS = {
    0x22: "✂", 0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑",
    0x75: "◆", 0x76: "❖", 0x9F: "•", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓",
    0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_PRIVATE = 0xF000


def symbol(font: str, code: int) -> str:
    """Return the letter that `font` shows for a number; "" if it is a picture without a letter."""
    low = code - _PRIVATE if _PRIVATE <= code < _PRIVATE + 256 else code
    name = font.casefold()
    if name == "symbol":
        return _SYMBOL.get(low, chr(low) if low >= 0x20 else "")
    if name.startswith("wingdings") or name == "webdings":
        return _WINGDINGS.get(low, "") if name == "wingdings" else ""
    if code >= _PRIVATE:
        return chr(low) if 0x20 <= low < 0x7F else ""
    return chr(low) if 0x20 <= low <= 0x10FFFF else ""
