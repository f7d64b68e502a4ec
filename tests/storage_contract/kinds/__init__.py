"""The stores that the contract holds for: a module each.

A module has `make(folder)`, which makes an empty store of its kind and starts the server that it
needs, once for all tests. It may have:

`LACKS`: what this kind of store does not promise, by the names that `pytest.mark.promise` gives to
tests.
`make_expiring(folder, seconds)`: makes an empty store that forgets runs so long after their last
entry.
`damage(store, run_id)`: spoils the second entry of a run, behind the store's back.
"""
