"""The names of the twelve months in 90 languages, without diacritics: whole and short. Pure data.

From Unicode's CLDR, by Babel, which reads a file for each language: too slow for a search.
"""

_NAMES = (
    """
    ean eanair ene enero gen gener genier gennaio ian ianuarie ianuarii ianuarius ion ionawr jaan jaanuar jan janaayo
    janar janeiro jannaayo jannar januar januara januari januarie januaro january januwari janv janvaris janvier led
    leden ledna oca ocak rbn rebendan saus sausio sausis sij sijecanj sijecnja sty styczen stycznia tammi tammikuu
    tammikuuta urt urtarrila xan xaneiro yan yanvar yanwar ιαν ιανουαριος ιανουαριου гыйн гыйнвар сту студзень студзеня
    січ січень січня янв январ январь января яну януари јан јануар јануари қаң қаңтар հնվ հունվար հունվարի יאנ יאנואר
    ינואר ינו׳ جنوري جنوری يانۋار يناير ژانویه जनवरी जनवरी: जनवरीमासः जन॰ जाने जानेवारी জানু জানুযারী ਜਨਵਰੀ જાન્યુ
    જાન્યુઆરી ଜାନୁଆରୀ ஜனவரி జనవరి ಜನವರಿ ജനു ജനുവരി ජනවාරි ม.ค มกราคม ມ.ກ ມັງກອນ ဇန် ဇန်နဝါရီ იან იანვარი ጃንዋሪ មករា
    """,
    """
    chw chwef chwefror feabh feabhra feb febbraio febr febraayo febreiro febrer febrero febrier februar februara
    februari februarie februarii februaris februarius februaro february februwari fev fevereiro fevr fevral fevrier few
    fewral fra frar helmi helmikuu helmikuuta lut lutego luty ots otsaila peb pebrero sbt shk shkurt sibat sub subat uno
    unor unora vas vasario vasaris veebr veebruar velj veljaca veljace φεβ φεβρουαριος φεβρουαριου ақп ақпан лют лютага
    лютий лютого люты феб фебруар фев февр феврал февраль февраля февруари փետրվար փետրվարի փտվ פברואר פבר׳ פעב פעברואר
    فبراير فبروري فروری فوریه فيبروري فېبروري فېۋرال फरवरी फरवरी: फरवरीमासः फर॰ फेब्रु फेब्रुअरी फेब्रुवारी ফেব
    ফেব্রুযারী ਫਰਵਰੀ ફેબ્રુ ફેબ્રુઆરી ଫେବୃଆରୀ பிப் பிப்ரவரி ఫిబ్ర ఫిబ్రవరి ಫೆಬ್ರ ಫೆಬ್ರವರಿ ഫെബ്രു ഫെബ്രുവരി පෙබ පෙබරවාරි
    ก.พ กุมภาพันธ์ ກ.ພ ກຸມພາ ဖေဖော်ဝါရီ თებ თებერვალი ፌብሩዋሪ កុម្ភៈ
    """,
    """
    adar adr bre brezen brezna kov kovas kovo maalis maaliskuu maaliskuuta maarso maart mac machi mae maerz mar marc
    marca march marcius marco marec maret mars marso mart marta martie martii martius marto marts martxoa marz marzec
    marzo marzu mas mashi maw mawrth mrt ozu ozujak ozujka μαρ μαρτιος μαρτιου бер березень березня мар март марта нау
    наурыз сак сакавік сакавіка մարտ մարտի մրտ מערץ מרץ مارت مارس مارچ मार्च मार्च: मार्चमासः মার্চ ਮਾਰਚ માર્ચ ମାର୍ଚ୍ଚ
    மார் மார்ச் మార్చి ಮಾರ್ಚ್ മാർ മാർച്ച് මාර් මාර්තු มี.ค มีนาคม ມ.ນ ມີນາ မတ် მარ მარტი ማርች មីនា
    """,
    """
    abr abrell abriil abril aib aibrean api apirila apr aprel april aprila aprile aprili aprilie aprilis aprill aprilo
    avr avril bal balandis balandzio dub duben dubna ebr ebrill eph ephreli huhti huhtikuu huhtikuuta kwi kwiecien
    kwietnia nis nisan nsn pri prill tra travanj travnja απρ απριλιος απριλιου апр апрел апрель апреля април квіт
    квітень квітня кра красавік красавіка сәу сәуір ապր ապրիլ ապրիլի אפר אפריל אפר׳ ابريل اوریل اپريل اپریل ياپرېل
    अप्रिल अप्रैल अप्रैल: अप्रैलमासः एप्रि एप्रिल এপ্রি এপ্রিল ਅਪ੍ਰੈ ਅਪ੍ਰੈਲ એપ્રિલ ଅପ୍ରେଲ ஏப் ஏப்ரல் ఏప్రి ఏప్రిల్ ಏಪ್ರಿ
    ಏಪ್ರಿಲ್ ഏപ്രി ഏപ്രിൽ අප්රේල් เม.ย เมษายน ມ.ສ ເມສາ ဧပြီ აპრ აპრილი ኤፕሪ ኤፕሪል មេសា
    """,
    """
    beal bealtaine geg geguze geguzes gln gulan kve kveten kvetna maayo mag maggio mai maiatza maig maii maijs maio
    maius maj maja majo majus may mayis mayo mee mei mej mejju mey meyi svi svibanj svibnja touko toukokuu toukokuuta
    μαι μαιος μαιου май мам мамыр мая мај трав травень травня մայիս մայիսի մյս מאי מיי ماي مايو ميي ميی मईमासः മേയ് මැයි
    พ.ค พฤษภาคม ພ.ພ ພຶດສະພາ მაი მაისი ឧសភា
    """,
    """
    birz birzelio birzelis cerven cervna cvn cze czerwca czerwiec eka ekaina giu giugno gun gunju haz haziran heziran
    hun hunyo hzr iun iunie iunii iunius iyn iyun juin jun juna june junh junho juni junie junij junijs junio junius
    juny juun juuni kesa kesakuu kesakuuta lip lipanj lipnja meh mehefin meith meitheamh qer qershor xuno ιουν ιουνιος
    ιουνιου июн июнь июня мау маусым черв червень червня чэр чэрвень чэрвеня юни јун јуни հնս հունիս հունիսի יוני جون
    يونيو يىيۇن ژوين जुन जून जून: जूनमासः জুন ਜੂਨ જૂન ଜୁନ ஜூன் జూన్ ಜೂನ್ ജൂൺ ජූනි มิ.ย มิถุนายน ມິ.ຖ ມິຖຸນາ ဇွန် ივნ
    ივნისი មិថុនា
    """,
    """
    cervence cervenec cvc gor gorff gorffennaf heina heinakuu heinakuuta hul hulyo iuil iul iulie iulii iulius iyl iyul
    juil juillet jul jula julai julayi julhet julho juli julie julij julijs julio juliol julius july juuli korr korrik
    liep liepa liepos lip lipca lipiec lug luglio lul lulju luulyo srp srpanj srpnja tem temmuz tirmeh trm uzt uztaila
    xul xullo ιουλ ιουλιος ιουλιου июл июль июля лип липень липня ліп ліпень ліпеня шіл шілде юли јул јули հլս հուլիս
    հուլիսի יולי جولاء جولايی جولای يوليو يىيۇل ژويیه जुलाई जुलाई: जुलाईमासः जुलै जुल॰ জুল জুলাই ਜੁਲਾ ਜੁਲਾਈ જુલાઈ ଜୁଲାଇ
    ஜூலை జులై ಜುಲೈ ജൂലൈ ජූලි ก.ค กรกฎาคม ກ.ລ ກໍລະກົດ ဇူလိုင် ივლ ივლისი ጁላይ កក្កដា
    """,
    """
    abu abuztua aga agasti ago agost agosti agosto agu agust agustos agustus aout aug august augusta augusti augusto
    augusts augustus augusztus avg avgust avq avqust awg awgust awst aww awwissu elo elokuu elokuuta gush gusht kol
    kolovoz kolovoza lun lunasa ogo ogos ogosto ogs rugp rugpjucio rugpjutis sie sierpien sierpnia srp srpen srpna tbx
    tebax αυγ αυγουστος αυγουστου авг август августа жні жнівень жніўня серп серпень серпня там тамыз օգոստոս օգոստոսի
    օգս אוגוסט אוג׳ אויג אויגוסט اغسطس اوت اګست اگست اگسٽ ياۋغۇست अगस्ट अगस्त अगस्त: अगस्तमासः अग॰ ऑगस्ट আগস্ট ਅਗਸਤ
    ઑગસ્ટ ଅଗଷ୍ଟ ஆகஸ்ட் ఆగస్టు ಆಗಸ್ಟ್ ഓഗസ്റ്റ് අගෝ අගෝස්තු ส.ค สิงหาคม ສ.ຫ ສິງຫາ ဩဂုတ် აგვ აგვისტო ኦገስ ኦገስት សីហា
    """,
    """
    eyl eylul iln ilon ira iraila medi mfomh rugs rugsejis rugsejo ruj rujan rujna seb sebteembar sebtembar sen sentabr
    sentyabr sep sept septemba septembar september septembra septembre septembrie septembris septembro septhemba
    septiembre set setembre setembro settembre settembru setyembre sht shtator syys syyskuu syyskuuta szept szeptember
    wrz wrzesien wrzesnia zar zari σεπ σεπτεμβριος σεπτεμβριου вер верасень верасня вересень вересня сен сент сентябр
    сентябрь сентября сеп септембар септември қыр қыркүйек սեպ սեպտեմբեր սեպտեմբերի סעפ סעפטעמבער ספטמבר ספט׳ سبتمبر
    ستمبر سيپٽمبر سپتامبر سپتمبر سېنتەبىر سېپتمبر सप्टें सप्टेंबर सितंबर सितंबर: सितंबरमासः सित॰ सेप्टेम्बर সেপ
    সেপ্টেম্বর ਸਤੰ ਸਤੰਬਰ સપ્ટે સપ્ટેમ્બર ସେପ୍ଟେମ୍ବର செப் செப்டம்பர் సెప్టెం సెప్టెంబర్ ಸೆಪ್ಟೆಂ ಸೆಪ್ಟೆಂಬರ್ സെപ്റ്റം
    സെപ്റ്റംബർ සැප් සැප්තැම්බර් ก.ย กันยายน ກ.ຍ ກັນຍາ စက် စက်တင်ဘာ სექ სექტემბერი ሴፕቴ ሴፕቴምበር កញ្ញា
    """,
    """
    cot cotmeh dfomh eki ekim hyd hydref lis listopad listopada loka lokakuu lokakuuta oct october octobre octobris
    octombrie octubre okt oktabr okthoba oktoba oktobar oktober oktobra oktobris oktobro oktoobar oktoober oktubre
    oktyabr ott ottobre ottubru out outubro paz pazdziernik pazdziernika rij rijen rijna spal spalio spalis tet tetor
    urr urria οκτ οκτωβριος οκτωβριου жовт жовтень жовтня кас кастрычнік кастрычніка окт октобар октомври октябр октябрь
    октября қаз қазан հոկ հոկտեմբեր հոկտեմբերի אוקטובר אוק׳ אקט אקטאבער اكتوبر اکتبر اکتوبر اڪٽوبر يۆكتەبىر अक्टूबर
    अक्टू॰ अक्टोबर अक्तूबर: अक्तूबरमासः ऑक्टो ऑक्टोबर অক্টো অক্টোবর ਅਕਤੂ ਅਕਤੂਬਰ ઑક્ટો ઑક્ટોબર ଅକ୍ଟୋବର அக் அக்டோபர் అక్టో
    అక్టోబర్ ಅಕ್ಟೋ ಅಕ್ಟೋಬರ್ ഒക്ടോ ഒക്ടോബർ ඔක් ඔක්තෝබර් ต.ค ตุลาคม ຕ.ລ ຕຸລາ အောက် အောက်တိုဘာ ოქტ ოქტომბერი ኦክቶ ኦክቶበር តុលា
    """,
    """
    aza azaroa kas kasim lapkr lapkricio lapkritis lis listopad listopada listopadu marras marraskuu marraskuuta mijdar
    mjd nen nentor nob nobyembre nof noiembrie noofeembar nov novemba novembar november novembra novembre novembris
    novembro novembru noviembre noy noyabr samh samhain stu studeni studenoga tach tachwedd νοε νοεμβριος νοεμβριου лист
    листопад листопада ліс лістапад лістапада нов новембар ное ноември ноя нояб ноябр ноябрь ноября қар қараша նոյ
    նոյեմբեր նոյեմբերի נאוו נאוועמבער נובמבר נוב׳ نوامبر نوفمبر نومبر نويابىر नवंबर नवंबर: नवंबरमासः नव॰ नोभेम्बर
    नोव्हें नोव्हेंबर নভে নভেম্বর ਨਵੰ ਨਵੰਬਰ નવે નવેમ્બર ନଭେମ୍ବର நவம்பர் నవం నవంబర్ ನವೆಂ ನವೆಂಬರ್ നവം നവംബർ නොවැ නොවැම්බර්
    พ.ย พฤศจิกายน ພ.ຈ ພະຈິກ နို နိုဝင်ဘာ ნოე ნოემბერი ኖቬም ኖቬምበር វិច្ឆិកា 十一月
    """,
    """
    abe abendua ara aralik berfanbar brf dec decembar december decembra decembre decembrie decembris decembro dek dekabr
    des desemba desember desembre dets detsember dez dezember dezembro dhj dhjetor dic dicembre dicembru diciembre dis
    diseembar disemba disember disyembre gru grudnia grudzien gruod gruodis gruodzio joulu joulukuu joulukuuta noll
    nollaig pro prosinac prosinca prosince prosinec rhag rhagfyr δεκ δεκεμβριος δεκεμβριου груд грудень грудня дек
    декабр декабрь декабря декември дец децембар жел желтоқсан сне снежань снежня դեկ դեկտեմբեր դեկտեմբերի דעצ דעצעמבער
    דצמבר דצמ׳ دسامبر دسمبر ديسمبر دېكابىر ڊسمبر डिसें डिसेंबर डिसेम्बर दिसंबर दिसंबर: दिसंबरमासः दिस॰ ডিসে ডিসেম্বর ਦਸੰ
    ਦਸੰਬਰ ડિસે ડિસેમ્બર ଡିସେମ୍ବର டிச டிசம்பர் డిసెం డిసెంబర్ ಡಿಸೆಂ ಡಿಸೆಂಬರ್ ഡിസം ഡിസംബർ දෙසැ දෙසැම්බර් ธ.ค ธันวาคม ທ.ວ
    ທັນວາ ဒီဇင်ဘာ დეკ დეკემბერი ዲሴም ዲሴምበር ធ្នូ 十二月
    """,
)
MONTHS: dict[str, tuple[int, ...]] = {}
"""The numbers of the months that a name has: listopad is the tenth month in Croatian, the eleventh in Czech."""
for _number, _names in enumerate(_NAMES, start=1):
    for _name in _names.split():
        MONTHS[_name] = (*MONTHS.get(_name, ()), _number)
