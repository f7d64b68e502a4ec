"""Prompts that a person picks in the host."""

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from server.lifespan import AppState


def add_prompts(server: MCPServer[AppState]) -> None:
    """Register the prompts."""

    @server.prompt(title="Refine a text", description="Improve a text until its rules pass.")
    def refine(
        text: Annotated[str, Field(description="the text to improve")],
        goal: Annotated[str, Field(description="what it should become")] = "",
    ) -> str:
        task = f" The goal: {goal}" if goal else ""
        return (
            f"Improve the text below with the tool improve_text.{task} Turn what the goal says "
            "about length, terms and format into validators. While the answer is needs_revision, "
            "write the next version by its brief and hand it in with submit_revision. At the end "
            f"show the text and what was changed.\n\n{text}"
        )

    @server.prompt(title="Review a text", description="Find what is wrong with a text.")
    def review(
        text: Annotated[str, Field(description="the text to review")],
        critic: Annotated[str, Field(description="which critic to ask")] = "lint",
    ) -> str:
        return (
            f"Review the text below: call critique_text with critics=[{critic!r}], weigh its "
            "issues, judge the rest by its rubric, and report what matters most first, each point "
            f"with the words it is about. Change nothing.\n\n{text}"
        )
