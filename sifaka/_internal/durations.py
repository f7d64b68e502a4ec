"""Durations as people write them: `30m`, `12h`, `7d`, `2w`."""

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

UNITS: Mapping[str, timedelta] = MappingProxyType(
    {
        "w": timedelta(weeks=1),
        "d": timedelta(days=1),
        "h": timedelta(hours=1),
        "m": timedelta(minutes=1),
        "s": timedelta(seconds=1),
    }
)
"""The largest first."""


def parse_duration(text: str) -> timedelta | None:
    """A whole number of weeks, days, hours, minutes or seconds; None for anything else."""
    match = re.fullmatch(r"([0-9]{1,9})([wdhms])", text)
    if match is None:
        return None
    try:
        return int(match[1]) * UNITS[match[2]]
    except OverflowError:
        return None


def show_duration(age: timedelta) -> str:
    """In days, or in the largest smaller unit of which there is a whole one; parsed again."""
    unit = next((unit for unit in "dhms" if age >= UNITS[unit]), "s")
    return f"{max(0, age // UNITS[unit])}{unit}"
