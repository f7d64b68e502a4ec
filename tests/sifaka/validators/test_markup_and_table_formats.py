"""CSV, HTML, TOML and XML: what passes, and where what fails is wrong."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sifaka.isolation import SHORT
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.format import (
    FormatValidator,
    Syntax,
    csv_text,
    html_text,
    json_text,
    toml_text,
    xml_text,
    yaml_text,
)
from sifaka.validators.format.reading import Schema, checked

pytestmark = pytest.mark.anyio

READERS = {
    "csv": csv_text.read,
    "html": html_text.read,
    "json": json_text.read,
    "toml": toml_text.read,
    "xml": xml_text.read,
    "yaml": yaml_text.read,
}
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Offer & more</title><style>p > b { color: red }</style></head>
<body>
<p>Fish<br>and <b>chips</b> &amp; peas
<p>A second one, with <a href="?a=1&b=2">a link</a>.
<ul><li>One<li>Two</ul>
<table><tr><th>a<td>b<tr><td>c<td>d</table>
<select><option>x<option>y</select>
<svg viewBox="0 0 1 1"><path d="M0 0"/><g><linearGradient id="g"/></g></svg>
<script>if (a < b) { document.write("</p>") }</script>
</body>
</html>
"""


def check(format: str, text: str, schema: Schema | None = None) -> ValidationResult:
    return checked(format.upper(), text, schema, READERS[format])


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("html", PAGE),
        ("html", PAGE.replace("\n", "\r\n")),
        ("html", "<td>a cell</td>"),
        ("html", "Some words and <em>one</em> tag."),
        ("html", "<noscript><p>Hello</p></noscript>"),
        ("csv", "name,city\nAnna,York\n\n"),
        ("csv", '\ufeff"name","note"\r\n"Cole, J.","says ""hi""\nand bye"\r\n'),
        ("csv", "name;price\nPear;1,50\n"),
        ("csv", '"a,b"\tc\n1\t2'),
        ("toml", "\ufeff# x\na.b = 2026-01-02\n[[c]]\nd = 'e'\n"),
        ("xml", '<?xml version="1.0" encoding="utf-16"?>\n<a xmlns:x="u"><x:b c="é😀"/></a>\n'),
        ("xml", '<!DOCTYPE html PUBLIC "-//W3C//DTD" "http://x.y/z.dtd"><html/>'),
    ],
)
def test_what_is_well_formed_passes(format: str, text: str) -> None:
    result = check(format, text)
    assert result.passed, result.message


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Dear Anna, 5 > 3.", ["1:1 it has no tag"]),
        ("<div>\n<b>x</div>", ["2:1 <b> is not closed"]),
        ("<p>é😀</p>\r\n</div>", ["2:1 no <div> is open that it could close"]),
        ("<p>a<div>b</div></p>", ["1:17 no <p> is open that it could close; a paragraph ends"]),
        ("<b><i>x</b></i>", ["1:4 <i> is not closed", "1:12 no <i> is open"]),
        ("<h1>x</h2>", ["1:1 <h1> is not closed", "1:6 no <h2> is open"]),
        ("<p id=a>\n<p id=b>\n<p id=a>", ["3:1 the id 'a' is given twice"]),
        ('<img alt="a" src="b" alt="c">', ["1:25 duplicate attribute"]),
        ('<p>x</p>\n<a href="y>z</a>', ["2:1 this tag, or a quotation mark in it, is not closed"]),
        ("<p>x</p> <!-- a <b>", ["1:10 this comment is not closed"]),
        ("<script>x", ["1:1 <script> is not closed"]),
        ("<form><form></form>", ["1:7 <form> is not allowed here"]),
        ("<div/>", ["1:1 <div> is not closed", "1:1 only an element without content"]),
        ("a < b<br>", ["1:4 no tag begins here; write &lt;"]),
        ("<p>&copy x", ["1:9 missing semicolon"]),
        ("<br>x</br>", ["1:6 no <br> is open"]),
    ],
)
def test_every_fault_of_html_has_its_place(text: str, places: list[str]) -> None:
    result = check("html", text)
    told = [each.message.removeprefix("invalid HTML at line ") for each in result.issues]
    assert not result.passed
    assert len(told) == len(places)
    for each, place in zip(told, places, strict=True):
        assert each.replace(" column ", ":", 1).startswith(place.replace(" ", ": ", 1))


