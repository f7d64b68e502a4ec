"""Biomedical literature and trials: PubMed, Europe PMC and ClinicalTrials.gov.

https://www.ncbi.nlm.nih.gov/books/NBK25499/ (E-utilities),
https://europepmc.org/RestfulWebService and https://clinicaltrials.gov/data-api/api
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from sifaka.evidence.documents import SearchFilters
from sifaka.evidence.sources.html import plain_text, soup_of
from sifaka.evidence.sources.records import (
    Fields,
    Record,
    RecordAdapter,
    Server,
    records_at,
)
from sifaka.evidence.sources.wiki_api import listed, mapping, words_of
from sifaka.isolation import run_limited
from sifaka.text.notation import MONTHS

if TYPE_CHECKING:
    from bs4.element import Tag

FIELDS = Fields(text=("text",), date="date")
"""Of the records that are made of what these services answer."""
_MOST = 10
"""Authors that are named."""
_SECONDS = 10.0
"""Processor time for reading one answer of PubMed."""


async def _europe_pmc(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search the abstracts of Europe PMC, those of PubMed and of preprints among them."""
    asked = _any_of(query)
    if filters.asks_for_dates:
        since, until = _days(filters, "1500-01-01", "3000-01-01")
        asked = f"({asked}) AND (FIRST_PDATE:[{since} TO {until}])"
    told = {"query": asked, "format": "json", "resultType": "core", "pageSize": str(size)}
    answer = await server.http.get("search", told)
    results = server.listed(records_at(answer, "resultList", "result"), "resultList.result")
    size = sum(len(str(each.get("abstractText"))) for each in results)
    return await run_limited(_articles, results, size=size, seconds=_SECONDS)


