"""Months and days of the week in the words of other languages, for translations.

The beginnings of the words of CLDR, as long as their forms share them.
"""

import re
from functools import cache

from sifaka.validators.facts.fact import Fact
from sifaka.validators.facts.numbers import plain_digits
from sifaka.validators.facts.vocabulary import READ

_WORDS = {
    "ar": """يناير,كانون-الثاني فبراير,شباط مارس,آذار أبريل,إبريل,نيسان مايو,أيار
        يونيو,حزيران يوليو,تموز أغسطس,آب سبتمبر,أيلول أكتوبر,تشرين-الأول نوفمبر,تشرين-الثاني
        ديسمبر,كانون-الأول اثنين ثلاثاء أربعاء خميس جمعة سبت أحد""",
    "be": """студзен лют сакавік красавік мая,май чэрвен ліпен жні верас кастрычнік лістапад
        снеж панядзел аўтор серад,сераду чацвер,чацверг пятніц субот нядзел""",
    "bg": """януар февруар март април май юни юли август септември октомври ноември декември
        понеделник вторник сряда четвъртък петък събота неделя""",
    "bn": """জানুয়ার ফেব্রুয়ার মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর
        ডিসেম্বর সোমবার মঙ্গলবার বুধবার বৃহস্পতিবার শুক্রবার শনিবার রবিবার""",
    "ca": """gener febrer març abril maig juny juliol agost setembre octubre novembre
        desembre dilluns dimarts dimecres dijous divendres dissabte diumenge""",
    "cs": """ledna,leden,lednu únor březn,březen dubn,duben květ června,červen,červnu
        července,červenec srpn,srpen září říj listopad prosin pondělí úterý střed čtvrt
        pátek,pátku sobot neděl""",
    "cy": """ionawr chwefror mawrth ebrill mai mehefin gorffennaf awst medi hydref tachwedd
        rhagfyr llun dydd-mawrth mercher iau gwener sadwrn sul""",
    "da": """januar februar marts april maj juni juli august september oktober november
        december mandag tirsdag onsdag torsdag fredag lørdag søndag""",
    "el": """ιανουάρι,ιανουαρί φεβρουάρι,φεβρουαρί μαρτί,μάρτι απρίλι,απριλί μαΐ,μάι
        ιούνι,ιουνί ιούλι,ιουλί αύγουστο,αυγούστο σεπτέμβρι,σεπτεμβρί οκτώβρι,οκτωβρί
        νοέμβρι,νοεμβρί δεκέμβρι,δεκεμβρί δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο
        κυριακή""",
    "et": """jaanuar veebruar märts,märtsi aprill mai juuni juuli august september,septembr
        oktoober,oktoobr november,novembr detsember,detsembr esmaspäev teisipäev kolmapäev
        neljapäev reede laupäev pühapäev""",
    "fa": """ژانویه فوریه مارس آوریل مه ژوئن ژوئیه,جولای اوت,آگوست سپتامبر اکتبر نوامبر
        دسامبر دوشنبه سه‌شنبه,سه-شنبه چهارشنبه پنجشنبه,پنج‌شنبه جمعه شنبه یکشنبه,یک‌شنبه""",
    "fi": """tammiku helmiku maalisku huhtiku toukoku kesäku heinäku eloku syysku lokaku
        marrasku jouluku maanantai tiistai keskiviik torstai perjantai lauantai sunnuntai""",
    "he": """ינואר פברואר מרץ,מרס אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר שני
        שלישי רביעי חמישי שישי שבת ראשון""",
    "hi": """जनवरी फ़रवरी,फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर,सितम्बर
        अक्टूबर,अक्तूबर नवंबर,नवम्बर दिसंबर,दिसम्बर सोमवार मंगलवार बुधवार गुरुवार,बृहस्पतिवार
        शुक्रवार शनिवार रविवार""",
    "hr": """siječ veljač ožuj travnj,travanj svib lipnj,lipanj srpnj,srpanj kolovoz ruj
        listopad studen prosin ponedjelj utor srijed četvrt petak,petk subot nedjelj""",
    "hu": """január február március április május június július augusztus szeptember október
        november december hétfő kedd szerd csütörtök péntek szombat vasárnap""",
    "id": """januari februari maret april mei juni juli agustus september oktober november
        desember senin selasa rabu kamis jumat sabtu minggu,ahad""",
    "is": """janúar febrúar mars apríl maí júní júlí ágúst september október nóvember
        desember mánuda þriðjuda miðvikuda fimmtuda föstuda laugarda sunnuda""",
    "ja": """一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月 月曜 火曜 水曜
        木曜 金曜 土曜 日曜""",
    "ko": """일월 이월 삼월 사월 오월 유월 칠월 팔월 구월 시월 십일월 십이월 월요일 화요일
        수요일 목요일 금요일 토요일 일요일""",
    "lt": """saus vasar kov baland geguž biržel liep rugpjū rugsėj spal lapkri gruod
        pirmadien antradien trečiadien ketvirtadien penktadien šeštadien sekmadien""",
    "lv": """janvār februār mart aprīl maij jūnij jūlij august septembr oktobr novembr
        decembr pirmdien otrdien trešdien ceturtdien piektdien sestdien svētdien""",
    "no": """januar februar mars april mai juni juli august september oktober november
        desember mandag tirsdag onsdag torsdag fredag lørdag søndag""",
    "pl": """stycz luty,lutego,lutym marzec,marca,marcu kwie maj czerwc,czerwiec lipc,lipiec
        sierp wrze paździer listopad grud poniedział wtor środ,środy czwart piąt sobot
        niedziel""",
    "ro": """ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie
        noiembrie decembrie luni marți,marţi miercuri joi vineri sâmbăt duminic""",
    "ru": """январ феврал март апрел мая,май,мае июн июл август сентябр октябр ноябр декабр
        понедельник вторник сред четверг пятниц суббот воскресень""",
    "sk": """január február marec,marca,marci apríl máj jún júl august septemb októb novemb
        decemb pondel utor stred štvrt piat sobot nedeľ,nedel""",
    "sl": """januar februar marec,marca,marcu april maj junij julij avgust septemb oktob
        novemb decemb ponedelj tor sred četrt petek,petk sobot nedelj""",
    "sr": """januar,јануар februar,фебруар mart,март april,април maj,мај jun,јун jul,јул
        avgust,август septemb,септемб oktob,октоб novemb,новемб decemb,децемб
        ponedelj,понедељ,ponedjelj utor,утор sred,сред,srijed četvrt,четврт
        petak,петак,petk,петк subot,субот nedelj,недељ""",
    "sv": """januari februari mars april maj juni juli augusti september oktober november
        december måndag tisdag onsdag torsdag fredag lördag söndag""",
    "th": """มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม
        พฤศจิกายน ธันวาคม จันทร์ อังคาร พุธ พฤหัส ศุกร์ เสาร์ อาทิตย์""",
    "tr": """ocak,ocağ şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım
        aralık,aralığ pazartesi salı çarşamba perşembe cuma cumartesi pazar""",
    "uk": """січ лют берез квіт трав черв лип серп верес жовт листопад груд понеділ вівтор
        серед,середу четвер п'ятниц,п’ятниц субот неділ""",
    "vi": """tháng-1,tháng-một tháng-2,tháng-hai tháng-3,tháng-ba tháng-4,tháng-tư
        tháng-5,tháng-năm tháng-6,tháng-sáu tháng-7,tháng-bảy tháng-8,tháng-tám
        tháng-9,tháng-chín tháng-10,tháng-mười tháng-11 tháng-12 thứ-hai thứ-ba thứ-tư
        thứ-năm thứ-sáu thứ-bảy chủ-nhật""",
    "zh": """一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月
        星期一,周一,週一,礼拜一 星期二,周二,週二,礼拜二 星期三,周三,週三,礼拜三
        星期四,周四,週四,礼拜四 星期五,周五,週五,礼拜五 星期六,周六,週六,礼拜六
        星期日,星期天,周日,週日,礼拜天""",
}
"""January to December, then Monday to Sunday; commas divide forms, hyphens the words of one."""
_MONTHS = 12
_ENDING = 3
"""Letters by which an ending may be longer."""
_PREFIXED = frozenset({"ar", "he"})
"""Languages that write a preposition and an article in one word with what follows."""
_JOINED = frozenset({"ja", "ko", "th", "zh"})


