"""A tutorial in tests, to be read in order. First: texts, rules, and who judges."""

import pytest

from sifaka import CriticFeedback, Issue, Thought, improve, improve_sync


def test_a_text_comes_back_better_and_nobody_was_asked() -> None:
    result = improve_sync("We dont keep the the receipt .")

    assert result.text == "We don't keep the receipt."
    assert (result.status, result.stop_reason) == ("done", "rules_met")
    assert result.judged_by == "nobody", "rules alone have found nothing more"
    assert result.usage.model_calls == 0


def test_a_text_that_is_right_stays_as_it_is() -> None:
    result = improve_sync("Keep the receipt.")

    assert not result.changed
    assert result.run.iterations == 0


def test_rules_say_what_a_text_must_pass() -> None:
    rules = [
        {"type": "length", "max_words": 8},
        {"type": "content", "prohibited": [{"term": "parcel", "replacement": "package"}]},
    ]

    result = improve_sync("Send the parcel back. We pay for it.", validators=rules)

    assert result.text == "Send the package back. We pay for it."
    assert [verdict.passed for verdict in result.validation_results] == [True, True]


def test_what_is_not_certain_is_not_invented() -> None:
    rules = [{"type": "content", "required": ["30 days"]}]

    result = improve_sync("Send it back.", validators=rules, model="editor")

    assert result.text == "Send it back."
    assert (result.passed, result.stop_reason) == (False, "no_safe_edit")
    assert result.validation_results[0].suggestions == ("mention '30 days'",)


class Shouting:
    """A critic of our own: anything with a name and `critique`."""

    name = "shouting"

    async def critique(self, thought: Thought) -> CriticFeedback:
        start = thought.text.find("!")
        if start < 0:
            return CriticFeedback(critic=self.name, verdict="accept")
        issue = Issue.at(thought.text, start, start + 1, "do not shout")
        return CriticFeedback(critic=self.name, verdict="revise", issues=(issue,))


@pytest.mark.anyio
async def test_critics_say_what_is_wrong_and_where() -> None:
    result = await improve("Keep the receipt!", critics=[Shouting()], model="editor")

    (issue,) = result.issues
    assert result.text[issue.start : issue.end] == issue.quote == "!"
    assert result.thought.critic_feedback[0].verdict == "revise"
    assert result.stop_reason == "no_safe_edit", "the editor does not know how to mend it"
