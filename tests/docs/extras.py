"""The extras of the package, as `pyproject.toml` has them."""

import tomllib

from tests.docs.markdown import read

EXTRAS = frozenset(tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"])
