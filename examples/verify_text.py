"""Hold a text against a folder of sources, without a model: `python examples/verify_text.py`.

Nobody judges here, so each claim comes with the passages that are nearest to it, for a reader who
does. With a model, such as `Chain(model="openai:gpt-5", ...)`, the verdicts are `supported`,
`contradicted` and so on, each with words that stand in the source.
"""

import asyncio
from pathlib import Path

from sifaka import Chain
from sifaka.evidence.sources.catalogue import open_adapters

HERE = Path(__file__).resolve().parent
TEXT = (HERE / "leaflet.md").read_text(encoding="utf-8")


async def main() -> None:
    async with open_adapters([f"town=folder:{HERE / 'sources'}"]) as adapters:
        report = await Chain(model="caller", adapters=adapters).verify(TEXT)
    for verdict in report.verdicts:
        print(f"{verdict.verdict}: {verdict.claim.text}")
        for found in verdict.evidence[:1]:
            print(f"  {found.title}: {' '.join(found.quote.split())}")
    print(f"{len(report.verdicts)} claims, {report.usage.model_calls} model calls")


if __name__ == "__main__":
    asyncio.run(main())
