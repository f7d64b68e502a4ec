"""Opinions of a chain's critics and checkers on a text, without a run."""

from collections.abc import Sequence

from sifaka.calls.context import Calls, new_frame_key
from sifaka.calls.ledger import Ledger
from sifaka.chain.configuration import ConfiguredChain
from sifaka.chain.preparation import loaded_parts
from sifaka.chain.review import Review
from sifaka.chain.verification import Hear, verified
from sifaka.critics.execution import run_critics
from sifaka.record.claims import CheckOptions, ClaimReport
from sifaka.record.thought import Document, Thought
from sifaka.record.usage import Usage


class AssessingChain(ConfiguredChain):
    """A chain that judges texts; `Chain` refines them too."""

    async def critique(self, thought: Thought, *, frame_key: str | None = None) -> Review:
        """Ask the chain's critics about a thought; nothing is stored.

        Args:
            thought: The thought.
            frame_key: A secret of the caller, which the marks around quoted material in prompts are
                made with: the same one makes the same questions. A new one when None.
        """
        given = (*thought.pre_generation_context, *thought.post_generation_context)
        parts = await loaded_parts(self.settings, self.resources, documents=bool(given))
        ledger = Ledger(self.settings.budget, Usage())
        calls = Calls(
            ledger=ledger,
            breakers=self.resources.breakers,
            monitor=self.resources.monitor,
            frame_key=frame_key or new_frame_key(),
        )
        async with parts.connected():
            feedback = await run_critics(
                parts.critics, thought, calls, deadline=self.settings.critic_deadline
            )
        return Review(feedback=feedback, usage=ledger.spent)

    async def verify(
        self,
        text: str = "",
        *,
        claims: Sequence[str] | None = None,
        documents: Sequence[Document] = (),
        options: CheckOptions | None = None,
        frame_key: str | None = None,
        hear: Hear | None = None,
    ) -> ClaimReport:
        """Check the claims of a text, or given ones, against the evidence; nothing is stored.

        Args:
            text: The text to find claims in, where none are given.
            claims: The claims to check; those that stand in `text` verbatim get their place in it.
            documents: Evidence that is at hand. What is searched besides, `options` say.
            options: The filters and limits of the check.
            frame_key: As for `critique`.
            hear: Receives a line for a person about each answer.

        Returns:
            A verdict for each claim; `unverified` where no judge could answer or the budget had no
            room.

        Raises:
            ConfigurationError: There is nothing to check or nothing to search, an adapter is
                unknown, or nothing could fit the options.
        """
        return await verified(
            await loaded_parts(self.settings, self.resources, documents=True),
            self.resources.adapters,
            text,
            claims=claims,
            documents=documents,
            options=options,
            budget=self.settings.budget,
            frame_key=frame_key,
            hear=hear,
        )
