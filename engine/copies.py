"""Which of several equal files has the best name: not the copy, the sync conflict or the backup. Pure.

The names are those that desktop systems and sync programs give by themselves, in their languages. A rule may well take
a name for a copy that is none: it only decides between files with the same bytes.
"""

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from longsearch.engine.late_patterns import late_pattern

_COPY = (
    "copy|copies|kopien?|kopi[aeoi]|kopi|kópia|copie|copia|cópia|còpia|kopya|koopia|kopij[ao]|másolata?|afrit|salinan|"
    "копи[яії]|αντίγραφο|副本|拷贝|複製|複本|コピー|복사본|사본|نسخة|עותק|สำเนา|bản sao"
)
_CONFLICT = (
    "conflict|konflikt|conflit|conflitt|conflito|конфликт|конфлікт|ütközés|çakışma|ristiriita|συγκρου|"
    "冲突|衝突|競合|충돌"
)
_BACKUP = (
    "backups?|bak|bck|bkp|old|orig|original|prev|previous|autosaved?|sicherung(?:skopie)?|sicherheitskopie|sauvegarde|"
    "respaldo|copia de seguridad|cópia de segurança|salvataggio|säkerhetskopia|sikkerhedskopi|zapasowa|záloha|yedek|"
    "резервная копия|備份|备份|バックアップ|백업"
)
_TRASH = (
    "trash(?:es|ed)?|recycled?|recycler|papierkorb|corbeille|papelera|cestino|lixeira|prullenbak|papirkurv|papperskorg|"
    "roskakori|kosz|koš|lomtár|корзина|deleted|gelöscht|stversions|versions|snapshots?|ゴミ箱|回收站|휴지통"
)
_ARCHIVE = "archiv|archives?|archived|archivio|archivo|arquivo|archief|arkiv|архив|arşiv"
_NUMBER = r"[ _-]?\(?\d{1,3}\)?"
_SIGNS_OF_NAME = [  # (how bad it is, what the name in small letters has, without its ending)
    (8, late_pattern(_CONFLICT)),
    (4, late_pattern(rf"[\s_.(\[-](?:another |\d+(?:st|nd|rd|th) )?(?:{_COPY})(?:{_NUMBER})?[\s)\]]*$")),
    (4, late_pattern(rf"^(?:{_COPY})(?:{_NUMBER})?(?:$|[\s_-])")),
    (4, late_pattern(r"(?:のコピー|的副本|の複製)(?: ?\d+)?$")),
    (4, late_pattern(rf"[\s_.(\[-](?:{_BACKUP})(?:{_NUMBER}|[ _-][\d-]+)?[\s)\]]*$|^(?:{_BACKUP})[ _-]")),
    (2, late_pattern(r"\(\d{1,3}\)$|[ _-]\d{1,2}$")),
]
_SIGNS_OF_FOLDER = [
    (badness, late_pattern(rf"(?:^|[\W_])(?:{words})(?:$|[\W_\d])"))
    for badness, words in ((16, _TRASH), (6, _BACKUP), (3, _COPY), (3, _ARCHIVE))
]
_ENDING = late_pattern(r"(?:~|\.(?:bak|old|orig|backup|sav|save|tmp|temp|swp|part|\d{1,3}))+$")


def best_first(paths: Iterable[str]) -> list[str]:
    """The paths of equal files, relative to one root, the best name first."""
    return sorted(paths, key=_badness)


def _badness(path: str) -> tuple[int, int, int, str]:
    """How much a path looks like a copy's; then its depth and the length of its name; then the path."""
    *folders, name = unicodedata.normalize("NFC", path).casefold().split("/")
    found = sum(badness for folder in folders for badness, pattern in _SIGNS_OF_FOLDER if pattern.search(folder))
    whole = _ENDING.sub("", name)
    found += 4 * (whole != name)
    stem = PurePosixPath(whole).stem
    found += sum(badness for badness, pattern in _SIGNS_OF_NAME if pattern.search(stem))
    return found, len(folders), len(name), path
