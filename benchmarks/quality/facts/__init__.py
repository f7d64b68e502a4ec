"""The guard of facts on labelled rewrites: what it lets pass, and what it refuses.

A line has a kind, a text, a task, a good rewrite and a bad one. `tuning.jsonl` was used to choose
the rules, `held_out.jsonl` was not.
"""
