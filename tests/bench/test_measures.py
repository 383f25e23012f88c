"""What is measured, and what is not looked at."""

from dataclasses import replace

import pytest

from sgcl import datasets
from sgcl.bench import Cell, measures
from sgcl.bench.rows import BASELINES
from sgcl.bench.tables.costs import MEMORY
from sgcl.errors import InputError
from sgcl.estimator import estimator_for
from sgcl.evaluation import PROTOCOLS

SMALL = {"epochs": 2, "hidden_channels": 8}


def row(name):
    return next(row for row in MEMORY.rows if row.name == name)


@pytest.mark.parametrize(("name", "begun"), [("ProGCL-weight", lambda method: method.mixture.any()),
                                             ("AUGCL", lambda method: method.weighs),
                                             ("GREET", lambda method: method.discriminating)])
def test_a_measured_step_has_what_begins_late(name, begun, monkeypatch):
    made = estimator_for(row(name).method)(**row(name).settings, hidden_channels=8)
    graph = made.graph(datasets.load("grid"))
    method = made.untrained(graph.num_features)
    monkeypatch.setattr(made, "untrained", lambda in_channels: method)
    measures.step(made, graph, 2 if name == "GREET" else 1)
    assert begun(method)


def test_settings_are_chosen_without_a_look_at_test_labels(monkeypatch):
    data = datasets.load("digits")
    cell = Cell("DGI", "dgi", "digits", 100, "random", None, "validation", settings=SMALL)
    test = PROTOCOLS["random"].split(data, cell.seed).test
    monkeypatch.setattr(measures, "load", lambda dataset: data)
    (true,) = measures.measure([cell])
    data.y[test] = data.y[test.flip(0)]
    (shuffled,) = measures.measure([cell])
    assert true["val"] == shuffled["val"]
    assert "test" not in true


def test_hindsight_tells_the_best_of_the_same_training():
    plain = Cell("DGI", "dgi", "digits", 1, "random", "converged", settings={"epochs": 12, "hidden_channels": 8})
    (line,), (seen,) = (measures.measure([replace(plain, measure=measure)]) for measure in ("probe", "hindsight"))
    assert seen["last"] == line["test"] == seen["by_epoch"][12]
    assert seen["test"] == max(seen["by_epoch"].values()) >= seen["last"]
    assert len(seen["by_epoch"]) == 10


def test_attributes_of_nodes_are_asked_for():
    if not datasets.available("mutag"):
        pytest.skip("needs the files of mutag")
    with pytest.raises(InputError, match="mutag has no node attributes"):
        measures.measure([Cell("raw features", "sgcl-graphs", "mutag", 0, "tu", "svc", "attributes")])


def test_a_floor_that_cannot_be_scored_says_so(monkeypatch):
    cell = Cell("raw features", "dgi", "digits", 0, "random", "converged", settings=SMALL)
    monkeypatch.setattr(measures.workflow, "floor_rows", lambda made, graph, names: {})
    (line,) = measures.measure([cell])
    assert line["failed"] == "there are no features to score"


def test_the_delta_keeps_its_value_and_spreads():
    plain, smooth = (measures.measure([Cell(name, "sgcl", "grid", measure="filter", settings={"smoothing": name})])[0][
        "by_distance"] for name in ("identity", "taubin"))
    assert plain == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert smooth[0] == 1.0
    assert 0 < smooth[1] < 1


def test_every_baseline_is_measured_on_block_models():
    names = {row.name for row in MEMORY.rows if MEMORY.ways(row, "sbm-5000")}
    assert {row.name for row in BASELINES} <= names
    assert not any("/" in name for name in names)
