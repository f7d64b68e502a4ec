"""`sifaka research`: a report from the configured sources, on the command line."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka import ChainEvent
from sifaka_mcp.cli import run
from sifaka_mcp.view.progress import TerminalProgress
from tests.stubs.provider import Gate, Reply, calls, provider, told_of
from tests.stubs.research_answers import ResearchAnswers, Topic, asked_of, form_of, question_of
from tests.stubs.servers import environment

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
def test_without_a_model_it_shows_the_evidence_and_waits_for_a_writer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["research", "oil lamps"]) == 1
    told = capsys.readouterr()
    assert OIL.quote in told.out
    assert "_To be written._" in told.out
    assert "needs_revision" in told.out
    assert "sifaka submit run_" in " ".join(told.out.split())
    assert "\x1b" not in told.out, "no colour in a pipe"
    assert told.err == ""


def test_a_model_writes_the_report_into_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with provider(ResearchAnswers([OIL, GAS])) as served:
        told_of(served, monkeypatch)
        arguments = ["--model", "openai-chat:stub", "--sections", "2", "--out", "report.md"]
        assert run(["research", QUESTION, *arguments]) == 0
    told = capsys.readouterr()
    report = (folder / "report.md").read_text()
    assert report.index("## Oil") < report.index("## Gas") < report.index("## References")
    assert "1. 'Oil': done" in told.out
    assert "2. 'Gas': done" in told.out
    assert "done (passed), passing" in told.out
    assert OIL.quote not in told.out, "the text is in the file"


@pytest.mark.usefixtures("folder")
def test_json_is_the_structured_result_of_the_tool(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with provider(ResearchAnswers([OIL, GAS], failing="Gas")) as served:
        told_of(served, monkeypatch)
        monkeypatch.setenv("SIFAKA_MODEL", "openai-chat:stub")
        arguments = ["--mode", "deep", "--iterations", "1", "--adapters", "pages", "--json"]
        assert run(["research", QUESTION, *arguments]) == 1
    out = json.loads(capsys.readouterr().out)
    assert (out["passed"], out["stop_reason"]) == (False, "issues_left")
    assert any("'Gas' could not be researched" in each["message"] for each in out["left"])
    assert out["research"]["partial"] is True
    assert [(s["title"], s["status"]) for s in out["research"]["sections"]] == [
        ("Oil", "done"),
        ("Gas", "failed"),
    ]
    (reference,) = out["research"]["references"]
    assert (reference["n"], reference["title"]) == (1, "Oil lamps")


@pytest.mark.usefixtures("folder")
def test_a_spent_budget_ends_in_a_report_of_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with provider(ResearchAnswers([OIL, GAS])) as served:
        told_of(served, monkeypatch)
        monkeypatch.setenv("SIFAKA_MODEL", "openai-chat:stub")
        run(["research", QUESTION, "--max-calls", "9", "--json"])
        assert len(served.requests) <= 9, "reached means no further call"
    out = json.loads(capsys.readouterr().out)
    assert out["status"] == "done"
    assert out["text"]
    assert out["research"]["stop_reasons"] == ["calls"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["research", ""], "the question is empty"),
        (["research", "x", "--mode", "wide"], "--mode"),
        (["research", "x", "--adapters", "wiki"], "unknown adapter 'wiki' — configured: pages"),
        (["research", "x", "--adapters", "wiki=gopher:x"], "--adapters"),
        (["research", "x", "--sections", "0"], "from 1 to 12"),
        (["research", "x", "--iterations", "21"], "from 1 to 20"),
        (["research", "x", "--max-calls", "many"], "'many' is not a whole number"),
        (["research", "x", "--max-seconds", "0"], "budget.max_seconds"),
        (["research", "x", "--max-seconds", "nan"], "budget.max_seconds"),
        (
            ["research", "x", "--model", "openai-chat:x", "--max-calls", "0"],
            "max_calls=0 leaves no call",
        ),
        (["research", "x", "--model", "editor"], "the editor cannot research"),
        (["research", "x", "--model", "gpt-5"], "gpt-5"),
        (["research", "x", "--out", "no/such/folder/x"], "no/such/folder/x"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_usage_is_one_line_exit_code_2_and_starts_nothing(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    try:
        code = run(arguments)
    except SystemExit as stop:
        code = stop.code
    told = capsys.readouterr()
    assert (code, told.out) == (2, "")
    assert said in told.err
    assert told.err.count("\n") == 1
    assert run(["history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == []


def test_a_report_that_a_person_wrote_is_taken_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["research", "oil lamps", "--json"]) == 1
    outline = json.loads(capsys.readouterr().out)
    assert outline["status"] == "needs_revision"
    report = folder / "report.md"
    report.write_text(outline["text"])
    assert run(["submit", outline["run_id"], str(report)]) == 1, "nothing is written yet"
    assert "_To be written._" in capsys.readouterr().out
    report.write_text(outline["text"].replace("_To be written._", f"{OIL.quote} [1]"))
    assert run(["submit", outline["run_id"], str(report), "--json"]) == 0
    told = capsys.readouterr()
    out = json.loads(told.out)
    assert (out["status"], out["passed"]) == ("done", True)
    assert told.err.startswith("accepted")
    assert run(["submit", outline["run_id"]]) == 2
    assert run(["submit", "run_0123456789abcdef", str(report)]) == 2


def test_the_conversation_in_a_file_says_what_is_meant(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = [{"role": "user", "text": "What is to be told of oil lamps?"}]
    (folder / "talk.json").write_text(json.dumps(talk))
    meant = {"question": question_of(OIL), "mode": "iterative"}

    def read(request: Mapping[str, Any]) -> Reply | None:
        return calls("answer", meant) if "mode" in form_of(request) else None

    with provider(ResearchAnswers([OIL], before=read)) as served:
        told_of(served, monkeypatch)
        arguments = ["--history", "talk.json", "--model", "openai-chat:stub"]
        assert run(["research", "And what is to be told of them?", *arguments]) == 0
        (reading,) = (asked_of(each) for each in served.requests if "mode" in form_of(each))
        assert "user: What is to be told of oil lamps?" in reading
    assert f"\n# {question_of(OIL)}\n" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("written", ["what", "{}", '[{"role": "system", "text": "x"}]', "[1]"])
def test_a_file_that_holds_no_conversation_is_wrong_usage(
    folder: Path, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    (folder / "talk.json").write_text(written)
    assert run(["research", "oil lamps", "--history", "talk.json"]) == 2
    told = capsys.readouterr()
    assert "the history is no list of turns" in told.err
    assert told.err.count("\n") == 1


def test_without_any_adapter_one_line_says_what_to_configure(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["research", "x"]) == 2
    assert "no adapter is configured" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("inline", [False, True], ids=["configured", "inline"])
def test_research_that_was_stopped_is_gone_on_with_by_resume(
    folder: Path,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    inline: bool,
) -> None:
    written = calls("answer", {"text": f"Gas: {GAS.quote} [1]"})

    def hold(request: Mapping[str, Any]) -> Reply | None:
        is_gas = "text" in form_of(request) and question_of(GAS) in asked_of(request)
        return Reply(body=written.body, gate=gate) if is_gas else None

    with provider(ResearchAnswers([OIL, GAS], before=hold)) as served:
        adapters = os.environ["SIFAKA_ADAPTERS"]
        told = told_of(served, monkeypatch) | ({} if inline else {"SIFAKA_ADAPTERS": adapters})
        question = [QUESTION, "--adapters", adapters] if inline else [QUESTION]
        command = [sys.executable, "-m", "sifaka_mcp.cli"]
        env = environment(folder / "home", PYTHONPATH=str(Path(__file__).parents[3]), **told)
        with subprocess.Popen([*command, "research", *question], cwd=folder, env=env) as process:
            anyio.run(gate.reached)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 143
        gate.open()
        before = len(served.requests)
        # This process goes on with what the other one began.
        monkeypatch.setenv("SIFAKA_MODEL", told["SIFAKA_MODEL"])
        if inline:
            monkeypatch.delenv("SIFAKA_ADAPTERS")
        assert run(["history", "--json"]) == 0
        (line,) = json.loads(capsys.readouterr().out)["runs"]
        assert line["status"] == "cancelled"
        assert run(["resume", line["run_id"], "--json"]) == 0
        asked = [form_of(request) for request in served.requests[before:]]
    out = json.loads(capsys.readouterr().out)
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
