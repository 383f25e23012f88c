from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from sgcl import registry
from sgcl.errors import InputError
from sgcl.registry import Registry
from sgcl.smoothing import SMOOTHINGS


@dataclass(frozen=True)
class Round:
    radius: float = 1.0

    def __post_init__(self) -> None:
        if self.radius < 0:
            raise InputError(f"Round: radius is {self.radius}")


@dataclass(frozen=True)
class Square:
    side: int


@pytest.fixture
def shapes(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """One part of its own, one from another package, and one of a package that is broken."""
    outside = [EntryPoint("square", f"{__name__}:Square", "shapes"), EntryPoint("broken", "no_such_module:X", "shapes"),
               EntryPoint("round", f"{__name__}:Square", "shapes")]
    monkeypatch.setattr(registry, "entry_points", lambda group: outside if group == "shapes" else [])
    monkeypatch.setattr(EntryPoint, "load", _load)
    return Registry("shape", {"round": Round}, "shapes")


def _load(point: EntryPoint) -> type:
    module, _, name = point.value.partition(":")
    if module != __name__:
        raise ModuleNotFoundError(f"No module named {module!r}")
    found: type = globals()[name]
    return found


def test_a_part_goes_to_json_and_back(shapes):
    assert shapes.describe(Round(2.0)) == {"name": "round", "radius": 2.0}
    assert shapes.build({"name": "round", "radius": 2.0}) == Round(2.0)
    assert shapes.build("round") == shapes.build({"name": "round"}) == Round()


def test_a_description_is_not_used_up(shapes):
    spec = {"name": "round", "radius": 2.0}
    shapes.build(spec)
    assert spec == {"name": "round", "radius": 2.0}


def test_parts_of_other_packages_join_and_none_can_take_a_name_of_ours(shapes):
    assert list(shapes) == ["round", "square", "broken"]
    assert len(shapes) == 3
    assert "square" in shapes
    assert shapes["square"] is Square
    assert shapes["round"] is Round
    assert shapes.name_of(Square(2)) == "square"
    assert list(shapes) == ["round", "square", "broken"]


@pytest.mark.parametrize(("spec", "message"), [
    ("rund", r"no shape named 'rund'; did you mean 'round'\? known: broken, round, square"),
    ({"name": "round", "radios": 2}, "no shape setting named 'radios'; did you mean 'radius'"),
    ({"radius": 2}, "{'radius': 2} is not a shape: give a name, or a name with settings such as {'name': 'round'}"),
    ({"name": 3}, "{'name': 3} is not a shape"),
    (None, "None is not a shape"),
    (5, "5 is not a shape"),
    (["round"], r"\['round'\] is not a shape"),
    ({"name": "round", "radius": -1}, "Round: radius is -1"),
    ({"name": "round", "radius": "far"}, "shape 'round' cannot be made from {'radius': 'far'}"),
    ("square", "shape 'square' cannot be made from {} .*side"),
    ("broken", "shape 'broken' is offered as 'no_such_module:X' by an installed package but cannot be imported"),
])
def test_what_cannot_be_built_is_told_in_one_line(shapes, spec, message):
    with pytest.raises(InputError, match=message) as error:
        shapes.build(spec)
    assert "\n" not in str(error.value)


def test_a_part_without_a_name_is_told():
    nobody = Registry("shape", {"round": Round}, "shapes-of-nobody")
    with pytest.raises(InputError, match="Square is not a known shape: offer it under the entry-point group 'shapes"):
        nobody.name_of(Square(1))


def test_settings_of_a_smoothing_that_are_no_numbers_are_told():
    with pytest.raises(InputError, match=r"smoothing 'taubin' cannot be made from {'mu': 'low'}"):
        SMOOTHINGS.build({"name": "taubin", "mu": "low"})
