"""Rich, with colours and wrapped lines; plain text where the extra `cli` is not installed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
else:
    try:
        from rich.console import Console
        from rich.text import Text
    except ModuleNotFoundError:
        from sifaka_mcp.view.plain import Console, Text

__all__ = ["Console", "Text"]
