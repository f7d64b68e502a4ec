"""docs/evidence.md against the adapters and the pipeline of the code."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest

from sifaka.evidence.documents import MOST_CHARS
from sifaka.evidence.model import Classification, Flag, Judgement, SearchStatus
from sifaka.evidence.search import MOST_RESULTS, search
from sifaka.evidence.sources.catalogue import FIELD_OPTIONS, SCHEMES, open_adapters
from sifaka.evidence.sources.folder import LARGEST, MOST_BYTES, MOST_FILES, SUFFIXES
from sifaka.evidence.sources.folder import MOST_CHARS as PART
from sifaka.evidence.sources.http import HttpClient, Retrying
from sifaka.evidence.sources.mediawiki import LARGEST as PAGES
from sifaka.evidence.sources.mediawiki import MOST_WORDS, MediaWikiAdapter
from sifaka.evidence.sources.records import MOST_CHARS as QUERY
from sifaka.storage import MemoryStorage
from tests.docs.markdown import ROOT, code, prose, section, table

DOCUMENT = "docs/evidence.md"
FORMS = [code(row[0])[0] for row in table(section(DOCUMENT, "Adapters"))]


def test_every_kind_of_adapter_is_told_by_its_form() -> None:
    assert [scheme.form.partition("?")[0] for scheme in SCHEMES.values()] == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_every_form_that_is_told_can_be_opened(form: str) -> None:
    opened = open_adapters([f"named={form}", form], store=MemoryStorage())
    assert opened.names == ("named", re.split(r"[+:]", form)[0])


def _tested_with() -> dict[str, tuple[str, str]]:
    """The real server and the stand-in of each adapter, as the table tells them."""
    told = section(DOCUMENT, "Adapters")
    told = told[told.index("**What was tested") : told.index("**When a source")]
    return {kind: (real, fake) for named, real, fake in table(told) for kind in code(named)}


def test_the_table_of_what_was_tested_has_every_adapter() -> None:
    assert sorted(_tested_with()) == sorted(SCHEMES)


_STAND_INS = {
    "mediawiki": "test_mediawiki.py",
    "wikipedia": "test_mediawiki.py",
    "elasticsearch": "kinds/elasticsearch.py",
    "opensearch": "kinds/elasticsearch.py",
    "solr": "kinds/solr.py",
    "meilisearch": "kinds/meilisearch.py",
    "atomwalker": "kinds/atomwalker.py",
    "europepmc": "test_europe_pmc.py",
}


def test_each_stand_in_that_is_told_says_where_its_shapes_are_recorded_from() -> None:
    assert {kind for kind, (_, fake) in _tested_with().items() if fake} == set(_STAND_INS)
    for kind, file in _STAND_INS.items():
        text = (ROOT / "tests/sifaka/evidence/sources" / file).read_text(encoding="utf-8")
        assert "recorded" in text.lower().partition('"""\n')[0], file
        assert kind in text.lower(), file


def test_the_real_servers_that_are_told_are_those_that_the_targets_start() -> None:
    tested = _tested_with()
    real = {kind for kind, (told, _) in tested.items() if "`make test-" in told}
    assert real == {"mediawiki", "elasticsearch", "opensearch"}
    locks = (ROOT / "distribution/locks").glob("*.txt")
    make = "\n".join(lock.read_text(encoding="utf-8") for lock in locks)
    servers = (ROOT / "tests/sifaka/evidence/sources/test_opensearch_server.py").read_text("utf-8")
    programs = (ROOT / "tests/stubs/search_programs.py").read_text("utf-8")
    for kind in ("elasticsearch", "opensearch"):
        for name, version in re.findall(r"`([a-z-]+)` ([\d.]+\d)", tested[kind][0]):
            assert f"{name}=={version}" in make
            assert f'"{name}"' in programs
        assert f'"{kind}"' in servers


def test_the_variables_of_real_servers_are_those_that_tests_read() -> None:
    contributing = section("CONTRIBUTING.md", "Servers for tests")
    live = (ROOT / "tests/sifaka/evidence/sources/test_live_servers.py").read_text("utf-8")
    variables = {f"{scheme.upper()}_ADAPTER_URL" for scheme in SCHEMES} & set(code(contributing))
    assert len(variables) == 5
    assert all(variable in live for variable in variables)


def test_the_limits_of_adapters_are_those_of_the_code() -> None:
    told = section(DOCUMENT, "Adapters")
    client, wiki = (inspect.signature(each).parameters for each in (HttpClient, MediaWikiAdapter))
    assert all(f"`{suffix}`" in told for suffix in SUFFIXES)
    assert f"{MOST_FILES:,} files of at most {LARGEST // 1_000_000} MB" in told
    assert f"{MOST_BYTES // 1_000_000} MB in all" in told
    assert f"longer than {PART:,}" in told
    assert f"{client['seconds'].default:g} seconds for a search" in told
    assert client["seconds"].default == wiki["seconds"].default
    assert f"{client['largest'].default // 1_000_000} MB, of a MediaWiki" in told
    assert f"of a MediaWiki {PAGES // 1_000_000} MB" in told
    assert Retrying().attempts == 3
    assert "up to three times" in told
    asked = re.search(r"`\?(text=[^`]+)`", told)
    assert asked is not None
    assert tuple(each.partition("=")[0] for each in asked[1].split("&")) == FIELD_OPTIONS


def test_what_leaves_the_machine_is_bounded_as_told() -> None:
    told = section("docs/privacy.md", "What is sent to sources of evidence")
    assert f"at most {QUERY} characters" in told
    assert f"at most {MOST_WORDS} words" in told
    assert f"up to {MOST_CHARS:,}" in told.replace("\n", " ")


def test_every_judgement_class_flag_and_status_of_the_pipeline_is_told() -> None:
    told = set(code(prose(section(DOCUMENT, "The pipeline"))))
    for words in (Judgement, Classification, Flag, SearchStatus):
        assert set(get_args(words)) <= told
    rows = {row[0]: row for row in table(section(DOCUMENT, "The pipeline"))}
    assert list(rows) == ["plan", "search", "verify", "classify"]
    assert set(code(rows["verify"][1])) == set(get_args(Judgement))
    assert set(code("".join(rows["classify"][1:]))) == set(get_args(Classification))


def test_the_limits_of_the_pipeline_are_those_of_the_code() -> None:
    told = section(DOCUMENT, "The pipeline").replace("\n", " ")
    most = inspect.signature(search).parameters["max_results"].default
    assert f"`max_results` ({most}, at most {MOST_RESULTS})" in told
    assert f"at most {MOST_CHARS:,} characters" in told


def test_the_sources_of_the_example_are_told_and_there() -> None:
    assert "three files" in section(DOCUMENT, "Without a key")
    assert len(list(Path(ROOT / "examples/sources").glob("*.md"))) == 3
