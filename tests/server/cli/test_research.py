"""`sifaka research`: a report from the configured sources, on the command line."""

import io
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka import ChainEvent
from sifaka_mcp.view.progress import TerminalProgress
from tests.stubs.commands import Sifaka, started
from tests.stubs.provider import Gate, Reply, calls, provided, provider, told_of
from tests.stubs.research_answers import ResearchAnswers, Topic, asked_of, form_of, question_of

OIL = Topic(title="Oil", query="oil lamps", quote="Oil lamps burned from 1811.")
GAS = Topic(title="Gas", query="gas lamps", quote="Gas lamps came in 1884.")
QUESTION = "Give a report on the lamps of the coast."


@pytest.fixture
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pages = here / "pages"
    pages.mkdir()
    (pages / "oil.md").write_text(f"# Oil lamps\n\n{OIL.quote} They stood on every quay.\n")
    (pages / "gas.md").write_text(f"# Gas lamps\n\n{GAS.quote} They needed a works.\n")
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"pages=folder:{pages}")
    return here


@pytest.mark.usefixtures("folder")
def test_without_a_model_it_shows_the_evidence_and_waits_for_a_writer(sifaka: Sifaka) -> None:
    code, out, err = sifaka("research", "oil lamps")
    assert (code, err) == (1, "")
    assert OIL.quote in out
    assert "_To be written._" in out
    assert "needs_revision" in out
    assert "sifaka submit run_" in " ".join(out.split())
    assert "\x1b" not in out, "no colour in a pipe"


