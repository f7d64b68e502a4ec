"""What Sifaka costs: in time per iteration, call and start, in bytes per run, in tokens of tools.

`python -m benchmarks` runs all, `python -m benchmarks NAME` one of them. Each file that defines
`measure` is one benchmark: how it is measured, what it found, and the goal it is held against.
"""
