"""The option `--adapters`: which of the configured ones to search, or others for this once."""

import argparse
from collections.abc import Sequence
from typing import Any

from sifaka_mcp.cli import options as opt


class _NamesOrSpecs(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser, option_string
        given = [each.strip() for each in str(values or "").split(",")]
        specs = [each for each in given if ":" in each]
        namespace.adapter_specs = tuple(specs)
        if specs:
            namespace.adapters = ",".join(specs)
        namespace.chosen_adapters = tuple(each for each in given if each and ":" not in each)


ADAPTERS = (
    opt.argument(
        "--adapters",
        action=_NamesOrSpecs,
        metavar="A,B",
        help="where to search: names of configured ones, or name=scheme:url as in SIFAKA_ADAPTERS",
    ),
    opt.fixed(chosen_adapters=(), adapter_specs=()),
)
"""The sources of evidence.

A value written like a setting (`name=scheme:url`) takes the place of SIFAKA_ADAPTERS, in
`options.adapters` and `options.adapter_specs`; names alone choose among those configured, in
`options.chosen_adapters`.
"""
