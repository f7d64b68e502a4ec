"""What the documents list, compared with what the program has."""

import re
from typing import cast, get_args

import pytest

from benchmarks.__main__ import BENCHMARKS
from sifaka.chain import Chain
from sifaka.chain.configuration import PRESETS, Resources
from sifaka.chain.parts import writers_for
from sifaka.chain.version_comparison import CRITERIA
from sifaka.models.metered import ATTEMPTS, CALL_TIMEOUT, LONGEST_WAIT
from sifaka.record.entries import Entry, RunStatus, StopReason
from sifaka.storage import FORMS, SCHEMES
from sifaka.storage.sqlite.file import BUSY_SECONDS
from sifaka.text.input import MAX_TEXT
from sifaka_mcp.cli import COMMANDS, run
from sifaka_mcp.settings import TOOLSETS, LogLevel, Settings
from sifaka_mcp.settings.http import HttpSettings
from tests.docs.markdown import ROOT, code, read, section, table


def test_the_criteria_of_selection_are_told_in_their_order() -> None:
    lines = section("docs/chain.md", "Which version wins").splitlines()
    told = [line.partition(". ")[2] for line in lines if line[:1].isdigit()]
    assert told == list(CRITERIA)


def test_every_stop_reason_is_told() -> None:
    rows = table(section("docs/chain.md", "When it stops"))
    reasons = rows[: [code(row[0])[0] for row in rows].index("failed") + 1]
    assert {code(row[1])[0] for row in reasons} == set(get_args(StopReason))
    assert {code(row[0])[0] for row in reasons} == set(get_args(RunStatus)) - {"running"}


def test_every_effort_is_told() -> None:
    text = section("docs/chain.md", "When it stops")
    efforts = table(text[text.index("| Effort") :])
    told = {
        code(row[0])[0]: (
            *map(int, row[1:3]), code(row[3])[0], int(row[4] or 1), int(row[5] or 0)
        )
        for row in efforts
    }  # fmt: skip
    assert told == {
        effort: (p.rounds, p.max_iterations, p.policy, p.width, p.look_back)
        for effort, p in PRESETS.items()
    }


def test_every_kind_of_model_is_told() -> None:
    rows = table(section("docs/chain.md", "Who writes"))
    kinds = [code(row[0])[0] for row in rows]
    assert kinds == ["auto", "editor", "caller", "host", "provider:name"]
    for kind in kinds[:3]:
        assert set(writers_for(Resources(model=kind))) <= {None}
    assert Chain(model=kinds[3]).config.model == "host"


def test_the_numbers_about_failing_providers_are_those_of_the_code() -> None:
    text = section("docs/chain.md", "When a provider fails")
    assert f"at most {ATTEMPTS} times" in text
    assert f"up to {LONGEST_WAIT:g} seconds" in text
    assert f"after {CALL_TIMEOUT:g} seconds" in text
    assert f"up to {BUSY_SECONDS:g} seconds" in section("docs/storage.md", "Several processes")
    assert f"{MAX_TEXT:,} characters" in section("docs/tools.md", "Tools")


def test_every_store_is_told_by_its_url() -> None:
    urls = [code(row[0])[0] for row in table(section("docs/storage.md", "Storage"))]
    assert set(urls) == set(FORMS.split(" | "))
    assert {url.partition(":")[0] for url in urls} == {*SCHEMES, "hybrid"}


def test_every_kind_of_entry_is_told() -> None:
    rows = table(section("docs/storage.md", "What is stored"))
    kinds = [model.model_fields["kind"].default for model in get_args(get_args(Entry)[0])]
    assert {code(row[0])[0] for row in rows} == set(kinds)
    assert len(rows) == len(kinds)
    assert set(code(section("docs/chain.md", "Entries of a run"))) == set(kinds)


def settings_rows() -> dict[str, list[str]]:
    """What the page tells of each setting, its name aside."""
    everywhere = table(section("docs/settings.md", "Settings"))
    over_http = table(section("docs/settings.md", "Over HTTP"))
    return {code(name)[0]: rest for name, *rest in (*everywhere, *over_http)}


def test_every_setting_is_told_with_its_default() -> None:
    rows = settings_rows()
    assert set(rows) == {f"SIFAKA_{name.upper()}" for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        assert code(rows[f"SIFAKA_{name.upper()}"][0]) == _told(field.default), name
    assert set(code(rows["SIFAKA_TOOLSETS"][1])) == set(TOOLSETS)
    assert set(code(rows["SIFAKA_LOG_LEVEL"][1])) == set(get_args(LogLevel))


def test_what_only_the_http_server_reads_is_told_apart() -> None:
    told = {code(row[0])[0] for row in table(section("docs/settings.md", "Over HTTP"))}
    assert told == {f"SIFAKA_{name.upper()}" for name in HttpSettings.model_fields}


def _told(default: object) -> list[str]:
    """What the column says: nothing of a setting that is off, empty or found out at the start."""
    match default:
        case str() | int() | float() if default:
            return [f"{default:g}" if isinstance(default, float) else str(default)]
        case tuple() if default:
            return [",".join(map(str, cast("tuple[object, ...]", default)))]
        case _:
            return []


def test_what_the_readme_tells_of_settings_is_what_their_page_tells() -> None:
    rows = settings_rows()
    for row in table(section("README.md", "Settings")):
        assert code(rows[code(row[0])[0]][0]) == code(row[1])


def test_every_benchmark_is_told_with_what_it_does_and_what_was_measured() -> None:
    told = [code(row[0])[0] for row in table(section("docs/benchmarks.md", "How it is measured"))]
    assert sorted(told) == sorted(BENCHMARKS)
    rows = table(section("docs/benchmarks.md", "Figures"))
    assert {code(row[0])[0] for row in rows if row[0]} == set(BENCHMARKS)


def test_every_command_is_named_in_the_readme() -> None:
    text = section("README.md", "From a shell")
    assert all(f"sifaka {name}" in text or f"`{name}`" in text for name in COMMANDS)


def test_the_exit_codes_are_those_of_the_table(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = section("README.md", "From a shell")
    codes = [int(row[0]) for row in table(text[text.index("| Exit code") :])]
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    validate = ["validate", "server/sifaka_mcp/cli/announcement.md", "--max-words"]
    real = [
        run([*validate, "1000"]),
        run([*validate, "10"]),
        run([*validate, "10", "--min-words", "20"]),
    ]
    assert real == codes
    assert run(["history", "run_nobody_has"]) == codes[2]
    assert "min_words" in capsys.readouterr().err


def test_the_readme_is_short_and_runs_something_early() -> None:
    lines = read("README.md").splitlines()
    assert len(lines) < 200
    assert any(line.startswith("make demo") for line in lines[:15])
    pictures = re.findall(r"(?:!\[[^\]]*\]\(|src(?:set)?=\")([^)\"]+)", read("README.md"))
    assert len(pictures) == 3
    for picture in pictures:
        assert (ROOT / picture).is_file(), "of our own, and no badges"
