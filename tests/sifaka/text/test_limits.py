"""Which limits are read from a task, which words are none, and how a text is measured."""

import pytest

from sifaka.text.limits import asked_of, outside_scope, scope_of

LONG = "\n\n".join(["This is one of the paragraphs of a text. It has a number of sentences."] * 50)
TEXT = "Das ist ein kurzer Text und er ist nicht sehr lang. The end."

READ = (
    ("Summarise in at most 30 words.", "words: at most 30"),
    ("Shorten to under 100 words", "words: under 100"),
    ("Write about 120 words on the offer.", "words: about 120"),
    ("Rewrite this email, max 80 words", "words: at most 80"),
    ("Summarise the report in two sentences.", "sentences: exactly 2"),
    ("Explain the refund policy in three bullet points.", "bullets: exactly 3"),
    ("Write between 50 and 80 words.", "words: 50 to 80"),
    ("Write at least 200 words.", "words: at least 200"),
    ("Max. 1,200 characters.", "characters: at most 1200"),
    ("Turn this paragraph into at most two lines.", "lines: at most 2"),
    ("The reply must not exceed 90 words.", "words: at most 90"),
    ("Make it friendlier (50 words max).", "words: at most 50"),
    ("Write a tweet of up to 280 characters.", "characters: at most 280"),
    ("Summarise in 50–80 words.", "words: 50 to 80"),
    ("Shorten this sentence to 12 words.", "words: at most 12"),
    ("Fasse den Text in höchstens drei Sätzen zusammen.", "sentences: at most 3"),
    ("Schreibe etwa 120 Wörter.", "words: about 120"),
    ("Maximal 500 Zeichen.", "characters: at most 500"),
    ("Réécris ce texte en 50 mots maximum.", "words: at most 50"),
    ("Resume el texto en dos frases.", "sentences: exactly 2"),
    ("Escribe como máximo 80 palabras.", "words: at most 80"),
    ("Translate into German.", "language: in German"),
    ("Answer in German.", "language: in German"),
    ("Übersetze ins Englische.", "language: in English"),
    ("Summarise in German in two sentences.", "sentences: exactly 2", "language: in German"),
    ("Write three short paragraphs, under 150 words in total.", "words: under 150"),
    ("Summarise in three bullets of at most 10 words each.", "bullets: exactly 3"),
    ("Condense this to one paragraph.", "paragraphs: at most 1"),
    (
        "Summarize in two short paragraphs and at most 80 words.",
        "paragraphs: exactly 2",
        "words: at most 80",
    ),
)

NOT_READ = (
    "Fix the first two sentences.",
    "Shorten the first paragraph by 30 words.",
    "Make it a list of at most 5 words each.",
    "The subject line under 60 characters.",
    "We answer in two weeks. Make it polite.",
    "Use at most 20 words per sentence.",
    "Correct the typos in two sentences.",
    'Replace "at most 30 words" with "at most 40 words".',
    "Write a story with at most 3 characters.",
    "Keep lines under 80 characters.",
    "Shorten by about 30 words.",
    "Mention in at most 2 sentences that we moved.",
    "The last 3 lines repeat the rest; delete them.",
    "Make it 20 words shorter.",
    "Summarise the report about sales in Germany.",
    "Write about Spanish-speaking countries in Spanish-speaking media.",
    "The offer is valid for at most 30 days.",
    "We sold at least 200 units in 3 countries.",
    "Write one paragraph per product, at most 40 words each.",
    "In the first 50 words name the price.",
    "Kürze den ersten Absatz um 30 Wörter.",
    "Cada frase con un máximo de 20 palabras.",
    "Translate the names into English and German.",
    "Discounts of up to 50 % for under 30s.",
)


HANDBOOK = """# Handbook

## 1. Scope

This covers teh staff.

## 2. Pay

Pay is made on the 5th.
It is in euros.

## 3. Leave

Leave is 30 days.

### 3.1 Sick leave

Call by nine.
"""
REVISED = (
    HANDBOOK.replace("teh", "the").replace("5th", "6th").replace("30", "31").replace("nine", "ten")
)
FIRST, SECOND, THIRD, SICK = ("teh", "the"), ("5th.", "6th."), ("30", "31"), ("nine.", "ten.")
LETTER = """Dear Ann,

We met on Monday. It was good.

The price is 5 euros now.

Best,
Tom
"""


@pytest.mark.parametrize("row", READ, ids=lambda row: row[0])
def test_a_limit_of_the_whole_text_is_read(row: tuple[str, ...]) -> None:
    task, *limits = row
    assert [f"{each.what}: {each.limit}" for each in asked_of(task, TEXT)] == limits


