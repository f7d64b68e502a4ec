"""The file behind `--spec`: validators and critics as YAML or JSON."""

from collections.abc import Mapping, Sequence
from typing import cast

from sifaka.errors import ConfigurationError

Specs = Sequence[Mapping[str, object]]


def parse_spec(text: str, name: str) -> tuple[Specs, Sequence[str | Mapping[str, object]] | None]:
    """The validators and the critics of a file; the critics are None when it names none.

    Raises:
        ConfigurationError: The file has another form.
    """
    import yaml

    try:
        # YAML's safe loader passes on Python's own errors for a value that is not of its tag.
        found: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise _wrong(name, f"neither YAML nor JSON: {reason}") from error
    except RecursionError:
        raise _wrong(name, "nested too deeply") from None
    except (ValueError, LookupError, AttributeError) as error:
        raise _wrong(name, "a value is not of its YAML type") from error
    if not isinstance(found, dict):
        raise _wrong(name, "not a spec")
    spec = cast("Mapping[object, object]", found)
    for key in spec:
        if key not in {"validators", "critics"}:
            raise _wrong(name, f"unknown key {key!r:.40}")
    validators = _list(spec.get("validators", []), f"{name}: validators")
    for at, item in enumerate(validators):
        if not isinstance(item, Mapping):
            raise _wrong(f"{name}: validators[{at}]", "not a mapping")
    if "critics" not in spec:
        return cast("Specs", validators), None
    critics = _list(spec["critics"], f"{name}: critics")
    for at, item in enumerate(critics):
        if not isinstance(item, str | Mapping):
            raise _wrong(f"{name}: critics[{at}]", "neither a name nor a mapping")
    return cast("Specs", validators), cast("Sequence[str | Mapping[str, object]]", critics)


def _list(value: object, place: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise _wrong(place, "not a list")
    return cast("Sequence[object]", value)


def _wrong(place: str, what: str) -> ConfigurationError:
    return ConfigurationError(f"{place}: {what}", "write {validators: [...], critics: [...]}")
