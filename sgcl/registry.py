"""Names for the parts a user picks by word: smoothings, views, samplers, methods.

A part is a class; parts of other packages join through entry points, so adding one needs no change here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
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
        if name not in self._parts and name in self._outside:
            self._parts[name] = self._outside[name].load()
        if name not in self._parts:
            raise unknown_name(self.kind, name, self)
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
        settings = {"name": spec} if isinstance(spec, str) else dict(spec)
        part = self[settings.pop("name")]
        known = [field.name for field in dataclasses.fields(part)]
        for key in settings:
            if key not in known:
                raise unknown_name(f"{self.kind} setting", key, known)
        return part(**settings)
