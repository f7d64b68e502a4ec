"""Claims: what a text states as a fact, and what the evidence says about it."""
