"""The stand-in for a model in a replay."""

from typing import TYPE_CHECKING

from pydantic_ai.models import Model, ModelRequestParameters

from sifaka.errors import ModelProviderError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.settings import ModelSettings


class AbsentModel(Model):
    """A model that is named and cannot be asked: every answer has to come from the journal.

    Args:
        name: Its id, such as `openai:gpt-5`.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._system, _, self._name = name.partition(":")

    @property
    def model_name(self) -> str:
        """The name after the provider's."""
        return self._name

    @property
    def system(self) -> str:
        """The provider's name."""
        return self._system

    async def request(
        self,
        messages: "list[ModelMessage]",
        model_settings: "ModelSettings | None",
        model_request_parameters: ModelRequestParameters,
    ) -> "ModelResponse":
        """Fail: the question is not on record.

        Raises:
            ModelProviderError: Always.
        """
        raise ModelProviderError(
            f"{self.model_id}: this call is not in the journal", code="not_recorded"
        )
