"""A folder of files: what is read of pages, PDF, DOCX and other texts, and what is not."""

import os
import threading
import zipfile
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import anyio
import docx
import pytest
from docx.oxml import parse_xml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING, SourceDocument
from sifaka.evidence.pipeline import EvidencePipeline
from sifaka.evidence.search import search
from sifaka.evidence.sources import folder as folders
from sifaka.evidence.sources.catalogue import open_adapters
from sifaka.evidence.sources.folder import FolderAdapter, files_below
from sifaka.evidence.sources.readers import plain_text
from sifaka.extras import install

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


async def ids(adapter: FolderAdapter, query: str = "badger") -> list[str]:
    found = await adapter.search(query, limit=50, filters=ANYTHING)
    return sorted(each.id for each in found)


async def test_texts_of_several_kinds_are_found_in_subfolders_too(folder: Path) -> None:
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "deeper" / "a.md").write_text("# On badgers\n\nA badger digs.")
    for name in ("b.txt", "c.rst", "d.csv", "e.json", "F.TXT"):
        (folder / name).write_text("badger,1\n")
    (folder / "g.png").write_text("badger")
    (folder / "h.py").write_text("badger")
    adapter = FolderAdapter(folder)
    assert await ids(adapter) == ["F.TXT", "b.txt", "c.rst", "d.csv", "deep/deeper/a.md", "e.json"]
    titles = {d.title for d in await adapter.search("badger", limit=9, filters=ANYTHING)}
    assert "On badgers" in titles
    assert "b.txt" in titles


async def test_of_html_what_a_reader_sees_is_read(folder: Path) -> None:
    page = (
        "<html><head><title>T</title><style>badger{}</style></head><body><script>badger()</script>"
    )
    table = "<table><tr><th>Stoats</th><td>12</td></tr></table></body>"
    (folder / "a.html").write_text(f"{page}<h1>Sett</h1><p>A <b>stoat</b> &amp; more</p>{table}")
    adapter = FolderAdapter(folder)
    assert await ids(adapter) == []
    (found,) = await adapter.search("stoat", limit=5, filters=ANYTHING)
    assert "badger" not in found.text
    assert "Sett\nA stoat & more\nStoats 12" in found.text, "words of a line stay together"


async def test_links_that_lead_out_are_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.mkdir()
    (outside / "a.md").write_text("badger")
    (folder / "inside.md").write_text("badger")
    (folder / "to_file.md").symlink_to(outside / "a.md")
    (folder / "to_folder").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "itself.md").symlink_to(folder / "itself.md")
    (folder / "broken.md").symlink_to(folder / "nothing")
    (folder / "within.md").symlink_to(folder / "inside.md")
    assert await ids(FolderAdapter(folder)) == ["inside.md", "within.md"]


async def test_hidden_files_are_not_read_and_a_folder_that_is_a_link_is(
    folder: Path, tmp_path: Path
) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "a.md").write_text("badger")
    (folder / ".hidden.md").write_text("badger")
    (folder / "shown.md").symlink_to(folder / ".hidden.md")
    assert await ids(FolderAdapter(folder)) == []
    (folder / "a.md").write_text("badger")
    (tmp_path / "link").symlink_to(folder)
    assert await ids(FolderAdapter(tmp_path / "link")) == ["a.md"]


async def test_what_is_no_text_is_left_out_and_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_bytes(b"badger \x00\x01\x02")
    (folder / "b.txt").write_bytes("badger smörgås".encode("latin-1"))
    (folder / "c.txt").write_text("badger " * 100)
    (folder / "d.txt").write_text("badger")
    os.mkfifo(folder / "e.txt")
    monkeypatch.setattr(folders, "LARGEST", 500)
    adapter = FolderAdapter(folder)
    assert await ids(adapter) == ["d.txt"]
    assert dict(adapter.left_out) == {
        "a.txt": "binary",
        "b.txt": "not UTF-8",
        "c.txt": "larger than 500 bytes",
        "e.txt": "is no regular file",
    }
    health = await adapter.health()
    assert health.works
    assert health.found.startswith("1 file; left out: a.txt (binary), b.txt (not UTF-8)")


async def test_a_file_that_cannot_be_read_costs_the_others_nothing(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (folder / "a.txt").write_text("badger")
    (folder / "b.txt").write_text("badger")
    (folder / "a.txt").chmod(0)
    adapter = FolderAdapter(folder)
    assert await ids(adapter) == ["b.txt"]
    assert dict(adapter.left_out) == {"a.txt": "permission denied"}


async def test_files_and_bytes_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        (folder / f"{number}.txt").write_text("badger " * 10)
    with monkeypatch.context() as patch:
        patch.setattr(folders, "MOST_FILES", 3)
        few = FolderAdapter(folder)
        assert await ids(few) == ["0.txt", "1.txt", "2.txt"]
        assert len(few.left_out) == 6
    monkeypatch.setattr(folders, "MOST_BYTES", 150)
    small = FolderAdapter(folder)
    assert await ids(small) == ["0.txt", "1.txt"]
    assert "beyond what is read of a folder" in small.left_out.values()
    assert "and 4 more" in (await small.health()).found


async def test_a_file_is_read_again_only_after_it_has_changed(folder: Path) -> None:
    path = folder / "a.txt"
    path.write_text("badger")
    other = folder / "b.txt"
    other.write_text("badger")
    adapter = FolderAdapter(folder)
    (first, second) = await adapter.search("badger", limit=2, filters=ANYTHING)
    assert {first.id, second.id} == {"a.txt", "b.txt"}
    # The same size and time: it is taken for unchanged, so its old text is still there.
    told = path.stat()
    path.write_text("weasel")
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
    assert await ids(adapter) == ["a.txt", "b.txt"]
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns + 1))
    assert await ids(adapter) == ["b.txt"]
    other.unlink()
    assert await ids(adapter) == []


