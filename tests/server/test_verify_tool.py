"""`verify_evidence`: claims held against sources, and kept where the caller judges them."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import CreateMessageRequestParams, CreateMessageResult

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.provider import HANGS, Reply, calls, provided
from tests.stubs.sampling_client import data, error, said, text_of, words
from tests.stubs.servers import Era, state_of

pytestmark = pytest.mark.anyio


TEXT = "The tower is 300 metres tall. It was built in 1888. Its painter was Jane Doe."
TALL, BUILT, PAINTED = (
    "The tower is 300 metres tall.",
    "The tower was built in 1888.",
    "The tower's painter was Jane Doe.",
)
TOWER = {
    "text": "The tower is 300 metres tall. It was built in 1889 of iron.",
    "title": "Tower",
    "url": "https://wiki.example/tower",
    "published": "2024-05-01",
}
SOUP = {"text": "A soup of leeks takes 20 minutes.", "title": "Soup"}
CLAIMS = {
    "claims": [
        {"quote": "The tower is 300 metres tall.", "claim": TALL},
        {"quote": "It was built in 1888.", "claim": BUILT},
        {"quote": "Its painter was Jane Doe.", "claim": PAINTED},
    ]
}
JUDGED = {
    "judgements": [
        {"criterion": "claim-1", "judgement": "support", "quotes": ["The tower is 300 metres"]},
        {
            "criterion": "claim-2",
            "judgement": "reject",
            "contradicts": True,
            "quotes": ["It was built in 1889"],
        },
        {"criterion": "claim-3", "judgement": "insufficient_information"},
    ]
}
CONFIRMED = {"answers": [{"id": "1", "says": True}]}
EXPECTED = ["supported", "contradicted", "not_enough_info"]
EXTRACTS, JUDGES = calls("answer", CLAIMS), calls("answer", JUDGED)
CONFIRMS = calls("answer", CONFIRMED)


@pytest.fixture
async def client(era: Era, tmp_path: Path) -> AsyncIterator[Client]:
    async with Client(server(tmp_path), mode=era) as client:
        yield client


def server(home: Path, **settings: Any) -> SifakaServer:
    return SifakaServer(Settings(home=home, toolsets=("refine", "evidence"), **settings))


async def verified(client: Client, **arguments: Any) -> dict[str, Any]:
    return data(await client.call_tool("verify_evidence", arguments))


async def asked_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replies: list[Reply], **arguments: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a server with a provider answers, and what the provider was asked."""
    with provided(replies, monkeypatch) as served:
        async with Client(server(tmp_path, model="openai-chat:stub")) as client:
            return await verified(client, **arguments), served.requests


async def test_each_claim_of_a_text_gets_a_verdict_with_its_place_and_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, asked = await asked_of(
        tmp_path, monkeypatch, [EXTRACTS, JUDGES, CONFIRMS], text=TEXT, sources=[TOWER]
    )
    assert [each["verdict"] for each in out["verdicts"]] == EXPECTED
    for each, claim in zip(out["verdicts"], CLAIMS["claims"], strict=True):
        assert each["claim"] == claim["claim"]
        assert TEXT[each["start"] : each["end"]] == each["quote"] == claim["quote"]
    (evidence,) = out["verdicts"][1]["evidence"]
    assert (evidence["stance"], evidence["quote"]) == (
        "contradicts",
        "It was built in 1889 of iron.",
    )
    assert evidence["quote"] in TOWER["text"]
    assert (evidence["title"], evidence["url"]) == (TOWER["title"], TOWER["url"])
    assert evidence["adapter"] == "given"
    assert evidence["published"].startswith("2024-05-01")
    assert evidence["retrieved_at"]
    assert out["counts"] == {
        "supported": 1,
        "contradicted": 1,
        "mixed": 0,
        "in_doubt": 0,
        "not_enough_info": 1,
        "unverified": 0,
    }
    assert (out["blocking"], out["instructions"], out["degraded"]) == (True, None, [])
    assert len(asked) == 3
    assert out["usage"]["model_calls"] == 3


