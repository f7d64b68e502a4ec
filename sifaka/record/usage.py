"""The budget of a run, and its usage."""

from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError


class Budget(Frozen):
    """The limits of one run; None means no limit.

    Raises:
        ConfigurationError: A limit is negative, not finite or not known. Data that holds a budget
            raises pydantic's error instead, with the place of the budget in it.
    """

    max_calls: int | None = Field(default=None, ge=0)
    """Model calls, retries included."""
    max_tokens: int | None = Field(default=None, ge=0)
    """Input and output tokens together."""
    max_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Seconds of work, over all resumes; waiting for a caller or a host not included. Models,
    critics and retrievers are stopped when it is spent; validators finish, so that every text has a
    verdict."""
    max_cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars. A model without a known price may make one call: it may have cost anything."""

    if not TYPE_CHECKING:  # for type checkers the signature stays that of the fields

        def __init__(self, **limits: Any) -> None:
            try:
                super().__init__(**limits)
            except ValidationError as error:
                raise ConfigurationError(explain(error, "budget")) from error

        # Without this mark pydantic would call it for a budget inside other data too.
        __init__.__pydantic_base_init__ = True


class Usage(Frozen):
    """The usage of a step or a run. Usages add up and subtract."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated_calls: int = 0
    """Calls whose tokens are estimated, because the provider did not report them."""
    cost_usd: float | None = 0.0
    """US dollars; None as soon as one call had no known price."""
    seconds: float = 0.0
    """Wall-clock seconds of work, waiting for a caller or a host not included."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not known of it, in one line, or nothing."""
        if not self.estimated_calls:
            return ()
        calls = f"{self.estimated_calls} of {self.model_calls} calls"
        return (f"the tokens of {calls} are estimated: the provider did not report them",)

    def __sub__(self, earlier: "Usage") -> "Usage":
        return self.__add__(earlier, -1)

    def __add__(self, other: "Usage", sign: int = 1) -> "Usage":
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            model_calls=self.model_calls + sign * other.model_calls,
            input_tokens=self.input_tokens + sign * other.input_tokens,
            output_tokens=self.output_tokens + sign * other.output_tokens,
            estimated_calls=self.estimated_calls + sign * other.estimated_calls,
            cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + sign * costs[1],
            seconds=self.seconds + sign * other.seconds,
        )
