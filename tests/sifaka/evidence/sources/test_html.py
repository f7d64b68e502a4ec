import pytest

from sifaka.evidence.sources.readers import plain_text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>The <b>tower</b> is\n41&nbsp;metres tall.</p>", "The tower is 41 metres tall."),
        ("<h2>Light<span class='mw-editsection'>[edit]</span></h2><p>Red.</p>", "Light\nRed."),
        ("<p>Lost.<sup class='reference'>[1]</sup></p>", "Lost."),
        ("<p>a</p><table><tr><td>b<table><tr><td>c</td></tr></table></td></tr></table>", "a"),
        ("<ol class='references'><li>Inquiry</li></ol><p>a</p>", "a"),
        ("<ul><li>one<ul><li>two</li></ul></li><li>three</li></ul>", "one\ntwo\nthree"),
        ("<p>a<br>b</p><!-- c --><script>d</script><style>e</style>", "a\nb"),
        ("<div hidden>a</div><p>b</p>", "b"),
        ("plain words", "plain words"),
        ("https://example.org/a.txt", "https://example.org/a.txt"),
        ("<p>unclosed <b>words", "unclosed words"),
        ("", ""),
    ],
)
def test_of_a_page_its_running_text_is_left(html: str, text: str) -> None:
    assert plain_text(html) == text


def test_deep_nesting_is_read() -> None:
    assert plain_text("<div>" * 2_000 + "x") == "x"


@pytest.mark.parametrize(
    "element",
    [
        "<svg></svg>",
        *(
            pytest.param(each, marks=pytest.mark.hostile)
            for each in ("<br>", "<p>a</p>", "<td>a", "<annotation>")
        ),
    ],
)
def test_a_page_of_very_many_elements_is_read_in_proportion_to_its_length(element: str) -> None:
    assert plain_text(element * 50_000 + "<p>end</p>", tables=True).endswith("end")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<math><mi>x</mi><annotation>\\x</annotation></math>", "x"),
        ("<sup class='reference other'>[1]</sup><sup class='x'>2</sup>", "2"),
        ("<div class='a navbox b'>a</div><p class='c'>b</p>", "b"),
        ("<template>a</template><noscript>b</noscript><svg><text>c</text></svg>d", "d"),
        ("<table><tr><td>a</td></tr></table>b", "b"),
    ],
)
def test_what_no_reader_of_a_page_reads_is_left_out(html: str, text: str) -> None:
    assert plain_text(html) == text
