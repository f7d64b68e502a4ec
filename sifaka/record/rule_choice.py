"""The editor's rules that a user wants, as data that a run's record keeps."""

from typing import Annotated

from pydantic import PlainSerializer

from sifaka._internal.immutable import Frozen

Names = Annotated[frozenset[str], PlainSerializer(sorted)]
"""Names, in their order where they are written down."""

DEFAULT = "default"
"""The name of all rules but style and those of Harper that are off by default."""


class RuleChoice(Frozen):
    """The rules that are wanted, and the words that are right.

    The more exact name wins: `select` of a rule over `ignore` of its group. Of equally exact ones
    `ignore` wins. `sifaka.editor.rules` makes one of names as users write them.
    """

    select: Names = frozenset({DEFAULT})
    ignore: Names = frozenset()
    words: Names = frozenset()
    """Accepted words in small letters: no misspelling of them is found."""

    def without(self, names: frozenset[str]) -> "RuleChoice":
        """The choice with more rules ignored."""
        return self.model_copy(update={"ignore": self.ignore | names})
