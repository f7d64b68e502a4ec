"""The filters of a search as a condition in SQL."""

import json

from sifaka.storage.index import Filters
from sifaka.storage.timestamps import to_microseconds

ADMITTED = """
    versions.tenant = ?1
    AND (?2 IS NULL OR versions.created_at >= ?2)
    AND (?3 IS NULL OR versions.created_at < ?3)
    AND (?4 IS NULL OR ?4 = (
        SELECT passed FROM runs
        WHERE runs.tenant = versions.tenant AND runs.run_id = versions.run_id))
    AND (?5 IS NULL OR NOT EXISTS (
        SELECT value FROM json_each(?5) EXCEPT SELECT tag.value
        FROM runs
        JOIN json_each(CASE WHEN json_valid(runs.tags) THEN runs.tags ELSE '[]' END) AS tag
        WHERE runs.tenant = versions.tenant AND runs.run_id = versions.run_id))
"""
"""Holds for a row of `versions` that a search looks at; its values are those of `bindings`."""


def bindings(tenant: str, only: Filters) -> tuple[object, ...]:
    """The first values of a statement that has `ADMITTED` in it; further ones are `?6` and on."""
    return (
        tenant,
        None if only.since is None else to_microseconds(only.since),
        None if only.until is None else to_microseconds(only.until),
        only.passed,
        json.dumps(only.tags) if only.tags else None,
    )
