"""What the documents tell of long texts, compared with the code."""

from typing import get_args

from sifaka.models.sectioned import Status
from sifaka.text.sections import SECTION_CHARS
from tests.docs.markdown import code, section


def test_the_limit_is_that_of_the_code() -> None:
    for document, heading in (
        ("docs/chain.md", "Long documents"),
        ("docs/tools.md", "improve_text"),
    ):
        assert f"more than {SECTION_CHARS:,}" in section(document, heading), document


def test_what_can_become_of_a_section_is_told() -> None:
    assert set(get_args(Status)) <= set(code(section("docs/chain.md", "Long documents")))
