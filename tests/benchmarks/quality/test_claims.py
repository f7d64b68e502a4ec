"""The table of judges that lie, as the document has it."""

import json
from pathlib import Path

import pytest

from benchmarks.quality.claims import HONEST, LIAR, verdicts
from tests.docs.markdown import read

CASES = Path("benchmarks/quality/claims.jsonl")
pytestmark = pytest.mark.anyio


def _cases() -> list[dict[str, str]]:
    return [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]


@pytest.mark.slow
async def test_nothing_right_is_overturned_and_an_honest_second_answer_catches_a_lie() -> None:
    cases = _cases()
    honest = await verdicts(cases, first=HONEST, second=HONEST, checks="double")
    assert {truth for (truth, _) in honest} == {"supported", "contradicted", "not supported"}
    assert {(truth, verdict) for truth, verdict in honest if truth != "not supported"} == {
        ("supported", "supported"),
        ("contradicted", "contradicted"),
    }
    lied = await verdicts(cases, first=LIAR, second=HONEST, checks="double")
    assert {truth for truth, verdict in lied if verdict == "supported"} == {"supported"}
    assert f"lies first, asked twice | 0 of {lied['supported', 'supported']}" in read(
        "docs/evidence.md"
    )