def is_named(date: Fact, text: str, language: str) -> bool:
    """True when a text has a date in words of a language whose dates are not read as a whole.

    The year and the day are looked for in digits, each for itself. Of a language that is not in the
    table the words are not compared.
    """
    if date.kind != "date" or language in READ:
        return False
    return any(_has(key, plain_digits(text), language) for key in date.keys)


def _has(key: tuple[object, ...], text: str, language: str) -> bool:
    if key[0] == "weekday":
        return _names(_MONTHS + int(str(key[1])), text, language)
    if len(key) != 3:
        return False
    year, month, day = key
    numbers = (part for part in (year, day) if part is not None)
    if not all(re.search(rf"(?<!\d)0?{part}(?!\d)", text) for part in numbers):
        return False
    in_digits = re.search(rf"(?<!\d)0?{month}(?:[.월月/-]|\Z)", text) is not None
    return in_digits or _names(int(str(month)) - 1, text, language)


def _names(place: int, text: str, language: str) -> bool:
    known = [language] if language in _WORDS else [*_WORDS] if language == "unknown" else []
    return not known or any(_pattern(place, each).search(text) for each in known)


@cache
def _pattern(place: int, language: str) -> re.Pattern[str]:
    words = _WORDS[language].split()[place].replace("-", " ").split(",")
    listed = "|".join(map(re.escape, words))
    if language in _JOINED:
        return re.compile(listed)
    start = r"(?<!\w)\w{0,3}" if language in _PREFIXED else r"(?<!\w)"
    return re.compile(rf"{start}(?:{listed})\w{{0,{_ENDING}}}(?!\w)", re.IGNORECASE)
