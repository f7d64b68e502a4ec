"""Documents of other kinds in a folder: read by real readers, in worker processes."""

import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.search import search
from sifaka.evidence.sources import folder as folders
from sifaka.evidence.sources.folder import FolderAdapter
from sifaka.evidence.sources.readers import plain_text

pytestmark = pytest.mark.anyio
WRITTEN = datetime(2021, 3, 4, 12, 0, tzinfo=UTC)
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf_of(*pages: str, password: str = "") -> bytes:
    """A PDF with a page for each text, in Helvetica."""
    writer = PdfWriter()
    font = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"),
        NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica"),
    })  # fmt: skip
    for text in pages:
        page = writer.add_blank_page(600, 800)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = stream
    writer.add_metadata(
        {"/Title": "The setts", "/Author": "A. Lind", "/CreationDate": "D:20210304120000Z"}
    )
    if password:
        writer.encrypt(password)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def docx_of() -> bytes:
    document: Any = docx.Document()
    document.core_properties.title = "Of badgers"
    document.core_properties.author = "A. Lind"
    document.core_properties.modified = WRITTEN
    document.add_heading("Setts", 2)
    paragraph = document.add_paragraph("A badger ")
    paragraph.add_run("digs").bold = True
    hidden = paragraph.add_run(" invisibly")
    hidden.font.hidden = True
    paragraph._p.append(parse_xml(f'<w:ins xmlns:w="{W}"><w:r><w:t> deep</w:t></w:r></w:ins>'))
    paragraph._p.append(
        parse_xml(f'<w:del xmlns:w="{W}"><w:r><w:delText> shallow</w:delText></w:r></w:del>')
    )
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip([c for r in table.rows for c in r.cells], "abcd", strict=True):
        cell.text = text
    out = BytesIO()
    document.save(out)
    return out.getvalue()


async def found(folder: Path, query: str = "badger") -> list[SourceDocument]:
    return list(await FolderAdapter(folder, name="notes").search(query, limit=50))


async def test_each_page_of_a_pdf_is_found_with_its_number_and_the_date(tmp_path: Path) -> None:
    (tmp_path / "setts.pdf").write_bytes(pdf_of("No animal.", "A badger digs here.", "Stoats."))
    assert len(PdfReader(tmp_path / "setts.pdf").pages) == 3
    (page,) = await found(tmp_path)
    assert page.text == "A badger digs here."
    assert page.id == "setts.pdf#page=2"
    assert page.title == "The setts (page 2)"
    assert (page.author, page.published) == ("A. Lind", WRITTEN)


async def test_of_a_docx_what_a_reader_sees_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(docx_of())
    (document,) = await found(tmp_path)
    assert document.text == "## Setts\n\nA badger digs deep\n\na | b\n\nc | d"
    assert document.title == "Of badgers"
    assert (document.author, document.published) == ("A. Lind", WRITTEN)
    assert document.id == "a.docx"

    document = docx.Document()
    document.add_paragraph("The Vardø ferry is white.")
    document.save(str(tmp_path / "memo.docx"))
    (memo,) = await FolderAdapter(tmp_path).search("Vardø ferry", limit=1)
    assert memo.published is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
async def test_texts_with_a_byte_order_mark_are_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes("A badger in smörgås.".encode(encoding))
    assert [each.text for each in await found(tmp_path)] == ["A badger in smörgås."]


WHEN = datetime(2020, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "text", "author", "published"),
    [
        ("a.md", "---\nauthor: A. Lind\ndate: 2020-02-03\n---\n# Badger", "A. Lind", WHEN),
        ("a.md", "# Badger\n\nauthor: B\ndate: 2020-02-03\n", "", None),
        ("a.rst", "Badger\n======\n\n:Date: 2020-02-03\n", "", WHEN),
        ("a.txt", "date: 2020-02-03 badger", "", None),
        ("a.html", "<meta name='author' content='A. Lind'><p>badger", "A. Lind", None),
        ("a.html", "<meta property='article:author' content='https://x.y/b'><p>badger", "", None),
        (
            "a.html",
            "<meta property='article:published_time' content='2020-02-03T00:00:00Z'><p>badger",
            "",
            WHEN,
        ),
    ],
)
async def test_only_an_author_and_a_date_that_a_file_states_are_its_own(
    tmp_path: Path, name: str, text: str, author: str, published: datetime | None
) -> None:
    (tmp_path / name).write_text(text)
    told = [(each.author, each.published) for each in await found(tmp_path)]
    assert told == [(author, published)]


