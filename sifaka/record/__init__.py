"""The record of a run: pure data, which every other part reads and none changes."""
