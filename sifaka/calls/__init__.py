"""What surrounds every model call: ledger, journal, breakers, monitoring, recovery."""
