"""The tasks: one call, one result. The tools of the server and the commands call the same ones."""

from sifaka.tasks.criticism import critique
from sifaka.tasks.history import History, look_up
from sifaka.tasks.improvement import improve, improve_sync
from sifaka.tasks.inquiry import research
from sifaka.tasks.validation import ValidationReport, validate
from sifaka.tasks.verification import verify

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
