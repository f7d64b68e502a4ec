"""What a damaged row does to those who read it."""

UNREADABLE = (TypeError, ValueError, OverflowError)
"""What comes of a value of another type, of text that is not UTF-8, and of an impossible moment."""
