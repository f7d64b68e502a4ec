"""TOML, by the standard library."""

import tomllib

from sifaka.text.tables import patterns_of
from sifaka.validators.format.reading import (
    Locate,
    Malformed,
    Schema,
    as_json,
    line_starts,
    no_place,
    plain,
)
from sifaka.validators.format.schema import Json

_PATTERNS = patterns_of(__file__, "toml")


def read(text: str, schema: Schema | None) -> tuple[Json, Locate]:
    """The value of a text that is TOML, with dates as strings. The place of no part is known.

    Raises:
        Malformed: It is not TOML, or has no value in it.
    """
    if long_key := _PATTERNS["long_key"].search(text):
        raise Malformed("a key has too many parts", long_key.start())
    try:
        value = as_json(tomllib.loads(text.removeprefix("\ufeff")))
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except ValueError as error:
        # Python 3.11 gives the position in the message alone.
        hit, starts = _PATTERNS["told"].fullmatch(str(error)), line_starts(text)
        assert hit is not None
        at = starts[int(hit["line"]) - 1] + int(hit["column"]) - 1 if hit["line"] else starts[-1]
        raise Malformed(plain(hit["reason"]), at) from None
    if not value:
        raise Malformed("it holds no value")
    return value, no_place
