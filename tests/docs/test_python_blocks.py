"""Every Python block of the documents runs, without a key, and prints what is shown below it."""

from pathlib import Path
from typing import Any

import pytest

from tests.docs.expected import Names
from tests.docs.markdown import ROOT, RUN, Block, blocks

WITH_PYTHON = tuple(document for document in RUN if blocks(document, "python"))


@pytest.mark.parametrize("document", WITH_PYTHON)
def test_the_python_blocks_run_from_the_first_to_the_last(
    document: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    names = Names()
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(document, "python"):
        # Line numbers as in the document, for whoever has to find what failed.
        code = compile("\n" * block.line + block.content, ROOT / document, "exec")
        exec(code, namespace)  # noqa: S102 - our own documents
        output = capsys.readouterr().out
        if (shown := _shown_below(document, block)) is not None:
            names.check_text(shown.content, output)


def test_there_are_python_blocks_in_the_readme_and_the_tutorial() -> None:
    assert {"README.md", "docs/tutorial.md"} <= set(WITH_PYTHON)


def _shown_below(document: str, block: Block) -> Block | None:
    following = [other for other in blocks(document) if other.line > block.line]
    if following and following[0].adjoining and following[0].language == "text":
        return following[0]
    return None
