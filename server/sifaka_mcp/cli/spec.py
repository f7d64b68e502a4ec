"""The file behind `--spec`: validators and critics as YAML or JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sifaka._internal.explain import explain
from sifaka.errors import ConfigurationError

Specs = Sequence[Mapping[str, object]]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid")

    validators: list[dict[str, Any]] = []
    critics: list[str | dict[str, Any]] = []


def parse_spec(text: str, name: str) -> tuple[Specs, Sequence[str | Mapping[str, object]] | None]:
    """The validators and the critics of a file; the critics are None when it names none.

    Raises:
        ConfigurationError: The file has another form.
    """
    import yaml

    try:
        # YAML's safe loader passes on Python's own errors for a value that is not of its tag.
        spec = _Spec.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise _wrong(f"{name}: neither YAML nor JSON: {reason}") from error
    except ValidationError as error:
        raise _wrong(f"{name}: {explain(error)}") from error
    except RecursionError:
        raise _wrong(f"{name}: nested too deeply") from None
    except (ValueError, LookupError, AttributeError) as error:
        raise _wrong(f"{name}: a value is not of its YAML type") from error
    return spec.validators, spec.critics if "critics" in spec.model_fields_set else None


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(what, "write {validators: [...], critics: [...]}")
