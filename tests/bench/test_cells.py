"""What tells cells apart, and the lines that are theirs."""

import json

import pytest

from sgcl.bench import Cell, Row
from sgcl.bench import cells as cells_module
from sgcl.bench.cells import default_way, key_of
from sgcl.bench.rows import BASELINES, GCL, GRAPH_ROWS, SGCL
from sgcl.errors import InputError
from sgcl.estimator import estimator_for
from sgcl.methods import METHODS
from sgcl.recipes import recipe
from sgcl.workflow import FLOORS


def cell(**changed):
    return Cell(**{"name": "SGCL-T", "method": "sgcl", "dataset": "cora", "protocol": "random", "probe": "converged",
                   "settings": {"smoothing": "taubin", "epochs": 3}, **changed})


def test_a_line_has_the_key_of_its_cell():
    one = cell(seed=2)
    line = json.loads(json.dumps(one.line(test=0.5, settings={"epochs": 3, "smoothing": {"name": "taubin"}, "seed": 2,
                                                              "device": "cpu"})))
    assert key_of(line) == one.key
    assert line["test"] == 0.5
    assert "shortened" not in line


@pytest.mark.parametrize("changed", [{"seed": 1}, {"dataset": "citeseer"}, {"protocol": "public"}, {"measure": "epoch"},
                                     {"probe": "published"}, {"method": "sgcl-graphs"}, {"settings": {"epochs": 4}},
                                     {"settings": {"smoothing": {"name": "taubin", "mu": -0.5}, "epochs": 3}}])
def test_what_changes_a_result_changes_the_key(changed):
    assert cell(**changed).key != cell().key


@pytest.mark.parametrize("changed", [{"name": "mu=-0.4,tau=0.3"}, {"settings": {"epochs": 3}},
                                     {"settings": {"epochs": 3, "device": "meta", "workers": 2}},
                                     {"settings": {"epochs": 3, "smoothing": {"name": "taubin", "mu": -0.4}}}])
def test_what_changes_no_result_does_not(changed):
    assert cell(**changed).key == cell().key


def test_lines_that_are_older_than_cells_are_theirs_too():
    old = {"name": "SGCL-T", "dataset": "cora", "seed": 0, "protocol": "random", "probe": "converged", "test": 0.8,
           "settings": {"epochs": 3}}
    assert key_of(old) == cell().key
    assert key_of({**old, "method": "sgcl", "budget": 0}) == cell().key
    step = {"name": "DGI", "method": "dgi", "nodes": 5000, "peak": 7, "settings": {}}
    assert key_of(step) == Cell("DGI", "dgi", "sbm-5000", measure="memory").key


def test_a_line_with_a_setting_that_is_no_more_belongs_to_no_cell():
    with pytest.raises(InputError, match="no sgcl setting named 'gone'"):
        key_of({"name": "SGCL-T", "dataset": "cora", "settings": {"gone": 1}})


def test_a_floor_is_told_by_its_name_whatever_trains_beside_it():
    floors = [cell(name=name) for name in FLOORS]
    assert len({one.key for one in [*floors, cell()]}) == 4
    assert floors[0].training == floors[1].training != cell().training
    for floor, name in zip(floors, FLOORS, strict=True):
        assert cell(name=name, settings={"epochs": 9}).key == floor.key
        assert (cell(name=name, settings={"hidden_channels": 9}).key == floor.key) == (name != "untrained encoder")
        assert key_of({**floor.line(), "settings": {}}) == key_of(floor.line()) == floor.key


def test_one_training_is_scored_in_several_ways_where_they_share_the_graph():
    assert cell(protocol="public").training == cell(protocol="random", probe="published").training
    assert cell(protocol="development").training == cell(protocol="redrawn").training
    assert cell(protocol="development").training != cell(protocol="random").training
    assert cell(seed=1).training != cell().training


def test_shortened_cells_say_so_and_are_others():
    short = cell().shorten(1)
    assert short.key != cell().key
    assert short.epochs == 1
    assert short.line()["shortened"] == 1
    assert key_of({**short.line(test=0.1), "settings": {"epochs": 1}}) == short.key


def test_a_row_may_change_what_the_recipe_has():
    full = Row("SGCL-T", "sgcl", {"smoothing": "taubin"}).chosen("cora")
    short = Row("short", "sgcl", {"smoothing": "taubin"}, epochs={"cora": 7}).chosen("cora")
    assert short == {**full, "epochs": 7, "warmup": 0}
    assert Row("short", "sgcl", {"smoothing": "taubin"}, epochs={"pubmed": 7}).chosen("cora") == full
    half = Row("half", "sgcl", {"smoothing": "taubin", "lr": 0.004}, times={"lr": 0.5, "epochs": 0.001})
    assert (half.chosen("cora")["lr"], half.chosen("cora")["epochs"]) == (0.002, 1)


def test_a_smoothing_by_its_name_has_the_settings_of_the_recipe(monkeypatch):
    tuned = {"smoothing": {"name": "taubin", "mu": -0.9}, "epochs": 7}
    monkeypatch.setattr(cells_module, "recipe", lambda method, dataset, smoothing=None: dict(tuned))
    assert Row("SGCL-T", "sgcl", {"smoothing": "taubin"}).chosen("cora") == tuned
    assert Row("grid", "sgcl", {"smoothing": {"name": "taubin", "mu": -0.5}}).chosen("cora") == {
        "smoothing": {"name": "taubin", "mu": -0.5}, "epochs": 7}


def test_the_conventional_loss_has_the_encoder_of_sgcl():
    chosen = estimator_for("grace")(**GCL.chosen("cora")).settings
    model = estimator_for("sgcl")(**recipe("sgcl", "cora")).settings
    for name in ("hidden_channels", "num_layers", "activation", "epochs", "normalize_features", "view1", "lr"):
        assert chosen[name] == model[name]


def test_every_method_has_a_row_and_its_settings_are_known():
    for rows, level in (((*SGCL, *BASELINES), "node"), (GRAPH_ROWS, "graph")):
        assert {row.method for row in rows} == {name for name, kind in METHODS.items() if kind.level == level}
        assert len({row.name for row in rows}) == len(rows)
        for row in rows:
            estimator_for(row.method)(**row.chosen("cora" if level == "node" else "mutag"))
    assert all(recipe(row.method, name) for row in (*SGCL, *BASELINES) for name in ("cora", "citeseer"))


def test_a_row_says_whose_its_settings_are():
    assert Row("DGI", "dgi").origin("cora") == "recipe"
    assert Row("DGI", "dgi").origin("sbm-100") == "the method's defaults"


def test_the_usual_way_to_score():
    assert default_way("cora") == ("development", "converged")
    assert default_way("mutag") == ("tu", "svc")


def test_what_stands_beside_the_features_and_what_does_not_are_two_floors():
    floors = [Cell("untrained encoder", "sgcl", "photo", 0, "random", "converged", settings={"embedding": which})
              for which in ("first", "features")]
    assert floors[0].key != floors[1].key
    assert floors[0].key == Cell("untrained encoder", "sgcl", "photo", 0, "random", "converged").key
