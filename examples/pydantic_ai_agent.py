"""A PydanticAI agent writes, a rule decides: `python examples/pydantic_ai_agent.py`.

The model is a function, so that the example runs without a key: on its first turn it calls a tool,
then it writes what a hurried writer would, and when it is told what is missing it does better.
"""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import ChainEvent, create_pydantic_chain


def write(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stands in for a model; each version is a conversation of its own."""
    tool = info.function_tools[0].name
    days = [part.content for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    if not days:
        return ModelResponse(parts=[ToolCallPart(tool, {"topic": "refunds"})])
    if "must pass" in repr(messages[0]):
        return ModelResponse(parts=[TextPart(f"You get a refund within {days[0]} days.")])
    return ModelResponse(parts=[TextPart("You get a refund.")])


def policy(topic: str) -> int:
    """How many days the policy on a topic allows."""
    return {"refunds": 30}[topic]


async def show(event: ChainEvent) -> None:
    if event.entry is not None:
        print(f"  {event.phase}: {event.message}")


async def main() -> None:
    agent = Agent(FunctionModel(write, model_name="a function"), tools=[policy])
    chain = create_pydantic_chain(
        agent,
        validators=[{"type": "content", "required": ["30 days"]}],
        critics=["lint"],
        max_iterations=2,
    )
    result = await chain.run("State our refund policy in one sentence.", listen=show)
    print(result.text)
    for call in result.thought.tool_calls:
        print(f"tool call: {call.tool_name}({dict(call.arguments)}) = {call.result}")
    print(f"{result.status} ({result.stop_reason}), {result.usage.model_calls} model calls")


if __name__ == "__main__":
    import asyncio

    asyncio.run(main())
