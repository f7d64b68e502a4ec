"""What a benchmark found, and how it is shown."""

import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number."""

    what: str
    value: float
    unit: str
    most: float | None = None
    """The goal: the most it should be."""

    @property
    def verdict(self) -> str:
        """The goal and whether it was met; empty without one."""
        if self.most is None:
            return ""
        met = "met" if self.value <= self.most else "MISSED"
        return f"<= {_shown(self.most)} {self.unit}: {met}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one benchmark."""

    title: str
    method: str
    """What was done, how often, and what is compared with what."""
    figures: tuple[Figure, ...]

    def as_text(self) -> str:
        """The method and a table."""
        rows = [(f.what, f"{_shown(f.value)} {f.unit}", f.verdict) for f in self.figures]
        what, value = (max(len(row[column]) for row in rows) for column in (0, 1))
        table = [f"  {a:<{what}}  {b:>{value}}  {c}".rstrip() for a, b, c in rows]
        return "\n".join([self.title, *_wrapped(self.method), *table])

    def as_data(self) -> dict[str, object]:
        """The same for programs."""
        return asdict(self)


def machine() -> dict[str, str]:
    """Where the figures come from."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else "?"),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "mcp": version("mcp"),
        "pydantic": version("pydantic"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.3g}"


def _wrapped(text: str, width: int = 96) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ")
