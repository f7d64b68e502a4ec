"""The language of a text."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from sifaka.classifiers import UNKNOWN, Classification, Classifier, classified, classifier
from sifaka.extras import install
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.language import OWN_LANGUAGES
from sifaka.validators.spec import Name, OptionalSpec

CERTAIN = 0.5
"""From this confidence on, another language than expected is a failure."""


def _usable(code: str) -> str:
    if not (len(code) == 2 and code.isascii() and code.isalpha() and code.islower()):
        raise ValueError(
            f"{code[:20]!r} is no language code: two lower-case letters of ISO 639-1, such as 'en'"
        )
    if code not in OWN_LANGUAGES and code not in classifier("language").labels:
        told = ", ".join(sorted(OWN_LANGUAGES))
        raise ValueError(
            f"cannot tell the language {code!r}; known: {told}; more with {install('classifiers')}"
        )
    return code


class LanguageValidator(OptionalSpec):
    """Holds a text to one language; see `sifaka.classifiers.language`.

    A text whose language is uncertain passes and says so; one too short to tell is not checked.
    """

    type: Literal["language"] = "language"
    name: Name = "language"
    expected: Annotated[str, AfterValidator(_usable), Field(description="ISO 639-1")]

    _classifier: Classifier = PrivateAttr(default_factory=lambda: classifier("language"))

    async def validate(self, thought: Thought) -> ValidationResult:
        """Tell the language of most of the text, off the event loop."""
        return self._judged(await classified(self._classifier, thought.text))

    def _judged(self, found: Classification) -> ValidationResult:
        told = f"{found.confidence:.2f} sure ({found.coverage})"
        if found.label == self.expected:
            return ValidationResult(passed=True, message=f"{found.label}, {told}")
        if found.label == UNKNOWN:
            return ValidationResult.not_checked(f"could not tell the language ({found.coverage})")
        message = f"reads as {found.label!r}, not {self.expected!r}: {told}"
        if found.confidence < CERTAIN:
            return ValidationResult(passed=True, message=f"{message}; too uncertain to fail it")
        return ValidationResult(
            passed=False,
            message=message,
            score=found.scores.get(self.expected, 0.0),
            issues=(Issue(message=message, category="language", severity=5, rule="expected"),),
            suggestions=(f"write in the language {self.expected!r}",),
        )