async def test_given_claims_get_their_place_in_a_text_that_has_them(client: Client) -> None:
    out = await verified(client, text=TEXT, claims=[TALL, BUILT], sources=[TOWER])
    found, elsewhere = out["verdicts"]
    assert (found["start"], found["end"], found["quote"]) == (0, len(TALL), TALL)
    assert elsewhere["start"] is None


async def test_without_a_model_the_caller_judges_by_ranked_passages(client: Client) -> None:
    out = await verified(client, text=TEXT, sources=[SOUP, TOWER], max_documents=1)
    assert [each["verdict"] for each in out["verdicts"]] == [
        "supported",
        "unverified",
        "unverified",
    ]
    assert not out["blocking"]
    (evidence,) = out["verdicts"][1]["evidence"]
    assert (evidence["stance"], evidence["title"]) == ("unjudged", "Tower")
    assert evidence["quote"] in TOWER["text"]
    assert "Judge each yourself" in out["instructions"]
    assert "no model" in out["degraded"][0]


async def test_the_caller_hands_its_judgements_in(client: Client) -> None:
    asked: dict[str, Any] = {"claims": [PAINTED, "It was built in 1888."], "sources": [TOWER]}
    said = [
        {"claim": 1, "verdict": "not_enough_info"},
        {"claim": "2", "verdict": "contradicted", "quote": "It was built in 1889 of iron."},
    ]
    out = await verified(client, **asked, judgements=said)
    words = await verified(client, **{**asked, "sources": [TOWER["text"]]}, judgements=said)
    assert [v["verdict"] for v in words["verdicts"]] == [v["verdict"] for v in out["verdicts"]]
    assert [each["verdict"] for each in out["verdicts"]] == ["not_enough_info", "contradicted"]
    assert out["blocking"]
    assert out["instructions"] is None


async def test_the_words_stand_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with provided([EXTRACTS, JUDGES, CONFIRMS], monkeypatch):
        async with Client(server(tmp_path, model="openai-chat:stub")) as client:
            arguments = {"text": TEXT, "sources": [TOWER]}
            told = text_of(await client.call_tool("verify_evidence", arguments))
    for needed in (
        "claims: 3 (1 supported, 1 contradicted, 1 not_enough_info)",
        "blocking: yes",
        f"2. contradicted: {BUILT!r}",
        "[30:51]: 'It was built in 1888.'",
        "- contradicts: 'It was built in 1889 of iron.'",
        "from 'Tower', 'https://wiki.example/tower', of 2024-05-01",
    ):
        assert needed in told


async def test_the_words_of_an_answer_are_enough_to_judge_by(client: Client) -> None:
    result = await client.call_tool("verify_evidence", {"claims": [PAINTED], "sources": [TOWER]})
    told = text_of(result)
    assert f"1. unverified: {PAINTED!r}" in told
    assert f"- unjudged: {TOWER['text']!r}" in told
    assert "Judge each yourself" in told
    assert "no model" in told


