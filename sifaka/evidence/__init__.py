"""Evidence: what sources say about a question, or about the claims of a text.

Four small parts after OpenSift, each of which works with a model and, saying so, without one:
plan -> search -> verify -> classify.
"""
