"""Folders with the files of a model."""

from hashlib import sha256
from pathlib import Path

from sifaka.errors import ConfigurationError

_MODEL_FILES = frozenset({".bin", ".json", ".model", ".onnx", ".safetensors", ".txt"})
_ENDS = 65_536
"""Bytes read at either end of a file: weights are large, and differ wherever one looks."""


def model_folder(kind: str, path: str) -> Path:
    """The folder of a model, which has to be there.

    Raises:
        ConfigurationError: It is not, or there is no model in it.
    """
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise ConfigurationError(
            f"{kind}: there is no folder {path!r}",
            f"download the model yourself and give its path, as in {kind}:/path/to/model; "
            "nothing is downloaded for you",
        )
    if not _files(folder):
        raise ConfigurationError(
            f"{kind}: there is no model in {path!r}", "give the folder with its config and weights"
        )
    return folder


def model_id(kind: str, folder: Path) -> str:
    """Kind, folder name and a hash of the files, such as `model2vec:potion@1f3a5c7e9b0d`.

    Another model in the same folder has another id; the same one has it on every machine.
    """
    digest = sha256()
    for file in _files(folder):
        size = file.stat().st_size
        digest.update(f"{file.relative_to(folder).as_posix()}\0{size}\0".encode())
        with file.open("rb") as content:
            digest.update(content.read(_ENDS))
            if size > _ENDS:
                content.seek(max(_ENDS, size - _ENDS))
                digest.update(content.read(_ENDS))
    return f"{kind}:{folder.name}@{digest.hexdigest()[:12]}"


def _files(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in _MODEL_FILES
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
        and file.is_file()
    )
