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
    try:
        folder = Path(path).expanduser().absolute()
    except RuntimeError:  # the home folder of an unknown user
        folder = Path(path).absolute()
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

    Raises:
        ConfigurationError: A file of it cannot be read.
    """
    digest = sha256()
    for file in _files(folder):
        try:
            digest.update(_described(folder, file))
        except OSError as error:
            raise ConfigurationError(
                f"{kind}: {str(file)!r} cannot be read: {error.strerror}",
                "let this user read the model's files",
            ) from error
    return f"{kind}:{folder.name}@{digest.hexdigest()[:12]}"


def _described(folder: Path, file: Path) -> bytes:
    size = file.stat().st_size
    name = file.relative_to(folder).as_posix()
    with file.open("rb") as content:
        ends = content.read(_ENDS)
        if size > _ENDS:
            content.seek(max(_ENDS, size - _ENDS))
            ends += content.read(_ENDS)
    return f"{name}\0{size}\0".encode(errors="surrogateescape") + ends


def _files(folder: Path) -> list[Path]:
    # No layout is deeper, and a folder that was named by mistake may hold a whole disk.
    return sorted(
        file
        for file in [*folder.glob("*"), *folder.glob("*/*")]
        if file.suffix in _MODEL_FILES
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
        and file.is_file()
    )
