import sys

import pytest

from sgcl import InputError
from sgcl.sweep import Grid, Range, Study, read_space


def test_a_grid_is_every_combination_in_order():
    grid = Grid({"a": ["1", "2"], "b": ["x", "y", "x"]})
    assert grid.total == 4
    seen = []
    while (values := grid.ask()) is not None:
        seen.append(values)
        grid.tell({"values": values})
    assert seen == list(grid.corners()) == [{"a": a, "b": b} for a in "12" for b in "xy"]


def test_a_grid_goes_on_where_it_was_also_when_it_has_grown():
    grid = Grid({"a": ["1", "2", "3"]})
    for value in ("3", "1"):
        grid.tell({"values": {"a": value}})
    assert grid.ask() == {"a": "2"}


def test_a_range_is_no_grid():
    with pytest.raises(InputError, match="lr has a range, which a grid cannot walk through: list values, or add --opt"):
        Grid({"lr": Range(0.1, 1)})


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1)])
def test_a_range_has_two_ends(low, high):
    with pytest.raises(InputError, match="expected two numbers, the lower one first"):
        Range(low, high)


SPACE = {"lr": Range(1e-4, 1e-2), "layers": Range(1, 4, whole=True), "act": ["relu", "elu"]}


def value_of(values: dict) -> float:
    return -abs(values["lr"] - 1e-3) - values["layers"] + (values["act"] == "relu")


def tried(study: Study, records: list[dict], until: int) -> list[dict]:
    """Goes on with a study; every third trial fails."""
    for record in records:
        study.tell(record)
    records = list(records)
    while len(records) < until and (values := study.ask()) is not None:
        failed = len(records) % 3 == 2
        scores = {} if failed else {"5": value_of(values) / 2, "10": value_of(values)}
        behind = not failed and study.is_behind(5, scores["5"])
        state = "failed" if failed else "pruned" if behind else "complete"
        if behind:
            scores.pop("10")
        records.append({"values": values, "state": state, "scores": scores, "score": scores.get("10")})
        study.tell(records[-1])
    return records


@pytest.mark.parametrize("cut", [1, 7, 11])
def test_a_study_that_was_cut_short_proposes_what_it_would_have(cut):
    pytest.importorskip("optuna")
    whole = tried(Study(SPACE, 12, seed=3), [], 12)
    begun = tried(Study(SPACE, 12, seed=3), [], cut)
    assert begun == whole[:cut]
    assert tried(Study(SPACE, 12, seed=3), begun, 12) == whole
    assert {record["state"] for record in whole} == {"complete", "pruned", "failed"}
    assert tried(Study(SPACE, 12, seed=4), [], 3) != whole[:3]


def test_proposals_are_of_the_space():
    pytest.importorskip("optuna")
    study = Study(SPACE, 20)
    for record in tried(study, [], 20):
        values = record["values"]
        assert 1e-4 <= values["lr"] <= 1e-2
        assert values["layers"] in (1, 2, 3, 4)
        assert isinstance(values["layers"], int)
        assert values["act"] in ("relu", "elu")
    assert study.ask() is None
    assert list(study.corners()) == [{"lr": 1e-4, "layers": 1, "act": "relu"}, {"lr": 1e-2, "layers": 4, "act": "elu"}]


def test_a_study_needs_optuna_and_trials(monkeypatch):
    pytest.importorskip("optuna")
    with pytest.raises(InputError, match="0 trials: expected at least 1"):
        Study(SPACE, 0)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"Optuna is not installed: pip install 'sgcl\[optuna\]'"):
        Study(SPACE, 1)


def test_a_space_in_words():
    space = read_space(["hidden_channels=64, 128", "drop-edges=0.3 0.5,0.4", "shared=yes,no", "--layer=gat"],
                       ["lr=1e-4..1e-2", "num-layers=1..3", "mask-features=0.1..0.9"], "sgcl")
    assert space == {"hidden_channels": ["64", "128"], "drop_edges": ["0.3 0.5", "0.4"], "shared": ["yes", "no"],
                     "layer": ["gat"], "lr": Range(1e-4, 1e-2), "num_layers": Range(1, 3, whole=True),
                     "mask_features": Range(0.1, 0.9)}


@pytest.mark.parametrize(("grid", "ranges", "message"), [
    ([], [], "nothing to sweep: give --grid NAME=VALUE,VALUE"),
    (["lr"], [], "--grid 'lr': expected a name and its values, e.g. lr=1e-3,1e-4"),
    (["lr="], [], "--grid 'lr=': expected a name and its values"),
    ([], ["lr"], r"--range 'lr': expected a name and its values, e.g. lr=1e-4\.\.1e-2"),
    (["lr=1,2", "lr=3"], [], "--grid 'lr=3': lr is given twice; put all its values in one"),
    (["lr=1,2"], ["lr=1..2"], r"--range 'lr=1\.\.2': lr is given twice"),
    (["seed=0,1"], [], "the best seed is only the luckiest; set one with --seed"),
    (["hiden-channels=64"], [], r"no setting of sgcl 'hiden-channels'; did you mean 'hidden-channels'\?"),
    (["lr=1e-3,fast"], [], "argument --lr: invalid float value: 'fast'"),
    (["num-layers=1,2.5"], [], "argument --num-layers: invalid int value: '2.5'"),
    ([], ["lr=1e-3"], r"--range lr=1e-3: expected LOW\.\.HIGH"),
    ([], ["lr=2..1"], r"--range lr=2\.\.1: a range from 2.0 to 1.0: expected two numbers, the lower one first"),
    ([], ["lr=1..x"], r"--range lr=1\.\.x: could not convert string to float"),
    ([], ["layer=gcn..gat"], r"--range layer=gcn\.\.gat: layer is no number; list its values with --grid"),
    ([], ["shared=no..yes"], r"--range shared=no\.\.yes: shared is no number"),
])
def test_a_space_that_makes_no_sense(grid, ranges, message):
    with pytest.raises(InputError, match=message):
        read_space(grid, ranges, "sgcl")
