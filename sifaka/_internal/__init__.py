"""Small tools of the library itself; nothing here is for users."""
