"""Names for the parts a user picks by word: smoothings, views, samplers, methods.

A part is a class; parts of other packages join through entry points, so adding one needs no change here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sgcl.errors import InputError, unknown_name


class Registry(Mapping[str, type]):
    """Name to class, for one kind of part.

    Args:
        kind: what a part is called in messages, e.g. ``"smoothing"``.
        builtin: the parts of this package by name.
        group: the entry-point group under which other packages offer theirs.
    """

    def __init__(self, kind: str, builtin: Mapping[str, type], group: str) -> None:
        self.kind, self.group = kind, group
        self._parts = dict(builtin)
        self._outside = {point.name: point for point in entry_points(group=group) if point.name not in builtin}

    def __getitem__(self, name: str) -> type:
        if name not in self:
            raise unknown_name(self.kind, name, self)
        if name not in self._parts:
            self._parts[name] = self._loaded(self._outside[name])
        return self._parts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._parts or name in self._outside

    def __iter__(self) -> Iterator[str]:
        return iter([*self._parts, *(name for name in self._outside if name not in self._parts)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def name_of(self, part: Any) -> str:
        """The name under which the class of ``part`` is known."""
        for name in self:
            if self[name] is type(part):
                return name
        raise InputError(f"{type(part).__name__} is not a known {self.kind}: offer it under the entry-point group "
                         f"{self.group!r} to use it in saved runs")

    def describe(self, part: Any) -> dict[str, Any]:
        """A part as JSON: its name and its settings."""
        return {"name": self.name_of(part), **dataclasses.asdict(part)}

    def build(self, spec: Mapping[str, Any] | str) -> Any:
        """The part that :meth:`describe` wrote down, or the one of that name with its defaults."""
        settings = self._as_settings(spec)
        name = settings.pop("name")
        part = self[name]
        known = [field.name for field in dataclasses.fields(part)]
        for key in settings:
            if key not in known:
                raise unknown_name(f"{self.kind} setting", key, known)
        try:
            return part(**settings)
        except TypeError as error:  # text where a number belongs, or a setting without a default left out
            raise InputError(f"{self.kind} {name!r} cannot be made from {settings} ({error})") from error

    def _as_settings(self, spec: Mapping[str, Any] | str) -> dict[str, Any]:
        if isinstance(spec, str):
            return {"name": spec}
        if isinstance(spec, Mapping) and isinstance(spec.get("name"), str):
            return dict(spec)
        raise InputError(f"{spec!r} is not a {self.kind}: give a name, or a name with settings such as "
                         f"{{'name': {next(iter(self))!r}}}")

    def _loaded(self, point: EntryPoint) -> type:
        try:
            part: type = point.load()
        except (ImportError, AttributeError) as error:
            raise InputError(f"{self.kind} {point.name!r} is offered as {point.value!r} by an installed package but "
                             f"cannot be imported ({error}): mend or remove that package") from error
        return part
