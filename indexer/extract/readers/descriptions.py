"""Tells what a person wrote of a picture from what a program put there. Knows no format."""

import re

from longsearch.indexer.extract.clean import whole_line
from longsearch.indexer.extract.readers import draft

MARK = "Picture"
_MADE_BY_PROGRAM = re.compile(
    "automatically generated|automatisch (?:generiert|erstellt|gegenereerd)|génér[ée]+s? automatiquement"
    "|(?:generad|gerad|generat)[aoei]s? autom[aá]ticamente|AI-generated|KI-generiert|may be an image of"
    "|image may contain|no (?:alternative text|alt text|photo) description|empty alt attribute"
    "|自动生成|自動生成|自動的に生成|автоматически создан",
    re.IGNORECASE,
)
_FILE = re.compile(
    r".*\.(?:png|jpe?g|jfif|gif|svg|webp|bmp|tiff?|emf|wmf|heic|avif|eps|ico|psd|pdf|mp4)(?:[?#]\S*)?|(?:\w+:)//\S+"
    r"|(?:cid|data|file|blob):\S+|[a-z]:\\.*",
    re.IGNORECASE | re.DOTALL,
)
_THINGS = """
picture image img imagem imagen immagine photo photograph foto bild grafik graphic abbildung afbeelding fig figure shape
object objekt content placeholder title chart diagram diagramm smartart textbox text box rectangle rechteck oval ellipse
line group gruppe table frame rahmen dsc dscn dscf pxl pic pict scan screenshot screen shot bildschirmfoto capture clip
logo icon avatar spacer thumbnail thumb banner bullet blank untitled unknown alt space decorative separator divider
ornament рисунок изображение 图片 圖片 图像 画像 図 그림 obrázek obraz kép billede bilde kuva at um kl x am pm
"""
_THING_NAMES = frozenset(_THINGS.split())
_LETTERS = re.compile(r"[^\W\d_]+")
_LONGEST_NAME = 80
_TOKEN = re.compile(r"(?=\S*\d)[\w-]{16,}|\\displaystyle.*|\{\\displaystyle.*", re.DOTALL)
"""A key, or the source of a formula that the page also shows."""


class Descriptions:
    """The descriptions of one document's pictures. Each is said once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def line(self, *texts: str | None) -> str:
        """Return what is written of a picture as a marked line, "Picture: The mill in 1890".

        `texts`: its title and its description. Returns "" if no person wrote them, if they were said before, or if the
        file is a draft: what a picture shows is no claim of its author.
        """
        words: list[str] = []
        for text in map(whole_line, filter(None, texts)):
            if is_written(text) and not any(text in other or other in text for other in words):
                words.append(text)
            elif words and len(text) > len(words[-1]) and words[-1] in text:
                words[-1] = text
        said = ": ".join(words)
        if not said or said in self._said or draft.is_read:
            return ""
        self._said.add(said)
        return f"{MARK}: {said}"


def is_written(text: str) -> bool:
    """Return whether a person wrote this of a picture: it is no name of a file or a thing, and no program's guess."""
    if len(text) <= _LONGEST_NAME and _THING_NAMES.issuperset(_LETTERS.findall(text.casefold())):
        return False  # "Picture 3", "Screenshot 2021-05-17 at 10.12.33", or a number alone
    return not (_FILE.fullmatch(text) or _TOKEN.fullmatch(text) or _MADE_BY_PROGRAM.search(text))
