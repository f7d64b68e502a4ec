"""The editor on labelled sentences: the mistakes it mends, and the edits that are wrong.

`tuning.jsonl` was used to choose its rules, `held_out.jsonl` was not. A line has a kind, a text and
the corrected text, or null where the text is right: a trap, in which every edit is wrong.
`another_hand.jsonl` was written by somebody who has seen neither the rules nor the other sets: it
says what to expect. Its totals may retire a rule; no rule is made of its sentences.
`phrases.jsonl` has sentences that rules of Harper mend which are on by default; it measures
nothing.
"""
