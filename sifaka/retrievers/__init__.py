"""Retrievers: where documents for models and critics come from."""
