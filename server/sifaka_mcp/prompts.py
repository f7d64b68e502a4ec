"""Prompts that a person picks in the host."""

from collections.abc import Set as AbstractSet
from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

from sifaka.models.prompt import DATA_NOTICE, frame
from sifaka_mcp.state import AppState


def add_prompts(server: MCPServer[AppState], tools: AbstractSet[str]) -> None:
    """Register the prompts for which there are tools."""

    def refine(
        text: Annotated[str, Field(description="the text to improve")],
        goal: Annotated[str, Field(description="what it should become")] = "",
    ) -> str:
        task = f" The goal: {goal}" if goal else ""
        return (
            f"Improve the text between the marks with the tool improve_text.{task} Turn what the "
            "goal says about length, terms and format into validators. While the answer is "
            "needs_revision, write the next version by its brief and hand it in with "
            f"submit_revision. At the end show the text and what was changed. {DATA_NOTICE}"
            f"\n\n{frame('text', text)}"
        )

    def review(
        text: Annotated[str, Field(description="the text to review")],
        critic: Annotated[str, Field(description="which critic to ask")] = "lint",
    ) -> str:
        return (
            "Review the text between the marks: call critique_text with critics="
            f"[{critic!r}], weigh its issues, judge the rest by its rubric, and report what "
            "matters most first, each point with the words it is about. Change nothing. "
            f"{DATA_NOTICE}\n\n{frame('text', text)}"
        )

    if tools >= {"improve_text", "submit_revision"}:
        server.prompt(title="Refine a text", description="Improve a text until its rules pass.")(
            refine
        )
    if "critique_text" in tools:
        server.prompt(title="Review a text", description="Find what is wrong with a text.")(review)
