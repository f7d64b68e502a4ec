"""The phases of an iteration, one module each."""
