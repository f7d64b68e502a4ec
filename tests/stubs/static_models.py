"""A real model2vec model, small enough to be made for a test."""

from pathlib import Path
from typing import Any

import pytest

from sifaka.embeddings.protocol import PACKAGED
from sifaka.extras import installed

WORDS = ("alpha", "beta", "gamma", "delta")
"""What it knows; the first two mean nearly the same."""
needs_the_packaged_model = pytest.mark.skipif(
    not installed(PACKAGED), reason="the package has no wheel for this Python or processor"
)
"""For tests of the model that the extra `embeddings` brings, which the group dev has."""


def write_static_model(folder: Path, *, dimension: int = 8, seed: int = 1) -> Path:
    """Write a model of four words into a folder."""
    import numpy
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"[UNK]": 0} | {word: n for n, word in enumerate(WORDS, 1)}
    untyped: Any = models
    tokenizer = Tokenizer(untyped.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    random = numpy.random.default_rng(seed)
    vectors = random.normal(size=(len(vocabulary), dimension)).astype(numpy.float32)
    vectors[2] = vectors[1] + 0.1 * vectors[3]
    StaticModel(vectors, tokenizer).save_pretrained(folder)
    return folder
