"""Every example runs, and ends as its text says."""

import runpy
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

ENDS = {
    "library.py": "0 model calls",
    "pydantic_ai_agent.py": "done (unchecked), 4 model calls",
    "caller_run.py": "done (passed)",
    "verify_text.py": "4 claims, 0 model calls",
}
"""The last line that each example prints."""


def test_every_example_is_known_here() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(ENDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_the_example_runs(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    printed = capfd.readouterr()
    assert not printed.err
    assert printed.out.splitlines()[-1] == ENDS[name]
    if name == "caller_run.py":
        assert "rejected: worse in required validators failed" in printed.out
