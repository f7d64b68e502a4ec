"""Code, queries, data, logs, settings, traces and sessions that nobody put into a fence."""

import pytest

from sifaka.editor import edit, lint

BLOCKS = {
    "a Python function": ("def teh(recieve):\n    return  recieve"),
    "a Python module": (
        "import os\n"
        "from teh import recieve\n"
        "\n"
        "class Adress(object):\n"
        "    # We recieve the the thing\n"
        "    def untill(self, teh):\n"
        "        for recieve in teh:\n"
        "            print recieve\n"
        "\n"
        "    x = 1\n"
        "\n"
        "teh = untill()\n"
        "print  teh\n"
    ),
    "one query": ("SELECT teh FROM recieve"),
    "one query in small letters": ("select teh from recieve"),
    "a query over several lines": (
        "SELECT teh,\n       recieve\nFROM adress\nWHERE untill = 3\n  AND teh > 1\nORDER BY teh\n"
    ),
    "two rows": ("name,teh\nfoo,recieve\n"),
    "a header": ("name,teh"),
    "values between semicolons": (
        "id;recieve;comment\n1;teh;We recieve the the parcel .\n2;a apple;It is teh last one\n"
    ),
    "quoted values": ('id,comment\n1,"We recieve, teh parcel"\n2,It is a apple\n'),
    "a log with dates": (
        "2024-01-02 10:00:00 ERROR could not recieve teh  parcel\n"
        "2024-01-02 10:00:01 INFO teh the the end\n"
    ),
    "a system log": ("Jan 12 10:00:00 host sshd[12]: recieve teh the the\n"),
    "a log with levels in brackets": (
        "[INFO] recieve teh the the file\n[ERROR] could not  recieve it\n"
    ),
    "a log with levels": ("ERROR: Could not recieve teh file\nINFO: teh the the end\n"),
    "an INI file": ("[recieve]\nteh = a apple\nuntill = the the end of it\n"),
    "a YAML file": (
        "name: teh  recieve\n"
        "description: We recieve the the parcel\n"
        "items:\n"
        "  - teh apple\n"
        "  - a apple\n"
    ),
    "an environment file": ('RECIEVE=teh  apple\nexport TEH="the the apple"\n'),
    "a TOML table": ('[tool.recieve]\nteh = "a apple"\n'),
    "a Python traceback": (
        "Traceback (most recent call last):\n"
        '  File "teh.py", line 3, in recieve\n'
        "    return  recieve\n"
        "ValueError: could not recieve teh the the parcel\n"
    ),
    "a Java trace": (
        'Exception in thread "main" java.lang.Error: teh recieve\n'
        "\tat com.teh.Recieve.untill(Recieve.java:3)\n"
        "Caused by: we could not recieve the the parcel\n"
    ),
    "a Node trace": (
        "Error: Cannot recieve teh module\n"
        "    at Function.recieve (teh.js:12:3)\n"
        "    at untill (adress.js:3:1)\n"
    ),
    "a session with output": (
        "$ git commit -m 'teh  recieve'\n[main abc123] teh recieve\n 1 file changed , the the end\n"
    ),
    "commands": ("git commit teh\ncd recieve && ls teh\n"),
    "a session with a host": ("user@host:~$ recieve teh  the the\nwe recieve teh\n"),
    "installing": ("pip install recieve teh\ncurl -X POST teh\n"),
    "a JavaScript function": (
        "function recieve(teh) {\n  const untill = teh;\n\n  return  untill\n}\n"
    ),
    "JavaScript lines": ("const teh = require('recieve')\nteh.forEach(recieve => untill)\n"),
    "C": ("#include <teh.h>\nint recieve(int teh) {\n  return teh  + 1;\n}\n"),
    "Java": (
        "public class Teh {\n"
        "  private int recieve;\n"
        "\n"
        "  public int untill() {\n"
        "    return recieve;\n"
        "  }\n"
        "}\n"
    ),
    "Go": ("package teh\n\nfunc recieve(teh int) int {\n\treturn teh\n}\n"),
    "Rust": ("fn recieve(teh: i32) -> i32 {\n  teh\n}\n"),
    "Ruby": ("def recieve\n  puts teh\nend\n"),
    "a style sheet": (".teh {\n  recieve: untill;\n}\n"),
    "a Dockerfile": ("FROM teh\nRUN recieve teh the the\nCOPY . untill\n"),
    "a makefile": ("recieve: teh\n\techo  teh the the\n"),
    "a diff": (
        "diff --git a/teh b/teh\n"
        "@@ -1,2 +1,2 @@\n"
        "-we recieve teh parcel\n"
        "+we recieve the the parcel\n"
    ),
    "an HTTP request": ("GET /recieve HTTP/1.1\nHost: teh\nAccept: recieve\n"),
    "Lisp": ("(defun recieve (teh)\n  (untill teh))\n"),
    "broken JSON": ('{\n  "teh": "a apple",\n  "recieve": untill\n'),
    "a function under a sentence": (
        "Run this now in the shell:\ndef teh(recieve):\n  return  recieve\n"
    ),
    "R": ("teh <- recieve(untill)\nprint teh\n"),
    "a crontab": ("0 5 * * 1 recieve teh the the\n"),
    "XML settings": ("<key>teh</key>\n<string>recieve the the</string>\n"),
    "PowerShell": ("PS C:\\> recieve teh the the\n"),
    "Haskell": ("recieve :: Int -> Int\nrecieve teh = teh\n"),
    "PHP": ("<?php\n$teh = recieve;\necho $teh;\n"),
    "Perl": ("my $teh = shift;\nprint recieve;\n"),
}

