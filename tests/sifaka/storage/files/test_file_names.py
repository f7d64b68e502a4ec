import re

import pytest

from sifaka.storage.files.durable import file_name

IDS = (
    *("", ".", "..", "...", "a", "A", "b/../a", "b\\a", "/etc/passwd", "C:", "-", "%", "%41", "%-"),
    *(
        "ann@example.org",
        "ünï",
        "u\u0308ni\u0308",
        "日本語",
        "👩‍👩‍👧",
        "a\0b",
        "a\nb",
        "\ud800",
        " a",
        "a ",
        "a.",
    ),
    *(
        "con",
        "CON",
        "nul",
        "com1",
        "lpt9",
        "%63on",
        "~",
        "x" * 120,
        "x" * 121,
        "x" * 122,
        "ü" * 500,
    ),
    *("run_a1B2", "run_a1b2", "RUN_A1B2", "x" * 5_000_000, ".store", "run.jsonl"),
)


@pytest.mark.slow
def test_every_id_has_a_name_of_its_own_where_capitals_do_not_count() -> None:
    names = [file_name(run_id).lower() for run_id in IDS]
    assert len(set(names)) == len(IDS)


@pytest.mark.parametrize("run_id", IDS, ids=lambda run_id: ascii(run_id[:9]))
def test_a_name_is_one_that_every_file_system_takes(run_id: str) -> None:
    name = file_name(run_id)
    assert re.fullmatch(r"[a-z0-9_%-]{1,120}", name)
    assert name not in {"con", "nul", "com1", "lpt9"}


def test_the_usual_ids_are_their_own_names() -> None:
    assert file_name("run_0f3a") == "run_0f3a"
    assert file_name("default") == "default"
