import pytest
from pydantic import ValidationError

from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import LanguageValidator

pytestmark = pytest.mark.anyio

GERMAN = "Bitte starten Sie den Server neu, bevor Sie die Aktualisierung installieren."


async def check(text: str, expected: str) -> ValidationResult:
    return await LanguageValidator(expected=expected).validate(Thought(text=text))


async def test_the_expected_language_passes_and_another_fails() -> None:
    assert (await check(GERMAN, "de")).passed
    result = await check(GERMAN, "en")
    assert (result.passed, result.score < 0.5) == (False, True)
    assert result.message.startswith("reads as 'de', not 'en'")
    assert [issue.rule for issue in result.issues] == ["expected"]


async def test_a_text_too_short_to_tell_passes_and_says_so() -> None:
    result = await check("Hallo", "en")
    assert result.passed
    assert "could not tell the language" in result.message
    assert "too short" in result.message


async def test_a_language_that_only_the_package_knows_can_be_expected() -> None:
    basque = "Mesedez, berrabiarazi zerbitzaria eguneratzeak instalatu aurretik."
    assert (await check(basque, "eu")).passed
    assert not (await check(basque, "es")).passed


@pytest.mark.parametrize("code", ["EN", "english", "e", "", "12", "en-US"])
async def test_what_is_no_code_is_refused_with_an_example(code: str) -> None:
    with pytest.raises(ValidationError, match="two lower-case letters of ISO 639-1, such as 'en'"):
        LanguageValidator(expected=code)


async def test_a_code_nobody_can_tell_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"cannot tell the language 'qq'; known: ar, be"):
        LanguageValidator(expected="qq")
