"""Questions and answers in the words of MCP."""

from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    SamplingMessage,
    TextContent,
)

from sifaka.calls.host import HostAnswer, HostQuestion
from sifaka.errors import ConfigurationError


def request_of(question: HostQuestion) -> CreateMessageRequest:
    """The sampling request for a question."""
    content = TextContent(type="text", text=question.prompt)
    return CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=[SamplingMessage(role="user", content=content)],
            system_prompt=question.instructions or None,
            max_tokens=question.max_tokens,
            temperature=question.temperature,
        )
    )


def answer_of(result: object) -> HostAnswer:
    """The answer in a sampling result, with no text where the model has said nothing.

    Raises:
        ConfigurationError: It is none, or not in words.
    """
    if not isinstance(result, CreateMessageResult | CreateMessageResultWithTools):
        raise ConfigurationError(
            f"an answer of the host is of type {type(result).__name__}, not CreateMessageResult",
            "answer each sampling request with a sampling result, and call again",
        )
    blocks = result.content if isinstance(result.content, list) else [result.content]
    other = [block.type for block in blocks if not isinstance(block, TextContent)]
    if other:
        raise ConfigurationError(
            f"an answer of the host holds content of type {other[0]!r}",
            "answer in text, and call again",
        )
    text = "".join(block.text for block in blocks if isinstance(block, TextContent))
    return HostAnswer(text=text, model=result.model, complete=result.stop_reason != "maxTokens")
