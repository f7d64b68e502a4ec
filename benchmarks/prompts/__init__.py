"""Sixty texts with tasks that can be checked, and the ways to have a model do them."""
