"""The handshake era: the server sends its questions, and the connection brings the answers."""

import anyio
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp_types import CONNECTION_CLOSED, CreateMessageResult
from pydantic import ValidationError

from sifaka.calls.host import HostAnswer, HostQuestion, Suspended
from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.models import HOST
from sifaka_mcp.host.messages import answer_of, request_of

PATIENCE = 300.0
"""Seconds: a person may have to allow each question."""


class PushedQuestions:
    """Asks a host over the connection of a session, for as long as that is open."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The host's answer; see `Host`. Who has left may come back, and go on with the work."""
        try:
            with anyio.fail_after(PATIENCE):
                result = await self._session.send_request(
                    request_of(question), result_type=CreateMessageResult
                )
        except (NoBackChannelError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise Suspended({key: question}) from None
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise Suspended({key: question}) from None
            said = str(error).partition("\n")[0][:200]
            raise _failed(f"the client refused to ask its model: {said}", "refused") from error
        except TimeoutError as error:
            raise _failed(
                f"the client has not answered within {PATIENCE:g} s", "unavailable"
            ) from error
        except ValidationError as error:
            raise _failed("the client's answer is no sampling result", "malformed") from error
        try:
            return answer_of(result)
        except ConfigurationError as error:
            raise _failed(error.message, "malformed") from error


def _failed(message: str, code: str) -> ModelProviderError:
    return ModelProviderError(f"{HOST}: {message}", provider=HOST, code=code)
