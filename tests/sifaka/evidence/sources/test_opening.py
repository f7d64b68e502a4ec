"""Adapters by their specs, their keys, and the records of search servers as documents."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError, SourceError
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.sources.catalogue import FORMS, SCHEMES, open_adapters
from sifaka.evidence.sources.collection import authorization, named_keys, secrets_of
from sifaka.evidence.sources.in_process import ThoughtsAdapter, on_store
from sifaka.evidence.sources.records import SOLR, Fields, RecordAdapter, document_of, when
from sifaka.storage import MemoryStorage
from tests.stubs.search_server import SearchServer, always, of_json

WRONG = [
    ("google:everything", "unknown kind 'google'", "allowed: wikipedia:en | mediawiki+https"),
    ("nothing", "'nothing' names no source", "allowed: wikipedia:en"),
    ("", "'' names no source", "allowed: wikipedia:en"),
    ("Wiki=wikipedia:en", "'Wiki' is no name", "lower-case letters"),
    ("a b=wikipedia:en", "'a b' is no name", "lower-case letters"),
    ("wikipedia:", "the code of a language", "such as wikipedia:en"),
    ("wikipedia:en.evil.example/", "the code of a language", "such as wikipedia:en"),
    ("wikipedia+https://en.wikipedia.org", "the code of a language", "such as wikipedia:en"),
    ("mediawiki:en", "needs the URL of a server", "such as mediawiki+https://host/w/api.php"),
    ("mediawiki+https:///w/api.php", "has a wrong URL", "such as mediawiki+https"),
    ("mediawiki+https://h/w/api.php?action=x", "unknown option 'action'", "allowed: contact"),
    ("elasticsearch:/idx", "needs the URL of a server", "such as elasticsearch+https"),
    ("elasticsearch+https://host:9200", "names no index", "such as elasticsearch+https"),
    ("elasticsearch+https://host:9200/", "names no index", "such as elasticsearch+https"),
    ("elasticsearch+https://host:port/isles", "wrong host or port", "such as elasticsearch"),
    ("elasticsearch+https://host/isles#x", "has a wrong URL", "such as elasticsearch"),
    ("elasticsearch+https://host/is les", "has a wrong URL", "such as elasticsearch"),
    ("elasticsearch+https://host/..", "has a wrong index", "such as elasticsearch"),
    ("elasticsearch+https://host/i?size=9", "unknown option 'size'", "allowed: text, title"),
    ("elasticsearch+https://host/i?text=", "a wrong 'text'", "give a name or a word"),
    ("elasticsearch+https://host/i?date=a%20OR%20b", "a wrong 'date'", "give a name or a word"),
    ("wikipedia:en?contact=two words", "a wrong 'contact'", "a mail address"),
    ("solr+http://host:8983", "names no index", "such as solr+http://host:8983/solr/core"),
    ("meilisearch+http://host:7700", "names no index", "such as meilisearch"),
    ("atomwalker+https://host?strategy=wild", "wrong 'strategy'", "fast or comprehensive"),
    ("folder:", "the path of a folder", "such as folder:/path/to/notes"),
    ("folder:~nobody-here/x", "a user who is not known", "such as folder:/path/to/notes"),
    ("folder+https://host/x", "the path of a folder", "such as folder:/path/to/notes"),
    ("thoughts:sqlite", "takes nothing after `thoughts:`", "the store of the runs"),
    ("thoughts:", "needs a store of runs", "open_adapters"),
]


@pytest.mark.parametrize(("spec", "wrong", "allowed"), WRONG)
def test_a_wrong_spec_is_one_line_that_says_what_is_allowed(
    spec: str, wrong: str, allowed: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_adapters([spec])
    said = str(caught.value)
    assert wrong in caught.value.message
    assert allowed in (caught.value.suggestion or "")
    assert "\n" not in said


def test_every_kind_can_be_opened_and_nothing_is_touched(tmp_path: Path) -> None:
    specs = [f"a{number}={form.form}" for number, form in enumerate(SCHEMES.values())]
    adapters = open_adapters(specs, store=MemoryStorage())
    assert adapters.names == tuple(f"a{number}" for number in range(len(SCHEMES)))
    places = {each.name: each.place for each in adapters.chosen()}
    assert places["a0"] == "https://en.wikipedia.org/w/api.php"
    assert places["a2"] == "https://host:9200/index"
    assert places["a4"] == "http://host:8983/solr/core"
    assert places["a8"] == "folder:/path/to/notes"
    assert not list(tmp_path.iterdir())
    assert "folder:/path/to/notes" in FORMS


def test_a_relative_folder_is_below_where_the_program_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    found = open_adapters(["a=folder:notes", "b=folder:~/notes"])
    monkeypatch.chdir("/")
    assert [each.place for each in found.chosen()] == [
        f"folder:{tmp_path}/notes",
        f"folder:{tmp_path}/home/notes",
    ]


def test_adapters_are_named_by_their_kind_each_once() -> None:
    found = open_adapters(["wikipedia:sv", "folder:/x", "thoughts:"], store=MemoryStorage())
    assert found.names == ("wikipedia", "folder", "thoughts")
    with pytest.raises(ConfigurationError, match="two adapters are named 'folder'"):
        open_adapters(["folder:/x", "folder:/y"])
    (adapter,) = open_adapters(["es=elasticsearch+https://host/es/papers-*"]).chosen()
    assert adapter.place == "https://host/es/papers-*"


SECRET = [
    "es=elasticsearch+https://jo:s3cret@host/isles",
    "es=elasticsearch+https://s3cret@host/isles",
    "es=elasticsearch+https://host/isles?api_key=s3cret",
    "es=mediawiki+https://jo:s3cret@host/api.php",
    "es=solr+https://jo:s3cret@host:port/core",
    "es=elasticsearch+https://jo:s3cret@[host/isles",
]


@pytest.mark.parametrize("spec", SECRET)
def test_credentials_in_a_url_are_refused_and_not_repeated(spec: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_adapters([spec])
    assert "s3cret" not in str(caught.value)
    told: BaseException | None = caught.value
    while told := told.__cause__ or told.__context__:
        assert "s3cret" not in str(told)
    if "api_key" in spec or spec.startswith("es=mediawiki"):
        assert "SIFAKA_ADAPTER_KEYS" in str(caught.value)


def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_adapters(["es=elasticsearch+https://host/isles"], keys={"es": "s3cret\ninjected"})
    assert "the adapter 'es'" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_keys_for_kinds_without_them_are_refused_and_those_of_others_left_alone() -> None:
    with pytest.raises(ConfigurationError, match="takes no key"):
        open_adapters(["folder:/x"], keys={"folder": "abc"})
    assert open_adapters(["folder:/x"], keys={"other": "abc"}).names == ("folder",)


@pytest.mark.anyio
async def test_a_wiki_is_told_who_asks_and_with_which_key() -> None:
    server = SearchServer(always(of_json({"query": {"general": {}, "extensions": []}})))
    spec = f"mediawiki+http://{server.host}/w/api.php?contact=jo%40isles.example"
    async with open_adapters([spec], keys={"mediawiki": "abc"}) as adapters:
        await adapters.chosen()[0].health()
    server.stop()
    assert "(jo@isles.example)" in server.asked[0].headers["user-agent"]
    assert server.asked[0].headers["authorization"] == "Bearer abc"


def test_past_texts_are_those_of_the_store_that_is_given() -> None:
    mine, yours = MemoryStorage(), MemoryStorage(tenant="yours")
    adapters = open_adapters(["folder:/x", "past=thoughts:"], store=mine)
    other = on_store(adapters, yours)
    assert other.names == ("folder", "past")
    folder, past = other.chosen()
    assert folder is adapters.chosen()[0], "what is shared stays open with its owner"
    assert isinstance(past, ThoughtsAdapter)
    assert past.store is yours


@pytest.mark.parametrize(
    ("secret", "header"),
    [
        ("jo:s3cret", "Basic am86czNjcmV0"),
        ("jo:s3 cret", "Basic am86czMgY3JldA=="),
        ("jö:hemlig", "Basic asO2OmhlbWxpZw=="),
        ("ApiKey abc==", "ApiKey abc=="),
        ("Bearer a:b", "Bearer a:b"),
        ("basic am86czM=", "basic am86czM="),
        ("  abc  ", "Bearer abc"),
    ],
)
def test_a_key_becomes_the_header_that_it_means(secret: str, header: str) -> None:
    assert authorization(secret) == header


def test_a_bare_token_has_the_scheme_of_its_source() -> None:
    assert authorization("abc==", bare="ApiKey") == "ApiKey abc=="


@pytest.mark.parametrize("secret", ["", "one-key two-words", "tok\nen", "jo:pass\r\nx: y", "ä"])
def test_what_cannot_be_sent_is_refused_without_being_repeated(secret: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        authorization(secret)
    assert secret.strip() == "" or secret.strip() not in str(caught.value)


def test_a_scheme_alone_is_no_key() -> None:
    with pytest.raises(ConfigurationError):
        authorization("Bearer ")


def test_a_key_is_a_list_of_names_and_every_secret_part_is_known() -> None:
    told = "es=ApiKey abc==, wiki=jo:a%2Cb ,meili=k=v"
    assert dict(named_keys(told)) == {"es": "ApiKey abc==", "wiki": "jo:a,b", "meili": "k=v"}
    assert named_keys("abc") == (("", "abc"),)
    found = secrets_of("es=ApiKey abc==,wiki=jo:pass word")
    assert {"ApiKey abc==", "abc==", "jo:pass word", "pass word"} <= set(found)


def read(fields: Fields | None = None, **record: object) -> SourceDocument:
    found = document_of(record, fields or Fields(), adapter="tested")
    assert found is not None
    return found


def test_several_fields_make_one_text_and_a_dot_leads_into_an_object() -> None:
    fields = Fields(text=("abstract", "page.body"), title="page.heading")
    found = read(fields, abstract="In short.", page={"body": ["One.", "Two."], "heading": "Isles"})
    assert found.text == "In short.\n\nOne.\n\nTwo."
    assert found.title == "Isles"
    assert read(Fields(text=("page.body",)), **{"page.body": "One."}).text == "One."


@pytest.mark.parametrize("text", [None, "", "  ", [], {}, {"a": "b"}, True])
def test_a_record_without_text_is_no_document(text: object) -> None:
    assert document_of({"text": text}, Fields(), adapter="tested") is None


def test_only_places_on_the_web_are_links() -> None:
    for url in ("javascript:alert(1)", "file:///etc/passwd", "//host/x", "http://[bad", ""):
        assert read(text="x", url=url).url == ""
    assert read(text="x", url="file:///x", doi="10.1000/1").url == "https://doi.org/10.1000/1"


def test_a_score_is_a_number_or_unknown() -> None:
    for score in (None, "9", True, float("nan"), float("inf")):
        found = document_of({"text": "x", "score": score}, Fields(), adapter="a")
        assert found is not None
        assert found.score is None


@pytest.mark.parametrize(
    ("told", "moment"),
    [
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        (["2024-05-01"], datetime(2024, 5, 1, tzinfo=UTC)),
        (2024, datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        (1714521600, datetime(2024, 5, 1, tzinfo=UTC)),
        (1714521600000, datetime(2024, 5, 1, tzinfo=UTC)),
        (1e300, None),
        (float("nan"), None),
        (True, None),
        ("soon", None),
        ([], None),
        ({}, None),
        (None, None),
    ],
)
def test_a_moment_is_read_as_servers_write_it(told: object, moment: datetime | None) -> None:
    assert when(told) == moment


def test_what_has_no_list_at_a_path_has_no_records() -> None:
    server = RecordAdapter(SOLR, "http://x.example", index="i", name="tested", fields=Fields())
    assert server.listed({"a": {"b": [{"c": 1}, 2, None]}}, "a", "b") == [{"c": 1}]
    others: list[object] = [None, [], "x", {}, {"a": []}, {"a": {"b": {}}}]
    for answer in others:
        with pytest.raises(SourceError, match=r"has no a\.b") as caught:
            server.listed(answer, "a", "b")
        assert caught.value.error_code == "malformed"
