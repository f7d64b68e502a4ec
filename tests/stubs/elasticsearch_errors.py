"""Errors as Elasticsearch tells them."""

from typing import Any


class ElasticError(Exception):
    """An error object and the status it comes with."""

    def __init__(self, status: int, kind: str, reason: str, **more: Any) -> None:
        super().__init__(reason)
        self.status = status
        self.cause: dict[str, Any] = {"type": kind, "reason": reason, **more}

    def body(self) -> dict[str, Any]:
        if not self.cause["type"]:  # as REST's own refusals are
            return {"error": self.cause["reason"], "status": self.status}
        return {"error": {"root_cause": [self.cause], **self.cause}, "status": self.status}


def rejected() -> ElasticError:
    """What a server with full queues says."""
    return ElasticError(
        429,
        "es_rejected_execution_exception",
        "rejected execution of coordinating operation [coordinating_and_primary_bytes=95396333, "
        "replica_bytes=0, all_bytes=95396333, coordinating_operation_bytes=22949230, "
        "max_coordinating_and_primary_bytes=107374182]",
    )
