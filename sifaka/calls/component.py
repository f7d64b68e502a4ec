"""The interface of a chain to its validators, critics and writers besides their work."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

from sifaka._internal.immutable import Frozen
from sifaka._internal.naming import function_name, function_place
from sifaka.record.claims import CheckOptions, ClaimChecker
from sifaka.record.rule_choice import RuleChoice

_BUILT_IN = "sifaka."


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The model and the means that a chain gives its components before a run or a replay."""

    model: Any = None
    """Asked by those that name no model; None without one."""
    open: Callable[[Any], Any] | None = None
    """Makes a model of its name; `sifaka.models.provider.provider_model` when None."""
    checker: ClaimChecker | None = None
    """Checks claims against evidence, for those that do."""
    search: bool = True
    """True when there are sources to search; otherwise only documents at hand count."""
    rules: RuleChoice | None = None
    """The editor's rules that are wanted; `default` when None."""
    format: str | None = None
    """The format of the text, for those that name none; recognised by its look when None."""


class ClaimCheck(NamedTuple):
    """One check of claims that a component makes."""

    name: str
    """The name that its results are filed under."""
    options: CheckOptions


class Component:
    """A part of a chain that says what it needs. The defaults suit one that needs nothing."""

    @property
    def models(self) -> tuple[Any, ...]:
        """The models that it names, and once it is bound all that it asks.

        Their calls are charged where they are made.
        """
        return ()

    @property
    def claim_checks(self) -> tuple[ClaimCheck, ...]:
        """Its checks of claims against evidence."""
        return ()

    @property
    def source(self) -> object:
        """The object or the function whose code does its work; None for a plugin's.

        A bug in code of the caller is logged with all its words. Texts of several tenants pass
        through a plugin, whose words are never logged.
        """
        return self

    def calls(self, text: str = "") -> int:
        """The least number of model calls that its work on a text takes."""
        return 0

    def bind(self, binding: Binding) -> Self:
        """The component with what it needs.

        Raises:
            ConfigurationError: It needs a model and there is none, or its own cannot be used.
        """
        return self

    def spec(self) -> Mapping[str, object]:
        """The component as a run's record keeps it: data that it can be made from again.

        One that is code is only named: `{"type": "object", ...}`.
        """
        return code_spec(self)


class Bindable(Protocol):
    """The abilities of a `Component`, to be combined with the work that a component does."""

    @property
    def models(self) -> tuple[Any, ...]:
        """See `Component`."""
        ...

    @property
    def claim_checks(self) -> tuple[ClaimCheck, ...]:
        """See `Component`."""
        ...

    def calls(self, text: str = "") -> int:
        """See `Component`."""
        ...

    def bind(self, binding: Binding) -> Self:
        """See `Component`."""
        ...

    def spec(self) -> Mapping[str, object]:
        """See `Component`."""
        ...


class Adapted(Component):
    """A component around an object of other code, which need not be a component itself.

    Args:
        inner: The object.
        spec: The data that it was made from, if any.
    """

    def __init__(self, inner: Any, spec: Mapping[str, object] | None = None) -> None:
        self.inner = inner
        self._spec = spec
        kind = type(inner).__name__ if spec is None else str(spec["type"])
        name = getattr(inner, "name", None)
        self.name: str = name if isinstance(name, str) and name.strip() else kind

    @property
    def models(self) -> tuple[Any, ...]:
        """The object's own, if it is a component."""
        return models_of(self.inner)

    @property
    def claim_checks(self) -> tuple[ClaimCheck, ...]:
        """The object's own, if it is a component."""
        return self.inner.claim_checks if isinstance(self.inner, Component) else ()

    @property
    def source(self) -> object:
        """The object; None when it was made from data, as by a plugin."""
        return self.inner if self._spec is None else None

    def calls(self, text: str = "") -> int:
        """The object's own, if it is a component."""
        return self.inner.calls(text) if isinstance(self.inner, Component) else 0

    def bind(self, binding: Binding) -> Self:
        """This one around the bound object, if that is a component."""
        if not isinstance(self.inner, Component):
            return self
        return type(self)(self.inner.bind(binding), self._spec)

    def spec(self) -> Mapping[str, object]:
        """The data that the object was made from, or its class and name."""
        return code_spec(self.inner) if self._spec is None else self._spec


class FunctionComponent(Component):
    """A component around a function of other code.

    Args:
        function: Does the work.
        name: The name that its results are filed under; the function's when None.
    """

    def __init__(self, function: Callable[..., Any], *, name: str | None = None) -> None:
        self.function = function
        self.name = name or function_name(function)

    @property
    def source(self) -> object:
        """The function."""
        return self.function

    def spec(self) -> Mapping[str, object]:
        """The function by its module and its name: it is code."""
        return {"type": "object", "class": function_place(self.function), "name": self.name}


def code_spec(component: object) -> dict[str, object]:
    """Names code in a record: only a program that has the code resumes a run with it."""
    kind = f"{type(component).__module__}.{type(component).__qualname__}"
    return {"type": "object", "class": kind, "name": getattr(component, "name", "")}


class DataComponent(Frozen, Component):
    """A component that is data: its fields are its options, and `type` is their name."""

    def spec(self) -> Mapping[str, object]:
        """Its type and its options; a subclass of other code is only named."""
        if not type(self).__module__.startswith(_BUILT_IN):
            return code_spec(self)
        kind = type(self).model_fields["type"].default
        return {"type": kind} | self.model_dump(mode="json", exclude_defaults=True, by_alias=True)


def models_of(part: object) -> tuple[Any, ...]:
    """The models of a part that may be of other code."""
    return part.models if isinstance(part, Component) else ()
