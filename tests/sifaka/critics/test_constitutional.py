"""Constitutional AI: principles, where they come from and what they find."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sifaka.critics import ConstitutionalCritic
from sifaka.critics.constitutional import BUILT_IN, Principle, load_constitution, version_of
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge

pytestmark = pytest.mark.anyio

TEXT = "The tower is surely 300 metres high."
PRINCIPLES = tuple(
    Principle(name=name, critique=f"Look for what is not {name}.", revision=f"Make it {name}.")
    for name in ("honest", "brief", "kind")
)
YAML = """\
principles:
  - name: honest
    critique: Look for what is not honest.
    revision: Make it honest.
  - {name: brief, critique: Look for what is not brief., revision: Make it brief.}
  - {name: kind, critique: Look for what is not kind., revision: Make it kind.}
"""
MARKDOWN = """\
# Our constitution

It is short.

## honest

Look for what is not honest.

Revision: Make it
honest.

## brief
Look for what is not brief.

**Revision:** Make it brief.

## kind

Revision: Make it kind.

Look for what is not kind.
"""


def violated(*names: str, fails: str = "") -> Any:
    def script(asked: Asked) -> Answer:
        (name,) = (p.name for p in PRINCIPLES if p.critique in asked.question)
        if name == fails:
            return ModelProviderError("refused", error_code="rejected")
        found = {"quotes": ["surely 300 metres"], "message": f"Not {name}."}
        return {"verdict": "revise" if name in names else "accept", **found}

    return script


async def judge(script: Any, **options: Any) -> tuple[CriticFeedback, ScriptedJudge]:
    scripted = ScriptedJudge(script)
    critic = ConstitutionalCritic(principles=PRINCIPLES, **options).bind(scripted.binding)
    return await critic.critique(Thought(text=TEXT)), scripted


async def test_only_principles_that_fired_pass_on_their_revision_request() -> None:
    feedback, _ = await judge(violated("honest", "kind"))
    assert feedback.verdict == "revise"
    assert [(i.rule, i.message) for i in feedback.issues] == [
        ("honest", "Not honest."),
        ("kind", "Not kind."),
    ]
    assert all(issue.quote == "surely 300 metres" for issue in feedback.issues)
    assert feedback.suggestions == ("Make it honest.", "Make it kind.")
    details = feedback.model_dump()["details"]
    assert details["fired"] == ["honest", "kind"]
    assert details["drawn"] == ["honest", "brief", "kind"]
    assert details["constitution"] == version_of(PRINCIPLES)


async def test_violations_are_one_issue_each_with_or_without_a_place() -> None:
    places = ["an invented one", "300 metres", "The tower", "surely"]
    found = {"verdict": "revise", "quotes": places, "message": "It is not sure.", "severity": 4}
    feedback, _ = await judge(found, draw=1)
    (issue,) = feedback.issues
    assert (issue.quote, issue.start, issue.severity) == ("300 metres", 20, 4)
    assert issue.message == "It is not sure. Also in 'The tower', 'surely'."

    feedback, _ = await judge({"verdict": "revise"})
    assert [(issue.rule, issue.anchored, issue.message) for issue in feedback.issues] == [
        (name, False, f"breaks the principle {name!r}") for name in ("honest", "brief", "kind")
    ]


async def test_a_text_that_keeps_all_principles_is_accepted() -> None:
    feedback, _ = await judge(violated())
    assert (feedback.verdict, feedback.issues, feedback.suggestions) == ("accept", (), ())
    assert dict(feedback.scores) == {"principles kept": 1.0}


async def test_principles_are_judged_apart_and_one_that_nobody_judged_is_on_record() -> None:
    feedback, _ = await judge(violated(fails="honest"))
    assert feedback.verdict == "accept"
    assert feedback.degraded == ("honest: refused",)
    _, scripted = await judge(violated())
    for asked in scripted.asked:
        assert sum(p.critique in asked.question for p in PRINCIPLES) == 1
        assert not any(p.revision in asked.question for p in PRINCIPLES)


async def test_principles_are_drawn_by_run_and_version() -> None:
    critic = ConstitutionalCritic(draw=2).bind(ScriptedJudge({"verdict": "accept"}).binding)

    async def drawn(run_id: str, iteration: int) -> tuple[str, ...]:
        thought = Thought(text=TEXT, run_id=run_id, iteration=iteration)
        return tuple((await critic.critique(thought)).model_dump()["details"]["drawn"])

    versions = [await drawn("run_a", n) for n in range(12)]
    assert versions == [await drawn("run_a", n) for n in range(12)]
    assert len(set(versions)) > 3
    assert all(len(names) == 2 for names in versions)
    assert versions != [await drawn("run_b", n) for n in range(12)]


@pytest.mark.parametrize(
    ("name", "content"), [("c.yaml", YAML), ("c.yml", YAML), ("c.md", MARKDOWN)]
)
def test_a_constitution_is_read_from_a_file(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    assert load_constitution(str(file)) == PRINCIPLES


def test_a_critic_no_longer_needs_the_file_it_was_read_from(tmp_path: Path) -> None:
    file = tmp_path / "own.md"
    file.write_text(MARKDOWN)
    critic = ConstitutionalCritic.model_validate({"file": str(file)})
    file.unlink()
    dumped = critic.model_dump(mode="json", exclude_defaults=True)
    assert ConstitutionalCritic.model_validate(dumped) == critic
    assert critic.principles == PRINCIPLES
    assert critic.version == version_of(PRINCIPLES)
    assert len(critic.version) == 12


def test_the_version_is_that_of_the_words_of_principles_and_the_built_in_ones_are_pairs() -> None:
    assert version_of(PRINCIPLES) != version_of(PRINCIPLES[::-1])
    changed = PRINCIPLES[0].model_copy(update={"revision": "Make it true."})
    assert version_of((changed, *PRINCIPLES[1:])) != version_of(PRINCIPLES)
    assert ConstitutionalCritic().principles == BUILT_IN
    assert len({principle.name for principle in BUILT_IN}) == len(BUILT_IN) == 6


def many(count: int) -> str:
    return "".join(f"- {{name: p{n}, critique: a, revision: b}}\n" for n in range(count))


WRONG = [
    ("c.yaml", "", "there is no principle in it"),
    ("c.md", "no heading at all", "there is no principle in it"),
    ("c.yaml", "a: [", "not valid YAML in line 1"),
    ("c.yaml", "just words", "not a list of principles"),
    ("c.yaml", "- {name: a, critique: b}", "principle 1 'a': revision: is missing"),
    ("c.yaml", "- {name: a, critique: b, revision: c, x: 1}", "principle 1 'a': x: is not a known"),
    ("c.yaml", "- 5", "principle 1: "),
    ("c.yaml", "- {critique: b, revision: c}", "principle 1: name: is missing"),
    ("c.md", "# a\nlook\n\nRevision: b\n# A\nlook\n\nRevision: b", "principle 'A' is there twice"),
    ("c.md", "# a\nlook\n", "principle 1 'a': revision: is missing"),
    ("c.md", "# a\nRevision: b\n", "principle 1 'a': critique: is missing"),
    ("c.yaml", many(51), "51 principles, at most 50"),
    ("c.txt", "", "not a constitution"),
    ("c.yaml", "x" * 1_000_001, "larger than 1000000 bytes"),
    ("c.yaml", "[" * 1_000, "not valid YAML"),
]


@pytest.mark.parametrize(("name", "content", "told"), WRONG)
def test_a_wrong_file_is_one_line_that_names_it(
    tmp_path: Path, name: str, content: str, told: str
) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(ConfigurationError) as error:
        load_constitution(str(file))
    assert error.value.message.startswith(f"{file}: ")
    assert told in error.value.message
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder, binary = tmp_path / "folder.yaml", tmp_path / "binary.yaml"
    folder.mkdir()
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (str(tmp_path / "none.yaml"), str(folder), "a\0b.yaml"):
        with pytest.raises(ConfigurationError, match=r"no such file|cannot be read"):
            load_constitution(path)
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_constitution(str(binary))


def test_a_sentence_is_a_principle() -> None:
    critic = ConstitutionalCritic.model_validate({"principles": ["Be brief.", "Name the day."]})
    first, second = critic.principles
    assert (first.name, second.name) == ("Be brief.", "Name the day.")
    assert "Be brief." in first.critique
    assert "Be brief." in first.revision
    with pytest.raises(ValidationError):
        ConstitutionalCritic.model_validate({"principles": [" "]})
