"""`sifaka verify`: the exit code, what is printed, and wrong usage."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sifaka.record.claims import Claim, ClaimEvidence, ClaimReport, ClaimStatus, ClaimVerdict
from sifaka_mcp.cli import run
from sifaka_mcp.schemas.evidence import VerifyOut
from sifaka_mcp.view.evidence_text import verification
from tests.server.test_verify_tool import CONFIRMS, EXTRACTS, JUDGED, JUDGES, TEXT, TOWER
from tests.stubs.provider import Reply, calls, provider, told_of
from tests.stubs.servers import environment

SUPPORTED = calls("answer", {"judgements": [JUDGED["judgements"][0]]})
ONE_CLAIM = calls(
    "answer", {"claims": [{"quote": "The tower is 300 metres tall.", "claim": "It is 300 m tall."}]}
)
VERIFY = ["verify", "text.md", "--source", "tower.txt"]


@pytest.fixture
def folder(here: Path) -> Path:
    """The current folder with a text, a source for it, and a folder of sources."""
    (here / "text.md").write_text(TEXT)
    (here / "tower.txt").write_text(str(TOWER["text"]))
    (here / "pages").mkdir()
    (here / "pages" / "tower.md").write_text(str(TOWER["text"]))
    return here


@pytest.mark.parametrize(
    ("replies", "code"),
    [([EXTRACTS, JUDGES, CONFIRMS], 1), ([ONE_CLAIM, SUPPORTED, CONFIRMS], 0)],
    ids=["something is contradicted", "nothing is"],
)
@pytest.mark.usefixtures("folder")
def test_the_exit_code_says_whether_something_is_contradicted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    replies: list[Reply],
    code: int,
) -> None:
    with provider(replies) as served:
        told_of(served, monkeypatch)
        assert run([*VERIFY, "--json", "--model", "openai-chat:stub"]) == code
    out = json.loads(capsys.readouterr().out)
    assert out["blocking"] == (code == 1)
    assert out["verdicts"][0]["verdict"] == "supported"
    assert out["verdicts"][0]["evidence"][0]["title"] == "tower.txt"
    assert out["usage"]["model_calls"] == 3


@pytest.mark.usefixtures("folder")
def test_without_a_model_the_evidence_is_ranked_and_nothing_is_contradicted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(VERIFY) == 0
    said = capsys.readouterr()
    assert "unverified: 'The tower is 300 metres tall." in said.out
    assert "from 'tower.txt', given as source 1" in said.out
    assert "\x1b" not in said.out, "no colour in a pipe"
    assert said.err == "", "and no progress"


@pytest.mark.usefixtures("folder")
def test_a_text_of_which_nothing_could_be_verified_is_no_success_unless_allowed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "open.md").write_text("The tower was painted by Jane Doe in 1968.")
    verify = ["verify", "open.md", "--source", "tower.txt"]
    assert run(verify) == 1
    assert "(1 unverified)" in capsys.readouterr().out
    assert run([*verify, "--allow-unverified"]) == 0


def test_what_is_configured_is_searched(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"pages=folder:{folder / 'pages'}")
    assert run(["verify", "text.md", "--json"]) == 0
    evidence = json.loads(capsys.readouterr().out)["verdicts"][0]["evidence"]
    assert {each["adapter"] for each in evidence} == {"pages"}


def test_with_a_source_nothing_else_is_searched_unless_it_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"pages=folder:{folder / 'pages'}")

    def searched(*more: str) -> set[str]:
        assert run([*VERIFY, "--json", *more]) == 0
        out = json.loads(capsys.readouterr().out)
        return {each["adapter"] for verdict in out["verdicts"] for each in verdict["evidence"]}

    assert searched() == {"given"}
    assert searched("--adapters", "pages") == {"given", "pages"}


def test_adapters_may_be_given_for_this_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = f"pages=folder:{folder / 'pages'}"
    assert run(["verify", "text.md", "--json", "--adapters", specs]) == 0
    evidence = json.loads(capsys.readouterr().out)["verdicts"][0]["evidence"]
    assert {each["adapter"] for each in evidence} == {"pages"}


@pytest.mark.slow
def test_a_text_comes_from_standard_input(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sifaka_mcp.cli", "verify", "-", "--source", "tower.txt", "--json"],
        cwd=folder,
        env=environment(folder / "home", PYTHONPATH=str(Path(__file__).parents[3])),
        input=TEXT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["counts"]["unverified"] >= 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "missing.md", "--source", "tower.txt"], "missing.md"),
        (["verify", "text.md", "--source", "missing.txt"], "missing.txt"),
        (["verify", "text.md", "--source", "empty.txt"], "empty.txt is empty"),
        (["verify", "empty.txt", "--source", "tower.txt"], "there is no text and no claim"),
        (["verify", "text.md"], "no adapter is configured, so there is nothing to search"),
        (["verify", "-", "--source", "-"], "standard input is read once"),
        ([*VERIFY, "--adapters", "nowhere"], "no adapter is configured"),
        ([*VERIFY, "--adapters", "nowhere=gopher:x"], "--adapters"),
        ([*VERIFY, "--since", "soon"], "since 'soon' is not a date"),
        ([*VERIFY, "--since", "2024-02-01", "--until", "2024-01-01"], "is not before until"),
        ([*VERIFY, "--site", "https://a.b"], "'https://a.b' is not a host"),
        ([*VERIFY, "--model", "gpt-5"], "gpt-5"),
        ([*VERIFY, "--max-documents", "0"], "from 1 to 20"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (folder / "empty.txt").write_text("\n")
    try:
        code = run(arguments)
    except SystemExit as stop:
        code = stop.code
    told = capsys.readouterr()
    assert code == 2
    assert said in told.err
    assert told.err.startswith("sifaka: ")
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_an_unknown_adapter_is_told_with_the_known_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_ADAPTERS", f"pages=folder:{folder / 'pages'}")
    assert run([*VERIFY, "--adapters", "nowhere"]) == 2
    assert "unknown adapter 'nowhere' — configured: pages" in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def verdict(status: ClaimStatus, *evidence: ClaimEvidence, reason: str = "") -> ClaimVerdict:
    claim = Claim(text=f"A claim that is {status}.")
    return ClaimVerdict(claim=claim, verdict=status, evidence=evidence, reason=reason)


def test_a_verdict_is_shown_with_what_decides() -> None:
    contrary = ClaimEvidence(
        stance="contradicts", quote="of 1889\x1b[2J", title="Tower", url="https://wiki.example/t"
    )
    report = ClaimReport(
        verdicts=(
            verdict("contradicted", contrary),
            verdict("unverified", reason="nobody was asked"),
        ),
        degraded=("one source is away",),
    )
    told = verification(VerifyOut.of(report))
    for expected in (
        "A claim that is contradicted.",
        "of 1889",
        "https://wiki.example/t",
        "nobody was asked",
        "one source is away",
        "claims: 2 (1 contradicted, 1 unverified)",
    ):
        assert expected in told
    assert "\x1b[2J" not in told, "a source does not clear the screen"
