"""`sifaka verify` and `sifaka search-evidence`: the exit code, what is printed, wrong usage."""

import json
from pathlib import Path

import pytest

from sifaka.record.claims import Claim, ClaimEvidence, ClaimReport, ClaimStatus, ClaimVerdict
from sifaka_mcp.schemas.evidence import VerifyOut
from sifaka_mcp.view.evidence_text import verification
from tests.server.test_search_evidence import BUILT, PLAN, QUESTION, TALL, judged, pages_in
from tests.server.test_verify_tool import CONFIRMS, EXTRACTS, JUDGED, JUDGES, TEXT, TOWER
from tests.stubs.commands import Sifaka, sifaka_process
from tests.stubs.provider import Reply, calls, provided

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
    sifaka: Sifaka, monkeypatch: pytest.MonkeyPatch, replies: list[Reply], code: int
) -> None:
    with provided(replies, monkeypatch):
        out = sifaka.json(*VERIFY, "--model", "openai-chat:stub", code=code)
    assert out["blocking"] == (code == 1)
    assert out["verdicts"][0]["verdict"] == "supported"
    assert out["verdicts"][0]["evidence"][0]["title"] == "tower.txt"
    assert out["usage"]["model_calls"] == 3


def test_without_a_model_nothing_is_contradicted(sifaka: Sifaka, folder: Path) -> None:
    code, out, err = sifaka(*VERIFY)
    assert (code, err) == (0, ""), "and no progress"
    assert "unverified: 'The tower is 300 metres tall." in out
    assert "from 'tower.txt', given as source 1" in out
    assert "\x1b" not in out, "no colour in a pipe"
    # A text of which nothing could be verified is no success unless allowed.
    (folder / "open.md").write_text("The tower was painted by Jane Doe in 1968.")
    verify = ("verify", "open.md", "--source", "tower.txt")
    assert "(1 unverified)" in sifaka.prints(*verify, code=1)
    sifaka.prints(*verify, "--allow-unverified")


def test_beside_a_source_only_what_is_named_is_searched(sifaka: Sifaka, folder: Path) -> None:
    specs = f"pages=folder:{folder / 'pages'}"

    def searched(*arguments: str, configured: str = specs) -> set[str]:
        out = sifaka.json(*arguments, SIFAKA_ADAPTERS=configured)
        return {each["adapter"] for verdict in out["verdicts"] for each in verdict["evidence"]}

    assert searched("verify", "text.md") == {"pages"}
    assert searched("verify", "text.md", "--adapters", specs, configured="") == {"pages"}
    assert searched(*VERIFY) == {"given"}
    assert searched(*VERIFY, "--adapters", "pages") == {"given", "pages"}
    said = sifaka.refuses(*VERIFY, "--adapters", "nowhere", SIFAKA_ADAPTERS=specs)
    assert "unknown adapter 'nowhere' — configured: pages" in said


@pytest.mark.slow
def test_a_text_comes_from_standard_input(folder: Path) -> None:
    done = sifaka_process(folder, "verify", "-", "--source", "tower.txt", "--json", given=TEXT)
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
    sifaka: Sifaka, folder: Path, arguments: list[str], said: str
) -> None:
    (folder / "empty.txt").write_text("\n")
    assert said in sifaka.refuses(*arguments)


def test_what_was_found_is_printed(
    sifaka: Sifaka, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = pages_in(here)
    command = ("search-evidence", QUESTION, "--adapters", pages)
    with provided(judged, monkeypatch):
        asked = (*command, "--model", "openai-chat:stub")
        found = sifaka.json(*asked)["evidence"]
        plan = sifaka.json(*asked, "--plan")
    assert [each["classification"] for each in found] == ["perfect", "partial", "reject"]
    assert [each["id"] for each in found] == ["both.md", "height.md", "other.md"]
    assert [quote for each in found[0]["judgements"] for quote in each["quotes"]] == [TALL, BUILT]
    assert plan["queries"] == PLAN["queries"]
    assert "unverified" in sifaka.prints(*command, "--no-verify"), "ranked"
    none = sifaka.prints("search-evidence", "zebra", "quagga", "--adapters", pages, code=1)
    assert none.count("status: no_results") == 2


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
