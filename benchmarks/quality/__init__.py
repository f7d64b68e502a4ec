"""The quality of selection, in worlds whose error rates are known.

`python -m benchmarks.quality` runs them; docs/quality.md says what they mean. Models, judges and
critics are scripted with given rates; everything else is the engine as it is: `Chain.run`.
"""
