"""Installs the plugin into hosts of other people and asks each for our server: `make plugins`.

Each host has a home of its own, and the plugin comes from a clone of the last commit.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOSTS = Path(__file__).parent / "node_modules" / ".bin"
PROGRAMS = Path(sys.executable).parent
TRIES = 3
"""A host waits five seconds for a server."""
RUN = ("uv", "run", "--quiet", "--frozen", "--no-default-groups", "--project")


def steps(clone: Path, home: Path) -> Iterator[tuple[tuple[str, ...], str]]:
    """The commands of each host, and what the answer has to have; `home` is that of the user."""
    yield ("claude", "plugin", "validate", "--strict", f"{clone}"), "Validation passed"
    yield ("claude", "plugin", "marketplace", "add", f"{clone}"), "added marketplace"
    yield ("claude", "plugin", "install", "sifaka@sifaka"), "installed plugin"
    yield ("claude", "plugin", "details", "sifaka"), "Skills (1)"
    yield ("claude", "mcp", "list"), "Connected"
    yield ("gemini", "extensions", "validate", f"{clone}"), "successfully validated"
    yield ("gemini", "extensions", "install", f"{clone}", "--consent"), "installed successfully"
    yield ("gemini", "extensions", "list"), "Agent skills:"
    # The first start has the environment made, which takes longer than the host waits here.
    extension = home / ".gemini/extensions/sifaka"
    yield (*RUN, f"{extension}", "python", "-c", "print('made')"), "made"
    yield ("gemini", "mcp", "list"), "Connected"
    yield ("codex", "plugin", "marketplace", "add", f"{clone}"), "Added marketplace"
    yield ("codex", "plugin", "add", "sifaka@sifaka"), "Added plugin"
    yield ("codex", "mcp", "list"), "enabled"
    for host in ("claude-code", "gemini", "codex"):
        yield ("sifaka", "install", host), "written into"
    yield ("claude", "mcp", "list"), f"{PROGRAMS / 'sifaka-mcp'}  - ✔ Connected"
    yield ("gemini", "mcp", "list"), f"✓ sifaka: {PROGRAMS / 'sifaka-mcp'}"
    yield ("codex", "mcp", "get", "sifaka"), f"command: {PROGRAMS / 'sifaka-mcp'}"


def main() -> int:
    """Print a line for each step, and stop at the first one that fails."""
    with tempfile.TemporaryDirectory() as folder:
        home, clone = Path(folder) / "home", Path(folder) / "sifaka"
        home.mkdir()
        subprocess.run(("git", "clone", "--quiet", ROOT, clone), check=True)
        path = os.pathsep.join((str(HOSTS), str(PROGRAMS), os.environ["PATH"]))
        env = {**os.environ, "HOME": str(home), "PATH": path, "CI": "1"}
        env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"  # or it starts no server in the folder
        for (host, *arguments), wanted in steps(clone, home):
            told = ""
            for _ in range(TRIES):
                done = subprocess.run(
                    (host, *arguments), capture_output=True, check=False, cwd=folder,
                    env=env, input="y\n" * 9, text=True, timeout=300,
                )  # fmt: skip
                told = done.stdout + done.stderr
                if wanted in told:
                    break
            fell = wanted not in told
            verdict, shown = ("FELL", told) if fell else ("ok", wanted)
            sys.stdout.write(f"{verdict} {host} {' '.join(arguments[:2])}: {shown}\n")
            if fell:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
