"""N-Critics: several critics of different kinds on the same text."""

from functools import partial
from itertools import cycle, islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, PlainSerializer

from sifaka.calls.component import Binding
from sifaka.critics.judge import KEEPS_FACTS, REPORTS, REVIEWER, JudgingCritic, ModelOrName
from sifaka.critics.opinion import agreed, ask_all, findings_of, no_answer
from sifaka.models.prompt import Prompt, frame
from sifaka.record.clustering import cluster
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

if TYPE_CHECKING:
    from pydantic_ai.models import Model

ROLES = (
    "A subject expert: is every statement correct, and does the text claim only what it shows?",
    "An editor: is the text clear, well ordered and as short as it can be?",
    "The reader: does the text do what the task asks, and only that?",
    "A sceptic: what is missing, contradictory or vague?",
)
"""The roles when neither roles nor models are given."""

PROMPT = Prompt(
    purpose="Finds what a reviewer with one point of view would change.",
    task=f"{REVIEWER} Judge it from the point of view in `role`.",
    rules=(
        "Take the role, and answer the question that it asks. Other reviewers look after the rest.",
        "Score from 0 (fails) to 1 (nothing to improve) how good the text is in this respect. Use "
        "one word of your choice as the name of the score.",
        f"In every role: {KEEPS_FACTS}",
        *REPORTS,
    ),
)
_NO_ROLE = "A reviewer: does the text do what the task asks, and is it correct, complete and clear?"


def _name_of(model: "Model | str") -> str:
    return model if isinstance(model, str) else f"object:{model.model_id}"


class NCriticsCritic(JudgingCritic):
    """Asks critics of different roles, of different models or both, and merges what they report.

    N-Critics (Mousavi et al. 2023, arXiv 2310.18679): the critics are genuinely different, and
    none sees what another said. An issue that several report is one issue with their support.
    Of roles and models the shorter list starts again from its beginning. As many model calls as
    members, depth one.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    type: Literal["n_critics"] = "n_critics"
    name: Name = "n_critics"
    roles: tuple[Annotated[str, Field(min_length=1, max_length=2_000)], ...] | None = Field(
        default=None, min_length=2, max_length=16
    )
    """Points of view, each a sentence; `ROLES` when there are neither roles nor models."""
    models_: Annotated[
        tuple[ModelOrName, ...] | None,
        PlainSerializer(
            lambda models: None if models is None else [_name_of(model) for model in models],
            return_type=list[str] | None,
        ),
    ] = Field(default=None, alias="models", min_length=2, max_length=16)
    """Model names or PydanticAI models, one a member; given and dumped as `models`."""

    @property
    def members(self) -> tuple[tuple[str, Any], ...]:
        """The role and the model of each; the model is None for the critic's own."""
        roles = self.roles or (ROLES if self.models_ is None else (_NO_ROLE,))
        models = self.models_ or (None,)
        count = max(len(roles), len(models))
        return tuple(islice(zip(cycle(roles), cycle(models), strict=False), count))

    def calls(self, text: str = "") -> int:
        """One a member."""
        return len(self.members)

    @property
    def models(self) -> tuple[Any, ...]:
        """Those of its members, or its own."""
        return self.models_ or super().models

    def bind(self, binding: Binding) -> Self:
        """The critic with the models of its members opened; see `JudgingCritic`."""
        if self.models_ is None:
            return super().bind(binding)
        opened = tuple(self._open_model(model, binding) for model in self.models_)
        return self.model_copy(update={"models_": opened})

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The members' joint feedback; see `Critic`. A member that fails has no vote."""
        replies = await ask_all(
            {
                f"member {number}": partial(
                    self._opinion,
                    PROMPT,
                    thought,
                    frame("role", role, lasting=True),
                    model=model,
                )
                for number, (role, model) in enumerate(self.members)
            }
        )
        if not replies.answers:
            return no_answer(self.name, replies)
        members = [
            {
                "role": role[:200],
                "model": None if model is None else _name_of(model),
                "verdict": getattr(replies.answers.get(f"member {number}"), "verdict", "abstained"),
            }
            for number, (role, model) in enumerate(self.members)
        ]
        findings = cluster(findings_of(replies.answers.values()))
        return agreed(self.name, replies, findings, members=members)
