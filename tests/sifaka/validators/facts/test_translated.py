"""Numbers, dates and names in other languages, in translations and in rewrites."""

import pytest

from sifaka.validators.facts import allowance_of, compare

SIX = "It costs 6 dollars."


def _lost(text: str, original: str = SIX) -> list[str]:
    allowed = allowance_of("Translate it.")
    return [difference.message for difference in compare(original, text, "", allowed)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Es kostet sechs Dollar.", "Es kostet neun Dollar."),
        ("Het kost zes dollar.", "Het kost negen dollar."),
        ("Kosztuje sześć dolarów.", "Kosztuje dziewięć dolarów."),
        ("Стоит шесть долларов.", "Стоит девять долларов."),
        ("Κοστίζει έξι δολάρια.", "Κοστίζει εννιά δολάρια."),
        ("يكلف ستة دولارات.", "يكلف تسعة دولارات."),
        ("זה עולה שישה דולר.", "זה עולה תשעה דולר."),
        ("इसकी कीमत छह डॉलर है।", "इसकी कीमत नौ डॉलर है।"),
        ("ราคาหกดอลลาร์", "ราคาเก้าดอลลาร์"),
        ("它要六美元。", "它要九美元。"),
        ("六ドルです。", "九ドルです。"),
        ("여섯 달러입니다.", "아홉 달러입니다."),
    ],
)
def test_a_number_in_words_of_another_language_is_kept(text: str, wrong: str) -> None:
    assert _lost(text) == []
    assert len(_lost(wrong)) == 1


def test_a_word_that_is_a_number_elsewhere_does_not_stand_for_it() -> None:
    french = "Le musée est ouvert toute la semaine, et on y entre par la grande porte du jardin."
    assert _lost(french, "10 dollars to get in.") == ["number lost: 10 dollars"]  # Turkish on: ten


@pytest.mark.parametrize(
    "task",
    [
        "Vertaal naar het Nederlands.",
        "Översätt till svenska.",
        "Przetłumacz na polski.",
        "ترجم إلى العربية",
        "แปลเป็นภาษาไทย",
        "תרגם לעברית",
        "अनुवाद करें",
        "Put it into Vietnamese.",
    ],
)
def test_a_task_to_translate_is_known_in_other_languages(task: str) -> None:
    assert allowance_of(task).translates


MEETING = "The meeting is on Monday, 5 May 2024 at 3 pm."
MEETINGS = {
    "Arabic": "الاجتماع يوم الاثنين 5 مايو 2024 الساعة 3 مساءً.",
    "Chinese": "会议于2024年5月5日星期一下午3点举行。",
    "Czech": "Schůzka je v pondělí 5. května 2024 v 15:00.",
    "Finnish": "Kokous on maanantaina 5. toukokuuta 2024 klo 15.",
    "Greek": "Η συνάντηση είναι τη Δευτέρα, 5 Μαΐου 2024, στις 3 μ.μ.",
    "Hebrew": "הפגישה תתקיים ביום שני, 5 במאי 2024, בשעה 15:00.",
    "Hindi": "बैठक सोमवार, 5 मई 2024 को दोपहर 3 बजे है।",
    "Hungarian": "A megbeszélés 2024. május 5-én, hétfőn 15 órakor lesz.",
    "Japanese": "会議は2024年5月5日月曜日の午後3時です。",
    "Korean": "회의는 2024년 5월 5일 월요일 오후 3시입니다.",
    "Polish": "Spotkanie odbędzie się w poniedziałek, 5 maja 2024 r. o godzinie 15:00.",
    "Russian": "Встреча состоится в понедельник, 5 мая 2024 г., в 15:00.",
    "Swedish": "Mötet är måndagen den 5 maj 2024 kl. 15.00.",
    "Thai": "การประชุมจะมีขึ้นในวันจันทร์ที่ 5 พฤษภาคม 2024 เวลา 15.00 น.",
    "Turkish": "Toplantı 5 Mayıs 2024 Pazartesi günü saat 15:00'te.",
    "Ukrainian": "Зустріч відбудеться в понеділок, 5 травня 2024 року, о 15:00.",
    "Vietnamese": "Cuộc họp vào thứ Hai, ngày 5 tháng 5 năm 2024 lúc 15 giờ.",
}


def told(text: str, rewrite: str, task: str = "") -> list[str]:
    return [d.message for d in compare(text, rewrite, task, allowance_of(task))]


