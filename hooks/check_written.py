"""Tells an agent the mistakes in Markdown that it has just written.

A hook of Claude Code after Write and Edit, which does nothing unless SIFAKA_CHECK_WRITTEN is set.
The call comes by standard input; with exit code 2 what goes to standard error reaches the model.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

_MARKDOWN = {".md", ".markdown", ".mdx"}
_PLUGIN = Path(__file__).resolve().parents[1]
_RUN = ("uv", "run", "--quiet", "--frozen", "--no-default-groups", "--project", str(_PLUGIN))


def main() -> int:
    """Check the file of the call; what goes wrong with the check itself stops nobody."""
    if not os.environ.get("SIFAKA_CHECK_WRITTEN"):
        return 0
    written = str(json.load(sys.stdin).get("tool_input", {}).get("file_path", ""))
    if Path(written).suffix.lower() not in _MARKDOWN:
        return 0
    command = (*_RUN, "sifaka", "check", "--", written)
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    if done.returncode != 1:  # 0: no mistake; others: the check failed
        return 0
    sys.stderr.write(done.stdout)
    return 2


if __name__ == "__main__":
    sys.exit(main())