async def test_searches_that_cannot_wait_leave_no_thread_each(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("A badger digs.")
    adapter = FolderAdapter(folder)
    before, is_read = threading.active_count(), threading.Event()

    def read_slowly(folder: Path, most: int) -> dict[str, folders.FileState | str]:
        is_read.wait(10)
        return files_below(folder, most)

    monkeypatch.setattr(folders, "files_below", read_slowly)
    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(partial(adapter.search, "badger", limit=1))
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert threading.active_count() <= before + 1
    is_read.set()
    assert [each.id for each in await adapter.search("badger", limit=1)] == ["a.md"]


async def test_a_long_file_is_found_by_its_parts(folder: Path) -> None:
    filler = "\n\n".join(f"Paragraph {n} says nothing of note." for n in range(1_500))
    (folder / "a.md").write_text(f"# Long\n\n{filler}\n\nThe badger is here.\n")
    (found,) = await FolderAdapter(folder).search("badger", limit=5, filters=ANYTHING)
    assert found.id == "a.md#3"
    assert found.title == "Long (part 3 of 3)"
    assert len(found.text) <= 20_000


async def test_files_of_one_title_are_all_found(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "README.md").write_text(f"# Read me\n\nbadger {name}")
    found = await FolderAdapter(folder).search("badger", limit=5, filters=ANYTHING)
    assert {d.title for d in found} == {"Read me"}
    assert {d.id for d in found} == {"a/README.md", "b/README.md"}


@pytest.mark.parametrize("made", ["missing", "file"])
async def test_what_is_no_folder_is_one_clear_line(tmp_path: Path, made: str) -> None:
    (tmp_path / "file").write_text("badger")
    adapter = FolderAdapter(tmp_path / made, name="notes")
    with pytest.raises(SourceError, match=r"^notes: the folder cannot be read: ") as caught:
        await adapter.search("badger", limit=1, filters=ANYTHING)
    assert str(tmp_path) not in str(caught.value), (
        "a client that searches it must not learn the path"
    )
    assert not (await adapter.health()).works


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>The <b>tower</b> is\n41&nbsp;metres tall.</p>", "The tower is 41 metres tall."),
        ("<h2>Light<span class='mw-editsection'>[edit]</span></h2><p>Red.</p>", "Light\nRed."),
        ("<p>Lost.<sup class='reference'>[1]</sup></p>", "Lost."),
        ("<p>a</p><table><tr><td>b<table><tr><td>c</td></tr></table></td></tr></table>", "a"),
        ("<ol class='references'><li>Inquiry</li></ol><p>a</p>", "a"),
        ("<ul><li>one<ul><li>two</li></ul></li><li>three</li></ul>", "one\ntwo\nthree"),
        ("<p>a<br>b</p><!-- c --><script>d</script><style>e</style>", "a\nb"),
        ("<div hidden>a</div><p>b</p>", "b"),
        ("<math><mi>x</mi><annotation>\\x</annotation></math>", "x"),
        ("<sup class='reference other'>[1]</sup><sup class='x'>2</sup>", "2"),
        ("<div class='a navbox b'>a</div><p class='c'>b</p>", "b"),
        ("<template>a</template><noscript>b</noscript><svg><text>c</text></svg>d", "d"),
        ("<table><tr><td>a</td></tr></table>b", "b"),
        ("plain words", "plain words"),
        ("https://example.org/a.txt", "https://example.org/a.txt"),
        ("<p>unclosed <b>words", "unclosed words"),
        ("", ""),
    ],
)
def test_of_a_page_its_running_text_is_left(html: str, text: str) -> None:
    assert plain_text(html) == text


def test_deep_nesting_is_read() -> None:
    assert plain_text("<div>" * 2_000 + "x") == "x"


@pytest.mark.slow
@pytest.mark.parametrize(
    "element",
    [
        "<svg></svg>",
        *(pytest.param(each, marks=pytest.mark.hostile) for each in ("<br>", "<p>a</p>")),
        *(pytest.param(each, marks=pytest.mark.hostile) for each in ("<td>a", "<annotation>")),
    ],
)
def test_a_page_of_very_many_elements_is_read_in_proportion_to_its_length(element: str) -> None:
    assert plain_text(element * 50_000 + "<p>end</p>", tables=True).endswith("end")


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
    assert install("documents") in adapter.left_out["a.pdf"]


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


async def test_parts_of_one_table_do_not_come_before_all_else_and_a_broken_file_is_named(
    tmp_path: Path,
) -> None:
    rows = [f"Vardø ferry,The Vardø ferry carried {n} passengers" for n in range(6_000)]
    (tmp_path / "all.csv").write_text("ship,fact\n" + "\n".join(rows), encoding="utf-8")
    for n in range(4):
        (tmp_path / f"{n}.md").write_text(f"The Vardø ferry has deck {n}.", encoding="utf-8")
    (tmp_path / "broken.txt").write_bytes(b"\x00\x01\xff")
    adapters = open_adapters([f"town=folder:{tmp_path}"])
    result = await EvidencePipeline(adapters).run("What of the Vardø ferry?", max_results=20)
    first = [each.document.id for each in result.evidence[:7]]
    assert sum(name.startswith("all.csv") for name in first) == 3
    assert any(
        line.startswith("town: left out: broken.txt") for line in (*result.degraded, *result.notes)
    )
