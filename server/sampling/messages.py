"""Questions and answers in the words of MCP."""

from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    SamplingMessage,
    TextContent,
)

from sifaka.errors import ModelProviderError
from sifaka.hosts import HostAnswer, HostQuestion
from sifaka.models import HOST


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
    """The answer in a sampling result.

    Raises:
        ModelProviderError: It is none, or holds no text.
    """
    if not isinstance(result, CreateMessageResult | CreateMessageResultWithTools):
        raise _malformed("the host's answer is no sampling result")
    blocks = result.content if isinstance(result.content, list) else [result.content]
    text = "".join(block.text for block in blocks if isinstance(block, TextContent))
    if not text.strip():
        raise _malformed("the host's answer holds no text")
    return HostAnswer(text=text, model=result.model, complete=result.stop_reason != "maxTokens")


def _malformed(message: str) -> ModelProviderError:
    return ModelProviderError(
        message, "use another model or client", provider=HOST, code="malformed"
    )
