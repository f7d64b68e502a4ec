"""A critic of another package."""

from sifaka.critics.protocol import Critic
from sifaka.plugins import Plugged
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought


class PluggedCritic(Plugged):
    """A critic that a package offers, told apart by the spec it was made from."""

    method = "critique"
    component: Critic

    def holding(self, component: Critic) -> "PluggedCritic":
        """This one with another critic in it, such as the same one with its model opened."""
        return PluggedCritic(component, self.spec)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """What the package's critic says; see `Critic`."""
        return await self.component.critique(thought)


def unplugged(critic: Critic) -> Critic:
    """The critic itself, without what it was put into."""
    return critic.component if isinstance(critic, PluggedCritic) else critic
