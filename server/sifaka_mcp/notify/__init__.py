"""Notifications as runs move, in both eras of the protocol."""
