"""The readers that are compared."""

from collections.abc import Callable, Mapping
from importlib import import_module
from io import BytesIO
from types import MappingProxyType
from typing import Any, NamedTuple

from sifaka.evidence.sources.readers import NotText, read_document


class Reader(NamedTuple):
    """One way to read a file: of its suffix and its content makes a text."""

    package: str
    """The distribution whose licence and size count."""
    text: Callable[[str, bytes], str]


def _ours(suffix: str, content: bytes) -> str:
    try:
        return "\n".join(read_document(suffix, content).pages.values())
    except NotText:
        return ""


def _pypdf_layout(suffix: str, content: bytes) -> str:
    del suffix
    pages: Any = import_module("pypdf").PdfReader(BytesIO(content)).pages
    return "\n".join(page.extract_text(extraction_mode="layout") for page in pages)


def _pymupdf(suffix: str, content: bytes) -> str:
    with import_module("pymupdf").open(stream=content, filetype=suffix[1:]) as document:
        return "\n".join(page.get_text() for page in document)


def _pypdfium2(suffix: str, content: bytes) -> str:
    del suffix
    with import_module("pypdfium2").PdfDocument(content) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def _markitdown(suffix: str, content: bytes) -> str:
    converter: Any = import_module("markitdown").MarkItDown()
    return converter.convert_stream(BytesIO(content), file_extension=suffix).text_content


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "pypdf, python-docx (ours)": Reader("pypdf", _ours),
        "pypdf, its layout mode": Reader("pypdf", _pypdf_layout),
        "pypdfium2": Reader("pypdfium2", _pypdfium2),
        "PyMuPDF": Reader("pymupdf", _pymupdf),
        "MarkItDown": Reader("markitdown", _markitdown),
    }
)
DOCX = frozenset({"pypdf, python-docx (ours)", "PyMuPDF", "MarkItDown"})
"""Those that read DOCX too."""
