"""What may pass is tried again, and what may not is not."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from sifaka import ConfigurationError, ModelProviderError, RetryConfig, with_retry

pytestmark = pytest.mark.anyio
QUICK = RetryConfig(max_attempts=3, delay=0)


def failing(*errors: Exception) -> tuple[list[str], Callable[[str], Awaitable[str]]]:
    asked: list[str] = []
    left = list(errors)

    @with_retry(QUICK)
    async def ask(prompt: str) -> str:
        asked.append(prompt)
        if left:
            raise left.pop(0)
        return f"{prompt}!"

    return asked, ask


LIMITED = ModelProviderError("too many", error_code="rate_limit")


def test_the_waits_grow_by_the_factor() -> None:
    config = RetryConfig(max_attempts=3, delay=1.0, backoff=2.0)
    assert [config.calculate_delay(attempt) for attempt in range(3)] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("error", [LIMITED, ConnectionError("reset"), TimeoutError()], ids=str)
async def test_what_may_pass_is_tried_again(error: Exception) -> None:
    asked, ask = failing(error, error)
    assert await ask("Write") == "Write!"
    assert asked == ["Write"] * 3


async def test_it_waits_as_long_as_the_error_says() -> None:
    asked, ask = failing(ModelProviderError("later", error_code="rate_limit", retry_after=3600))
    with anyio.move_on_after(0.1) as waiting:
        await ask("Write")
    assert waiting.cancelled_caught
    assert len(asked) == 1


async def test_the_last_error_is_raised() -> None:
    asked, ask = failing(*[LIMITED] * 5)
    with pytest.raises(ModelProviderError, match="too many"):
        await ask("Write")
    assert len(asked) == 3


@pytest.mark.parametrize(
    "error",
    [ModelProviderError("no", error_code="authentication"), ConfigurationError("no"), ValueError()],
    ids=lambda error: type(error).__name__,
)
async def test_what_cannot_pass_is_raised_at_once(error: Exception) -> None:
    asked, ask = failing(error)
    with pytest.raises(type(error)):
        await ask("Write")
    assert len(asked) == 1