@pytest.mark.parametrize("task", NOT_READ)
def test_what_is_said_of_a_part_or_of_something_else_asks_nothing_of_a_long_text(task: str) -> None:
    assert [each for each in asked_of(task, LONG) if not each.met] == []


@pytest.mark.parametrize(
    ("task", "text", "measured", "met"),
    [
        ("At most 3 words.", "One two three.", "3", True),
        ("Under 3 words.", "One two three.", "3", False),
        ("About 20 words.", "word " * 23, "23", True),
        ("About 20 words.", "word " * 24, "24", False),
        ("Between 2 and 4 words.", "One.", "1", False),
        ("At least 2 words.", "One two.", "2", True),
        ("At most 20 characters.", "  20 characters, all. \n", "19", True),
        ("In two sentences.", "# Pay\n\nDear Ann,\n\nIt is 5. Is it?\n\nBest,\nTom", "2", True),
        ("Answer in one paragraph.", "# Pay\n\nIt is 5.\n\nIt was 4.\n", "2", False),
        ("At most two lines.", "One\n\nTwo\n", "2", True),
        ("Answer in two bullets.", "Points:\n- one\n  - inner\n- two\n", "2", True),
        ("Write it in German.", "Das ist nicht der Text, den wir haben.", "German", True),
        ("Write it in German.", "This is not the text that we have.", "English", False),
        (
            "Höchstens zwei Sätze.",
            "Am Montag, 3. März, ist zu; am 4. und 5. April ab ca. 14 Uhr auch. Nr. 7 nicht.",
            "2",
            True,
        ),
        ("At most 2 sentences.", "There are 3. The rest has left. It is late.", "3", False),
    ],
)
def test_a_text_is_measured(task: str, text: str, measured: str, met: bool) -> None:
    (asked,) = asked_of(task, text)
    assert (asked.measured, asked.met) == (measured, met)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        *(("German", text) for text in ("", "Tom Lee", "1 2 3")),
        ("Hungarian", "This is not the text that we have."),
    ],
)
def test_a_language_that_cannot_be_told_is_not_judged(language: str, text: str) -> None:
    assert asked_of(f"Answer in {language}.", text) == ()


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        ("Only fix section 1.", (SECOND, THIRD, SICK)),
        ("Change only section 3.", (FIRST, SECOND)),
        ("Edit only section 3.1, please.", (FIRST, SECOND, THIRD)),
        ("Just shorten the second section.", (FIRST, THIRD, SICK)),
        ("Only change the Pay section.", (FIRST, THIRD, SICK)),
        ('Correct only "Pay".', (FIRST, THIRD, SICK)),
        ("Ändere nur Abschnitt 2.", (FIRST, THIRD, SICK)),
        ("Corrige seulement la section 2.", (FIRST, THIRD, SICK)),
        ("Change nothing else than section 2.", (FIRST, THIRD, SICK)),
    ],
)
def test_changes_outside_the_only_part_are_told(
    task: str, changes: tuple[tuple[str, str], ...]
) -> None:
    assert outside_scope(task, HANDBOOK, REVISED) == changes


@pytest.mark.parametrize(
    "task",
    [
        "Fix section 3.",
        "Only fix the typos.",
        "Only change section 9.",
        "Only fix the introduction.",
        "Only the first sentence of it.",
        "Improve it.",
    ],
)
def test_a_task_that_surely_names_no_part_has_no_scope(task: str) -> None:
    assert outside_scope(task, HANDBOOK, REVISED) == ()


def test_paragraphs_and_sections_are_counted_as_a_reader_does() -> None:
    letter = "Dear parents,\n\nThe concert is off. We are sorry.\n\nYours truly write soon."
    (span,) = scope_of("Rewrite only the first paragraph.", letter)
    assert letter[slice(*span)].startswith("The concert")
    text = "# Top\n\n## A\n\nOne.\n\n## B\n\nTwo.\n"
    changed = text.replace("One", "Eins").replace("Two", "Zwei")
    assert outside_scope("Only translate section 2.", text, changed) == (("One.", "Eins."),)
    wrapped = LETTER.replace("price is", "price\nis").replace("Best", "Bye.\n\nBest")
    assert outside_scope("Rephrase just paragraph 1.", LETTER, wrapped) == (("", "Bye."),)


def test_a_limit_of_one_of_two_parts_is_none_of_the_text() -> None:
    text = "Rain ahead\n\nIt will rain. Take a coat."
    assert asked_of("Give me a headline and a one-sentence lead.", text) == ()
    assert asked_of("Give me a one-sentence lead.", text)
