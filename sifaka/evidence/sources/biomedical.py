"""Biomedical literature and trials: Europe PMC and ClinicalTrials.gov.

https://europepmc.org/RestfulWebService and https://clinicaltrials.gov/data-api/api
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sifaka.evidence.documents import SearchFilters
from sifaka.evidence.sources.html import plain_text
from sifaka.evidence.sources.records import (
    Fields,
    Record,
    RecordAdapter,
    Server,
    records_at,
)
from sifaka.evidence.sources.wiki_api import listed, mapping, words_of
from sifaka.isolation import run_limited

FIELDS = Fields(text=("text",), date="date")
"""Of the records that are made of what these services answer."""
_SECONDS = 10.0
"""Processor time for reading one answer of Europe PMC."""


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