class ReadingHost:
    """The model of a host that finds the claims of the text and judges by the tower's page."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult:
        del context
        self.asked.append(words(params))
        asked = params.system_prompt or ""
        answers = {'"claims"': CLAIMS, '"answers"': CONFIRMED}
        return said(json.dumps(next((a for f, a in answers.items() if f in asked), JUDGED)))


async def test_the_host_judges_and_is_asked_nothing_twice(tmp_path: Path, era: Era) -> None:
    host = ReadingHost()
    async with Client(server(tmp_path), mode=era, sampling_callback=host) as client:
        out = await verified(client, text=TEXT, sources=[TOWER])
        assert data(await client.call_tool("get_thought_history"))["runs"] == []
    assert [each["verdict"] for each in out["verdicts"]] == EXPECTED
    assert len(host.asked) == len(set(host.asked)) == out["usage"]["model_calls"] == 3
    assert out["degraded"] == []


async def test_a_host_that_cannot_be_asked_leaves_it_to_the_caller(client: Client) -> None:
    out = await verified(client, claims=[TALL], sources=[TOWER], model="host")
    assert out["verdicts"][0]["verdict"] == "unverified"
    assert out["verdicts"][0]["evidence"][0]["stance"] == "unjudged"
    assert out["instructions"]
    assert "the client offers no sampling" in out["verdicts"][0]["reason"]


async def test_a_budget_of_seconds_ends_the_waiting_not_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, asked = await asked_of(
        tmp_path, monkeypatch, [HANGS], claims=[TALL], sources=[TOWER], budget={"max_seconds": 0.3}
    )
    assert len(asked) == 1
    assert out["verdicts"][0]["verdict"] == "unverified"
    assert "budget of seconds" in out["verdicts"][0]["reason"]


async def test_progress_tells_what_was_found_and_judged(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[float, str]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        del total
        told.append((progress, message or ""))

    with provided([EXTRACTS, JUDGES, CONFIRMS], monkeypatch):
        async with Client(server(tmp_path, model="openai-chat:stub"), mode=era) as client:
            arguments = {"text": TEXT, "sources": [TOWER]}
            await client.call_tool("verify_evidence", arguments, progress_callback=listen)
    assert told == [
        (1, "texts read for claims: 1"),
        (2, "documents judged: 1"),
        (3, "documents read again: 1"),
    ]


def pages(tmp_path: Path) -> tuple[str, ...]:
    """The adapters of a server with a folder of two pages."""
    folder = tmp_path / "pages"
    folder.mkdir(exist_ok=True)
    for page in (TOWER, SOUP):
        (folder / f"{page['title']}.txt").write_text(page["text"])
    return (f"pages=folder:{folder}",)


async def test_with_sources_nothing_is_searched_but_what_is_named(tmp_path: Path) -> None:
    async with Client(server(tmp_path, adapters=pages(tmp_path))) as client:

        async def adapters_of(**arguments: Any) -> set[str]:
            out = await verified(client, claims=[TALL], sources=[TOWER], **arguments)
            return {each["adapter"] for each in out["verdicts"][0]["evidence"]}

        assert await adapters_of() == {"given"}
        assert await adapters_of(adapters=["pages"]) == {"given", "pages"}


async def test_an_unknown_adapter_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    async with Client(server(tmp_path, adapters=pages(tmp_path))) as client:
        for sources in ([], [TOWER]):
            arguments = {"claims": [TALL], "adapters": ["nowhere"], "sources": sources}
            result = await client.call_tool("verify_evidence", arguments)
            assert result.is_error
            assert text_of(result) == "unknown adapter 'nowhere' — configured: pages"


async def test_dates_and_sites_hold_for_what_is_searched_alone(tmp_path: Path) -> None:
    async with Client(server(tmp_path, adapters=pages(tmp_path))) as client:

        async def adapters_of(**arguments: Any) -> set[str]:
            out = await verified(
                client, claims=[TALL], sources=[TOWER], adapters=["pages"], **arguments
            )
            return {each["adapter"] for each in out["verdicts"][0]["evidence"]}

        assert await adapters_of() == {"given", "pages"}
        assert await adapters_of(since="1h") == {"given"}, "the file does not say of when it is"
        assert await adapters_of(until="2000-01-01") == {"given"}
        assert await adapters_of(sites=["wiki.example"]) == {"given"}, "files have no host"


SOURCES = [TOWER]
BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "missing: text, source, claims or run_id"),
    ({"text": " ", "claims": []}, "there is no text and no claim"),
    ({"text": TEXT}, "no adapter is configured, so there is nothing to search — give `sources`"),
    ({"text": TEXT, "sources": []}, "no adapter is configured"),
    ({"claims": [" "], "sources": SOURCES}, "claims[0] is empty"),
    ({"claims": ["x" * 2_001], "sources": SOURCES}, "claims[0] is 2,001 characters long"),
    ({"claims": ["x"] * 101, "sources": SOURCES}, "there are 101 claims"),
    ({"text": "x" * 1_000_001, "sources": SOURCES}, "text has 1,000,001 characters"),
    ({"text": "a\0b", "sources": SOURCES}, "NUL"),
    ({"text": TEXT, "sources": [{"text": ""}]}, "sources[0].text"),
    ({"text": TEXT, "sources": [{"text": "\n"}]}, "sources[0].text is empty"),
    (
        {"text": TEXT, "sources": [{"text": "a", "author": "b"}]},
        "sources[0]: unknown option 'author'",
    ),
    ({"text": TEXT, "sources": [{"text": "a", "published": "soon"}]}, "'soon' is not a date"),
    ({"text": TEXT, "sources": SOURCES * 51}, "sources"),
    (
        {"text": TEXT, "sources": [{"text": "x" * 600_000}] * 2},
        "the sources have 1,200,000 characters, at most 1,000,000",
    ),
    ({"text": TEXT, "sources": SOURCES, "since": "soon"}, "since 'soon' is not a date"),
    ({"text": TEXT, "sources": SOURCES, "until": "never"}, "until 'never' is not a date"),
    (
        {"text": TEXT, "sources": SOURCES, "since": "2024-05-02", "until": "2024-05-01"},
        "is not before until",
    ),
    ({"text": TEXT, "sources": SOURCES, "sites": ["https://a.b/c"]}, "is not a host"),
    ({"text": TEXT, "sources": SOURCES, "model": "gpt-5"}, "unknown model 'gpt-5'"),
    ({"text": TEXT, "sources": SOURCES, "budget": {"max_calls": -1}}, "max_calls"),
    ({"text": TEXT, "sources": SOURCES, "max_documents": 0}, "max_documents"),
    ({"text": TEXT, "sources": SOURCES, "adapters": ["nowhere"]}, "no adapter is configured"),
    ({"text": TEXT, "sourcess": SOURCES}, "did you mean 'sources'"),
]


async def test_bad_input_is_one_line_that_says_what_to_do(client: Client) -> None:
    for arguments, expected in BAD:
        told = error(await client.call_tool("verify_evidence", arguments))
        assert expected in told
        assert "\n" not in told
        assert len(told) < 400


async def test_a_title_of_any_length_is_not_repeated_with_each_claim(client: Client) -> None:
    source = {
        "text": "It is tall.",
        "title": "T" * 100_000,
        "url": "https://x.org/" + "u" * 100_000,
    }
    found = await verified(client, claims=[f"It is {n} m." for n in range(10)], sources=[source])
    assert len(json.dumps(found)) < 50_000


WRONG_YEAR = {"claim": "2", "verdict": "contradicted", "quote": "It was built in 1889 of iron."}
SILENT = {"claim": "3", "verdict": "not_enough_info"}


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncGenerator[Client]:
    async with Client(server(tmp_path)) as client:
        yield client


def verdicts(out: dict[str, Any]) -> list[str]:
    return [each["verdict"] for each in out["verdicts"]]


async def test_judgements_need_the_run_alone_and_add_up(caller: Client) -> None:
    first = await verified(caller, text=TEXT, sources=[TOWER])
    assert verdicts(first) == ["supported", "unverified", "unverified"]
    assert f"run_id: {first['run_id']}" in text_of(
        await caller.call_tool("verify_evidence", {"run_id": first["run_id"]})
    )
    second = await verified(caller, run_id=first["run_id"], judgements=[WRONG_YEAR])
    assert verdicts(second) == ["supported", "contradicted", "unverified"]
    places = [(each["claim"], each["start"], each["end"]) for each in first["verdicts"]]
    assert [(each["claim"], each["start"], each["end"]) for each in second["verdicts"]] == places
    third = await verified(caller, run_id=first["run_id"], judgements=[SILENT])
    assert verdicts(third) == ["supported", "contradicted", "not_enough_info"]
    assert (third["run_id"], third["instructions"]) == (first["run_id"], None)
    # A later judgement takes the place of an earlier one.
    changed = {**WRONG_YEAR, "verdict": "not_enough_info"}
    fourth = await verified(caller, run_id=first["run_id"], judgements=[changed])
    assert verdicts(fourth) == ["supported", "not_enough_info", "not_enough_info"]


async def test_given_claims_and_doubts_are_kept_too(caller: Client) -> None:
    claims = ["The tower was begun in 1887.", PAINTED]
    first = await verified(caller, claims=claims, sources=[TOWER])
    said = {"claim": "1", "verdict": "supported", "quote": "It was built in 1889 of iron."}
    doubt = await verified(caller, run_id=first["run_id"], judgements=[said])
    assert verdicts(doubt) == ["in_doubt", "unverified"]
    assert "'1887'" in doubt["verdicts"][0]["reason"]
    sure = await verified(caller, run_id=first["run_id"], judgements=[{**said, "confirmed": True}])
    assert verdicts(sure) == ["supported", "unverified"]
    assert [each["claim"] for each in sure["verdicts"]] == claims


async def test_the_history_shows_it_as_a_run_that_has_ended(caller: Client) -> None:
    first = await verified(caller, text=TEXT, sources=[TOWER])
    await verified(caller, run_id=first["run_id"], judgements=[WRONG_YEAR, SILENT])
    (shown,) = data(await caller.call_tool("get_thought_history"))["runs"]
    assert (shown["status"], shown["stop_reason"], shown["passed"]) == (
        "done", "issues_left", False,
    )  # fmt: skip
    evidence = await caller.read_resource(f"run://{first['run_id']}/evidence")
    assert "It was built in 1889 of iron." in str(evidence.contents)


async def test_what_was_decided_at_once_is_not_kept(caller: Client) -> None:
    out = await verified(caller, claims=["The tower is 300 metres tall."], sources=[TOWER])
    assert (verdicts(out), out["run_id"]) == (["supported"], "")
    assert data(await caller.call_tool("get_thought_history"))["runs"] == []


async def test_where_nothing_may_be_stored_the_caller_sends_all_again(tmp_path: Path) -> None:
    async with Client(server(tmp_path, read_only=True)) as client:
        first = await verified(client, text=TEXT, sources=[TOWER])
        assert first["run_id"] == ""
        assert "call verify_evidence again with the same text or claims" in first["instructions"]
        assert "the check is not stored" in first["degraded"][-1]
        out = await verified(client, text=TEXT, sources=[TOWER], judgements=[WRONG_YEAR, SILENT])
    assert verdicts(out) == ["supported", "contradicted", "not_enough_info"]


async def test_what_is_no_check_is_refused_and_stays(caller: Client) -> None:
    run = data(await caller.call_tool("improve_text", {"text": "It is a good day."}))
    for run_id, told in (
        (run["run_id"], "is no check of claims"),
        ("run_000000000000", "run_000000000000"),
    ):
        refused = await caller.call_tool("verify_evidence", {"run_id": run_id})
        assert refused.is_error
        assert told in text_of(refused)
    first = await verified(caller, text=TEXT, sources=[TOWER])
    wrong = {"run_id": first["run_id"], "judgements": [{"claim": "9", "verdict": "supported"}]}
    refused = await caller.call_tool("verify_evidence", wrong)
    assert "no claim is '9'" in text_of(refused)
    again = await verified(caller, run_id=first["run_id"])
    assert (verdicts(again), again["run_id"]) == (verdicts(first), first["run_id"])
    revised = await caller.call_tool(
        "submit_revision", {"run_id": first["run_id"], "parent_id": "v0", "text": "Other words."}
    )
    assert revised.is_error
    assert "does not wait for a revision" in text_of(revised)


async def test_looking_again_stores_nothing_more(tmp_path: Path) -> None:
    application = server(tmp_path)
    async with Client(application) as client:
        first = await verified(client, text=TEXT, sources=[TOWER])
        before = await state_of(application).store.load(first["run_id"])
        await verified(client, run_id=first["run_id"])
        both = {"run_id": first["run_id"], "text": "Another text."}
        refused = await client.call_tool("verify_evidence", both)
        assert "give run_id and judgements" in text_of(refused)
        assert await state_of(application).store.load(first["run_id"]) == before
