"""CSV, strictly, by the standard library; every row has the fields of the first."""

import csv
from io import StringIO

from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of
from sifaka.validators.format.reading import (
    Locate,
    Malformed,
    Schema,
    line_starts,
    plain,
    refuse,
)
from sifaka.validators.format.schema import Json

_QUOTED = patterns_of(__file__, "csv")["quoted"]


def read(text: str, schema: Schema | None) -> tuple[Json, Locate]:
    """The rows of a table in CSV as objects of strings, and their places.

    Fields are separated by commas; by semicolons or tabs where the header has no comma outside
    quotation marks.

    Raises:
        Malformed: It is no CSV, has one column or one row alone, or a row with more or fewer
            fields than the header.
    """
    header = _QUOTED.sub("", text.lstrip()).partition("\n")[0]
    mark = next((each for each in ",;\t" if each in header), None)
    if mark is None:
        raise Malformed("the first row has no comma, semicolon or tab, so there are no columns")
    starts, at = line_starts(text), 0
    lines = StringIO(text.removeprefix("\ufeff").rstrip("\r\n"), newline="")
    reader = csv.reader(lines, delimiter=mark, strict=True)
    rows: list[tuple[Span, list[str]]] = []
    try:
        for row in reader:
            rows.append(((starts[at], starts[reader.line_num]), row))
            at = reader.line_num
    except csv.Error as error:
        raise Malformed(f"row {len(rows) + 1}: {plain(str(error))}", starts[at]) from None
    if len(rows) < 2:
        raise Malformed("there is one row alone, and a table has a header and rows")
    names = rows[0][1]
    refuse(
        (start, f"row {number} has {len(row)} instead of {len(names)} fields")
        for number, ((start, _), row) in enumerate(rows, 1)
        if len(row) != len(names)
    )
    records = [dict(zip(names, row, strict=True)) for _, row in rows[1:]]
    return records, lambda path: rows[int(path[0]) + 1][0] if path else None
