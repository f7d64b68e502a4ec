"""What chat models send around a text, and honest texts that look like it."""

from tests.sifaka.models.drafts.made import Made

NOTICE = (
    "The pool will be closed from 3 March because we repair the filter. Members can use the pool "
    "in Hall Street. Cards stay valid there. We open again on 17 March."
)
SHORTER = (
    "The pool is closed from 3 to 16 March while we repair the filter. Your card is valid at the "
    "pool in Hall Street."
)
LETTER = (
    "Hi Mr Brandt, sorry but your parcel 8812 is late, it was send to the wrong depot. It will "
    "come on Friday. We pay you back the 7.90 euros of shipping."
)
REPLY = (
    "Dear Mr Brandt,\n\nYour parcel 8812 was sent to the wrong depot and will arrive on Friday. We "
    "will refund the 7.90 euros for shipping.\n\nPlease excuse the delay."
)
GERMAN = "Die Werkstatt hat im August zu. Abholen geht nur freitags. Fragen bitte an Herrn Lenz."
DEUTSCH = "Im August ist die Werkstatt geschlossen. Abholung nur freitags, Fragen an Herrn Lenz."
CODE = "def add(a, b):\n    return a+b\n\nprint(add(1, 2))"
BETTER_CODE = (
    "def add(first: int, second: int) -> int:\n    return first + second\n\nprint(add(1, 2))"
)
BRIEF = "Make it shorter and clearer."
POLITE = "Write it as a polite e-mail."

