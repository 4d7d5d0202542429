"""Normalises the language that a document declares: "en-US", "eng", "Deutsch" and "de_DE.UTF-8" become ISO codes."""

from longsearch.engine.late_patterns import late_pattern

_NAMES = """
ar:ara,arabic,العربية bg:bul,bulgarian cs:ces,cze,czech,čeština da:dan,danish,dansk de:deu,ger,german,deutsch
el:ell,gre,greek en:eng,english es:spa,spanish,español,castellano et:est,estonian fa:fas,per,persian,farsi
fi:fin,finnish,suomi fr:fra,fre,french,français he:heb,hebrew,iw hi:hin,hindi hr:hrv,croatian hu:hun,hungarian,magyar
id:ind,indonesian is:isl,ice,icelandic it:ita,italian,italiano ja:jpn,japanese,日本語 ko:kor,korean,한국어
la:lat,latin lt:lit,lithuanian lv:lav,latvian nl:nld,dut,dutch,nederlands nb:nob no:nor,norwegian,norsk
pl:pol,polish,polski pt:por,portuguese,português ro:ron,rum,romanian ru:rus,russian,русский sk:slk,slo,slovak
sl:slv,slovenian sr:srp,serbian sv:swe,swedish,svenska th:tha,thai tr:tur,turkish,türkçe uk:ukr,ukrainian,українська
vi:vie,vietnamese zh:zho,chi,chinese,中文,cmn
"""
_CODE_OF = {
    name: code for entry in _NAMES.split() for code, _, names in (entry.partition(":"),) for name in names.split(",")
}
_NONE = frozenset({"und", "zxx", "mul", "mis", "xx", "c", "posix"})
_TAG = late_pattern(r"([A-Za-z]{2,3})(?:[-_.@].{0,30})?")


def language_code(text: str) -> str:
    """Return the ISO 639-1 code of a declared language, the ISO 639-3 code if there is no shorter one, or ""."""
    name = text[:100].strip().casefold()
    if name in _CODE_OF:
        return _CODE_OF[name]
    tag = _TAG.fullmatch(name)
    if tag is None or tag[1] in _NONE:
        return ""
    return _CODE_OF.get(tag[1], tag[1])