async def _clinical_trials(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search the registered studies of ClinicalTrials.gov, by their summaries."""
    told = {"query.term": _any_of(query), "pageSize": str(size), "format": "json"}
    if filters.asks_for_dates:
        since, until = _days(filters, "MIN", "MAX")
        told["filter.advanced"] = f"AREA[LastUpdatePostDate]RANGE[{since},{until}]"
    answer = await server.http.get("studies", told)
    studies = server.listed(records_at(answer, "studies"), "studies")
    return [_study(each) for each in studies]


async def _pubmed(
    server: RecordAdapter, query: str, size: int, filters: SearchFilters
) -> Sequence[Record]:
    """Search PubMed: one request finds the numbers of articles, another gets their abstracts."""
    told = {
        "db": "pubmed",
        "term": _any_of(query),
        "retmode": "json",
        "retmax": str(size),
        "sort": "relevance",
        "tool": "sifaka-mcp",
    }
    if filters.asks_for_dates:
        since, until = _days(filters, "1500-01-01", "3000-01-01")
        dates = {"mindate": since.replace("-", "/"), "maxdate": until.replace("-", "/")}
        told |= {"datetype": "pdat", **dates}
    answer = mapping(mapping(await server.http.get("esearch.fcgi", told)).get("esearchresult"))
    numbers = answer.get("idlist")
    if not isinstance(numbers, list):
        raise server.malformed("PubMed answered without 'idlist'", "check the adapter's URL")
    ids = ",".join(map(str, cast("list[object]", numbers)))
    if not ids:
        return ()
    asked = {"db": "pubmed", "id": ids, "retmode": "xml", "tool": "sifaka-mcp"}
    xml = await server.http.get("efetch.fcgi", asked, as_text=True)
    return await run_limited(articles_in, xml, size=len(xml), seconds=_SECONDS)


def articles_in(xml: str) -> list[dict[str, str]]:
    """The articles of an answer of `efetch`; those without an abstract are left out."""
    found: list[dict[str, str]] = []
    for article in soup_of(xml).find_all("pubmedarticle"):
        parts = [_labelled(each) for each in article.find_all("abstracttext")]
        number, doi = _text(article, "pmid"), article.find("articleid", idtype="doi")
        if text := "\n".join(filter(None, parts)):
            found.append(
                {
                    "text": text,
                    "title": _text(article, "articletitle"),
                    "author": ", ".join(
                        _named(each) for each in article.find_all("author")[:_MOST]
                    ),
                    "id": number,
                    "url": f"https://pubmed.ncbi.nlm.nih.gov/{number}/",
                    "doi": " ".join(doi.get_text().split()) if doi else "",
                    "date": _date(article),
                }
            )
    return found


def _labelled(part: "Tag") -> str:
    label, text = str(part.get("label") or "").capitalize(), " ".join(part.get_text().split())
    return f"{label}: {text}" if label and text else text


def _named(author: "Tag") -> str:
    """An author as PubMed cites them, such as Vaswani A; a group by its name."""
    names = (_text(author, "lastname"), _text(author, "initials"))
    return " ".join(filter(None, names)) or _text(author, "collectivename")


def _text(article: "Tag", name: str) -> str:
    element = article.find(name)
    return " ".join(element.get_text().split()) if element is not None else ""


def _date(article: "Tag") -> str:
    """The day of electronic publication, else of the issue, as far as it is told."""
    dated = article.find("articledate") or article.find("pubdate")
    if dated is None or not (year := _text(dated, "year")):
        return ""
    month, day = _text(dated, "month").lower(), _text(dated, "day")
    month = str(MONTHS.get(month, month if month.isdecimal() else 1)).zfill(2)
    return f"{year}-{month}-{day.zfill(2) if day.isdecimal() else '01'}"


def _articles(results: Sequence[Record]) -> list[Record]:
    """The results of Europe PMC."""
    articles: list[Record] = []
    for result in results:
        source, number = str(result.get("source") or ""), str(result.get("id") or "")
        articles.append(
            {
                "text": plain_text(str(result.get("abstractText") or "")),
                "title": plain_text(str(result.get("title") or "")),
                "author": str(result.get("authorString") or "").rstrip("."),
                "id": f"{source}:{number}",
                "url": f"https://europepmc.org/article/{source}/{number}",
                "doi": result.get("doi"),
                "date": result.get("firstPublicationDate"),
            }
        )
    return articles


def _study(study: Record) -> Record:
    """A study of ClinicalTrials.gov."""
    protocol = mapping(study.get("protocolSection"))
    named, status = _module(protocol, "identification"), _module(protocol, "status")
    described, conditions = _module(protocol, "description"), _module(protocol, "conditions")
    number = str(named.get("nctId") or "")
    lines = (
        described.get("briefSummary"),
        described.get("detailedDescription"),
        f"Conditions: {', '.join(map(str, conditions.get('conditions') or ()))}"
        if conditions.get("conditions")
        else "",
        f"Status: {status.get('overallStatus')}" if status.get("overallStatus") else "",
        *(
            f"Outcome: {each.get('measure')}"
            for each in listed(_module(protocol, "outcomes").get("primaryOutcomes"))
        ),
    )
    updated = mapping(status.get("lastUpdatePostDateStruct"))
    return {
        # What has no summary says too little to be held against anything.
        "text": "\n\n".join(str(line) for line in lines if line) if lines[0] else "",
        "title": named.get("briefTitle"),
        "author": mapping(_module(protocol, "sponsorCollaborators").get("leadSponsor")).get("name"),
        "id": number,
        "url": f"https://clinicaltrials.gov/study/{number}",
        "date": updated.get("date"),
    }


def _module(protocol: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return mapping(protocol.get(f"{name}Module"))


def _any_of(query: str) -> str:
    """The telling words of a query, any of which is enough: these servers want all of them."""
    return " OR ".join(words_of(query)) or query


def _days(filters: SearchFilters, first: str, last: str) -> tuple[str, str]:
    return (
        filters.since.date().isoformat() if filters.since else first,
        filters.until.date().isoformat() if filters.until else last,
    )


SERVICES: Mapping[str, tuple[Server, str, str]] = MappingProxyType(
    {
        "pubmed": (Server(_pubmed), "https://eutils.ncbi.nlm.nih.gov/entrez/eutils", "pubmed"),
        "europepmc": (
            Server(_europe_pmc),
            "https://www.ebi.ac.uk/europepmc/webservices/rest",
            "search",
        ),
        "clinicaltrials": (
            Server(_clinical_trials),
            "https://clinicaltrials.gov/api/v2",
            "studies",
        ),
    }
)
"""The kind of server, the URL and the index of each."""