WRAPPED = (
    Made(f"Here's a tighter version:\n\n{SHORTER}", SHORTER, NOTICE, BRIEF),
    Made(f"Sure thing!\n\n{SHORTER}", SHORTER, NOTICE, BRIEF),
    Made(f"---\n\n{SHORTER}\n\n---", SHORTER, NOTICE, BRIEF),
    Made(f"{SHORTER}\n\n---\n\n**Word count:** 27", SHORTER, NOTICE, BRIEF),
    Made(f"{SHORTER}\n\n*(27 words, down from 34)*", SHORTER, NOTICE, BRIEF),
    Made(f"{SHORTER}\n\nKey improvements:\n\n1. Active voice\n2. No repetition", SHORTER, NOTICE),
    Made(f"<result>\n{SHORTER}\n</result>", SHORTER, NOTICE, BRIEF),
    Made(f'{{"rewrite": "{SHORTER}"}}', SHORTER, NOTICE, BRIEF),
    Made(f'```json\n{{"text": "{SHORTER}"}}\n```', SHORTER, NOTICE, BRIEF),
    Made(f"```\n{SHORTER}\n```\n\nThis cuts a third of the words.", SHORTER, NOTICE, BRIEF),
    Made(f"> {SHORTER}", SHORTER, NOTICE, BRIEF),
    Made(f"“{SHORTER}”", SHORTER, NOTICE, BRIEF),
    Made(f"<think>\nThree sentences.\n</think>\n\n{SHORTER}", SHORTER, NOTICE, BRIEF),
    Made(f"{SHORTER}<|im_end|>", SHORTER, NOTICE, BRIEF),
    Made(f"Rewritten text:\n{SHORTER}", SHORTER, NOTICE, BRIEF),
    Made(f"Subject line aside, here is the e-mail:\n\n{REPLY}", REPLY, LETTER, POLITE),
    Made(f"{REPLY}\n\n[Add your signature here.]", REPLY, LETTER, POLITE),
    Made(f"Of course! Here is a more polite e-mail:\n\n---\n\n{REPLY}", REPLY, LETTER, POLITE),
    Made(f"Gerne! Hier die überarbeitete Fassung:\n\n{DEUTSCH}", DEUTSCH, GERMAN, "Kürzer."),
    Made(f"{DEUTSCH}\n\nÄnderungen:\n- Verben ergänzt\n- knapper", DEUTSCH, GERMAN, "Kürzer."),
    Made(f"{SHORTER}\n\n如果还需要修改，请告诉我。", SHORTER, NOTICE, BRIEF),
)
"""Answers that come back alone, or are asked for again."""
FIRST_WRAPPED = (
    Made("Here is a poem about it:\n\nThe sea is wide.", None, "", "A poem of the sea."),
    Made("Of course! Here's a draft:\n\n---\n\nWe are open.", "We are open.", "", "A notice."),
    Made("We are open again.\n\n---\n\nFeel free to adapt it.", None, "", "Write a notice."),
    Made("```\nWe are open again.\n```", "We are open again.", "", "Write a notice."),
    Made("<think>\nShort.\n</think>\nWe are open.", "We are open.", "", "Write a notice."),
)
"""The same, of first versions."""
NO_TEXT = (
    Made("I can't help with rewriting this kind of notice.", None, NOTICE, BRIEF),
    Made("Sorry, but I'm unable to assist with that.", None, NOTICE, BRIEF),
    Made("Could you share the text you want me to shorten?", None, NOTICE, BRIEF),
    Made("Should the e-mail mention the parcel number 8812?", None, LETTER, POLITE),
    Made("The text is already clear and concise.", None, NOTICE, BRIEF),
    Made(f"**Formal:**\n{SHORTER}\n\n**Casual:**\n{SHORTER} See you!", None, NOTICE, BRIEF),
    Made(f"Option A: {SHORTER}\n\nOption B: {NOTICE}", None, NOTICE, BRIEF),
    Made(
        f"1. Short:\n\n{SHORTER}\n\n2. Shorter:\n\n{SHORTER.replace('while we', 'to')}",
        None,
        NOTICE,
        BRIEF,
    ),
    Made(f"{NOTICE} Bye.\n\nHere is the completed text:\n\n{SHORTER}", None, NOTICE, BRIEF),
    Made("<think>\nThe user wants it shorter", None, NOTICE, BRIEF),
    Made(BRIEF, None, NOTICE, BRIEF),
)
"""Answers that hold no text, or several."""
HONEST = (
    Made(SHORTER, None, NOTICE, BRIEF),
    Made(REPLY, None, LETTER, POLITE),
    Made(f"Subject: Your parcel 8812\n\n{REPLY}\n\nKind regards,\nAnna", None, LETTER, POLITE),
    Made(f"{REPLY}\n\nBest wishes,\n[Your name]", None, LETTER, POLITE),
    Made(
        "Dear Mr Brandt,\n\nyour parcel 8812 went to the wrong depot. You have two options:\n\n"
        "Option 1: wait until Friday, and we refund the 7.90 euros.\n"
        "Option 2: collect it today.\n\nPlease tell us which one you prefer.",
        None,
        LETTER,
        "Make an e-mail of it that offers two options: to wait or to collect it today.",
    ),
    Made(
        "Closed from 3 to 16 March: the pool. Cards are valid in Hall Street.", None, NOTICE, BRIEF
    ),
    Made(
        "Pool closed from 3 to 16 March:\n\n- we repair the filter\n- your card is valid at the "
        "pool in Hall Street\n- we open again on 17 March",
        None,
        NOTICE,
        "Make it a list.",
    ),
    Made("Shopping list:\n\n- milk\n- two eggs", None, "shopping list: milk, 2 eggs", "As a list."),
    Made(BETTER_CODE, None, CODE, "Add types."),
    Made("```sh\nmake test\n```", None, "make tests", "Show the command in a fence."),
    Made("```python\nprint(add(1, 2))\n```", None, "print(add(1,2))", "Format it."),
    Made('{\n  "pool": "closed",\n  "until": "16 March"\n}', None, NOTICE, "Write it as JSON."),
    Made('{"notice": "The pool is closed until 16 March."}', None, NOTICE, "One JSON field."),
    Made("pool: closed\nuntil: 16 March\nuse: Hall Street", None, NOTICE, "Write it as YAML."),
    Made("---\ntitle: Pool\n---\n\n" + SHORTER, None, NOTICE, "Add front matter."),
    Made(f"<p>{SHORTER}</p>", None, NOTICE, "Write it as HTML."),
    Made(f"# Pool closed in March\n\n{SHORTER}", None, NOTICE, "Give it a title."),
    Made(
        f"{SHORTER}\n\nPS: The sauna stays open.", None, NOTICE, "Add a PS: the sauna stays open."
    ),
    Made("Is the pool open? Not until 17 March.", None, NOTICE, "As a question and its answer."),
    Made(DEUTSCH, None, GERMAN, "Kürzer."),
    Made(
        "In August the workshop is closed. Collect things on Fridays only, and ask Mr Lenz.",
        None,
        GERMAN,
        "Translate into English.",
    ),
    Made(
        "I can't help with refunds, said the clerk. The parcel is at the depot.",
        None,
        "I cant help with refunds, said the clerk. The parcel are at the depot.",
        "Correct it.",
    ),
    Made(
        "Changes made:\n- the pool is closed\n- cards are valid in Hall Street",
        None,
        "Changes made\n- pool closed\n- cards valid in Hall Street",
        "Write whole sentences.",
    ),
    Made("Which pool is closed in March?", None, NOTICE, "Ask a quiz question about it."),
    Made(f"{NOTICE}\n\nWe look forward to seeing you!", None, NOTICE, "Make it friendlier."),
    Made(f"To all members:\n\n{SHORTER}", None, NOTICE, "Write it as a notice to members."),
    Made(f"Dear members,\n\n{SHORTER}\n\nYour team of the pool", None, NOTICE, "As a letter."),
)
"""Texts that come back to the last byte, or after one question whether they are meant."""