BEFORE = "This is what they gave us to read.\n\n"
AFTER = "\n\nThat is the end of it.\n"


@pytest.mark.parametrize("name", BLOCKS)
def test_an_unfenced_block_comes_back_byte_for_byte(name: str) -> None:
    for text in (BLOCKS[name], BEFORE + BLOCKS[name] + AFTER):
        for variant in (text, text.replace("\n", "\r\n")):
            assert edit(variant).text == variant
            assert not [issue for issue in lint(variant).issues if issue.safe]


@pytest.mark.parametrize("name", BLOCKS)
def test_the_prose_around_it_is_edited_all_the_same(name: str) -> None:
    text = f"We recieve it.\n\n{BLOCKS[name]}\n\nIt is teh end of it.\n"
    expected = f"We receive it.\n\n{BLOCKS[name]}\n\nIt is the end of it.\n"
    assert edit(text).text == expected


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Import the file from teh folder.", "Import the file from the folder."),
        ("Select the item from teh list.", "Select the item from the list."),
        ("Make sure teh door is open.", "Make sure the door is open."),
        ("Note: we recieve it.", "Note: we receive it."),
        (
            "Pros: it is quick and teh price is low.\nCons: we recieve nothing.",
            "Pros: it is quick and the price is low.\nCons: we receive nothing.",
        ),
        (
            "We recieve apples, pears and plums.\nThey get bread, milk and eggs.",
            "We receive apples, pears and plums.\nThey get bread, milk and eggs.",
        ),
        (
            "- buy teh milk;\n- buy teh bread;\n- go home.",
            "- buy the milk;\n- buy the bread;\n- go home.",
        ),
        (
            "Use it for teh tests: we recieve\nit and return it to us;\nelse we keep it.",
            "Use it for the tests: we receive\nit and return it to us;\nelse we keep it.",
        ),
        (
            "Dear all,\nwe recieve teh parcel on Monday.\nBest,\nAnna",
            "Dear all,\nwe receive the parcel on Monday.\nBest,\nAnna",
        ),
        (
            "While we wait, return to\nwith all of the\nclass of 1999, for teh last time",
            "While we wait, return to\nwith all of the\nclass of 1999, for the last time",
        ),
        (
            "At 10:30 we recieve it. WARNING: teh door is open.",
            "At 10:30 we receive it. WARNING: the door is open.",
        ),
        (
            "## Import teh data\n\nGo to teh page and let it load;\nthen close it.",
            "## Import the data\n\nGo to the page and let it load;\nthen close it.",
        ),
        (
            "She asked: what if teh train is late?\nThen we recieve nothing (at all).",
            "She asked: what if the train is late?\nThen we receive nothing (at all).",
        ),
        ("find out if teh door is open", "find out if the door is open"),
        ("Name: Anna Smith\nRole: teh leader", "Name: Anna Smith\nRole: the leader"),
        (
            "Go to the shop; teh door is open; it is late;\nthen we recieve it;\n",
            "Go to the shop; the door is open; it is late;\nthen we receive it;\n",
        ),
    ],
)
def test_prose_that_shares_words_with_programs_is_edited(wrong: str, right: str) -> None:
    assert edit(wrong).text == right
