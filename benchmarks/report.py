"""The figures of a benchmark, and their tables."""

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
    least: float | None = None
    """The goal: the least it should be."""

    @property
    def verdict(self) -> str:
        """The goals and whether each was met; empty without one."""
        verdicts: list[str] = []
        if self.least is not None:
            verdicts.append(self._verdict(">=", self.least, met=self.value >= self.least))
        if self.most is not None:
            verdicts.append(self._verdict("<=", self.most, met=self.value <= self.most))
        return ", ".join(verdicts)

    def _verdict(self, sign: str, goal: float, *, met: bool) -> str:
        return f"{sign} {_shown(goal)} {self.unit}: {'met' if met else 'MISSED'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one benchmark."""

    title: str
    method: str
    """The method: the work, its repetitions and the comparison."""
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
    """The machine that the figures come from."""
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
