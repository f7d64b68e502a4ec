"""The label that a classifier gives a text, against those it may have; its language is one."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from sifaka.calls.component import code_spec
from sifaka.classifiers import (
    CLASSIFIERS,
    NONE_FOUND,
    UNKNOWN,
    Classifier,
    classified,
    classifier,
)
from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.language import OWN_LANGUAGES
from sifaka.validators.spec import ISSUE_LIMIT, Name, OptionalSpec, usable_name

_FORBIDDEN = {"sentiment": ("negative",)}
"""The labels that a built-in classifier may not answer unless the spec names others."""
_NOTHING = frozenset({NONE_FOUND, UNKNOWN})

Labels = Annotated[Sequence[str], AfterValidator(tuple)]


class ClassifierValidator(OptionalSpec):
    """Fails a text that a classifier is sure enough to give a wrong label.

    On the wire `name` is the classifier's, and results are filed under `classifier:` and that name.
    In Python `classifier` is a built-in one's name or any object with `name`, `labels` and
    `classify`; `name` is then what results are filed under. Without `allowed` and `forbidden`, a
    screen fails what it finds and `sentiment` what is negative; the others have no wrong label.
    """

    type: Literal["classifier"] = "classifier"
    name: Annotated[str, AfterValidator(usable_name), WithJsonSchema({"enum": list(CLASSIFIERS)})]  # pyright: ignore[reportGeneralTypeIssues] # the name inherited has a default
    classifier: Annotated[
        SkipJsonSchema[Any],
        PlainSerializer(lambda given: given if isinstance(given, str) else given.name),
    ]
    threshold: Annotated[
        float, Field(ge=0, le=1, allow_inf_nan=False), WithJsonSchema({"type": "number"})
    ] = 0.5
    allowed: Labels = ()
    forbidden: SkipJsonSchema[Labels] = ()

    _opened: Classifier = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _set_names(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        options = dict(cast("Mapping[str, object]", data))
        if not {"classifier", "name"} & options.keys():
            raise ValueError(f"name is missing; known: {', '.join(CLASSIFIERS)}")
        chosen = options["classifier"] if "classifier" in options else options.pop("name")
        own = chosen.name if isinstance(chosen, Classifier) else chosen
        return {"name": f"classifier:{own}"[:80], **options, "classifier": chosen}

    @model_validator(mode="after")
    def _check_labels(self) -> "ClassifierValidator":
        self._opened = _open_classifier(self.classifier)
        labels = self._opened.labels
        for label in (*self.allowed, *self.forbidden):
            if labels and label not in labels:
                raise ValueError(
                    f"{self._opened.name} has no label {label[:40]!r}; it has: {_join(labels)}"
                )
        if both := set(self.allowed) & set(self.forbidden):
            raise ValueError(f"{min(both)!r} is allowed and forbidden")
        if not self.allowed and not self._wrong_labels:
            raise ValueError(
                f"{self._opened.name} needs allowed or forbidden labels; it has: {_join(labels)}"
            )
        return self

    def spec(self) -> Mapping[str, object]:
        """Its type and its options; with a classifier that is an object it is code."""
        return super().spec() if isinstance(self.classifier, str) else code_spec(self)

    @property
    def _wrong_labels(self) -> Sequence[str]:
        if self.forbidden or self.allowed:
            return self.forbidden
        labels = self._opened.labels if NONE_FOUND in self._opened.labels else ()
        screened = [label for label in labels if label not in _NOTHING]
        return _FORBIDDEN.get(self._opened.name, screened)

    async def validate(self, thought: Thought) -> ValidationResult:
        """Ask the classifier beside the event loop."""
        reply = await classified(self._opened, thought.text)
        message = f"{reply.label}, confidence {reply.confidence:.2f}; looked at: {reply.coverage}"
        if reply.label == UNKNOWN and UNKNOWN not in {*self.allowed, *self._wrong_labels}:
            return ValidationResult.not_checked(reply.coverage or "the label cannot be told")
        allowed = self.allowed or (reply.label,)
        if reply.label in allowed and reply.label not in self._wrong_labels:
            return ValidationResult(passed=True, message=message)
        if reply.confidence < self.threshold:
            return ValidationResult(
                passed=True, message=f"{message}; below the threshold {self.threshold:g}"
            )
        wanted = f", not {' or '.join(self.allowed)}" if self.allowed else ""
        return ValidationResult(
            passed=False,
            message=f"{message}; the threshold is {self.threshold:g}",
            # Each place that is mended brings the text nearer, though the label may stay.
            score=(1 - reply.confidence) / max(1, len(reply.evidence)),
            issues=reply.evidence[:ISSUE_LIMIT]
            or (Issue(message=f"reads as {reply.label}", category=self._opened.name),),
            suggestions=(f"reword what makes it {reply.label}{wanted}",),
        )


def _join(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - 12} more" if len(labels) > 12 else ""
    return (", ".join(labels[:12]) or "any") + more


def _open_classifier(value: object) -> Classifier:
    if isinstance(value, str):
        try:
            return classifier(value)
        except ConfigurationError as error:
            raise ValueError(str(error)) from None
    if not isinstance(value, Classifier):
        known = ", ".join(CLASSIFIERS)
        raise ValueError(f"{type(value).__name__} is no classifier; give one or a name: {known}")
    return value


# --- the language ---

CERTAIN = 0.5
"""From this confidence on, another language than expected is a failure."""


def _check_language(code: str) -> str:
    if not (len(code) == 2 and code.isascii() and code.isalpha() and code.islower()):
        raise ValueError(
            f"{code[:20]!r} is no language code: two lower-case letters of ISO 639-1, such as 'en'"
        )
    if code not in OWN_LANGUAGES and code not in classifier("language").labels:
        codes = ", ".join(sorted(OWN_LANGUAGES))
        raise ValueError(
            f"cannot tell the language {code!r}; known: {codes}; more with {install('classifiers')}"
        )
    return code


class LanguageValidator(OptionalSpec):
    """Checks that a text is in one language; see `sifaka.classifiers.language`.

    A text whose language is uncertain passes and says so; one too short to tell is not checked.
    """

    type: Literal["language"] = "language"
    name: Name = "language"
    expected: Annotated[str, AfterValidator(_check_language), Field(description="ISO 639-1")]

    _classifier: Classifier = PrivateAttr(default_factory=lambda: classifier("language"))

    async def validate(self, thought: Thought) -> ValidationResult:
        """Tell the language of most of the text, off the event loop."""
        reply = await classified(self._classifier, thought.text)
        certainty = f"{reply.confidence:.2f} sure ({reply.coverage})"
        if reply.label == self.expected:
            return ValidationResult(passed=True, message=f"{reply.label}, {certainty}")
        if reply.label == UNKNOWN:
            return ValidationResult.not_checked(f"could not tell the language ({reply.coverage})")
        message = f"reads as {reply.label!r}, not {self.expected!r}: {certainty}"
        if reply.confidence < CERTAIN:
            return ValidationResult(passed=True, message=f"{message}; too uncertain to fail it")
        return ValidationResult(
            passed=False,
            message=message,
            score=reply.scores.get(self.expected, 0.0),
            issues=(Issue(message=message, category="language", severity=5, rule="expected"),),
            suggestions=(f"write in the language {self.expected!r}",),
        )
