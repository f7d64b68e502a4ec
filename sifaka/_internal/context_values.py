"""Values of context variables, for as long as a block lasts."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def setting(variable: ContextVar[T], value: T) -> Generator[None]:
    """Within this context, a variable has a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
