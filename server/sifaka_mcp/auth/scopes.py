"""The rights of a token for reading only: it changes nothing, and spends nothing."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, CallToolResult, TextContent

from sifaka.calls.ledger import charging
from sifaka.errors import BudgetExceeded
from sifaka.isolation import sharing
from sifaka.record.usage import Budget, Usage
from sifaka_mcp.settings import READING
from sifaka_mcp.state import AppState
from sifaka_mcp.tenancy import NEEDS_WRITE, WRITE, may_only_read, tenant_of_request

_WRITING = frozenset({"tasks/cancel", "tasks/update"})
"""Methods, besides those of tools, that change something."""


class NoAllowance:
    """Refuses every call of a provider's model: see `Allowance`.

    Tools ask no model with such a token. This makes sure that none is asked all the same, for a
    critic or a validator that names one.
    """

    limits = Budget()

    async def reserve(self, usage: Usage) -> None:
        """Refuse it."""
        raise BudgetExceeded(
            "calls", "this token is for reading only, and asks no provider's model", NEEDS_WRITE
        )

    def settle(self, reserved: Usage, used: Usage) -> None:
        """Nothing was set aside."""


@contextmanager
def share_of_request(state: AppState) -> Generator[None]:
    """Within it the request has its tenant's share of the processors, and of the money."""
    tenant = tenant_of_request()
    accounts = state.runs.accounts
    account = accounts and accounts.of(tenant or state.tenant)
    with sharing(tenant or ""), charging(NoAllowance() if may_only_read() else account):
        yield


def refusal(ctx: ServerRequestContext[Any, Any]) -> CallToolResult | None:
    """The answer to a call that changes something, with a token for reading only; else None.

    Raises:
        MCPError: It is no call of a tool.
    """
    if not may_only_read():
        return None
    if ctx.method in _WRITING:
        raise MCPError(code=INVALID_REQUEST, message=f"{ctx.method} needs the scope {WRITE}")
    name = (ctx.params or {}).get("name")
    # Nothing has been validated yet: a name may be anything.
    if ctx.method != "tools/call" or (isinstance(name, str) and name in READING):
        return None
    content = TextContent(type="text", text=f"this token is good for reading only — {NEEDS_WRITE}")
    return CallToolResult(content=[content], is_error=True)
