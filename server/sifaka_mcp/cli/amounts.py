"""Ages and sizes as people write them on a command line."""

import argparse
import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from sifaka._internal.durations import UNITS, parse_duration

_SIZES: Mapping[str, int] = MappingProxyType(
    {"TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1}
)


def parse_age(value: str) -> timedelta:
    """The type of an option that takes an age.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    age = parse_duration(value)
    if age is None:
        raise argparse.ArgumentTypeError(f"{value!r} is not an age such as 90d, 12h or 30m")
    return age


def parse_size(value: str) -> int:
    """The type of an option that takes a size, in bytes; a KB has 1000.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([KMGT]?B)", value, re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"{value!r} is not a size such as 500MB or 1.5GB")
    return round(float(found[1]) * _SIZES[found[2].upper()])


def show_age(age: timedelta) -> str:
    """In days, or in the largest smaller unit of which there is a whole one."""
    unit = next((unit for unit in "dhms" if age >= UNITS[unit]), "s")
    return f"{max(0, age // UNITS[unit])}{unit}"


def show_size(count: int) -> str:
    """In the largest unit of which there is a whole one, rounded down."""
    unit = next((unit for unit, size in _SIZES.items() if count >= size), "B")
    return f"{count} B" if unit == "B" else f"{count * 10 // _SIZES[unit] / 10:.1f} {unit}"
