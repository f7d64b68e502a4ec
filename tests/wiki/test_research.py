"""Deep research over a real wiki: four sections at once, one failing, killed and gone on with."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import CreateMessageRequestParams, CreateMessageResult

from sifaka.record.run import Run
from sifaka.storage import SQLiteStorage
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.cli import run
from sifaka_mcp.settings import Settings
from tests.sifaka.critics.scripted_judge import Asked
from tests.sifaka.evidence.claims.reader import reads
from tests.stubs.calls import call
from tests.stubs.provider import Gate, Provider, Reply, calls, provider
from tests.stubs.research_answers import ResearchAnswers, Topic, asked_of, form_of, question_of
from tests.stubs.sampling_client import data, said, words
from tests.stubs.servers import Era, environment, stdio_server
from tests.wiki.test_claims import FALSE, TEXT, TRUE, UNKNOWN

pytestmark = [pytest.mark.anyio, pytest.mark.wiki]


LIGHT = Topic(
    title="The lighthouse",
    query="Gannet Head Lighthouse tower",
    quote="The tower is 41 metres tall",
)
FERRY = Topic(
    title="The ferry", query="ferry Kittiwake", quote="carries 340 passengers and 48 cars"
)
ROAD = Topic(title="The causeway", query="Tessel Causeway", quote="It is 2.3 kilometres long")
WIND = Topic(title="The wind farm", query="Farrin Wind Farm", quote="12 turbines")
TOPICS = (LIGHT, FERRY, ROAD, WIND)
QUESTION = "Give a report on what was built on the Varrow Isles."
ROOT = Path(__file__).parents[2]
SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A run that was killed while one section waited, when the other three were over."""

    run_id: str
    store: Path
    before: Run
    """As the record stood when the process was killed."""
    served: Provider
    asked: Counter[str]
    """What the model had been asked by then."""
    environ: Mapping[str, str]
    gate: Gate


@pytest.fixture
def gate() -> Generator[Gate]:
    """Where one answer waits for the test, but not for longer than it takes."""
    gate = Gate()
    yield gate
    gate.open()


def holding(gate: Gate) -> Callable[[Mapping[str, Any]], Reply | None]:
    """What makes the section on the causeway wait before it is written."""
    written = calls("answer", {"text": f"The causeway: {ROAD.quote} [1]"})

    def hold(request: Mapping[str, Any]) -> Reply | None:
        is_held = "text" in form_of(request) and question_of(ROAD) in asked_of(request)
        return Reply(body=written.body, gate=gate) if is_held else None

    return hold


@contextmanager
def model(gate: Gate, wiki: str) -> Generator[tuple[Provider, dict[str, str]]]:
    """A provider that takes part in the research; and what processes are told of all of it."""
    answers = ResearchAnswers(TOPICS, failing=WIND.title, before=holding(gate))
    with provider(answers) as served:
        yield (
            served,
            {
                "SIFAKA_MODEL": "openai-chat:stub",
                "OPENAI_API_KEY": "sk-test-key",
                "OPENAI_BASE_URL": served.url,
                "SIFAKA_ADAPTERS": f"wiki=mediawiki+{wiki}",
                "SIFAKA_TOOLSETS": "refine,research",
                "PYTHONPATH": str(ROOT),
            },
        )


