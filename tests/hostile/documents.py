"""Documents around a text, as their readers know them."""

import zipfile
from collections.abc import Callable, Mapping
from html import escape
from io import BytesIO

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def _zipped(files: Mapping[str, str]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def _docx(text: str) -> bytes:
    lines = (escape(line) for line in text.splitlines())
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    return _zipped({
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_MAIN}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="a" Type="{_OFFICE}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    })  # fmt: skip


def _pdf(text: str) -> bytes:
    """A page with the bytes of the text as its drawing: each so many are a string that is shown."""
    shown = (text[at : at + 400].encode("utf-8").hex() for at in range(0, len(text), 400))
    drawing = b"\n".join(f"BT /F1 9 Tf 9 9 Td <{line}> Tj ET".encode() for line in shown)
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
    )
    out, places = BytesIO(), list[int]()
    out.write(b"%PDF-1.4\n")
    for number, part in enumerate(parts, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, part))
    start = out.tell()
    out.write(b"xref\n0 5\n0000000000 65535 f \n")
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start)
    return out.getvalue()


DOCUMENTS: Mapping[str, Callable[[str], bytes]] = {".docx": _docx, ".pdf": _pdf}
"""By the suffix; the texts of the others are documents themselves."""
