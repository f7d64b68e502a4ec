"""`docs/http.md` against a server that listens: its addresses, refusals, limits and numbers."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest
from mcp import Client

from sifaka.text.input import MAX_TEXT
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.auth.access import ALGORITHMS, LEEWAY, LONGEST_AGE, PAUSE
from sifaka_mcp.auth.tokens_file import SCOPES, parse_grants
from sifaka_mcp.host.sampling import LIFETIME
from sifaka_mcp.http.application import HEALTH, MCP, METRICS, READY
from sifaka_mcp.http.runs import RUNS
from sifaka_mcp.http.serve import GRACE_SECONDS, KEEP_ALIVE_SECONDS, PatientProtocol
from sifaka_mcp.settings import MOST_RUNS, READING, TOOLSETS, Settings
from tests.docs.markdown import blocks, code, prose, read, section, table
from tests.stubs.served import asking, bearer, grant_token, served

pytestmark = pytest.mark.anyio

DOCUMENT = "docs/http.md"


def words(heading: str) -> str:
    """What stands under a heading, without its line breaks."""
    return " ".join(section(DOCUMENT, heading).split())


def status_told(what: str) -> int:
    """The status that is told of a name that is not answered."""
    found = re.search(rf"{what}[^.;]*?\b(4\d\d)\b", words("Names"))
    assert found, what
    return int(found[1])


async def test_every_address_is_told_and_answers_as_told(tmp_path: Path) -> None:
    rows = {code(row[0])[0]: row[1] for row in table(section(DOCUMENT, "Over HTTP"))}
    assert set(rows) == {MCP, RUNS, HEALTH, READY, METRICS}
    with served(tmp_path) as url:
        async with httpx2.AsyncClient() as http:
            for path in (RUNS, HEALTH, READY, METRICS):
                assert (await http.get(url.removesuffix(MCP) + path)).status_code == 200, path


async def test_foreign_names_are_refused_as_told(tmp_path: Path) -> None:
    asked = asking()
    named = [
        ("any other Host header gets", [("host", "evil.example")]),
        ("An `Origin`", [("origin", "https://evil.example")]),
        ("comes twice gets", [("authorization", "Bearer a"), ("authorization", "Bearer b")]),
    ]
    with served(tmp_path) as url:
        async with httpx2.AsyncClient() as http:
            for what, headers in named:
                told = [*asked["headers"].items(), *headers]
                answer = await http.post(url, json=asked["json"], headers=told)
                assert answer.status_code == status_told(what), what


async def test_every_number_of_the_server_is_told_with_its_labels(tmp_path: Path) -> None:
    rows = {code(row[0])[0]: set(code(row[1])) for row in table(section(DOCUMENT, "Metrics"))}
    tokens = tmp_path / "tokens"
    reader = grant_token(tokens, "reader", scopes=("sifaka:read",))
    with served(tmp_path, auth_tokens_file=tokens) as url:
        async with httpx2.AsyncClient(headers=bearer(reader)) as http:
            assert (await http.post(url, **asking())).status_code == 200
            told = (await http.get(url.removesuffix(MCP) + METRICS)).text
    families = set(re.findall(r"^# TYPE (sifaka_\w+) ", told, re.MULTILINE))
    assert set(rows) == {name for name in families if not name.endswith("_created")}
    for name, labels in labels_in(told, families).items():
        assert rows.get(name, labels) == labels, name
    assert "process_resident_memory_bytes" in told
    assert "`process_resident_memory_bytes`" in section(DOCUMENT, "Metrics")


def labels_in(told: str, families: set[str]) -> Mapping[str, set[str]]:
    """The names of the labels of each family that has any numbers."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for sample, labels in re.findall(r"^(sifaka_\w+)(?:\{(.*)\})? \S+$", told, re.MULTILINE):
        family = next(n for n in (sample, re.sub(r"_[a-z]+$", "", sample)) if n in families)
        found[family] |= set(re.findall(r'(\w+)="', labels))
    return found


def test_the_lines_of_a_tokens_file_are_lines_of_one() -> None:
    tokens = section(DOCUMENT, "Tokens").splitlines()
    (shown,) = (
        block for block in blocks(DOCUMENT, "text") if block.content.splitlines()[0] in tokens
    )
    grants = list(parse_grants(shown.content, DOCUMENT).values())
    assert [grant.tenant for grant in grants] == ["alice", "robot"]
    assert "\n".join(grant.line() for grant in grants) == shown.content.strip()
    assert set(SCOPES) <= set(code(prose(section(DOCUMENT, "Tokens"))))


async def test_what_a_token_for_reading_is_good_for_is_told(tmp_path: Path) -> None:
    text = section(DOCUMENT, "Tokens")
    reading = text[text.index("`sifaka:read` alone") : text.index("`sifaka:write` may")]
    assert set(code(reading)) - {"sifaka:read"} == READING
    async with Client(
        SifakaServer(Settings(home=tmp_path, read_only=True, toolsets=tuple(TOOLSETS)))
    ) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
    assert set(code(section("docs/tools.md", "Read-only"))) >= READING


def test_what_is_looked_at_in_a_signed_token_is_told() -> None:
    rows = {row[0]: row[1] for row in table(section(DOCUMENT, "OAuth"))}
    assert set(code(rows["signature"])) == {*ALGORITHMS, "none"}
    assert f"{LEEWAY:g} seconds" in rows["`exp`, `nbf`, `iat`"]
    assert f"at most every {PAUSE:g} seconds" in words("OAuth")
    assert LONGEST_AGE == 3600
    assert "kept for an hour" in words("OAuth")


def test_the_limits_are_those_of_the_code() -> None:
    rows = {row[0]: row[1:] for row in table(section(DOCUMENT, "Limits"))}
    defaults = Settings()
    assert rows["requests at the same time"][0].endswith(f", {defaults.max_requests}")
    assert rows["runs in progress, of a tenant in one process"][0].endswith(f", {MOST_RUNS}")
    assert rows["size of a request"][0].endswith(f", {defaults.max_body_bytes >> 20} MiB")
    assert (
        rows["a request that does not come to its end"][0]
        == f"{PatientProtocol.patience:g} seconds"
    )
    assert rows["a text"][0] == f"{MAX_TEXT:,} characters"
    assert f"Requests have {GRACE_SECONDS} seconds to finish" in words("Stopping")
    assert f"the servers keep one for {KEEP_ALIVE_SECONDS} seconds" in words("Behind a proxy")
    assert f"let {LIFETIME / 60:g} minutes pass" in words("Several servers")


def test_every_setting_of_the_server_over_http_is_explained() -> None:
    text = read(DOCUMENT)
    rows = table(section("docs/settings.md", "Over HTTP"))
    named = {code(row[0])[0] for row in rows} - {"SIFAKA_ALLOW_ANONYMOUS"}
    flags = {"SIFAKA_AUTH_TOKENS_FILE": "--auth-tokens-file"}
    assert all(flags.get(name, name) in text for name in named)
    assert "--allow-anonymous" in text
