"""A clock that a test sets."""


class Clock:
    """Says what `now` was set to.

    Args:
        now: In seconds.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
