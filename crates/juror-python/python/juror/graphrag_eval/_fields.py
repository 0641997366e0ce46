"""Settings as objects with attributes, the way the library's configuration classes are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from .._errors import Problem, SettingsError

REQUIRED: Any = object()
"""The default of a field that must be given."""

_F = TypeVar("_F", bound="Fields")


class Fields:
    """Named values; a missing or unknown one raises `SettingsError`, which is a `ValueError`."""

    _fields: ClassVar[Mapping[str, Any]] = {}
    """The names, with their defaults."""
    _parts: ClassVar[Mapping[str, type[Fields]]] = {}
    """The fields that are themselves objects, or lists of such."""
    _takes_others: ClassVar[bool] = False
    """Whether any other name is accepted, too."""

    def __init__(self, **given: Any) -> None:
        problems = [*self._missing(given), *self._unknown(given)]
        if problems:
            raise SettingsError(problems)
        for name, value in {**self._fields, **given}.items():
            setattr(self, name, _part(self._parts.get(name), value))

    @classmethod
    def model_validate(cls: type[_F], given: Any) -> _F:
        """Returns the object of a mapping, or the object itself."""
        return given if isinstance(given, cls) else cls(**given)

    def model_dump(self) -> dict[str, Any]:
        """Returns the values as a dict, down to the innermost."""
        return {name: _dumped(value) for name, value in vars(self).items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}=…' for name in vars(self))})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def _missing(self, given: Mapping[str, Any]) -> list[Problem]:
        names = [name for name, value in self._fields.items() if value is REQUIRED and name not in given]
        return [Problem(f"`{name}` is missing", path=name) for name in names]

    def _unknown(self, given: Mapping[str, Any]) -> list[Problem]:
        names = [] if self._takes_others else [name for name in given if name not in self._fields]
        hint = f"known are {', '.join(self._fields)}"
        return [Problem(f"unknown setting `{name}`", path=name, hint=hint) for name in names]


def set_values(fields: Fields) -> dict[str, Any]:
    """Returns what is set, as Juror's settings have it: `None` is what was left out."""
    return _set(fields.model_dump())


def _set(values: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in values.items() if value is not None}
    return {name: _set(value) if isinstance(value, dict) else value for name, value in kept.items()}


def _part(kind: type[Fields] | None, value: Any) -> Any:
    if kind is None or value is None:
        return value
    if isinstance(value, list):
        return [kind.model_validate(one) for one in value]
    return kind.model_validate(value)


def _dumped(value: Any) -> Any:
    if isinstance(value, Fields):
        return value.model_dump()
    if isinstance(value, (list, set, tuple)):
        return [_dumped(one) for one in value]
    return value
