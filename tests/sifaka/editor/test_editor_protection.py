"""What the editor leaves byte-identical."""

import random
import re
from itertools import pairwise

import pytest

from sifaka.editor import edit, lint, protected

TRUTH_TABLE = """\
The table lists every case of the two inputs.

true true true true
true false false false
false true false false
false false false false

0 0  0
0 1  0
1 1  1
"""

HEX_DUMP = """\
The file begins with these bytes, as the dump shows.

00000000  de ad be be be ef 00 00  ff ff  the teh the the
00000010  61 61 20 20 74 65 68 20  |aa  teh |
"""

OPTION_COLUMNS = """\
The command takes these options and no others at all.

  -v, --verbose     print teh the the whole log  of the run
  -q                say nothing at all , not even  errors
  --out FILE        write a output file  to FILE
name        a  recieve column
value       an  other column
"""

FRONT_MATTER = """\
---
title: Teh  recieve
summary:  a  apple for the the day , in order to eat
tags: [a, b ,c]
---

The body of the page is fine.
"""

TOML_FRONT_MATTER = """\
+++
title =  "recieve"
weight  = 10
+++

The body of the page is fine.
"""

MARKDOWN_TABLE = """\
Here is the list of all our plans.

| name   | the the plan  | price |
|--------|---------------|-------|
| recieve | a apple , eg  |  12  |
"""

CODE = """\
Run this in the folder of the project:

```python
def recieve(a , b):  # teh the the
    return a  +  b
```

- In a list it looks like this:

  ```sh
  echo recieve  teh the the , in order to
  ```

And this is indented by four columns:

    recieve = teh  + 1 , in order to

Then call `recieve  teh` with ``the the`` once.
"""

INLINE = """\
Ask at recieve@adress.com or at https://example.com/recieve/teh?untill=adress, please.
The file ./docs/recieve/adress.md and the folder /usr/recieve hold it, as does C:\\untill\\teh.
Pass --recieve or -untill to the tool, or set RECIEVE and recieve_mode and recieveMode.
The class Recieve_Teh calls os.recieve.path and adress() with {untill} and $recieve.
The sign said "teh recieve" and she wrote ‘untill then’ beneath “the the adress” today.
Press <kbd>untill</kbd> in the <recieve class="teh  x"> part, where $teh + adress$ holds.
The commit 4a1teh9f and the colour #recieve and the link [guide](untill/adress.md) stay.
"""


@pytest.mark.parametrize(
    "text",
    [
        TRUTH_TABLE,
        HEX_DUMP,
        OPTION_COLUMNS,
        FRONT_MATTER,
        TOML_FRONT_MATTER,
        MARKDOWN_TABLE,
        CODE,
        INLINE,
        "The A and AAAA records of the zone point to the same host.\n",
        "The buildds pick the package up and a buildd compiles it within the hour.\n",
        "Take a variable `i` and a counter n, where a and b are its limits and a is small.\n",
        "We call it with a variable i and an i in the index, since a exceeds b here.\n",
        "He said that that had had no effect, and gave her her book in in-house style.\n",
        "$ git add .  && echo the the\n>>> print( 'a  apple' )\n",
        "Run git add . and then git status in the same folder.\n",
        "The operators &&, || and ! bind in this order.\n",
        '{"title": "teh  recieve", "items": ["a apple"]}',
        "Le serveur a oublié de recevoir les données , et il a une adresse qui est là !\n",
        "Der Server hat die Adresse nicht gefunden und wird auf die  Datei zugreifen.\n",
    ],
)
def test_these_texts_come_back_byte_for_byte(text: str) -> None:
    assert edit(text).text == text
    assert not [issue for issue in lint(text).issues if issue.safe]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("Call `recieve` now.", "`recieve`"),
        ("See https://a.example/teh for more.", "https://a.example/teh"),
        ("Write to a.b@c.example today.", "a.b@c.example"),
        ("Open src/teh/main.py first.", "src/teh/main.py"),
        ("Open ~/notes or .gitignore first.", ".gitignore"),
        ("Use --dry-run here.", "--dry-run"),
        ("Set snake_case there.", "snake_case"),
        ("Set camelCase there.", "camelCase"),
        ("Set os.path there.", "os.path"),
        ("Set MAX_SIZE there.", "MAX_SIZE"),
        ("Set 0xdeadbeef there.", "0xdeadbeef"),
        ('She said "fine by me" twice.', '"fine by me"'),
        ("The sum $a + b$ is small.", "$a + b$"),
        ("A <b class='x'>bold</b> word.", "<b class='x'>"),
    ],
)
def test_a_thing_that_stands_for_itself_is_one_protected_span(text: str, piece: str) -> None:
    start = text.index(piece)
    end = start + len(piece)
    assert any(s <= start and end <= e for s, e in protected(text))


def test_plain_prose_is_not_protected() -> None:
    assert protected("It's a plain sentence; isn't it? We don't think so - not at all.") == []
    assert protected("There's no money (none at all) in it: the dogs' owners can't pay.") == []


def test_emphasis_does_not_protect_words() -> None:
    assert edit("This is *teh* and **untill** and _recieve_ in bold.\n").text == (
        "This is *the* and **until** and _receive_ in bold.\n"
    )


def test_protected_spans_are_sorted_and_apart() -> None:
    spans = protected(INLINE + CODE + MARKDOWN_TABLE)
    assert all(a_end < b_start for (_, a_end), (b_start, _) in pairwise(spans))


def test_nothing_inside_a_protected_span_is_reported() -> None:
    text = INLINE + CODE + MARKDOWN_TABLE + "It is a apple that I could of recieved from them .\n"
    inside = protected(text)
    for issue in lint(text).issues:
        start, end = issue.start or 0, issue.end or 0
        assert not any(s < end and start < e for s, e in inside), issue


WORDS = re.findall(
    r"\S+",
    """I A a it true yes no off not select Select from into insert Insert delete where as join
    values set Exception in thread Error most be ad de fa add dead beef cafe Face import git return
    do Dim the meeting is on Caused Index make File line none don't it's""",
)


@pytest.mark.slow
def test_a_line_of_ordinary_words_is_protected_as_it_is_in_a_longer_text() -> None:
    dice = random.Random(11)  # noqa: S311 - not a secret
    lines = ["Dead beef cafe face fade.", "Exception in thread main.", "Select it from a as usual."]
    for _ in range(3000):
        words = dice.choices(WORDS, k=dice.randint(1, 7))
        marks = dice.choices([" ", " ", " ", ", ", ". ", "? "], k=len(words) - 1)
        line = "".join(word + mark for word, mark in zip(words, [*marks, "."], strict=True))
        lines.append(line[0].upper() + line[1:])
    for line in lines:
        *before, code = protected(f"{line}\n\n`code`")
        assert (before, code) == (protected(line), (len(line) + 2, len(line) + 8))
    assert protected(lines[0])
