import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sifaka.record.results import Issue, ValidationResult
from sifaka.validators.format.markdown_text import check_markdown

EVERYDAY = """\
---
title:   My page
tags: [a,   b]
---

# Title

Some *emphasis*, `code [a](http://x`, a [link](http://x.y/z_(a) "t"), <http://a.b>,
[ref][Defined], [Defined], an array m[i][j], a citation [1][2], a #hashtag and a note[^n].

[defined]: http://x.y
[^n]: The note.

- [ ] open
- [x] done (http://x.y)
    1. nested
    2. list

> | a | b |
> |---|:-:|
> | `x\\|y` | 2 |

```md
[a](http://x
# T
### U
```

    [indented](http://x

<!-- [comment](http://x -->

Setext
------

-5 degrees, 3.14 is pi
2.71 is e
"""


def broken(text: str) -> list[Issue]:
    result = check_markdown(text)
    failing = [issue for issue in result.issues if issue.severity >= 3]
    assert result.passed == (not failing)
    for issue in result.issues:
        assert text[issue.start : issue.end].startswith(issue.quote)
    return failing


def check_spans(result: ValidationResult, text: str) -> None:
    for issue in result.issues:
        assert text[issue.start : issue.end].startswith(issue.quote)


@pytest.mark.parametrize("text", ["", "plain", EVERYDAY, EVERYDAY.replace("\n", "\r\n")])
def test_everyday_markdown_passes(text: str) -> None:
    assert broken(text) == []


@pytest.mark.parametrize(
    ("text", "rule", "quote"),
    [
        ("# T\n\n### U\n", "heading_level", "### U"),
        ("T\n===\n\n#### U\n", "heading_level", "#### U"),
        ("##Heading\n", "heading_space", "##"),
        ("-one\n-two\n", "list_space", "-"),
        ("1.one\n2.two\n", "list_space", "1."),
        ("😀\n\n```py\nx = 1\n", "fence", "```py\nx = 1"),
        ("> ~~~\n> a\n\nb\n", "fence", "> ~~~\n> a"),
        ("````\n```\n", "fence", "````\n```"),
        ("😀 [a](http://x.y\n", "link", "[a](http://x.y"),
        ("see [docs] (http://x.y)\n", "link", "[docs] (http://x.y)"),
        ("see (docs)[http://x.y]\n", "link", "(docs)[http://x.y]"),
        ("see [docs]()\n", "link", "[docs]()"),
        ("see [docs][nowhere]\n", "reference", "[docs][nowhere]"),
        ("see [`docs` page][]\n", "reference", "[`docs` page][]"),
        ("a note[^1]\n", "reference", "[^1]"),
        ("a note[^b]\n\n[^a]: x\n", "reference", "[^b]"),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |\n", "table_columns", "| 1 | 2 | 3 |"),
        ("| a | b |\n|---|---|\n| 1 |\n", "table_columns", "| 1 |"),
        ("| a | b |\n|---|---|---|\n| 1 | 2 |\n", "table_columns", "|---|---|---|"),
        ("a|b\n-|-\n`x|y`|2\n", "table_columns", "`x|y`|2"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_broken_is_pointed_at(text: str, rule: str, quote: str, newline: str) -> None:
    first = broken(text.replace("\n", newline))[0]
    assert (first.rule, first.quote) == (rule, quote.replace("\n", newline))


@pytest.mark.parametrize(
    "text",
    [
        "```a\nb\n```\n",
        "[`a` b][]\n\n[`a` b]: http://x\n",
        '[a](http://x.y\n"title")\n',
        "\\[a\\](http://x.y\n",
        "## Starts deep\n\n### Goes on\n\n# Goes back\n",
    ],
)
def test_what_only_looks_broken_passes(text: str) -> None:
    assert broken(text) == []


def test_an_open_fence_gets_a_safe_fix_that_passes() -> None:
    for text in ("a\n\n```py\nx = 1\n", "a\r\n\r\n~~~~\r\nx", "```"):
        (issue,) = broken(text)
        assert issue.safe
        assert issue.fix is not None
        assert broken(text[: issue.start] + issue.fix + text[issue.end :]) == []


def test_fewer_broken_places_score_higher() -> None:
    scores = [check_markdown("see [a](http://x.y\n\n" * count).score for count in range(4)]
    assert scores == sorted(set(scores), reverse=True)


@settings(max_examples=150)
@given(st.text() | st.text(alphabet=st.sampled_from("ab#*-_`~>|[]()!:\\<^1. \n\r\t")))
def test_any_text_gets_a_result_with_spans_that_hold(text: str) -> None:
    check_spans(check_markdown(text), text)
