"""A short call stays short: how many functions it passes, and that it loads nothing back."""

import json
import subprocess
import sys

MOST_FUNCTIONS = 91
"""The functions, methods, properties and lambdas of `sifaka/` that one call of `improve` enters,
without those of the editor, whose rules add theirs only where a text has a sign of a mistake.

Each counts once, however often it is entered, in whatever thread. Not counted: what Python 3.11
makes of comprehensions and generator expressions (47), methods that dataclasses and pydantic
generate, other packages, and imports.
"""
MOST_OF_THE_EDITOR = 29


def test_a_call_with_a_short_text_and_no_model_passes_few_functions() -> None:
    # In a process of its own: what other tests have cached would be missing from the count.
    program = [sys.executable, "-m", "tests.sifaka.chain.path_length"]
    done = subprocess.run(program, capture_output=True, check=True, text=True)
    figures = json.loads(done.stdout)
    assert figures["text"] == "The meeting is on Monday."
    assert figures["functions"] - figures["of the editor"] <= MOST_FUNCTIONS, figures
    assert figures["of the editor"] <= MOST_OF_THE_EDITOR, figures
    assert (figures["loads"], figures["claims"]) == (0, 0)
