"""The logs that the contract of logs holds for: a module each.

A module has `make(folder)`, which makes an empty log of its kind and starts the server that it
needs, once for all tests. It may have:

`make_expiring(folder, seconds)`: makes an empty log that forgets runs so long after their last
entry.
`damage(log, run_id)`: spoils the second entry of a run, behind the log's back.
"""
