"""Loading many modules without the collector of garbage."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def loading() -> Generator[None]:
    """Turn the collector off, and leave alone later what exists at the end.

    Modules and models live as long as the process. While they are loaded, the collector would go
    through all of them several times, a sixth of a server's start, and find nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
