"""`verify_evidence` and `sifaka verify` over a real wiki, judged by a host that knows nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import CreateMessageRequestParams, CreateMessageResult

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.cli import run
from sifaka_mcp.settings import Settings
from tests.sifaka.critics.scripted_judge import Asked
from tests.sifaka.evidence.claims.reader import reads
from tests.stubs.sampling_client import data, said, words
from tests.stubs.servers import Era
from tests.wiki.test_claims import FALSE, TEXT, TRUE, UNKNOWN

pytestmark = [pytest.mark.anyio, pytest.mark.wiki]


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


class ReadingHost:
    """The model of a host that compares the words and numbers it is shown."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context
        instructions = params.system_prompt or ""
        self.asked.append(words(params))
        asked = Asked(
            number=len(self.asked),
            question=self.asked[-1],
            instructions=instructions,
            fields=frozenset(
                {next((n for n in ("answers", "claims") if f'"{n}"' in instructions), "judgements")}
            ),
            settings={},
        )
        return said(json.dumps(reads(asked)))


def verdicts(out: dict[str, Any]) -> dict[str, str]:
    return {each["claim"]: each["verdict"] for each in out["verdicts"]}


async def test_ten_claims_are_judged_by_the_host_from_what_the_wiki_says(
    wiki_api: str, tmp_path: Path, era: Era
) -> None:
    host = ReadingHost()
    settings = Settings(
        home=tmp_path, toolsets=("evidence",), adapters=(f"wiki=mediawiki+{wiki_api}",)
    )
    async with Client(SifakaServer(settings), mode=era, sampling_callback=host) as client:
        out = data(await client.call_tool("verify_evidence", {"text": TEXT}))
    assert verdicts(out) == {
        **dict.fromkeys(TRUE, "supported"),
        **dict.fromkeys(FALSE, "contradicted"),
        **dict.fromkeys(UNKNOWN, "not_enough_info"),
    }
    counts = (out["counts"][name] for name in ("supported", "contradicted", "not_enough_info"))
    assert (*counts, out["blocking"], out["degraded"]) == (5, 3, 2, True, [])
    assert len(host.asked) == len(set(host.asked)) == out["usage"]["model_calls"]
    for each in out["verdicts"]:
        assert TEXT[each["start"] : each["end"]] == each["quote"]
        assert all(e["url"].startswith("http://127.0.0.1:") for e in each["evidence"])
        assert all(e["published"] and e["retrieved_at"] for e in each["evidence"])


async def test_without_a_model_the_caller_gets_the_passages_where_figures_do_not_decide(
    wiki_api: str, tmp_path: Path
) -> None:
    settings = Settings(
        home=tmp_path, toolsets=("evidence",), adapters=(f"wiki=mediawiki+{wiki_api}",)
    )
    async with Client(SifakaServer(settings)) as client:
        out = data(await client.call_tool("verify_evidence", {"text": TEXT}))
    decided = {claim: said for claim, said in verdicts(out).items() if said != "unverified"}
    assert decided == {FALSE[2]: "contradicted"}, "the same sentence has another number"
    assert out["blocking"]
    passages = {each["claim"]: each["evidence"][0]["quote"] for each in out["verdicts"]}
    assert "41 metres" in passages[TRUE[0]]
    assert "11 kilometres" in passages[FALSE[0]]


def test_the_command_searches_the_wiki(
    wiki_api: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path / "home"))
    Path("text.md").write_text(TEXT)
    wiki = f"wiki=mediawiki+{wiki_api}"
    assert run(["verify", "text.md", "--adapters", wiki]) == 1  # rules contradict some of it
    told = capsys.readouterr().out
    assert "from 'Gannet Head Lighthouse', 'http://127.0.0.1:" in told
    assert " in wiki, of " in told
