"""Improve a text from Python, without a model: `python examples/library.py`."""

from pathlib import Path

from sifaka import LengthValidator, PreserveValidator, improve_sync

ANNOUNCEMENT = Path(__file__).parents[1] / "server/sifaka_mcp/cli/announcement.md"
TEXT = ANNOUNCEMENT.read_text(encoding="utf-8")
RULES = [
    LengthValidator(max_words=320),
    {"type": "content", "prohibited": [{"term": "world-class", "replacement": "reliable"}]},
    PreserveValidator(numbers=True, urls=True),
]


def main() -> None:
    result = improve_sync(TEXT, validators=RULES)
    print(f"{result.status} ({result.stop_reason})")
    print(f"{len(result.changes)} changes, {len(result.left)} issues left")
    for verdict in result.validation_results:
        print(f"  {'pass' if verdict.passed else 'FAIL'}  {verdict.validator}: {verdict.message}")
    for thought in result.run.thoughts:
        decision = result.run.decisions[thought.id]
        fate = "accepted" if decision.accepted else "rejected"
        print(f"version {thought.iteration} by {thought.author}: {fate}, {decision.reason}")
    print(f"{result.usage.model_calls} model calls")


if __name__ == "__main__":
    main()
