"""The page of baselines, and the scripts behind its lines."""

import json
from pathlib import Path

import pytest
import torch

from sgcl import datasets
from sgcl.estimator import estimator_for
from sgcl.evaluation import PROTOCOLS
from sgcl.methods import METHODS
from sgcl.recipes import recipe
from sgcl.runs import read_lines

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


@pytest.fixture
def small(monkeypatch):
    """The script, with recipes that train in no time."""
    import accuracy

    monkeypatch.setattr(accuracy, "recipe", lambda *about: {"epochs": 2, "hidden_channels": 8})
    return accuracy


def row(name):
    from claims import ROWS

    return next(row for row in ROWS if row.name == name)


def line(name, test, *, seed=0, dataset="cora", protocol="public", probe="published", budget=0):
    return {"name": name, "dataset": dataset, "seed": seed, "protocol": protocol, "probe": probe, "budget": budget,
            "test": test, "val": 0.5, "untrained": 0.25, "seconds_cpu": 7.0}


def test_every_method_has_a_row_and_is_scored_in_ways_that_exist():
    from claims import PROBES, ROWS, SHARED

    assert {row.method for row in ROWS} == {name for name, kind in METHODS.items() if kind.level == "node"}
    assert [row.name for row in ROWS if row.method == "progcl"] == ["ProGCL-weight", "ProGCL-mix"]
    for row in ROWS:
        for dataset in ("cora", "citeseer"):
            assert recipe(row.method, dataset)
            estimator_for(row.method)(**{**recipe(row.method, dataset), **row.settings})
            assert row.scored(dataset)[-1] == SHARED
        for claim in row.claims:
            assert claim.protocol in PROTOCOLS
            assert claim.probe in PROBES
            assert set(claim.figures) <= set(datasets.DATASETS)


def test_a_row_says_mean_spread_and_difference():
    from baselines import beside_papers

    out = beside_papers([line("DGI", 0.1), line("DGI", 0.80), line("DGI", 0.82, seed=1),
                         line("DGI", 0.5, dataset="citeseer"), line("DGI", 0.1, probe="converged"),
                         line("DGI", 0.9, budget=8)], "cora")
    assert "| DGI | public, published | 81.00 ± 1.41 | 2 | 82.30 ± 0.60 | paper | -1.30 | 7 |" in out
    assert not any(text.startswith("More than") for text in out)


def test_what_is_far_from_its_paper_is_named():
    from baselines import beside_papers

    assert "More than 1.5 points from the published figure: DGI (public split, -2.30)." in beside_papers(
        [line("DGI", 0.80)], "cora")


def test_what_was_not_run_is_there_with_its_command():
    from baselines import beside_papers

    out = beside_papers([line("DGI", 0.8, seed=seed) for seed in range(3)], "cora")
    assert "| GRACE | grace, converged | not run here |  | 83.30 ± 0.40 | paper |  |  |" in out
    (command,) = (text for text in out if "accuracy.py" in text)
    assert " grace " in command
    assert " dgi " not in command
    assert command.endswith("--seeds 3`.")


def test_the_shared_table_has_floors_first_then_the_best():
    from baselines import together

    shared = {"protocol": "random", "probe": "converged"}
    out = together([line("GRACE", 0.7, **shared), line("raw features", 0.6, **shared), line("SGCL-T", 0.8, **shared),
                    line("GRACE", 0.75, **shared, budget=8), line("DGI", 0.9)], "cora")
    assert [text.split(" | ")[0] for text in out[2:6]] == ["| raw features", "| untrained encoder", "| SGCL-T",
                                                           "| GRACE"]
    assert out[5] == "| GRACE | 70.00 | 50.00 | 25.00 | 1 | 7 | 75.00 |"


def test_the_memory_table_shows_the_last_measurement():
    from baselines import memory

    cells = [{"name": "DGI", "nodes": nodes, "peak": peak, "settings": {"hidden_channels": 4}, "seconds_once": 1.0,
              "seconds_step": 2.0} for nodes, peak in ((5000, 9e9), (5000, 1e9), (20_000, 4e9), (50_000, 10e9))]
    assert "| DGI | 4 | 1,000 MB | 4,000 MB | 10,000 MB | 1.00 | 1 | 2.0 |" in memory(cells)


def test_a_run_is_a_line_for_each_way_of_scoring_and_is_run_again_with_a_new_recipe_alone(small, tmp_path, monkeypatch):
    results = tmp_path / "lines.jsonl"
    small.run_row(row("SGCL-T"), "digits", 0, 0, results)
    first = results.read_text()
    lines = read_lines(results)
    assert [line["name"] for line in lines] == ["SGCL-T", "raw features", "untrained encoder"]
    assert {(line["protocol"], line["probe"], line["seed"]) for line in lines} == {("random", "converged", 0)}
    assert lines[0]["untrained"] == lines[2]["test"]
    assert lines[0]["settings"]["smoothing"]["name"] == "taubin"
    assert lines[0]["settings"]["seed"] == 0
    assert lines[0]["versions"]["torch"] == torch.__version__
    small.run_row(row("SGCL-T"), "digits", 0, 0, results)
    assert results.read_text() == first
    monkeypatch.setattr(small, "recipe", lambda *about: {"epochs": 1, "hidden_channels": 8})
    small.run_row(row("SGCL-T"), "digits", 0, 0, results)
    assert [line["name"] for line in read_lines(results)[3:]] == ["SGCL-T"]


def test_a_budget_is_spent_without_a_look_at_test_labels(small, tmp_path, monkeypatch):
    data = datasets.load("digits")
    test = PROTOCOLS["random"].split(data, small.SEARCH_SEED).test
    chosen = []
    for name in ("true", "shuffled"):
        results = tmp_path / f"{name}.jsonl"
        chosen.append((small._best(row("DGI"), "digits", 3, data, results),
                       [line["val"] for line in read_lines(tmp_path / f"{name}-search.jsonl")]))
        data.y[test] = data.y[test.flip(0)]
    assert chosen[0] == chosen[1]
    assert len(chosen[0][1]) == 3
    assert chosen[0][0] in small.GRID[:3]
    tried = [json.loads(text) for text in (tmp_path / "true-search.jsonl").read_text().splitlines()]
    assert [line["settings"]["lr"] for line in tried] == [0.001, 0.002, 0.0005]


def test_half_of_the_epochs_moves_what_begins_in_one_of_them(small, monkeypatch):
    monkeypatch.setattr(small, "recipe", lambda *about: {"epochs": 200, "start_epoch": 101, "warmup": 20})
    made = small._estimator(row("ProGCL-mix"), "cora", 0, (2.0, 0.5))
    assert [made.settings[name] for name in ("epochs", "start_epoch", "warmup", "scheme")] == [100, 50, 10, "mix"]


@pytest.mark.parametrize(("name", "begun"), [("ProGCL-weight", lambda method: method.mixture.any()),
                                             ("AUGCL", lambda method: method.weighs),
                                             ("GREET", lambda method: method.discriminating)])
def test_a_measured_step_has_what_begins_late(name, begun, monkeypatch):
    import methods_memory

    made = estimator_for(row(name).method)(**methods_memory.AT_ONCE[row(name).method], hidden_channels=8)
    graph = made.graph(datasets.load("grid"))
    method = made.untrained(graph.num_features)
    monkeypatch.setattr(made, "untrained", lambda in_channels: method)
    methods_memory.step(made, graph, methods_memory.EPOCHS.get(row(name).method, 1))
    assert begun(method)
