"""The model that the tests ask: one that a person serves, or SmolLM2 in llama.cpp's server."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ENGINE = Path(".venv-model/bin/python")
"""The Python of the environment that has llama.cpp and SmolLM2; `make test-model` makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A provider that speaks the OpenAI protocol."""

    url: str
    """Such as `http://127.0.0.1:8080/v1`."""
    model: str


@contextmanager
def model_in_use(url: str = "", model: str = "") -> Generator[Served]:
    """The model at a URL; without one SmolLM2, for as long as the context lasts."""
    if url:
        yield Served(url=url.rstrip("/"), model=model)
        return
    program = Path(__file__).with_name("llama.py")
    with subprocess.Popen(
        (ENGINE, program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            said = process.stdout.readline().strip()
            assert said.startswith("http://"), "llama.cpp did not start"
            yield Served(url=f"{said}/v1", model="smollm2")
        finally:
            process.stdin.close()  # it ends then
