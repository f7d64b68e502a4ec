"""PubMed, Europe PMC and ClinicalTrials.gov, in the shapes that their documentation gives.

Recorded shapes, not real servers: https://www.ncbi.nlm.nih.gov/books/NBK25499/,
https://europepmc.org/RestfulWebService, https://clinicaltrials.gov/data-api/api
"""

from datetime import UTC, datetime

import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument
from sifaka.evidence.sources.catalogue import open_adapters
from tests.stubs.search_server import Answered, Asked, SearchServer, always, of_json

pytestmark = pytest.mark.anyio
ARTICLES = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "x.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="1">11111111</PMID><Article PubModel="Print-Electronic"><Journal>
<JournalIssue><PubDate><Year>2021</Year><Month>Mar</Month></PubDate></JournalIssue>
<Title>Annals</Title></Journal><ArticleTitle>Aspirin in <i>older</i> adults.</ArticleTitle>
<Abstract><AbstractText Label="BACKGROUND">Aspirin is common.</AbstractText>
<AbstractText Label="RESULTS">It reduced events by 12&#xa0;%, p &lt; 0.05.</AbstractText></Abstract>
<AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Lind</LastName><ForeName>Ann B</ForeName>
<Initials>AB</Initials></Author><Author><CollectiveName>The Elder Group</CollectiveName></Author>
</AuthorList>
<ArticleDate DateType="Electronic"><Year>2020</Year><Month>11</Month><Day>5</Day></ArticleDate>
</Article></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pubmed">11111111</ArticleId>
<ArticleId IdType="doi">10.1000/aspirin.1</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">22222222</PMID><Article><Journal><JournalIssue>
<PubDate><Year>2019</Year><Month>Jul</Month><Day>9</Day></PubDate></JournalIssue></Journal>
<ArticleTitle>Aspirin again.</ArticleTitle><Abstract><AbstractText>It did nothing.</AbstractText>
</Abstract></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">33333333</PMID><Article>
<ArticleTitle>A letter.</ArticleTitle></Article></MedlineCitation></PubmedArticle>
</PubmedArticleSet>"""


async def found(
    server: SearchServer, kind: str, path: str, filters: SearchFilters = ANYTHING
) -> list[SourceDocument]:
    async with open_adapters([f"bio={kind}+http://{server.host}{path}"]) as adapters:
        (adapter,) = adapters.chosen()
        query = "Does aspirin help older adults?"
        return list(await adapter.search(query, limit=5, filters=filters))


def pubmed(asked: Asked) -> Answered:
    assert asked.method == "GET"
    if asked.path == "/eutils/esearch.fcgi":
        assert asked.params["db"] == "pubmed"
        assert asked.params["term"] == "aspirin OR help OR older OR adults"
        assert (asked.params["retmode"], asked.params["retmax"]) == ("json", "5")
        ids = ["11111111", "22222222", "33333333"]
        told = {"count": "3", "retmax": "3", "retstart": "0", "idlist": ids}
        return of_json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": told})
    assert asked.path == "/eutils/efetch.fcgi"
    assert asked.params["id"] == "11111111,22222222,33333333"
    assert asked.params["retmode"] == "xml"
    return Answered(body=ARTICLES.encode(), media_type="text/xml")


async def test_pubmed_gives_abstracts_with_their_parts_numbers_and_dates() -> None:
    server = SearchServer(pubmed)
    first, second = await found(server, "pubmed", "/eutils")
    server.stop()
    assert (
        first.text
        == "Background: Aspirin is common.\nResults: It reduced events by 12 %, p < 0.05."
    )
    assert (first.title, first.id) == ("Aspirin in older adults.", "11111111")
    assert (first.author, second.author) == ("Lind AB, The Elder Group", "")
    assert (first.url, first.doi) == (
        "https://pubmed.ncbi.nlm.nih.gov/11111111/", "10.1000/aspirin.1",
    )  # fmt: skip
    assert first.published == datetime(2020, 11, 5, tzinfo=UTC)
    assert second.published == datetime(2019, 7, 9, tzinfo=UTC)


async def test_europe_pmc_gives_abstracts_without_markup() -> None:
    def answer(asked: Asked) -> Answered:
        assert asked.path == "/rest/search"
        assert asked.params["resultType"] == "core"
        assert asked.params["query"] == (
            "(aspirin OR help OR older OR adults) AND (FIRST_PDATE:[2020-01-01 TO 3000-01-01])"
        )
        result = {
            "id": "11111111",
            "source": "MED",
            "pmid": "11111111",
            "doi": "10.1000/aspirin.1",
            "title": "Aspirin in <i>older</i> adults.",
            "authorString": "Lind AB, Berg C.",
            "abstractText": "<h4>Background</h4>Aspirin is common.<h4>Results</h4>Less by 12%.",
            "firstPublicationDate": "2020-11-05",
        }
        listed = [result, {"id": "2", "source": "PPR", "title": "Without an abstract"}]
        return of_json({"version": "6.9", "hitCount": 2, "resultList": {"result": listed}})

    server = SearchServer(answer)
    since = SearchFilters(since=datetime(2020, 1, 1, tzinfo=UTC))
    (only,) = await found(server, "europepmc", "/rest", since)
    server.stop()
    assert only.text == "Background\nAspirin is common.\nResults\nLess by 12%."
    assert (only.title, only.id) == ("Aspirin in older adults.", "MED:11111111")
    assert only.author == "Lind AB, Berg C"
    assert only.url == "https://europepmc.org/article/MED/11111111"
    assert only.published == datetime(2020, 11, 5, tzinfo=UTC)


async def test_clinical_trials_give_summaries_conditions_and_outcomes() -> None:
    def answer(asked: Asked) -> Answered:
        assert asked.path == "/api/v2/studies"
        assert asked.params["query.term"] == "aspirin OR help OR older OR adults"
        assert asked.params["filter.advanced"] == "AREA[LastUpdatePostDate]RANGE[MIN,2024-01-01]"
        study = {
            "protocolSection": {
                "identificationModule": {"nctId": "NCT01038583", "briefTitle": "Aspirin in elders"},
                "statusModule": {
                    "overallStatus": "COMPLETED",
                    "lastUpdatePostDateStruct": {"date": "2023-02-10", "type": "ACTUAL"},
                },
                "descriptionModule": {"briefSummary": "Whether aspirin prolongs healthy life."},
                "conditionsModule": {"conditions": ["Dementia", "Stroke"]},
                "outcomesModule": {"primaryOutcomes": [{"measure": "Death", "timeFrame": "5 y"}]},
            },
            "hasResults": False,
        }
        return of_json({"studies": [study], "nextPageToken": "x"})

    server = SearchServer(answer)
    until = SearchFilters(until=datetime(2024, 1, 1, tzinfo=UTC))
    (study,) = await found(server, "clinicaltrials", "/api/v2", until)
    server.stop()
    assert study.text == (
        "Whether aspirin prolongs healthy life.\n\nConditions: Dementia, Stroke\n\n"
        "Status: COMPLETED\n\nOutcome: Death"
    )
    assert (study.title, study.id) == ("Aspirin in elders", "NCT01038583")
    assert study.url == "https://clinicaltrials.gov/study/NCT01038583"
    assert study.published == datetime(2023, 2, 10, tzinfo=UTC)


@pytest.mark.parametrize("kind", ["pubmed", "europepmc", "clinicaltrials"])
async def test_nonsense_is_one_clear_line(kind: str) -> None:
    server = SearchServer(always(of_json({"other": 1})))
    with pytest.raises(SourceError) as caught:
        await found(server, kind, "/x")
    server.stop()
    assert caught.value.code == "malformed"


def test_their_addresses_need_not_be_told() -> None:
    names = ("pubmed", "europepmc", "clinicaltrials")
    places = [each.place for each in open_adapters([f"{name}:" for name in names]).chosen()]
    assert places == [
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/pubmed",
        "https://www.ebi.ac.uk/europepmc/webservices/rest/search",
        "https://clinicaltrials.gov/api/v2/studies",
    ]
