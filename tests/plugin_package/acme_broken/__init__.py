"""A package that cannot be imported."""

raise RuntimeError("the private words of a bug at import")
