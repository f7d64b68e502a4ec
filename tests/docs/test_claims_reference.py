"""docs/evidence.md against the claims of the code."""

from typing import get_args

from sifaka.evidence.claims.comparison import CLAIMS_EACH
from sifaka.evidence.verify import JUDGEMENTS, SHOWN
from sifaka.record.claims import BLOCKING, CheckOptions, ClaimStatus
from sifaka.validators.evidence import SEVERITY
from tests.docs.markdown import code, read, section, table

DOCUMENT = "docs/evidence.md"


def test_every_verdict_is_told_with_what_it_does_in_the_validator() -> None:
    rows = {code(row[0])[0]: row[2] for row in table(section(DOCUMENT, "Claims"))}
    assert set(rows) == set(get_args(ClaimStatus))
    for status, told in rows.items():
        assert told.startswith("fails" if status in BLOCKING else "passes")
        assert status not in SEVERITY or f"severity {SEVERITY[status]}" in told


def test_every_option_is_told_with_its_default() -> None:
    lines = [line for line in read(DOCUMENT).splitlines() if line.startswith("| `")]
    rows = {name: line.split("|")[2].strip() for line in lines for name in code(line.split("|")[1])}
    for name, field in CheckOptions.model_fields.items():
        assert name in rows
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            assert rows[name] == f"{field.default:g}"


def test_what_one_call_takes_is_told() -> None:
    told = section(DOCUMENT, "Claims")
    assert f"one call takes {SHOWN:,} characters of documents and thirty judgements" in told
    assert "One call asks about up to twenty claims" in told
    assert (JUDGEMENTS, CLAIMS_EACH) == (30, 20)
