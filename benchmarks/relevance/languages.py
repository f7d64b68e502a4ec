"""`python -m benchmarks.relevance.languages`: search in nine languages, as each store does it."""

import argparse
import os
import tempfile
import tomllib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from benchmarks.report import Figure, Report, machine
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Document, Thought
from sifaka.retrievers import InMemoryRetriever
from sifaka.storage.opening import open_store
from tests.stubs.redis_server import redis_server

_FILE = Path(__file__).with_name("languages.toml")
CUTS = (1, 3)
Find = Callable[[str], Awaitable[Sequence[str]]]
"""The ids of the texts found for a query, best first."""


@dataclass(frozen=True, slots=True)
class Language:
    """The texts and queries of a language."""

    code: str
    texts: dict[str, str]
    """By id, such as `zh/3`."""
    queries: tuple[tuple[str, str], ...]
    """Each with the id of the text that answers it."""


def languages() -> tuple[Language, ...]:
    """All of them."""
    listed: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["languages"]
    return tuple(
        Language(
            code=each["code"],
            texts={f"{each['code']}/{n}": text for n, text in enumerate(each["texts"], 1)},
            queries=tuple((q["ask"], f"{each['code']}/{q['answer']}") for q in each["queries"]),
        )
        for each in listed
    )


async def measure(find: Find) -> dict[str, tuple[float, ...]]:
    """By language, the share of queries whose text is the first hit, and among the first three."""
    found: dict[str, tuple[float, ...]] = {}
    for language in languages():
        ranked = [((await find(ask)), answer) for ask, answer in language.queries]
        found[language.code] = tuple(
            sum(answer in ids[:cut] for ids, answer in ranked) / len(ranked) for cut in CUTS
        )
    return found


def in_memory() -> Find:
    """Search by `InMemoryRetriever`."""
    texts = {text: id_ for each in languages() for id_, text in each.texts.items()}
    retriever = InMemoryRetriever([Document(text=text) for text in texts])

    async def find(query: str) -> Sequence[str]:
        return [texts[document.text] for document in await retriever.retrieve(query, max(CUTS))]

    return find


@asynccontextmanager
async def in_store(url: str, folder: Path) -> AsyncGenerator[Find]:
    """Search of a store with one version a run."""
    store = open_store(url, home=folder)
    ids: dict[str, str] = {}
    for language in languages():
        for id_, text in language.texts.items():
            started = Started()
            drafted = Drafted(thought=Thought(run_id=started.run_id, text=text))
            run = Run.replay([started, drafted])
            await store.append(run, (started, drafted), expected_version=0)
            ids[run.run_id] = id_

    async def find(query: str) -> Sequence[str]:
        return [ids[hit.run_id] for hit in (await store.search(query, limit=max(CUTS))).hits]

    try:
        yield find
    finally:
        await store.aclose()


async def measure_in(url: str, folder: Path) -> dict[str, tuple[float, ...]]:
    """`measure` of the store that a URL names."""
    async with in_store(url, folder) as find:
        return await measure(find)


async def _all(names: Sequence[str]) -> dict[str, dict[str, tuple[float, ...]]]:
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    with tempfile.TemporaryDirectory() as folder, redis_server() as server:
        urls = {
            "sqlite": f"sqlite:///{folder}/runs.db",
            "redis": server.url,
            "milvus": f"milvus:///{folder}/milvus.db",
            "elasticsearch": os.environ.get("ELASTICSEARCH_URL", "elasticsearch+http://localhost"),
        }
        for name in names:
            if name == "memory":
                found[name] = await measure(in_memory())
            else:
                found[name] = await measure_in(urls[name], Path(folder) / name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.relevance.languages", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", default=["sqlite", "memory", "redis", "milvus"])
    found = anyio.run(_all, parser.parse_args().names)
    print("; ".join(f"{name} {value}" for name, value in machine().items()))
    report = Report(
        title="languages: texts found with other forms of their words",
        method="12 short texts in each of nine languages, all in one store, and 10 queries a "
        "language. recall@1 and recall@3 are the shares of queries whose text is the first hit, "
        "or one of the first three.",
        figures=tuple(
            Figure(what=f"{name} {code}", value=value, unit=f"recall@{cut}")
            for name, by_language in found.items()
            for code, values in by_language.items()
            for cut, value in zip(CUTS, values, strict=True)
        ),
    )
    print(f"\n{report.as_text()}\n")
    codes = [each.code for each in languages()]
    print("| |", " | ".join(codes), "| mean |")
    for name, by_language in found.items():
        for number, cut in enumerate(CUTS):
            values = [by_language[code][number] for code in codes]
            mean = sum(values) / len(values)
            print(f"| {name} @{cut} |", " | ".join(f"{v:.1f}" for v in values), f"| {mean:.2f} |")


if __name__ == "__main__":
    main()
