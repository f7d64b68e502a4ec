"""Good texts, in which every safe edit would be a mistake of the editor."""

import pytest

from sifaka.editor import edit, lint

BRITISH = """\
The committee met on Tuesday to organise the programme for the coming year. Its chair, Dr. Amelia
Hartley, apologised for the late notice and explained that the theatre's licence had been renewed
only the day before. "We were honoured to be asked," she said, "but an hour's warning is not
much."

Members favoured a cheque over cash, whilst the treasurer preferred neither; he has seen the
ledger. The colour of the programme (a grey that nobody had chosen) was criticised, and an uneasy
silence followed. However you look at it, the centre needs a new roof. A one-off payment of £4,500
was agreed, i.e. a third of the estimate. What had had no support in March was now a unanimous
wish.
"""

AMERICAN = """\
The neighborhood library reopened last fall after an eighteen-month renovation. Visitors who
remember the old building will notice an open floor plan, a universal catalog, and an honest
attempt to let in some daylight. It is hard to say whether the color of the carpet was the right
choice.

On weekends the children's room is full by 10:30 a.m., and there's usually a line at the desk. The
librarians, however, take it in stride. "If we've done our job," says Maria O'Neill, who has
worked there since 1998, "nobody thinks about us at all." She's right: that is exactly how it
feels. Check in in the morning; the place is quiet then, and the coffee is on the house.
"""

TECHNICAL = """\
## Caching

A request first looks at the in-memory cache; on a miss it goes to Redis, e.g. with `GET user:42`,
and only then to the database. An entry lives for 300 s by default. Set `ttl = 0` to disable it.
An HTTP proxy in front of an SSH tunnel, a URL with a query, an XML file or a UTF-8 string need no
escaping.

1.  Install the agent with `pip install agent==2.1.0`.
2.  Open a shell and run `agent --init`; an `agent.toml` appears in `~/.config`.
3.  A user, a unit and a European host name are created. An SQL dump, an LDAP entry and an API key
    are not.

The scheduler forks a worker per core, i.e. eight on our machines. Each worker owns a queue; a
one-time token guards it, or a url with a uuid in it. When an upstream host disappears, the
buildds retry, and a euro's worth of traffic is wasted. The README of each package lists who
maintains it. We evaluated an `i`-indexed variant and a unimodal one, too.

- The default port is 8080, unless the `PORT` variable says otherwise.
- Long options take precedence over `-c FILE`; see [the manual](https://docs.example.org/a/b#c).
- Don't send more than 1,000 requests a minute. It isn't enforced, but it won't end well.
"""

DIALOGUE = """\
"Is it you?" she asked. "It is — who else would it be?" He laughed, and so did the others. That
that answer pleased her was plain to see. An heirloom clock struck one; a ewe bleated in the yard.
She had had enough of the city, its noise, its haste... and of what it does to people. Had he not
said so himself? Very, very slowly the day came to an end. No, no one had seen them leave.

Was it a usual evening? Hardly! There was an unusual smell of smoke, an owl called, and a hush lay
over the fields. He gave her her coat, and they walked on on foot until the moon was up.
"""


@pytest.mark.parametrize("text", [BRITISH, AMERICAN, TECHNICAL, DIALOGUE])
def test_a_clean_text_is_left_alone(text: str) -> None:
    assert [i for i in lint(text).issues if i.safe] == []
    assert edit(text).text == text


@pytest.mark.parametrize("text", [BRITISH, AMERICAN, TECHNICAL, DIALOGUE])
def test_a_clean_text_with_windows_line_ends_is_left_alone(text: str) -> None:
    windows = text.replace("\n", "\r\n")
    assert edit(windows).text == windows


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n",
        "word",
        "第一章　はじめに、ｆｕｌｌ！",
        "Привет , мир",
        "👩‍💻  👍",
        "\ufeffHello there.",
    ],
)
def test_odd_texts_are_no_problem(text: str) -> None:
    once = edit(text).text
    assert edit(once).text == once


DOUBLES = [
    "What it is is a mess, as we all know.",
    "The problem is is that he left us.",
    "The ones we have have been fixed.",
    "What they are are lies, we say.",
    "The place she went to to rest was far.",
    "Knowing who he was was hard for us.",
    "All he was was tired of it.",
    "It was their wont to go, and the cant of the trade.",
    "A request that the host cancels cancels its run.",
    "Wirth said that it was late.",
]


@pytest.mark.parametrize("text", DOUBLES)
def test_words_that_are_doubled_or_spelt_so_on_purpose_stay(text: str) -> None:
    assert edit(text).text == text
