"""The MCP server and the command line around the Sifaka library."""

import sys

from sifaka_mcp.installation import wrong_package

# Before anything is imported from it, which would fail in the middle of another project's code.
if (_wrong := wrong_package()) is not None:
    sys.stderr.write(f"sifaka: {_wrong}\n")
    raise SystemExit(2)
