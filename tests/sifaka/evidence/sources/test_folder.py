"""A folder of files: what is read, and what is not; of a page its running text."""

import os
import threading
from functools import partial
from pathlib import Path

import anyio
import pytest

from sifaka.errors import SourceError
from sifaka.evidence.documents import ANYTHING
from sifaka.evidence.sources.folder import FolderAdapter
from sifaka.evidence.sources.readers import plain_text

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


async def test_what_is_no_text_is_left_out_and_told(folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"badger \x00\x01\x02")
    (folder / "b.txt").write_bytes("badger smörgås".encode("latin-1"))
    (folder / "c.txt").write_text("badger " * 100)
    (folder / "d.txt").write_text("badger")
    os.mkfifo(folder / "e.txt")
    adapter = FolderAdapter(folder, largest=500)
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


async def test_files_and_bytes_are_bounded(folder: Path) -> None:
    for number in range(9):
        (folder / f"{number}.txt").write_text("badger " * 10)
    few = FolderAdapter(folder, most_files=3)
    assert await ids(few) == ["0.txt", "1.txt", "2.txt"]
    assert len(few.left_out) == 6
    small = FolderAdapter(folder, most_bytes=150)
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


async def test_searches_that_cannot_wait_leave_no_thread_each(folder: Path) -> None:
    (folder / "a.md").write_text("A badger digs.")
    adapter = FolderAdapter(folder)
    before = threading.active_count()
    with adapter._lock:  # pyright: ignore[reportPrivateUsage] # as a folder that is slow to read
        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(partial(adapter.search, "badger", limit=1))
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
        assert threading.active_count() <= before + 1
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
