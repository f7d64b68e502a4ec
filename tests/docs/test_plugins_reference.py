"""`docs/plugins.md`: the package that it shows, installed, is found, used and recorded."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sifaka import Chain
from sifaka.critics import parse_critics
from sifaka.errors import PluginError
from sifaka.plugins import NO_PLUGINS, Plugins
from sifaka.storage import SQLiteStorage, open_store
from sifaka_mcp.cli import run
from tests.docs.markdown import blocks, code, prose, section

DOCUMENT = "docs/plugins.md"
NAME = "acme-sifaka"
TONE = {"type": "acme_tone", "word": "thanks"}
LINES = {"type": "acme_lines", "most": 3}


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package as `pip` leaves it in a folder on the path."""
    (declared,) = (tomllib.loads(block.content)["project"] for block in blocks(DOCUMENT, "toml"))
    _, module, *_ = blocks(DOCUMENT, "python")
    folder = tmp_path / "packages"
    metadata = folder / f"acme_sifaka-{declared['version']}.dist-info"
    metadata.mkdir(parents=True)
    (folder / "acme_sifaka.py").write_text(module.content)
    named = f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n"
    (metadata / "METADATA").write_text(named)
    lines = [
        line
        for group, points in declared["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in points.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    yield
    sys.modules.pop("acme_sifaka", None)


def test_the_specs_and_the_url_that_are_told_name_what_the_package_offers(tmp_path: Path) -> None:
    told = code(prose(section(DOCUMENT, "Using one")))
    assert '{"type": "acme_tone", "word": "thanks"}' in told
    assert '{"type": "acme_lines", "most": 3}' in told
    assert "archive:2026" in told
    plugins = Plugins([NAME])
    chain = Chain(model="editor", critics=[TONE], validators=[LINES], plugins=plugins)
    result = chain.run_sync(text="Send the the parcel back, thanks.")
    assert (result.text, result.passed) == ("Send the parcel back, thanks.", True)
    assert [dict(spec) for spec in result.run.config.critics] == [TONE]
    store = open_store("archive:2026", home=tmp_path, plugins=plugins)
    assert isinstance(store, SQLiteStorage)
    assert store.path == tmp_path / "2026.db"


def test_a_package_that_is_not_allowed_is_refused_with_what_to_set() -> None:
    with pytest.raises(PluginError) as raised:
        parse_critics([TONE], plugins=NO_PLUGINS)
    (shown,) = (b.content for b in blocks(DOCUMENT, "text") if "SIFAKA_PLUGINS" in b.content)
    assert shown.strip() in (raised.value.suggestion or "")
    assert "acme_sifaka" not in sys.modules


def test_doctor_shows_what_is_offered_without_loading_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    monkeypatch.setenv("SIFAKA_PLUGINS", NAME)
    run(["doctor"])
    printed = capsys.readouterr().out
    for offered in ("critics 'acme_tone'", "validators 'acme_lines'", "stores 'archive'"):
        assert f"ok    plugin: {NAME}: {offered} (not loaded)" in printed
    assert "acme_sifaka" not in sys.modules
