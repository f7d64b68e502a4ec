"""Improve a text from Python, without a model: `python examples/library.py`."""

from pathlib import Path

from sifaka import improve_sync

TEXT = Path(__file__).with_name("announcement.md").read_text(encoding="utf-8")
RULES = [
    {"type": "length", "max_words": 320},
    {"type": "content", "prohibited": [{"term": "world-class", "replacement": "reliable"}]},
    {"type": "preserve", "numbers": True, "urls": True},
]


def main() -> None:
    result = improve_sync(TEXT, validators=RULES)
    print(f"{result.status} ({result.stop_reason})")
    for verdict in result.validation_results:
        print(f"  {'pass' if verdict.passed else 'FAIL'}  {verdict.validator}: {verdict.message}")
    for thought in result.run.thoughts:
        decision = result.run.decisions[thought.id]
        fate = "accepted" if decision.accepted else "turned down"
        print(f"version {thought.iteration} by {thought.author}: {fate}, {decision.reason}")
    print(f"{result.usage.model_calls} model calls")


if __name__ == "__main__":
    main()
