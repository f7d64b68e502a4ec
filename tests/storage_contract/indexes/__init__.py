"""The indexes that the contract of indexes holds for: a module each.

A module has `make(folder)`, which makes an empty index of its kind and starts the server that it
needs, once for all tests; and it may have `make_expiring(folder, seconds)`: one that forgets a run
so long after it was last put.
"""
