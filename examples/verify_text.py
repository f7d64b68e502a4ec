"""Check a text against a folder of sources, without a model: `python examples/verify_text.py`.

Where a source says the same in the same words, or with another figure, no model is needed: the
leaflet says 1931, the source 1913. Each other claim comes with the nearest passages, for a reader
to judge. A model, such as `verify(TEXT, model="openai:gpt-5", ...)`, judges them all, with words
that stand in the source.
"""

import asyncio
from pathlib import Path

from sifaka import open_adapters, verify

HERE = Path(__file__).resolve().parent
TEXT = (HERE / "leaflet.md").read_text(encoding="utf-8")


async def main() -> None:
    async with open_adapters([f"town=folder:{HERE / 'sources'}"]) as adapters:
        report = await verify(TEXT, adapters=adapters)
    for verdict in report.verdicts:
        print(f"{verdict.verdict}: {verdict.claim.text}")
        for found in verdict.evidence[:1]:
            print(f"  {found.title}: {' '.join(found.quote.split())}")
    print(f"{len(report.verdicts)} claims, {report.usage.model_calls} model calls")


if __name__ == "__main__":
    asyncio.run(main())
