"""What a sweep goes through, from the words of the command line: ``lr=1e-3,1e-4`` and ``lr=1e-4..1e-2``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sgcl.errors import InputError
from sgcl.options import given_by_name
from sgcl.sweep.proposals import Range, Space


def read_space(grids: Sequence[str], ranges: Sequence[str], method: str) -> Space:
    """Values and ranges by the name of their flag, each value checked.

    >>> read_space(["hidden-channels=64,128"], ["lr=1e-4..1e-2"], "sgcl")
    {'hidden_channels': ['64', '128'], 'lr': Range(low=0.0001, high=0.01, whole=False)}
    """
    found: dict[str, Sequence[str] | Range] = {}
    for flag, texts in (("--grid", grids), ("--range", ranges)):
        for text in texts:
            name, equals, rest = text.partition("=")
            name = name.strip().removeprefix("--").replace("-", "_")
            if not equals or not rest.strip():
                raise InputError(f"{flag} {text!r}: expected a name and its values, e.g. lr=" + (
                    "1e-3,1e-4" if flag == "--grid" else "1e-4..1e-2"))
            if name in found:
                raise InputError(f"{flag} {text!r}: {name} is given twice; put all its values in one")
            if name == "seed":
                raise InputError(f"{flag} {text!r}: the best seed is only the luckiest; set one with --seed")
            values = [value.strip() for value in rest.split(",")]
            found[name] = values if flag == "--grid" else _range(name, rest, method)
            for value in _examples(found[name]):
                given_by_name({name: value}, method)  # raises on what the flag would not take
    if not found:
        raise InputError("nothing to sweep: give --grid NAME=VALUE,VALUE, e.g. --grid lr=1e-3,1e-4")
    return found


def _range(name: str, text: str, method: str) -> Range:
    low, dots, high = text.partition("..")
    if not dots:
        raise InputError(f"--range {name}={text}: expected LOW..HIGH, e.g. lr=1e-4..1e-2")
    (value,) = vars(given_by_name({name: low}, method)).values()
    if isinstance(value, bool | str):
        raise InputError(f"--range {name}={text}: {name} is no number; list its values with --grid")
    try:
        return Range(float(low), float(high), whole=isinstance(value, int))
    except ValueError as error:
        raise InputError(f"--range {name}={text}: {error}") from None


def _examples(values: Sequence[str] | Range) -> Iterator[str]:
    return map(str, values.ends if isinstance(values, Range) else values)