def test_a_model_writes_into_a_file(
    sifaka: Sifaka, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provided(ResearchAnswers([OIL, GAS]), monkeypatch):
        arguments = ("--model", "openai-chat:stub", "--sections", "2", "--out", "report.md")
        told = sifaka.prints("research", QUESTION, *arguments)
    report = (folder / "report.md").read_text()
    assert report.index("## Oil") < report.index("## Gas") < report.index("## References")
    assert "1. 'Oil': done" in told
    assert "2. 'Gas': done" in told
    assert "done (passed), passing" in told
    assert OIL.quote not in told, "the text is in the file"


@pytest.mark.usefixtures("folder")
def test_json_is_the_result_of_the_tool(sifaka: Sifaka, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIFAKA_MODEL", "openai-chat:stub")
    with provided(ResearchAnswers([OIL, GAS], failing="Gas"), monkeypatch) as served:
        arguments = ("--mode", "deep", "--iterations", "1", "--adapters", "pages")
        out = sifaka.json("research", QUESTION, *arguments, code=1)
    assert (out["passed"], out["stop_reason"]) == (False, "issues_left")
    assert any("'Gas' could not be researched" in each["message"] for each in out["left"])
    assert out["research"]["partial"] is True
    sections = [(s["title"], s["status"]) for s in out["research"]["sections"]]
    assert sections == [("Oil", "done"), ("Gas", "failed")]
    (reference,) = out["research"]["references"]
    assert (reference["n"], reference["title"]) == (1, "Oil lamps")
    with provided(ResearchAnswers([OIL, GAS]), monkeypatch) as served:
        spent = json.loads(sifaka("research", QUESTION, "--max-calls", "9", "--json").out)
        assert len(served.requests) <= 9, "reached means no further call"
    assert spent["status"] == "done"
    assert spent["text"]
    assert spent["research"]["stop_reasons"] == ["calls"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([""], "the question is empty"),
        (["x", "--mode", "wide"], "--mode"),
        (["x", "--adapters", "wiki"], "unknown adapter 'wiki' — configured: pages"),
        (["x", "--adapters", "wiki=gopher:x"], "--adapters"),
        (["x", "--sections", "0"], "from 1 to 12"),
        (["x", "--iterations", "21"], "from 1 to 20"),
        (["x", "--max-calls", "many"], "invalid int value: 'many'"),
        (["x", "--max-seconds", "nan"], "budget.max_seconds"),
        (["x", "--model", "openai-chat:x", "--max-calls", "0"], "max_calls=0 leaves no call"),
        (["x", "--model", "editor"], "the editor cannot research"),
        (["x", "--out", "no/such/folder/x"], "no/such/folder/x"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_usage_starts_nothing(sifaka: Sifaka, arguments: list[str], said: str) -> None:
    assert said in sifaka.refuses("research", *arguments)
    assert sifaka.json("history")["runs"] == []


def test_a_report_that_a_person_wrote_is_taken_in(sifaka: Sifaka, folder: Path) -> None:
    outline = sifaka.json("research", "oil lamps", code=1)
    assert outline["status"] == "needs_revision"
    report, submit = folder / "report.md", ("submit", outline["run_id"], "report.md")
    report.write_text(outline["text"])
    assert "_To be written._" in sifaka.prints(*submit, code=1), "nothing is written yet"
    report.write_text(outline["text"].replace("_To be written._", f"{OIL.quote} [1]"))
    done = sifaka(*submit, "--json")
    out = json.loads(done.out)
    assert (done.code, out["status"], out["passed"]) == (0, "done", True)
    assert done.err.startswith("accepted")
    assert sifaka(*submit[:2]).code == 2
    assert sifaka("submit", "run_0123456789abcdef", "report.md").code == 2


def test_a_file_says_what_is_meant(
    sifaka: Sifaka, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = [{"role": "user", "text": "What is to be told of oil lamps?"}]
    (folder / "talk.json").write_text(json.dumps(talk))
    meant = {"question": question_of(OIL), "mode": "iterative"}

    def read(request: Mapping[str, Any]) -> Reply | None:
        return calls("answer", meant) if "mode" in form_of(request) else None

    with provided(ResearchAnswers([OIL], before=read), monkeypatch) as served:
        arguments = ("--history", "talk.json", "--model", "openai-chat:stub")
        told = sifaka.prints("research", "And what is to be told of them?", *arguments)
        (reading,) = (asked_of(each) for each in served.requests if "mode" in form_of(each))
        assert "user: What is to be told of oil lamps?" in reading
    assert f"\n# {question_of(OIL)}\n" in told
    for written in ("what", "{}", '[{"role": "system", "text": "x"}]', "[1]"):
        (folder / "talk.json").write_text(written)
        said = sifaka.refuses("research", "oil lamps", "--history", "talk.json")
        assert "the history is no list of turns" in said


def test_without_any_adapter_one_line_says_what_to_configure(sifaka: Sifaka) -> None:
    assert "no adapter is configured" in sifaka.refuses("research", "x")


@pytest.mark.slow
@pytest.mark.parametrize("inline", [False, True], ids=["configured", "inline"])
def test_research_that_was_stopped_is_gone_on_with_by_resume(
    sifaka: Sifaka, folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, inline: bool
) -> None:
    written = calls("answer", {"text": f"Gas: {GAS.quote} [1]"})

    def hold(request: Mapping[str, Any]) -> Reply | None:
        is_gas = "text" in form_of(request) and question_of(GAS) in asked_of(request)
        return Reply(body=written.body, gate=gate) if is_gas else None

    with provider(ResearchAnswers([OIL, GAS], before=hold)) as served:
        adapters = os.environ["SIFAKA_ADAPTERS"]
        told = told_of(served, monkeypatch) | ({} if inline else {"SIFAKA_ADAPTERS": adapters})
        question = [QUESTION, "--adapters", adapters] if inline else [QUESTION]
        with started(folder, "research", *question, **told) as process:
            anyio.run(gate.reached)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)
            assert process.returncode == 143
        gate.open()
        before = len(served.requests)
        # This process goes on with what the other one began.
        monkeypatch.setenv("SIFAKA_MODEL", told["SIFAKA_MODEL"])
        if inline:
            monkeypatch.delenv("SIFAKA_ADAPTERS")
        (line,) = sifaka.json("history")["runs"]
        assert line["status"] == "cancelled"
        out = sifaka.json("resume", line["run_id"])
        asked = [form_of(request) for request in served.requests[before:]]
    assert out["status"] == "done"
    assert f"Gas: {GAS.quote}" in out["text"]
    assert not [form for form in asked if "sections" in form or "judgements" in form], (
        "what is on record is not asked again"
    )


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.anyio
async def test_a_terminal_shows_the_step_while_it_goes_on() -> None:
    stream, piped = Terminal(), io.StringIO()
    searching = ChainEvent(
        run_id="r", iteration=0, phase="research", message="3 searches\x1b[2J", section=0
    )
    with TerminalProgress(stream) as progress:
        await progress.show(searching)
        assert progress.line().startswith("researching: 3 searches")
        assert "\x1b[2J" not in progress.line()
    assert stream.getvalue(), "it is shown live"
    with TerminalProgress(piped) as progress:
        await progress.show(searching)
    assert piped.getvalue() == ""
