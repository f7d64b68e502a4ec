"""ONNX models for fastembed, from their files alone.

How a model's output becomes one vector is not in the ONNX file. It is known of the models that
fastembed lists, and of folders in the layout of Sentence Transformers, which say it in
`1_Pooling/config.json`.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sifaka.embeddings.local import Encode
from sifaka.embeddings.protocol import Role, Vector
from sifaka.errors import ConfigurationError

_ONNX = ("onnx/model.onnx", "model.onnx", "model_optimized.onnx")


def load(folder: Path) -> Encode:
    """The model of a folder.

    Raises:
        ConfigurationError: It is not known how to make vectors with it.
    """
    kind: Any = import_module("fastembed").TextEmbedding
    name = _described(folder, kind) or _listed(folder, kind)
    model = kind(name, specific_model_path=str(folder), local_files_only=True, cuda=False)

    def encode(texts: Sequence[str], role: Role) -> Sequence[Vector]:
        ask = model.query_embed if role == "query" else model.passage_embed
        return [vector.tolist() for vector in ask(texts)]

    return encode


def _listed(folder: Path, kind: Any) -> str:
    """The model of fastembed's list whose name, or whose repository's, the folder has."""
    for listed in kind.list_supported_models():
        known = (listed["model"], listed["sources"]["hf"] or "")
        if folder.name.casefold() in {name.rpartition("/")[2].casefold() for name in known}:
            return listed["model"]
    raise ConfigurationError(
        f"fastembed: {str(folder)!r} has no 1_Pooling/config.json, and no known model has its name",
        "name the folder like the model, such as bge-small-en-v1.5",
    )


def _described(folder: Path, kind: Any) -> str | None:
    """The name under which the model is made known to fastembed, if the folder describes it."""
    pooling = folder / "1_Pooling" / "config.json"
    if not pooling.is_file():
        return None
    said = json.loads(pooling.read_text(encoding="utf-8"))
    modes = {"CLS": "pooling_mode_cls_token", "MEAN": "pooling_mode_mean_tokens"}
    mode = next((name for name, key in modes.items() if said.get(key)), None)
    onnx = next((file for file in _ONNX if (folder / file).is_file()), None)
    if mode is None or onnx is None:
        raise ConfigurationError(
            f"fastembed: {str(folder)!r} has no ONNX model with CLS or mean pooling",
            f"give a folder with one of {', '.join(_ONNX)}",
        )
    descriptions: Any = import_module("fastembed.common.model_description")
    name = f"local/{folder}"
    # Its registry is the process's, and refuses a name that it has.
    if all(listed["model"] != name for listed in kind.list_supported_models()):
        kind.add_custom_model(
            model=name,
            pooling=descriptions.PoolingType[mode],
            normalization=True,
            sources=descriptions.ModelSource(url="file:"),
            dim=said["word_embedding_dimension"],
            model_file=onnx,
        )
    return name