async def test_files_that_are_skipped_are_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "good.md").write_text("A badger digs.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 badger")
    (tmp_path / "locked.pdf").write_bytes(pdf_of("badger", password="s3cret"))
    (tmp_path / "scanned.pdf").write_bytes(pdf_of(""))
    (tmp_path / "broken.docx").write_bytes(b"PK badger")
    (tmp_path / "old.doc").write_bytes(b"badger")
    (tmp_path / "b.txt").write_bytes("smörgås".encode("latin-1"))
    (tmp_path / "out.md").symlink_to("/etc/hostname")
    adapter = FolderAdapter(tmp_path, name="notes")
    searched = await search([adapter], ["badger"])
    assert [each.id for each in searched.documents] == ["good.md"]
    told = "\n".join(searched.notes)
    for name, reason in {
        "broken.pdf": "broken",
        "locked.pdf": "encrypted",
        "scanned.pdf": "no text in it",
        "broken.docx": "broken",
        "old.doc": ".doc is not read",
        "b.txt": "not UTF-8",
        "out.md": "is a link that leads outside",
    }.items():
        assert adapter.left_out[name].startswith(reason)
        assert name in told
        assert adapter.left_out[name] in told


@pytest.mark.slow
async def test_a_document_that_takes_too_long_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_SECONDS", 1.0)
    (tmp_path / "good.html").write_text("<p>A badger digs.")
    (tmp_path / "bomb.html").write_text("<style>" + "a{" * 950_000)
    bomb = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(docx_of())) as book,
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as larger,
    ):
        for name in book.namelist():
            content = book.read(name)
            if name == "word/document.xml":
                content = content.replace(b"<w:p>", b"<w:p/>" * 20_000_000 + b"<w:p>", 1)
            larger.writestr(name, content)
    (tmp_path / "bomb.docx").write_bytes(bomb.getvalue())
    adapter = FolderAdapter(tmp_path)
    assert [each.id for each in await adapter.search("badger", limit=9)] == ["good.html"]
    assert set(adapter.left_out) == {"bomb.docx", "bomb.html"}


async def test_without_the_extra_the_reason_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        return None

    monkeypatch.setattr("sifaka.evidence.sources.readers.find_spec", missing)
    (tmp_path / "a.pdf").write_bytes(pdf_of("badger"))
    adapter = FolderAdapter(tmp_path)
    assert await adapter.search("badger", limit=9) == ()
    assert "sifaka-mcp[documents]" in adapter.left_out["a.pdf"]


async def test_one_long_table_leaves_room_for_other_files(tmp_path: Path) -> None:
    rows = "\n".join(f"{n},badger sett number {n} badger,{n * 7}" for n in range(3_000))
    (tmp_path / "all.csv").write_text(f"id,what,count\n{rows}\n")
    for n in range(17):
        (tmp_path / f"{n:02}.md").write_text(f"# Note {n}\n\nOnce a badger was here, in a wood.")
    searched = await search([FolderAdapter(tmp_path)], ["badger sett", "badger"], max_results=20)
    files = [each.id.partition("#")[0] for each in searched.documents]
    assert len(files) == 20
    assert files.count("all.csv") == 3
    (part, *_) = [each for each in searched.documents if each.id == "all.csv#2"] or await found(
        tmp_path, "2999"
    )
    assert part.text.startswith("id,what,count\n"), "each part names the columns"


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>bomb</p>",
        "<p style='display: none'>bomb</p>",
        "<p style='color:red;VISIBILITY : hidden'>bomb</p>",
        "<span style='font-size:0px'>bomb</span>",
        "<style>.x, #y {display:none}</style><p class='a x'>bomb</p><b id='y'>bomb</b>",
        "<style>/* a */ aside{ visibility:hidden }</style><aside><p>bomb</p></aside>",
        "<template>bomb</template><!-- bomb -->",
    ],
)
def test_text_that_a_browser_does_not_show_is_left_out(hidden: str) -> None:
    assert plain_text(f"{hidden}<p>seen</p>") == "seen"


@pytest.mark.parametrize(
    "shown",
    [
        "<p style='font-size:0.9em'>seen</p>",
        "<style>@media print {.x{display:none}} .y{color:red}</style><p class='x'>seen</p>",
        "<style>body{visibility:hidden}</style><body><p>seen</p></body>",
        "<style>.a .x{display:none}</style><p class='x'>seen</p>",
    ],
)
def test_text_that_is_shown_on_a_screen_is_kept(shown: str) -> None:
    assert plain_text(shown) == "seen"
