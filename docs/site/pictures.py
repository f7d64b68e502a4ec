"""Makes the pictures of the documents: `make pictures`.

A terminal session and the page of a run come from a real `sifaka improve` of the example; diagrams
are drawn by Mermaid in Chromium. Nothing of it is needed to read or to build the documents.
"""

import fcntl
import hashlib
import html
import io
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from docs.site.diagrams import SCHEMES, Diagram, diagrams
from sifaka_mcp.cli.improve import TEXT

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "docs/assets"
_COLUMNS = 92
_LINES = 27
"""Of the terminal session; the rest is left out."""
_PAUSE = 0.12
"""Seconds between two lines, so that eyes can follow."""
_IMPROVE = (
    "improve", "announcement.md", "--max-words", "330",
    "--forbid", "world-class=reliable", "--out", "better.md",
)  # fmt: skip
_CHROMIUM = (
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_THEMES = {"light": "default", "dark": "dark"}
_DRAW = """<!doctype html><meta charset="utf-8"><pre id="out"></pre>
<script src="{library}"></script><script>
mermaid.initialize({{startOnLoad: false, theme: {theme}, deterministicIds: true,
  fontFamily: "sans-serif", htmlLabels: false, state: {{htmlLabels: false}}}});
mermaid.render("diagram", {source}).then(({{svg}}) => {{
  const holder = document.createElement("div"); holder.innerHTML = svg;
  document.body.append(holder);
  const drawn = holder.querySelector("svg");
  drawn.setAttribute("width", drawn.viewBox.baseVal.width);
  drawn.setAttribute("height", drawn.viewBox.baseVal.height);
  document.getElementById("out").textContent = new XMLSerializer().serializeToString(drawn);
}});
</script>"""


def main(library: Path) -> None:
    """Write every picture.

    Args:
        library: Mermaid, as one script.
    """
    ASSETS.mkdir(exist_ok=True)
    for diagram in diagrams():
        for scheme in SCHEMES:
            path = diagram.path(scheme)
            # Mermaid never draws the same curve twice.
            if not path.exists() or diagram.digest not in path.read_text(encoding="utf-8"):
                _write(path, _drawn(diagram, scheme, library))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(TEXT, folder)
        recorded = _at_terminal(folder, *_IMPROVE)
        _write(ASSETS / "terminal.svg", _session("sifaka " + " ".join(_IMPROVE), recorded))
        page = folder / "run.html"
        made = _sifaka(folder, "view", "--html", str(page))
        if made.returncode:
            raise SystemExit(made.stderr)
        for scheme in SCHEMES:
            _photograph(page, ASSETS / f"run-{scheme}.png", scheme, folder)


def _drawn(diagram: Diagram, scheme: str, library: Path) -> str:
    """The diagram as SVG, which names the digest of its source."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "diagram.html"
        page.write_text(
            _DRAW.format(
                library=library.resolve().as_uri(),
                theme=json.dumps(_THEMES[scheme]),
                source=json.dumps(diagram.source),
            ),
            encoding="utf-8",
        )
        told = ("--virtual-time-budget=20000", "--dump-dom", f"--user-data-dir={folder}/profile")
        dump = _chromium(*told, page.as_uri())
    found = re.search(r'<pre id="out">(.+?)</pre>', dump, re.DOTALL)
    if found is None:
        raise SystemExit(f"Mermaid has drawn nothing of {diagram.name}")
    svg = html.unescape(found.group(1))
    return svg.replace("<svg ", f'<svg data-source="{diagram.digest}" ', 1) + "\n"


def _photograph(page: Path, target: Path, scheme: str, folder: Path) -> None:
    """Take a picture of a page in a light or a dark scheme."""
    dark = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
    light = ("--blink-settings=preferredColorScheme=1",)
    _chromium(
        *(dark if scheme == "dark" else light),
        "--virtual-time-budget=5000",
        "--run-all-compositor-stages-before-draw",
        "--window-size=1280,720",
        f"--user-data-dir={folder}/profile-{scheme}",
        f"--screenshot={target}",
        page.as_uri(),
    )


def _chromium(*arguments: str) -> str:
    done = subprocess.run([*_CHROMIUM, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIFAKA_")}
    return {**kept, "SIFAKA_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}


def _sifaka(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sifaka_mcp.cli", *arguments],
        cwd=folder, env=_environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip


class _Recorded(NamedTuple):
    """What a command has sent to a real terminal."""

    text: str
    waited: float
    """Seconds until it sent something."""


def _at_terminal(folder: Path, *arguments: str) -> _Recorded:
    person, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, _COLUMNS, 0, 0))
    command = [sys.executable, "-m", "sifaka_mcp.cli", *arguments]
    environ = {**_environment(folder), "TERM": "xterm-256color"}
    began, waited = time.monotonic(), 0.0
    with subprocess.Popen(
        command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=terminal,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(terminal)
        sent = b""
        while more := _read(person):
            waited = waited or time.monotonic() - began
            sent += more
    os.close(person)
    if process.returncode:
        raise SystemExit(sent.decode())
    return _Recorded(sent.decode().replace("\r\n", "\n"), waited)


def _read(person: int) -> bytes:
    try:
        return os.read(person, 65536)
    except OSError:  # Linux ends a terminal that way
        return b""


def _session(command: str, recorded: _Recorded) -> str:
    """The session as SVG, its middle left out when it is long.

    The command comes first, and its output when it came, one line after the other.
    """
    console = Console(record=True, width=_COLUMNS, file=io.StringIO())
    lines = Text.from_ansi(recorded.text).split("\n")
    prompt = Text.assemble(("$ ", "bold green"), (command, "bold"))
    rows = len(prompt.wrap(console, _COLUMNS))
    console.print(prompt)
    last = len(lines) - 6
    for number, line in enumerate(lines):
        if number < _LINES - 8 or number >= last:
            console.print(line)
        elif number == last - 1:
            console.print(Text("[...]", style="dim"))
    console.print()  # room for what the last line has below it
    digest = hashlib.sha256(recorded.text.encode()).hexdigest()[:8]
    svg = console.export_svg(title="sifaka", unique_id=f"terminal-{digest}")
    # A font that is fetched from elsewhere would be fetched by each reader.
    still = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    delays = "".join(
        f'text[clip-path$="-line-{row})"]'
        f"{{animation:shown .1s {recorded.waited + _PAUSE * (row - rows):.2f}s backwards}}\n"
        for row in range(rows, rows + _LINES)
    )
    calm = "@media (prefers-reduced-motion:reduce){text{animation:none!important}}"
    moving = f"@keyframes shown{{from{{opacity:0}}}}\n{delays}{calm}\n"
    return still.replace("</style>", f"{moving}</style>", 1)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
