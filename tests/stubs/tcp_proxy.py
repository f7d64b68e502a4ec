"""A proxy on loopback that loses replies: what a network does, at the moment a test wants it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class LossyProxy:
    """Passes everything on to a server, until it is told to lose a reply."""

    def __init__(self, port: int) -> None:
        self.lost = 0
        """How many replies were lost so far."""
        self.port = 0
        self._upstream = port
        self._marker = b""
        self._times = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it is, for a Redis client."""
        return f"redis://127.0.0.1:{self.port}"

    def lose_replies(self, marker: bytes, *, times: int = 1) -> None:
        """Break the connection in place of the reply to the next requests with these bytes."""
        self._marker, self._times = marker, times

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; it ends when either side ends it."""
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self._upstream)
        losing = False

        async def requests() -> None:
            nonlocal losing
            while data := await reader.read(65_536):
                if self._times and self._marker in data:
                    losing, self._times = True, self._times - 1
                upstream.write(data)
                await upstream.drain()

        async def replies() -> None:
            while data := await upstream_reader.read(65_536):
                if losing:
                    self.lost += 1
                    return
                writer.write(data)
                await writer.drain()

        both = [asyncio.create_task(requests()), asyncio.create_task(replies())]
        try:
            # Cancelled, it ends like any other: asyncio would report it otherwise.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in both:
                pump.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            for end in (upstream, writer):
                end.close()
                with contextlib.suppress(OSError):
                    await end.wait_closed()
            self._tasks.discard(task)

    async def end(self) -> None:
        """Break all connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def lossy_proxy(port: int) -> AsyncGenerator[LossyProxy]:
    """A proxy in front of a server on this port of the loopback, in this event loop."""
    proxy = LossyProxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
        await server.wait_closed()
