"""The surroundings of every model call: ledger, journal, breakers, monitoring, recovery."""
