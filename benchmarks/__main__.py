"""`python -m benchmarks [NAME ...] [--json FILE]`."""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

from benchmarks import (
    answer_tokens,
    check_files,
    critics_wall,
    editor,
    evidence_claims,
    evidence_pipeline,
    first_call,
    forgetting,
    growth,
    history,
    http_load,
    idle_memory,
    long_document,
    overhead,
    path_length,
    prompt_prefix,
    redis_append,
    research_graph,
    run_cost,
    search,
    startup,
    tool_tokens,
    uvx,
    validate_http,
    validate_stdio,
)
from benchmarks.report import Report, machine

BENCHMARKS: Mapping[str, Callable[[], Report]] = MappingProxyType(
    {
        "overhead": overhead.measure,
        "check_files": check_files.measure,
        "critics_wall": critics_wall.measure,
        "evidence_pipeline": evidence_pipeline.measure,
        "evidence_claims": evidence_claims.measure,
        "research_graph": research_graph.measure,
        "validate_stdio": validate_stdio.measure,
        "validate_http": validate_http.measure,
        "http_load": http_load.measure,
        "run_cost": run_cost.measure,
        "startup": startup.measure,
        "uvx": uvx.measure,
        "first_call": first_call.measure,
        "editor": editor.measure,
        "forgetting": forgetting.measure,
        "growth": growth.measure,
        "tool_tokens": tool_tokens.measure,
        "answer_tokens": answer_tokens.measure,
        "redis_append": redis_append.measure,
        "prompt_prefix": prompt_prefix.measure,
        "history": history.measure,
        "search": search.measure,
        "idle_memory": idle_memory.measure,
        "long_document": long_document.measure,
        "path_length": path_length.measure,
    }
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"unknown benchmark {name!r}, choose of {', '.join(BENCHMARKS)}")
    here = machine()
    print("; ".join(f"{name} {value}" for name, value in here.items()))
    reports: dict[str, dict[str, object]] = {}
    for name in options.names or BENCHMARKS:
        started = perf_counter()
        report = BENCHMARKS[name]()
        print(f"\n{report.as_text()}\n  ({perf_counter() - started:.0f} s)", flush=True)
        reports[name] = report.as_data()
    if options.json:
        data = {"machine": here, "benchmarks": reports}
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
