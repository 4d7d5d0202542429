"""The names of months and days in the languages that a format of Excel may ask for, as in `[$-407]d. mmmm yyyy`.

Of CLDR: twelve months, Monday to Sunday; Slavic months as they stand behind a day. Behind a slash stands what is short,
where that is not the first three letters. Pure data.
"""

from functools import lru_cache

_NAMES = {
    "en": """January February March April May June July August September October November December
        Monday Tuesday Wednesday Thursday Friday Saturday Sunday""",
    "de": """Januar Februar März April Mai Juni Juli August September Oktober November Dezember
        Montag/Mo Dienstag/Di Mittwoch/Mi Donnerstag/Do Freitag/Fr Samstag/Sa Sonntag/So""",
    "fr": """janvier/janv février/févr mars/mars avril/avr mai juin/juin juillet/juil août/août septembre/sept octobre
        novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche""",
    "es": """enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
        lunes martes miércoles jueves viernes sábado domingo""",
    "it": """gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
        lunedì martedì mercoledì giovedì venerdì sabato domenica""",
    "nl": """januari februari maart/mrt april mei juni juli augustus september oktober november december
        maandag/ma dinsdag/di woensdag/wo donderdag/do vrijdag/vr zaterdag/za zondag/zo""",
    "pt": """janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
        segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo""",
    "sv": """januari februari mars april maj juni juli augusti september oktober november december
        måndag tisdag onsdag torsdag fredag lördag söndag""",
    "da": """januar februar marts april maj juni juli august september oktober november december
        mandag tirsdag onsdag torsdag fredag lørdag søndag""",
    "nb": """januar februar mars april mai juni juli august september oktober november desember
        mandag tirsdag onsdag torsdag fredag lørdag søndag""",
    "fi": """tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta
        marraskuuta joulukuuta
        maanantai/ma tiistai/ti keskiviikko/ke torstai/to perjantai/pe lauantai/la sunnuntai/su""",
    "pl": """stycznia lutego marca kwietnia maja czerwca lipca sierpnia września/wrz października/paź listopada grudnia
        poniedziałek wtorek środa czwartek piątek sobota niedziela""",
    "cs": """ledna února března dubna května června/čvn července/čvc srpna září října listopadu prosince
        pondělí úterý středa čtvrtek pátek sobota neděle""",
    "hu": """január február március április május június július augusztus szeptember október november december
        hétfő kedd szerda csütörtök péntek szombat vasárnap""",
    "ru": """января февраля марта апреля мая июня июля августа сентября октября ноября декабря
        понедельник/Пн вторник/Вт среда/Ср четверг/Чт пятница/Пт суббота/Сб воскресенье/Вс""",
    "uk": """січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
        понеділок/Пн вівторок/Вт середа/Ср четвер/Чт пʼятниця/Пт субота/Сб неділя/Нд""",
    "tr": """Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık
        Pazartesi Salı Çarşamba Perşembe Cuma Cumartesi Pazar""",
}


@lru_cache(32)
def names_of(language: str) -> list[tuple[str, str]]:
    """Return the (long, short) names of the months and then of the days; the English ones of an unknown language."""
    pairs = (name.partition("/") for name in _NAMES.get(language, _NAMES["en"]).split())
    return [(long, short or long[:3]) for long, _, short in pairs]
