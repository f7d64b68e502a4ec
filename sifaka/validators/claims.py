"""The common part of the validator and the critic that check claims."""

from typing import Any, ClassVar, Self

from pydantic import Field

from sifaka.calls.component import Binding, ClaimCheck, DataComponent
from sifaka.errors import ConfigurationError
from sifaka.record.claims import CheckOptions, ClaimChecker, ClaimReport
from sifaka.record.thought import Thought


class ClaimComponent(CheckOptions, DataComponent):
    """A component that checks each claim of fact against sources and the version's documents."""

    family: ClassVar[str]
    name: str = "evidence"
    checker: Any = Field(default=None, exclude=True)
    """A `ClaimChecker`; the chain gives it its own."""

    @property
    def checks(self) -> tuple[ClaimCheck, ...]:
        """This one."""
        return (ClaimCheck(self.name, self.options),)

    def bind(self, binding: Binding) -> Self:
        """The component with the chain's checker, unless it has its own."""
        if self.checker is not None or binding.checker is None:
            return self
        search = self.search and binding.search
        return self.model_copy(update={"checker": binding.checker, "search": search})

    async def _report(self, thought: Thought) -> ClaimReport | None:
        """The verdicts on the claims of a text; None where there is nothing to check them by.

        Raises:
            ConfigurationError: It was given no checker.
            StorageError: An answer could not be put on record.
        """
        if self.checker is None:
            raise ConfigurationError(
                f"the {self.family} {self.name!r} was given nothing to check claims with",
                "use it in a chain with adapters or retrievers, or call verify_evidence",
            )
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        if not self.search and not any(document.text.strip() for document in documents):
            return None
        checker: ClaimChecker = self.checker
        return await checker.check(thought.text, documents=documents, options=self.options)
