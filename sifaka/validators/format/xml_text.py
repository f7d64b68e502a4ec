"""XML, by expat: no entity is declared, so none is expanded, and nothing is fetched."""

from xml.parsers import expat

from sifaka.validators.format.reading import (
    DEPTH_LIMIT,
    Locate,
    Malformed,
    Schema,
    no_place,
    plain,
)
from sifaka.validators.format.schema import Json


def read(text: str, schema: Schema | None) -> tuple[Json, Locate]:
    """No value, of a text that is well-formed XML.

    Raises:
        Malformed: It is not, declares an entity, or has a prefix that is not declared.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    open_: list[str] = []

    def begin(name: str, _: object) -> None:
        if len(open_) == DEPTH_LIMIT:
            raise ValueError(f"it is nested more than {DEPTH_LIMIT} levels deep")
        open_.append(f", in <{name.rpartition(' ')[2]}> of line {parser.CurrentLineNumber}")

    def declare(name: str, *_: object) -> None:
        raise ValueError(f"it declares the entity {name[:60]!r}, and none is expanded")

    parser.specified_attributes = True  # not the defaults of a declaration, again and again
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: open_.pop()
    parser.EntityDeclHandler = declare
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError) as error:
        reason = plain(str(error).partition(": line ")[0]) + "".join(open_[-1:])
        passed = text.encode(errors="surrogatepass")[: parser.CurrentByteIndex]
        raise Malformed(reason, len(passed.decode(errors="replace"))) from None
    return None, no_place
