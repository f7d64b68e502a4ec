"""Shapes of answers recorded from the documentation of MediaWiki's API; see also `tests/wiki`."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.sources.http import Retrying
from sifaka.evidence.sources.mediawiki import (
    MOST_WORDS,
    MediaWikiAdapter,
    by_words,
    named,
    rarest,
    words_of,
)
from tests.stubs.sources import Reply, Request, Source, json_reply, reply, source

pytestmark = pytest.mark.anyio


def asked(request: Request) -> Mapping[str, str]:
    """The parameters of a request."""
    return {name: values[0] for name, values in parse_qs(urlsplit(request.target).query).items()}


def hits(*titles: str) -> Reply:
    found = [{"ns": 0, "title": title, "pageid": i} for i, title in enumerate(titles, 1)]
    query = {"searchinfo": {"totalhits": len(found)}, "search": found}
    return json_reply({"batchcomplete": True, "query": query})


def page(number: int, title: str, changed: str = "2024-01-02T03:04:05Z") -> dict[str, Any]:
    url = f"https://wiki.example/wiki/{title}"
    return {"pageid": number, "title": title, "fullurl": url, "revisions": [{"timestamp": changed}]}


def described(*pages: dict[str, Any], extracts: bool = True) -> Reply:
    names = ["Cite", "TextExtracts"] if extracts else ["Cite"]
    extensions = [{"type": "other", "name": name} for name in names]
    return json_reply({"query": {"pages": list(pages), "extensions": extensions}})


def extract(text: str) -> Reply:
    return json_reply({"query": {"pages": [{"pageid": 1, "extract": text}]}})


def parsed(html: str) -> Reply:
    return json_reply({"parse": {"title": "x", "pageid": 1, "text": html}})


def error(code: str, info: str = "told so", retry_after: str = "") -> Reply:
    return json_reply({"error": {"code": code, "info": info}}, retry_after=retry_after)


def wiki(*pages: Reply) -> Callable[[Request], Reply]:
    """A wiki without extracts, whose pages A, B and so on are read as these answers."""
    titles = "ABC"[: len(pages)]

    def answer(request: Request) -> Reply:
        params = asked(request)
        if params.get("list") == "search":
            return hits(*titles)
        if params["action"] == "parse":
            return pages[int(params["pageid"]) - 1]
        found = (page(number, title) for number, title in enumerate(titles, 1))
        return described(*found, extracts=False)

    return answer


def adapter_of(served: Source, **options: Any) -> MediaWikiAdapter:
    retrying = Retrying(uniform=lambda least, most: least)
    return MediaWikiAdapter(f"{served.url}/w/api.php", retrying=retrying, **options)


async def searched(
    served: Source, query: str = "tower", *, limit: int = 1, **options: Any
) -> Sequence[SourceDocument]:
    async with aclosing(adapter_of(served, **options)) as adapter:
        return await adapter.search(query, limit=limit)


async def failure(served: Source) -> SourceError:
    with pytest.raises(SourceError) as caught:
        await searched(served)
    assert "\n" not in str(caught.value)
    return caught.value


async def test_a_wiki_with_text_extracts_is_asked_for_plain_text() -> None:
    async with source([hits("Tower"), described(page(1, "Tower")), extract("A\n\n\nB ")]) as served:
        [found] = await searched(served)
    assert (found.text, found.title, found.id, found.adapter) == ("A\nB", "Tower", "1", "wikipedia")
    assert found.url == "https://wiki.example/wiki/Tower"
    assert found.published is not None
    assert found.published.isoformat() == "2024-01-02T03:04:05+00:00"
    assert asked(served.requests[2])["explaintext"] == "1"


async def test_which_text_a_wiki_has_is_found_out_once() -> None:
    async with source(wiki(parsed("<p>Tall.</p>"))) as served:
        adapter = adapter_of(served)
        assert [(await adapter.search("tower", limit=1))[0].text for _ in range(2)] == ["Tall."] * 2
        await adapter.aclose()
    about = [asked(each) for each in served.requests if "pageids" in asked(each)]
    assert ["meta" in params for params in about] == [True, False]


async def test_an_empty_extract_is_replaced_by_the_page() -> None:
    answers = [hits("L"), described(page(1, "L")), extract(""), parsed("<ul><li>a</li></ul>")]
    async with source(answers) as served:
        assert [each.text for each in await searched(served, "list", limit=1)] == ["a"]


async def test_a_wiki_is_told_who_asks_and_how_much_lag_is_borne() -> None:
    async with source([hits("T"), described(page(1, "T")), extract("A")]) as served:
        await searched(served, contact="ops@example.org", authorization="Bearer t")
    for request in served.requests:
        assert request.headers["user-agent"].startswith("sifaka-mcp")
        assert "(ops@example.org)" in request.headers["user-agent"]
        assert request.headers["authorization"] == "Bearer t"
        assert asked(request)["maxlag"] == "5"


async def test_a_wiki_that_lags_is_asked_again_after_what_it_says() -> None:
    lags = error("maxlag", "Waiting for db1: 7.2 seconds lagged.", retry_after="0")
    async with source([lags, hits("T"), described(page(1, "T")), extract("A")]) as served:
        assert len(await searched(served)) == 1


async def test_a_wiki_that_lags_for_long_is_told_as_a_passing_failure() -> None:
    async with source([error("maxlag", retry_after="99")]) as served:
        told = await failure(served)
    assert (told.error_code, told.retry_after, told.retryable) == ("server", 99.0, True)
    assert len(served.requests) == 1


@pytest.mark.parametrize(
    ("code", "expected", "requests"),
    [
        ("readapidenied", "authentication", 1),
        ("ratelimited", "rate_limit", 3),
        ("search-text-disabled", "rejected", 1),
        ("internal_api_error_DBQueryError", "server", 3),
    ],
)
async def test_errors_of_the_api_are_errors(code: str, expected: str, requests: int) -> None:
    async with source([error(code, "some\nreason")]) as served:
        told = await failure(served)
    assert told.error_code == expected
    assert f"answered with the error {code}: some reason" in str(told)
    assert len(served.requests) == requests


@pytest.mark.parametrize(
    "answer",
    [
        json_reply([]),
        json_reply("x"),
        json_reply({}),
        json_reply({"query": []}),
        json_reply({"query": {"search": {}}}),
        reply("<html>", content_type="text/html"),
    ],
)
async def test_what_is_no_answer_of_a_wiki_is_malformed(answer: bytes) -> None:
    async with source([answer]) as served:
        assert (await failure(served)).error_code == "malformed"


@pytest.mark.parametrize("pages", [None, "x", [1, None, {"title": "T"}, {"pageid": "1"}]])
async def test_pages_that_are_none_are_left_out(pages: Any) -> None:
    told = json_reply({"query": {"pages": pages, "extensions": 3, "redirects": [7]}})
    async with source([hits("T"), told]) as served:
        assert await searched(served) == ()


async def test_missing_pages_are_left_out_and_redirects_followed() -> None:
    pages = [{"pageid": 1, "title": "Gone", "missing": True}, page(9, "Tower")]
    redirects = [{"from": "T", "to": "Tower", "pageid": 2}]
    told = json_reply({"query": {"pages": pages, "redirects": redirects, "extensions": []}})
    async with source([hits("Gone", "T"), told, parsed("<p>a</p>")]) as served:
        assert [each.id for each in await searched(served, limit=2)] == ["9"]


async def test_pages_that_cannot_be_read_leave_the_others_and_without_any_it_is_an_error() -> None:
    async with source(wiki(error("nosuchpageid"), parsed("<p>b</p>"))) as served:
        assert [each.title for each in await searched(served, limit=2)] == ["B"]
    async with source(wiki(error("nosuchpageid"))) as served:
        assert (await failure(served)).error_code == "not_found"
    async with source(wiki(parsed("<p>a</p>"), reply(status=503))) as served:
        with pytest.raises(SourceError) as caught:
            await searched(served, limit=2)
    assert caught.value.error_code == "server"


async def test_long_texts_are_cut_at_a_word() -> None:
    long = extract(f"abc def {'g' * 40_000}")
    async with source([hits("T"), described(page(1, "T")), long]) as served:
        assert [each.text for each in await searched(served)] == ["abc def"]


async def test_filters_choose_before_a_text_is_read() -> None:
    old = page(1, "Old", "2001-01-01T00:00:00Z")
    async with source([hits("Old", "New"), described(old, page(2, "New")), extract("A")]) as served:
        adapter = adapter_of(served)
        filters = SearchFilters.model_validate({"since": "2020-01-01T00:00:00Z"})
        found = await adapter.search("tower", limit=1, filters=filters)
        await adapter.aclose()
    assert [each.title for each in found] == ["New"]
    assert asked(served.requests[-1])["pageids"] == "2"


@pytest.mark.parametrize(("query", "limit"), [("", 3), ("?!", 3), ("tower", 0)])
async def test_nothing_to_look_for_makes_no_request(query: str, limit: int) -> None:
    async with source([hits()]) as served:
        adapter = adapter_of(served)
        assert await adapter.search(query, limit=limit) == ()
        await adapter.aclose()
    assert served.requests == []


async def test_health_tells_what_it_is_or_what_is_wrong() -> None:
    told = {"query": {"general": {"generator": "MediaWiki 1.43.0", "sitename": "W"}}}
    async with source([json_reply(told), reply(status=404)]) as served:
        adapter = adapter_of(served)
        good, bad = await adapter.health(), await adapter.health()
        await adapter.aclose()
    assert (good.works, good.found) == (True, "MediaWiki 1.43.0, W")
    assert (bad.works, "status 404" in bad.found) == (False, True)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("The tower is 41 metres tall.", ("tower", "41", "metres", "tall")),
        ('"quoted (words" -not OR intitle:title*', ("quoted", "words", "intitle", "title")),
        ("apples AND pears NEAR plums", ("apples", "pears", "near", "plums")),
        ("Corrin's path, 1,036 metres", ("Corrin", "path", "1", "036", "metres")),
        ("Who is it?", ("Who", "is", "it")),
        ("tower Tower TOWER", ("tower",)),
        ("हिन्दी विकिपीडिया", ("हिन्दी", "विकिपीडिया")),
        ("塔", ("塔",)),
        ("!?* -", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_question_are_found_without_operators(
    question: str, words: tuple[str, ...]
) -> None:
    assert words_of(question) == words


def test_of_a_long_question_the_most_telling_words_are_kept_in_their_order() -> None:
    many = " ".join(f"word{'x' * i}" for i in range(20))
    found = words_of(f"{many} Thorsby 1867 {'y' * 500}")
    assert len(found) == MOST_WORDS
    assert found[-3:-1] == ("Thorsby", "1867")
    assert max(map(len, found)) <= 40


def test_words_that_no_page_has_are_not_the_rarest() -> None:
    assert rarest({"a": 3, "b": 0, "c": 1, "d": 9, "e": 2}) == ("a", "c", "e")


def test_pages_with_the_rarer_words_come_first_and_those_with_little_are_left_out() -> None:
    hits = {"common": 100, "rare": 2, "name": 2}
    pages = {"common": [1, 2, 3], "rare": [2, 4], "name": [2]}
    assert by_words(pages, hits) == [2, 4]
    assert by_words(pages, hits, always={3}) == [2, 4, 3]
    assert by_words({"common": [1, 3]}, {"common": 2}) == [1, 3]
    assert by_words({}, {}) == []


def test_a_question_names_a_title_when_it_has_all_its_words() -> None:
    question = "Where does the SKELL petrel breed?"
    assert (named("Skell petrel", question), named("Skell", question)) == (2, 1)
    assert named("Skell petrel", "Where is Skell?") == 0
    assert named("!!!", "What?") == 0
