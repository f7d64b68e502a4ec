"""Writes the table of words that the wheel brings: `python -m distribution.word_data`.

Misspellings are those of `typos`, whose program weighs 33 MB and its list 0.4. THIRD-PARTY-LICENSES
names it. Run it after a new version; Linux is needed, where the program's strings can be read.
"""

import json
import re
import struct
import subprocess
import sysconfig
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MISSPELLINGS = ROOT / "sifaka" / "editor" / "misspellings.zlib"
_WORD = re.compile(rb"[a-z]{2,40}")
_RELOCATIONS, _LOADED, _RELATIVE = 4, 1, 8
"""Of ELF: the types of sections that hold addresses and data, and the type of an address."""


def main() -> None:
    """Write the file."""
    known = corrections(candidates(typos().read_bytes()))
    text = "\n".join(f"{word} {' '.join(fixes)}" for word, fixes in sorted(known.items()))
    MISSPELLINGS.write_bytes(zlib.compress(text.encode(), 9))


def typos() -> Path:
    """The program, which is installed beside this interpreter."""
    return Path(sysconfig.get_path("scripts")) / "typos"


def candidates(program: bytes) -> set[str]:
    """The lower-case words among the strings of a program of 64 bits in ELF."""
    return {word.decode("ascii") for word in _strings(program) if _WORD.fullmatch(word)}


def corrections(words: Iterable[str]) -> dict[str, list[str]]:
    """The misspelt ones among the words, with what `typos` would write for them."""
    asked = sorted(words)
    command = [typos(), "--isolated", "--no-check-filenames", "--format", "json", "-"]
    done = subprocess.run(  # noqa: S603 - a fixed command line
        command, input="\n".join(asked) + "\n", stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode not in (0, 2):  # 2: there are misspellings
        raise SystemExit(f"typos failed with status {done.returncode}")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    # A part of a longer word says nothing about the word.
    return {
        each["typo"]: each["corrections"]
        for each in told
        if each.get("type") == "typo" and asked[each["line_num"] - 1] == each["typo"]
    }


def _strings(program: bytes) -> Iterator[bytes]:
    """The texts to which pairs of an address and a length point."""
    (table,) = struct.unpack_from("<Q", program, 40)
    (count,) = struct.unpack_from("<H", program, 60)
    sections = [struct.unpack_from("<IIQQQQ", program, table + 64 * at) for at in range(count)]
    loaded = [(each[3], each[4], each[5]) for each in sections if each[1] == _LOADED]

    def offset(address: int) -> int | None:
        inside = (at + address - start for start, at, size in loaded if 0 <= address - start < size)
        return next(inside, None)

    for section in sections:
        if section[1] == _RELOCATIONS:
            for entry in range(section[4], section[4] + section[5], 24):
                where, kind, address = struct.unpack_from("<QQq", program, entry)
                text, length = offset(address), offset(where + 8)
                if kind & 0xFFFFFFFF == _RELATIVE and text is not None and length is not None:
                    yield program[text : text + struct.unpack_from("<Q", program, length)[0]]


if __name__ == "__main__":
    main()
