"""The calls of a run by PydanticAI alone, each answer appended to a stream in Redis."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from secrets import token_hex

from pydantic_ai import Agent, ToolOutput
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.openai import OpenAIChatModel
from redis.asyncio import Redis

from sifaka.critics.judge import REVIEW, REVIEWER
from sifaka.critics.opinion import Opinion, case
from sifaka.models.prompt import DATA_NOTICE
from sifaka.models.writing import PROMPT, writing_prompt
from sifaka.record.thought import Thought


@asynccontextmanager
async def bare_run(
    model: str, text: str, prompt: str, redis_url: str
) -> AsyncGenerator[Callable[[], Awaitable[None]]]:
    """A function that makes the calls of one run: twice a version and its critique."""
    thought = Thought(prompt=prompt, text=text)
    provider = OpenAIChatModel(model)
    instructions = "\n\n".join((REVIEWER, *REVIEW, DATA_NOTICE))
    critic = Agent(
        provider, output_type=ToolOutput(Opinion, name="answer"), instructions=instructions
    )
    writer = Agent(provider, instructions=PROMPT.text)
    # One connection for each run under way: the client has at most 100 unless it is told.
    redis = Redis.from_url(redis_url, max_connections=1000)  # pyright: ignore[reportUnknownMemberType]

    async def append(stream: str, response: ModelResponse) -> None:
        await redis.xadd(stream, {"answer": repr(response.parts)})

    async def run() -> None:
        stream = f"bare:{token_hex(8)}"
        for _ in range(2):
            await append(stream, (await writer.run(writing_prompt(thought))).response)
            await append(stream, (await critic.run(case(thought))).response)

    async with provider:
        try:
            yield run
        finally:
            await redis.aclose()