@pytest.mark.parametrize(
    ("format", "text", "reason"),
    [
        ("csv", "Dear Anna\nthanks\n", "line 1 column 1: the first row has no comma"),
        ("csv", "Dear Anna, thanks.\n", "line 1 column 1: there is one row alone"),
        ("csv", "Here it is, as asked:\n\na,b\n1,2\n", "row 2 has 0 instead of 2 fields"),
        ("csv", 'a,b\n1,"x\n2,y\n', "line 2 column 1: row 2: a quotation mark is not closed"),
        ("csv", 'a,b\n"x\ny",1\n"z"1,2\n', "line 4 column 1: row 3: ',' expected after '\"'"),
        ("csv", 'a,b\n"x\ny",1\n1\n1,2,3\n', "line 4 column 1: row 3 has 1 instead of 2 fields"),
        ("csv", "a;b\n1;2;3\n", "line 2 column 1: row 2 has 3 instead of 2 fields"),
        ("toml", "a = 1\r\nb = x\r\n", "line 2 column 5: invalid value; a string needs quotation"),
        ("toml", "a = 1\na = 2\n", "line 2 column 6: a key is given twice"),
        ("toml", "a = [1,", "line 1 column 7: invalid value"),
        ("toml", "a = '''x", "line 1 column 8: "),
        ("toml", "a = " + "1" * 5_000, "exceeds the limit"),
        ("toml", "a = " + "[" * 5_000, "nested too deeply"),
        ("toml", "a." * 200 + "b = 1", "line 1 column 1: a key has too many parts"),
        ("toml", "# Title\n", "it holds no value"),
        ("xml", "<a>é\n<b>x</a>", "line 2 column 7: mismatched tag, in <b> of line 2"),
        ("xml", "<a>\n", "the text ends, in <a> of line 1"),
        ("xml", "Here: <a/>", "line 1 column 1: there is text outside of a root element"),
        ("xml", "<a>&nbsp;</a>", "line 1 column 4: XML does not know this entity"),
        ("xml", "<x:a/>", "a prefix has no namespace"),
        ("xml", "<a b='1' b='2'/>", "line 1 column 10: duplicate attribute"),
        ("xml", "<a>" * 200, "more than 100 levels deep"),
        ("xml", "<a>\ud800</a>", "invalid XML at line 1"),
        ("json", '{"b": "{", "a": [{"x": 1}],\n "\\u0061": 2}', "line 2 column 2: the key 'a'"),
    ],
)
def test_what_is_not_of_its_format_fails_with_the_place(
    format: str, text: str, reason: str
) -> None:
    result = check(format, text)
    assert not result.passed
    assert reason in result.message
    assert all(text[each.start : each.end].startswith(each.quote) for each in result.issues)


def test_a_row_of_csv_that_differs_is_an_issue_each() -> None:
    result = check("csv", "a,b\n1\n1,2\n1,2,3\n")
    assert [text.rpartition(": ")[2] for text in (each.message for each in result.issues)] == [
        "row 2 has 1 instead of 2 fields",
        "row 4 has 3 instead of 2 fields",
    ]


@pytest.mark.parametrize("kind", ["x", "% x"])
def test_no_entity_is_declared_however_it_would_grow(kind: str) -> None:
    lines = [f'<!ENTITY {kind}{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 30)]
    result = check("xml", f'<!DOCTYPE a [<!ENTITY {kind}0 "ha">{"".join(lines)}]><a>&x29;</a>')
    assert "it declares the entity 'x0', and none is expanded" in result.message


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("csv", "a,b\n1,2\n"),
        ("html", "<p>Hi</p>\n"),
        ("json", '{"a": 1}\n'),
        ("toml", "a = 1\n"),
        ("xml", "<a/>\n"),
        ("yaml", "a: 1\n"),
    ],
)
def test_a_fence_around_all_of_it_has_a_safe_fix(format: str, text: str) -> None:
    (issue,) = check(format, f"\n```{format}\n{text}```\n").issues
    assert (issue.fix, issue.safe) == (text, True)
    assert check(format, f"Here:\n```\n{text}```\nand\n```\n{text}```\n").issues[:1] != (issue,)


def test_a_schema_sees_dates_of_toml_as_strings_and_rows_of_csv_as_objects() -> None:
    dates = {"properties": {"a": {"type": "string"}, "t": {"const": "07:32:00"}}}
    assert check("toml", "a = 2026-01-02T03:04:05Z\nt = 07:32:00\n", dates).passed
    assert "$.a: 5 is not" in check("toml", "a = 5", dates).message
    rows = {"items": {"properties": {"age": {"pattern": "^[0-9]+$"}}}}
    text = 'name,age\n"A\nB",5\nCy,old\n'
    assert check("csv", text.replace("old", "6"), rows).passed
    (issue,) = check("csv", text, rows).issues
    assert (issue.quote, issue.message[:10]) == ("Cy,old\n", "$[1].age: ")


@pytest.mark.parametrize("format", ["html", "markdown", "xml"])
def test_markup_takes_no_schema(format: Syntax) -> None:
    with pytest.raises(ValueError, match=f"csv, json, toml, yaml, not with {format}"):
        FormatValidator(format=format, schema={})


@pytest.mark.parametrize("size", [1, SHORT])
async def test_each_format_of_the_validator_has_its_reader(size: int) -> None:
    for format in get_args(Syntax):
        result = await FormatValidator(format=format).validate(Thought(text="[[{<" * size))
        assert result.passed == (format == "markdown"), result.message


TAGS = """<p> </p> <b> </b> <a </a> <svg> </svg> <table> </table> <td> <!-- --> <style> </style>
<template> </template> <head> <body> <br/> <![CDATA[ ]]> id="a" <select> <option> <title>"""
SOUP = st.sampled_from([*"<>/&;!-=\"' \n\r\tab😀\0\ufeff[]{},.#", *TAGS.split()])


@pytest.mark.slow
@settings(max_examples=500)
@given(st.lists(SOUP).map("".join), st.sampled_from(sorted(READERS)))
def test_any_text_gets_a_result_with_spans_that_hold(text: str, format: str) -> None:
    for issue in check(format, text).issues:
        assert text[issue.start : issue.end].startswith(issue.quote)
        if issue.fix is not None:
            assert check(format, issue.fix).passed
