"""Rich, with colours and wrapped lines; plain text where the extra `cli` is not installed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
else:
    try:
        from rich.cells import cell_len
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ModuleNotFoundError:
        from sifaka_mcp.view.plain import Console, Table, Text, cell_len

__all__ = ["Console", "Table", "Text", "cell_len"]
