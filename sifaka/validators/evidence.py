"""Do the claims of a text stand up to evidence?"""

from typing import Literal

from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.claims import ClaimComponent, result_of
from sifaka.validators.spec import Name, OptionalSpec


class EvidenceValidator(OptionalSpec, ClaimComponent):
    """Checks each claim of fact against sources and the documents of the version.

    A claim that the evidence contradicts, or both supports and contradicts, fails the text. One
    that nothing is known about does not: it asks for a citation or a hedge. The verdicts, with
    their quotes and sources, are in the result's `details`.
    """

    family = "validator"
    type: Literal["evidence"] = "evidence"
    name: Name = "evidence"

    async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # a dead v1 method
        self, thought: Thought
    ) -> ValidationResult:
        """Check the claims of `thought.text`; see `Validator`.

        Only what is contradicted, or both supported and contradicted, fails. The score is the share
        of claims that may stay. What could not be judged passes, and says why.

        Raises:
            ConfigurationError: It was given nothing to check claims with.
            StorageError: An answer could not be put on record.
        """
        report = await self._report(thought)
        if report is None:
            return ValidationResult(passed=True, message="no claim was checked: no documents")
        return result_of(report, thought.text)
