"""Names of the design documents that have another form here: each is answered with what to use."""

import sys
from functools import cache
from pathlib import Path


@cache
def table() -> dict[str, str]:
    """What to use instead of each name, by module or class and name."""
    import tomllib

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def instead_of(owner: str, name: str) -> str | None:
    """What to use instead of a name of a module or a class; None when there is nothing to say."""
    return table().get(f"{owner}.{name}")


def no_attribute(owner: str, name: str) -> AttributeError:
    """The error for an attribute that a class does not have, with what to use instead of it."""
    advice = instead_of(owner, name)
    return AttributeError(f"a {owner} has no {name!r}" + (f": {advice}" if advice else ""))


class _Finder:
    """Runs last in an import (PEP 302), so only for modules that do not exist."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        owner, _, module = name.rpartition(".")
        if owner.startswith("sifaka") and (advice := instead_of(owner, module)):
            raise ModuleNotFoundError(f"there is no {name}: {advice}", name=name)


def answer_imports() -> None:
    """Make an import of a module of the documents say what to import instead."""
    sys.meta_path.append(_Finder)
