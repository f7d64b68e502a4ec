"""The one table: what was fired, what must hold, what was measured."""

from dataclasses import dataclass
from pathlib import Path

HEAD = "| Held | Fired | Must hold | Measured |\n|---|---|---|---|"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One attack and its outcome."""

    fired: str
    must: str
    measured: str
    held: bool

    def __str__(self) -> str:
        cells = ("held" if self.held else "FELL", self.fired, self.must, self.measured)
        return f"| {' | '.join(' '.join(cell.split()).replace('|', '/') for cell in cells)} |"


def megabytes(pid: int, field: str = "VmHWM") -> int:
    """The memory of a process on Linux, by default the most it has had; 0 elsewhere."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(x.split()[1]) // 1024 for x in lines if x.startswith(f"{field}:")), 0)
