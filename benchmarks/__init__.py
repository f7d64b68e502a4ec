"""The costs of Sifaka: time per iteration, call and start, bytes per run, tokens of tools.

`python -m benchmarks` runs all, `python -m benchmarks NAME` one of them. Each file that defines
`measure` is one benchmark: how it is measured, what it found, and the goal it is held against.
"""
