"""Adapters: the places where documents are searched for."""
