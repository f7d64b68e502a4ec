"""The tasks: one call, one result. The tools of the server and the commands call the same ones."""

from typing import TYPE_CHECKING

from sifaka._internal.lazy import imported_later

if TYPE_CHECKING:
    from sifaka.tasks.criticism import critique
    from sifaka.tasks.history import History, look_up
    from sifaka.tasks.improvement import improve, improve_sync
    from sifaka.tasks.inquiry import research
    from sifaka.tasks.validation import ValidationReport, validate
    from sifaka.tasks.verification import verify

_PLACES = {
    "History": "sifaka.tasks.history",
    "ValidationReport": "sifaka.tasks.validation",
    "critique": "sifaka.tasks.criticism",
    "improve": "sifaka.tasks.improvement",
    "improve_sync": "sifaka.tasks.improvement",
    "look_up": "sifaka.tasks.history",
    "research": "sifaka.tasks.inquiry",
    "validate": "sifaka.tasks.validation",
    "verify": "sifaka.tasks.verification",
}

__all__ = [
    "History",
    "ValidationReport",
    "critique",
    "improve",
    "improve_sync",
    "look_up",
    "research",
    "validate",
    "verify",
]

__getattr__ = imported_later(__name__, _PLACES)