def asked(requests: Sequence[Mapping[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(request, sort_keys=True) for request in requests)


async def three_are_over(store: Path) -> Run:
    """The run when every section but the one that waits has come to its end on record."""
    sqlite = SQLiteStorage(store)
    try:
        with anyio.fail_after(SECONDS):
            (summary,) = (await sqlite.recent(limit=1)).runs
            async with aclosing(sqlite.follow(summary.run_id)) as steps:
                async for _, run in steps:
                    if sum(e.step == "section_finished" for e in run.research) == len(TOPICS) - 1:
                        return run
        raise AssertionError("it has ended before")
    finally:
        await sqlite.aclose()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sifaka_mcp.cli", *arguments]


async def killed(home: Path, served: Provider, told: Mapping[str, str], gate: Gate) -> Scene:
    """Research on the command line, and kill the process in the middle."""
    store, environ = home / "sifaka.db", environment(home, **told)
    process = await anyio.open_process(
        command("research", QUESTION), cwd=home, env=environ, stdout=None, stderr=None
    )
    async with process:
        await gate.reached()
        run = await three_are_over(store)
        process.kill()
        assert await process.wait() == -9
    sqlite = SQLiteStorage(store)
    before = await sqlite.load(run.run_id)
    await sqlite.aclose()
    assert before.status == "running"
    gate.open()
    return Scene(
        run_id=run.run_id,
        store=store,
        before=before,
        served=served,
        asked=asked(served.requests),
        environ=environ,
        gate=gate,
    )


async def check(scene: Scene, out: Mapping[str, Any]) -> None:
    """See that the run came out as if nothing had happened to it."""
    assert (out["status"], out["passed"]) == ("done", False)  # a section could not be researched
    research = out["research"]
    assert [section["title"] for section in research["sections"]] == [t.title for t in TOPICS]
    statuses = [section["status"] for section in research["sections"]]
    assert (statuses, research["partial"]) == (["done", "done", "done", "failed"], True)
    assert research["sections"][3]["error"], "the failed section says why"
    assert any(f"{WIND.title!r} failed" in line for line in out["degraded"])
    places = [out["text"].index(f"## {topic.title}") for topic in TOPICS]
    assert places == sorted(places), "the order of the outline, not that of completion"
    for topic in TOPICS[:3]:
        assert topic.quote in out["text"]

    assert len(research["references"]) == 3
    for reference in research["references"]:
        assert f"[{reference['n']}]" in out["text"].partition("## References")[0]
        answer = await anyio.to_thread.run_sync(
            lambda url: httpx2.get(url, follow_redirects=True), reference["url"]
        )
        assert answer.status_code == 200
        assert reference["title"] in answer.text

    counted = asked(scene.served.requests)
    repeated = [key for key, times in counted.items() if times > 1]
    assert len(repeated) == 1, "only the question that was not answered is asked again"
    assert question_of(ROAD) in repeated[0]
    assert counted[repeated[0]] == 2
    assert scene.asked <= counted
    store = SQLiteStorage(scene.store)
    after = await store.load(scene.run_id)
    await store.aclose()
    assert after.calls[: len(scene.before.calls)] == scene.before.calls
    assert max(Counter(answer.key for answer in after.calls).values()) == 1


async def test_killed_on_the_command_line_and_gone_on_with_by_an_mcp_client(
    tmp_path: Path, wiki_api: str, gate: Gate
) -> None:
    told: list[str] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    with model(gate, wiki_api) as (served, environ):
        scene = await killed(tmp_path, served, environ, gate)
        async with Client(stdio_server(tmp_path, **environ)) as client:
            with anyio.fail_after(SECONDS):
                result = await client.call_tool(
                    "resume_run", {"run_id": scene.run_id}, progress_callback=listen
                )
        out = result.structured_content
        assert out is not None
        await check(scene, out)
    assert "research, section 3: 'The causeway': 1 references" in told
    assert any(message.startswith("research: ") for message in told), "it is put together"


async def test_killed_and_gone_on_with_by_command(
    tmp_path: Path, wiki_api: str, gate: Gate
) -> None:
    with model(gate, wiki_api) as (served, environ):
        scene = await killed(tmp_path, served, environ, gate)
        done = await anyio.to_thread.run_sync(
            lambda: subprocess.run(
                command("resume", scene.run_id, "--json"),
                cwd=tmp_path,
                env=dict(scene.environ),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        )
        assert done.returncode == 1, done.stderr  # a section could not be researched
        await check(scene, json.loads(done.stdout))


async def test_an_mcp_client_researches_the_wiki_and_is_told_of_each_section(
    tmp_path: Path, wiki_api: str, gate: Gate
) -> None:
    told: list[str] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    gate.open()
    with model(gate, wiki_api) as (_, environ):
        async with Client(stdio_server(tmp_path, **environ)) as client:
            with anyio.fail_after(SECONDS):
                result = await client.call_tool(
                    "research", {"question": QUESTION, "mode": "deep"}, progress_callback=listen
                )
    out = result.structured_content
    assert out is not None
    assert (out["status"], out["research"]["partial"]) == ("done", True)
    for number, topic in enumerate(TOPICS, 1):
        assert f"research, section {number}: researching {topic.title!r}" in told


async def test_without_a_model_the_caller_writes_from_evidence(
    tmp_path: Path, wiki_api: str
) -> None:
    told = {"SIFAKA_ADAPTERS": f"wiki=mediawiki+{wiki_api}", "SIFAKA_TOOLSETS": "research"}
    async with Client(stdio_server(tmp_path, **told)) as client:
        waiting = await call(client, "research", question="How tall is the Gannet Head Lighthouse?")
        assert waiting["status"] == "needs_revision"
        assert LIGHT.quote in waiting["text"]
        assert all(reference["url"] for reference in waiting["research"]["references"])
        done = await call(
            client,
            "submit_revision",
            run_id=waiting["run_id"],
            parent_id=waiting["brief"]["parent_id"],
            text=waiting["text"].replace("_To be written._", "The tower is 41 metres tall [1]."),
        )
        assert (done["accepted"], done["status"]) == (True, "done")


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
