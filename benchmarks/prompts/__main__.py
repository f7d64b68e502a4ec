"""`python -m benchmarks.prompts --url URL --model NAME`: does the loop help on this model?"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.prompts.answers import Answers
from benchmarks.prompts.cases import Case, load
from benchmarks.prompts.contenders import CONTENDERS, OLD_SIFAKA, Contender, Place
from benchmarks.prompts.outcomes import Outcome, table_of
from benchmarks.quality.tables import put_into
from tests.real_model.engine import model_in_use


def main() -> None:
    options = _options()
    cases = load()[: options.texts]
    chosen = {name: CONTENDERS[name] for name in options.contenders}
    if "Sifaka 0.2" in chosen and not OLD_SIFAKA.exists():
        sys.exit(f"{OLD_SIFAKA} is missing: make bench-prompts installs it")
    options.file.parent.mkdir(parents=True, exist_ok=True)
    with model_in_use(options.url, options.model) as served:
        answers = Answers(
            served.url,
            served.model,
            options.file,
            longest=options.longest,
            key=os.environ.get("MODEL_KEY", ""),
        )
        found = asyncio.run(measure(chosen, cases, answers, calls=options.calls))
    table = table_of("prompts", f"{served.model}, at most {options.calls} calls a text", found)
    print(table.as_text())
    if options.markdown:
        put_into(options.markdown, [(table.name, table.as_markdown())])


async def measure(
    contenders: Mapping[str, Contender],
    cases: Sequence[Case],
    answers: Answers,
    *,
    calls: int,
    at_once: int = 2,
) -> Mapping[str, Sequence[Outcome]]:
    """The outcomes of each contender on each case, in their order."""
    gate = asyncio.Semaphore(at_once)
    with answers.served({case.id: case for case in cases}) as url:

        async def outcome(name: str, case: Case) -> Outcome:
            at, error = f"{name.replace(' ', '-')}/{case.id}", ""
            async with gate:
                place = Place(url=f"{url}/{at}", case=case, calls=calls)
                try:
                    text = await contenders[name](place)
                except Exception as failure:  # noqa: BLE001 - an error is an outcome too
                    text, error = case.text, type(failure).__name__
                said = {"contender": name, "case": case.id, "error": error, "text": text}
                print(json.dumps(said, ensure_ascii=False), file=sys.stderr, flush=True)
            return Outcome(
                case=case,
                text=text,
                calls=answers.calls[at],
                score=await case.score(text),
                source=await case.score(case.text),
                error=error,
            )

        return {
            name: await asyncio.gather(*(outcome(name, case) for case in cases))
            for name in contenders
        }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prompts", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--url", default="", help="of the provider; SmolLM2 is served without one")
    parser.add_argument("--model", default="", help="the model's name there")
    parser.add_argument("--calls", type=int, default=5, help="for each text at most")
    parser.add_argument("--texts", type=int, default=60, help="so many of them")
    parser.add_argument("--longest", type=int, default=1000, help="tokens of an answer at most")
    parser.add_argument(
        "--contenders", type=lambda names: names.split(","), default=tuple(CONTENDERS)
    )
    parser.add_argument("--file", type=Path, default=Path("build/prompts.jsonl"))
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the table into it")
    return parser.parse_args()


if __name__ == "__main__":
    main()
