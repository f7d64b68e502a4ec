"""`python -m benchmarks.quality.style DATA`: stock prose in texts of models and of people.

DATA is a folder with `models.jsonl` and `people.jsonl`, a line of which is `{"source", "group",
"text"}`; `source` is a model, a package, an author or a corpus. None of it is shipped: the texts
are those of others. `--tuning` names the sources that were seen while the rules were written.
"""

import argparse
import json
import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.tables import Table, put_into
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.style import USUAL, Prose, habits, places_of, rules, score_of
from sifaka.text.formats import recognise

SHORTEST = 100
"""Words below which a text is left out."""
_PLACEHOLDER = re.compile(r"\[[^\]\n]{1,60}\]|\{[^}\n]{1,60}\}|_{3,}")
_DASH = re.compile(r" ?[—–] ?| -- ")
_EMOJI = re.compile("[\U0001f000-\U0001faff☀-➿]️?")
_BOLD = re.compile(r"\*\*|__")


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, and who wrote it."""

    source: str
    group: str
    text: str


def load(path: Path, *, but: frozenset[str] = frozenset()) -> list[Sample]:
    """The texts of a file that are long enough, without those of some sources."""
    found: list[Sample] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["source"] not in but and len(row["text"].split()) >= SHORTEST:
            found.append(Sample(row["source"], row["group"], row["text"]))
    return found


def style_of(text: str) -> float:
    """The score, as the critic gives it."""
    prose = _prose(text)
    return score_of(habits(prose), prose.words)


def _prose(text: str) -> Prose:
    return Prose.of(ParsedText.read(text, recognise(text)))


def without_signs(text: str) -> str:
    """The text without dashes, pictographs and bold."""
    return _BOLD.sub("", _EMOJI.sub("", _DASH.sub(", ", text)))


def counted_signs(text: str) -> float:
    """What a mere counter of dashes and pictographs would say."""
    signs = len(_DASH.findall(text)) + len(_EMOJI.findall(text))
    return -signs / max(1, len(text.split()))


def area(lower: Sequence[float], higher: Sequence[float]) -> float:
    """The area under the curve: how often one is below one of `higher`; ties are halves."""
    ordered = sorted(higher)
    wins = sum(
        len(ordered) - (bisect_left(ordered, each) + bisect_right(ordered, each)) / 2
        for each in lower
    )
    return wins / (len(lower) * len(higher))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.style", allow_abbrev=False)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tuning", default="", help="sources to leave out, with commas between")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the tables into it")
    options = parser.parse_args()
    but = frozenset(options.tuning.split(","))
    models, people = (load(options.data / f"{n}.jsonl", but=but) for n in ("models", "people"))
    drafts = [each for each in models if each.group == "writing"]
    human = [style_of(each.text) for each in people]
    tables = (
        _areas(models, drafts, people, human),
        _shares(models, people, human),
        _rules(drafts, people),
    )
    print("\n\n".join(table.as_text() for table in tables))
    if options.markdown:
        put_into(options.markdown, [(table.name, table.as_markdown()) for table in tables])


def _areas(
    models: Sequence[Sample], drafts: Sequence[Sample], people: Sequence[Sample], human: list[float]
) -> Table:
    def row(
        name: str, texts: Iterable[Sample], change: Callable[[str], str] = str, goal: str = ""
    ) -> tuple[str, ...]:
        scores = [style_of(change(each.text)) for each in texts]
        below = sum(score < USUAL for score in scores) / len(scores)
        return name, str(len(scores)), f"{area(scores, human):.3f}", goal, f"{below:.0%}"

    signs = [counted_signs(each.text) for each in drafts]
    others = [counted_signs(each.text) for each in people]
    return Table(
        name="style areas",
        title=f"Held against {len(people)} texts of people; usual from {USUAL:g}",
        header=("drafts of models", "texts", "area", "goal", "below usual"),
        rows=(
            row("writing tasks", drafts, goal=".98"),
            row("placeholders masked", drafts, lambda t: _PLACEHOLDER.sub("Smith", t), ".97"),
            row("without dashes, emoji, bold", drafts, without_signs, ".95"),
            *(
                row(group, [each for each in models if each.group == group])
                for group in sorted({each.group for each in models} - {"writing"})
            ),
            (
                "a counter of dashes and emoji",
                str(len(signs)),
                f"{area(signs, others):.3f}",
                "",
                "",
            ),
        ),
    )


def _shares(models: Iterable[Sample], people: Iterable[Sample], human: list[float]) -> Table:
    below: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for each, score in zip(people, human, strict=True):
        below["people", each.group].append(score < USUAL)
        below["people", "all"].append(score < USUAL)
    for each in models:
        if each.group == "writing":
            below["model", each.source].append(style_of(each.text) < USUAL)
    return Table(
        name="style shares",
        title=f"Texts with a score below {USUAL:g}",
        header=("who", "group or model", "texts", "below"),
        rows=tuple(
            (who, name, str(len(found)), f"{sum(found) / len(found):.1%}")
            for (who, name), found in sorted(below.items())
        ),
        words=2,
    )


def _rules(drafts: Sequence[Sample], people: Sequence[Sample]) -> Table:
    shares = [
        Counter(
            name for each in texts for name, found in places_of(_prose(each.text)).items() if found
        )
        for texts in (drafts, people)
    ]
    rows: list[tuple[str, ...]] = []
    for rule in rules():
        one, other = shares[0][rule.name] / len(drafts), shares[1][rule.name] / len(people)
        times = f"{one / other:.1f}" if other else ""
        rows.append((rule.name, f"{rule.weight:g}", f"{one:.1%}", f"{other:.1%}", times))
    return Table(
        name="style rules",
        title="Texts in which a rule finds something",
        header=("rule", "weight", "drafts", "people", "times"),
        rows=tuple(rows),
    )


if __name__ == "__main__":
    sys.exit(main())