@pytest.mark.parametrize("language", MEETINGS)
def test_a_date_in_another_language_is_the_same_date(language: str) -> None:
    there = f"Translate into {language}."
    assert told(MEETING, MEETINGS[language], there) == []
    assert told(MEETING, MEETINGS[language].replace("2024", "2025"), there)
    assert told("It is on Friday, 5 May 2024 at 3 pm.", MEETINGS[language], there)
    if language not in {"Chinese", "Japanese", "Korean", "Vietnamese"}:  # there months are numbers
        assert told("It is on Monday, 5 June 2024 at 3 pm.", MEETINGS[language], there)


@pytest.mark.parametrize("language", ["Arabic", "Chinese", "Hindi", "Polish", "Russian", "Thai"])
def test_a_date_comes_back_from_another_language(language: str) -> None:
    assert told(MEETINGS[language], MEETING, "Translate into English.") == []


@pytest.mark.parametrize(
    ("text", "same", "wrong"),
    [
        ("这个包卖六美元，重三公斤。", "这个包卖6美元，重3公斤。", "这个包卖九美元，重三公斤。"),
        ("会費は五ユーロです。", "会費は5ユーロです。", "会費は六ユーロです。"),
        ("가방은 여섯 달러입니다.", "가방은 6달러입니다.", "가방은 아홉 달러입니다."),
        ("Сумка стоит шесть долларов.", "Сумка стоит 6 долларов.", "Сумка стоит девять долларов."),
        ("ثمن الحقيبة ستة دولارات.", "ثمن الحقيبة 6 دولارات.", "ثمن الحقيبة تسعة دولارات."),
        ("กระเป๋าราคาหกดอลลาร์", "กระเป๋าราคา 6 ดอลลาร์", "กระเป๋าราคาเก้าดอลลาร์"),
    ],
)
def test_a_small_number_in_words_is_kept_in_its_own_language(
    text: str, same: str, wrong: str
) -> None:
    assert told(text, same) == []
    assert len(told(text, wrong)) == 1


def test_a_number_that_is_a_part_of_another_word_is_none() -> None:
    assert told("我们一起去三明市，十分高兴。", "我们同去三明市，非常高兴。") == []


def test_french_counts_on_from_sixty_and_eighty() -> None:
    french = "Vingt et une tables, soixante et onze chaises, quatre-vingt-douze verres."
    assert told("21 tables, 71 chairs, 92 glasses.", french, "Translate into French.") == []


@pytest.mark.parametrize(
    ("task", "text", "good", "bad", "reason"),
    [
        ("Translate into French.", "Helena Brandt called Marcus Weber in Vienna.",
         "Helena Brandt a appelé Marcus Weber à Vienne.",
         "Helena Braun a appelé Marcus Weber à Vienne.", "Helena Brandt became Helena Braun"),
        ("Translate into French.", "Dr. Brandt works at Lake Constance.",
         "Le Dr Brandt travaille au bord du lac de Constance.",
         "Le Dr Weber travaille au bord du lac de Constance.", "name lost: Dr. Brandt"),
        ("Translate into Polish.", "Mrs. Novak met Peter Schmidt.",
         "Pani Novak spotkała Petera Schmidta.", "Pani Kowal spotkała Petera Schmidta.",
         "name lost: Mrs. Novak"),
        ("Translate into German.", "Queen Elizabeth met Pope John Paul II in New York.",
         "Königin Elisabeth traf Papst Johannes Paul II. in New York.",
         "Königin Elisabeth traf Papst Johannes Paul IV. in New York.", "II became IV"),
    ],
)  # fmt: skip
def test_the_names_of_people_stay_in_a_translation(
    task: str, text: str, good: str, bad: str, reason: str
) -> None:
    assert told(text, good, task) == []
    assert told(text, bad, task) == [reason]


def test_names_in_another_alphabet_are_not_compared() -> None:
    text = "Dr. Brandt met Helena Weber in Ankara."
    assert told(text, "布兰特博士在安卡拉会见了海伦娜·韦伯。", "Translate into Chinese.") == []


def test_a_paraphrase_in_the_same_language_is_no_translation() -> None:
    text = "Please send your questions before the meeting. There is coffee for all who come early."
    task, same = "Translate into French.", "Kindly submit your questions in advance of the meeting."
    assert told(text, same, task) == ["the words are still those of the original's language"]
    assert told(text, same, "Translate into English.") == []
    assert told(text, "Merci d'envoyer vos questions avant la réunion.", task) == []
