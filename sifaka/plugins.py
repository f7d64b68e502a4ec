"""Components of other packages, found by the entry points that they declare.

A package offers critics, validators and stores under the groups `sifaka.critics`,
`sifaka.validators` and `sifaka.stores`. Nothing of it is imported before a spec or a URL names one
of them, and then only if the operator has allowed the package by its name.
"""

import inspect
import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, cast

from pydantic import BaseModel, ValidationError

from sifaka._internal.explain import explain
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, PluginError, SifakaError

logger = logging.getLogger(__name__)

Family = Literal["critics", "validators", "stores"]
_METHODS = {"critics": "critique", "validators": "validate"}
"""The work of what a package makes."""


class Plugins:
    """The components of the packages that are allowed, each loaded when it is first named.

    Args:
        allowed: Names of distributions as `pip` knows them; none allows nothing.
    """

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self.allowed: frozenset[str] = frozenset(_normalise(name) for name in allowed)

    def offered(self, family: Family, built_in: Iterable[str] = ()) -> Mapping[str, str]:
        """The packages of the components that can be named, by the components' names.

        Args:
            family: The kind of the components.
            built_in: Names that mean something already, and go on meaning that.
        """
        taken = frozenset(built_in)
        packages = {point.name: _package(point) for point in self._list_allowed(family)}
        return {name: packages[name] for name in sorted(packages) if name not in taken}

    def shadowed(self, family: Family, built_in: Iterable[str]) -> Mapping[str, str]:
        """The packages whose components cannot be named: something built in is so called."""
        taken = frozenset(built_in)
        return {p.name: _package(p) for p in self._list_allowed(family) if p.name in taken}

    def load(self, family: Family, name: str) -> Callable[..., Any] | None:
        """The callable that makes the component of a name; None when no package offers one.

        Raises:
            PluginError: The package is not allowed, or what it offers cannot be used.
        """
        points = [point for point in self._list_points(family) if point.name == name]
        allowed = [point for point in points if _normalise(_package(point)) in self.allowed]
        if not points:
            return None
        one = family.removesuffix("s")
        if not allowed:
            package = _package(points[0])
            raise PluginError(
                f"{one} {name!r} is of the package {package!r}, which is not allowed",
                f"if you trust it, add it to the allowed plugins (SIFAKA_PLUGINS={package})",
            )
        if len(allowed) > 1:
            packages = " and ".join(sorted(map(_package, allowed)))
            raise PluginError(f"{packages} both offer a {one} {name!r}", "allow one of them")
        (point,) = allowed
        try:
            made: object = point.load()
        # Foreign code may fail in any way at its import: the process goes on without it.
        except (Exception, SystemExit) as error:
            raise self._refuse(point, one, "could not be imported", error) from error
        if not callable(made):
            raise PluginError(
                f"{_describe_point(point, one)} is not usable: {point.value!r} is a "
                f"{type(made).__name__}, not a class or a function",
                f"report it to the makers of {_package(point)}",
            )
        return made

    def make(
        self, family: Family, spec: Mapping[str, object], place: str
    ) -> tuple[Any, dict[str, object]] | None:
        """The component that a spec describes, and the spec as the record keeps it.

        Args:
            family: The kind of the component.
            spec: Its `type`, and its options.
            place: The place of the spec, for errors.

        Returns:
            None when no package offers one of that type.

        Raises:
            PluginError: The package is not allowed, or what it offers cannot be used.
            ConfigurationError: The options are not those of the component.
        """
        kind = spec.get("type")
        maker = self.load(family, kind) if isinstance(kind, str) else None
        if maker is None:
            return None
        recorded = _as_data(spec, place)
        options = {name: value for name, value in recorded.items() if name != "type"}
        one = family.removesuffix("s")
        try:
            if isinstance(maker, type) and issubclass(maker, BaseModel):
                made = maker.model_validate(recorded if "type" in maker.model_fields else options)
            else:
                make = cast("Callable[..., Any]", maker)
                _check_options(make, options, place)
                made = make(**options)
            if not callable(getattr(made, _METHODS[family], None)):
                raise PluginError(
                    f"the plugin {kind!r} made a {type(made).__name__}, which has no method "
                    f"`{_METHODS[family]}`",
                    "report it to its makers",
                )
            return made, recorded
        except ValidationError as error:
            raise ConfigurationError(explain(error, place)) from error
        except ConfigurationError as error:
            raise ConfigurationError(
                f"{place}: {error.message.removeprefix(f'{place}: ')}", error.suggestion
            ) from error
        except SifakaError:
            raise
        except Exception as error:
            (point,) = (p for p in self._list_allowed(family) if p.name == kind)
            raise self._refuse(point, one, "could not be made", error) from error

    def _refuse(self, point: EntryPoint, one: str, what: str, error: BaseException) -> PluginError:
        if isinstance(error, Exception):
            report_failure(logger, f"plugin {_package(point)}", error)
        return PluginError(
            f"{_describe_point(point, one)} {what}: {type(error).__name__}",
            f"see the log, and mend or leave out {_package(point)}",
        )

    def _list_allowed(self, family: Family) -> list[EntryPoint]:
        if not self.allowed:
            return []
        return [p for p in self._list_points(family) if _normalise(_package(p)) in self.allowed]

    def _list_points(self, family: Family) -> list[EntryPoint]:
        """The entry points that packages have declared; reading them imports no package."""
        points = tuple(entry_points(group=f"sifaka.{family}"))
        # One distribution may be found in two folders of the path: the first one counts.
        return list({(p.name, _normalise(_package(p))): p for p in reversed(points)}.values())


def among(name: str, packages: Iterable[str]) -> bool:
    """True when a distribution is among others, in any spelling of their names."""
    return _normalise(name) in map(_normalise, packages)


NO_PLUGINS = Plugins()
"""Nothing is allowed."""


def _as_data(spec: Mapping[str, object], place: str) -> dict[str, object]:
    try:
        return cast("dict[str, object]", json.loads(json.dumps(dict(spec))))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{place}: the options of a plugin are plain data, and some are not",
            "construct the component and give that, where they cannot be",
        ) from error


def _check_options(maker: Callable[..., Any], options: Mapping[str, object], place: str) -> None:
    """Raise a ConfigurationError for options that the maker does not take."""
    try:
        inspect.signature(maker).bind(**options)
    except TypeError as error:
        raise ConfigurationError(f"{place}: {error}", "see the plugin's documentation") from error
    except ValueError:  # a maker that cannot be looked into
        return


def _describe_point(point: EntryPoint, one: str) -> str:
    return f"{one} {point.name!r} of the package {_package(point)!r}"


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "?"


def _normalise(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
