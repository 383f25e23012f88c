"""`sgcl evaluate`: every task beside its floors, labels of one's own, several labels a node."""

import csv
import dataclasses
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from sgcl import SGCL, Estimator, runs, workflow
from sgcl.cli import main
from sgcl.datasets import DATASETS, load
from sgcl.evaluation import (
    PROTOCOLS,
    TASKS,
    Development,
    Ogb,
    Random,
    cluster,
    collapse,
    knn_probe,
    link_auc,
    split_links,
)
from sgcl.graph import Graph

QUICK = ["--hidden-channels", "8", "--epochs", "2", "-q"]
FLOORS = ["raw features", "untrained encoder", "propagated features"]
BESIDE = {"name", "run", "dataset", "seed", "task", "protocol", "split_seed", "seconds"}

pytestmark = pytest.mark.filterwarnings("ignore:after epoch")  # two epochs on so little may look like a collapse


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch, datasets):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    assert main(["train", "--dataset", "blocks", *QUICK, "--out", "run", "--seed", "3"]) == 0
    capsys.readouterr()
    return "run"


def evaluated(capsys, *words):
    capsys.readouterr()
    assert main(["evaluate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["results"]


def refused(capsys, *words):
    """The one line of a request that is refused; no run has a new result."""
    capsys.readouterr()
    before = {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()}
    assert main(["evaluate", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()} == before
    return line


def write(file, header, rows):
    with open(file, "w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


# tasks

def test_every_task_has_rows_with_the_floors_beside_them(capsys, run):
    rows = evaluated(capsys, run, "--task", ",".join(TASKS), "-q")
    assert [(row["task"], row["name"]) for row in rows] == [(task, name) for task in TASKS
                                                            for name in (*FLOORS, "SGCL-T")]
    own = {"probe": {"probe", "metric", "test", "val", "C", "step", "disparity", "disparity_scaled", "disparity_reason",
                     "dirichlet_intra", "dirichlet_inter", "intra_edges", "inter_edges"},
           "knn": {"metric", "test", "val", "k"}, "clustering": {"nmi", "ari", "clusters", "inertia"},
           "links": {"metric", "test", "hidden_edges"}, "collapse": {"effective_rank", "mean_cosine", "width"}}
    for row in rows:
        assert set(row) == BESIDE | own[row["task"]]
        assert row["split_seed"] == (None if row["task"] == "collapse" else 3)
        assert row["protocol"] == "random"
    assert runs.read_lines(Path("run/results.jsonl")) == rows


def test_the_values_are_those_of_the_library(capsys, run):
    found = {row["task"]: row for row in evaluated(capsys, run, "--task", "knn,clustering,collapse", "--no-floors")}
    data, embedding = load("blocks"), torch.from_numpy(np.load("run/embeddings.npy"))
    nearest = knn_probe(embedding, data.y, Random().split(data, 3))
    assert (found["knn"]["test"], found["knn"]["val"], found["knn"]["k"]) == (nearest.test, nearest.val, nearest.k)
    clusters = cluster(embedding, data.y, seed=3)
    assert (found["clustering"]["nmi"], found["clustering"]["ari"]) == (clusters.nmi, clusters.ari)
    assert {name: found["collapse"][name] for name in ("effective_rank", "mean_cosine", "width")} == dataclasses.asdict(
        collapse(embedding))


def test_a_table_for_each_task(capsys, run):
    assert main(["evaluate", run, "--task", "knn,clustering,links,collapse", "--seeds", "2", "-q"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    titles = [line for line in out.splitlines() if line.startswith("blocks, ")]
    hidden = round(0.1 * Graph.from_data(load("blocks")).num_edges)
    assert titles == [f"blocks, protocol random, {title}" for title in (
        "nearest neighbours", "2 clusters beside the classes", f"{hidden} links hidden, trained anew without them",
        "signs of collapse")]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]
    assert [row[0] for row in rows] == [*FLOORS, "SGCL-T"] * 4
    assert [row[3] for row in rows[:8]] == ["2"] * 8
    assert [row[-1] for row in rows[-4:]] == ["1"] * 4


def test_collapse_has_no_split_and_is_told_once(capsys, run):
    assert main(["train", "--dataset", "blocks", *QUICK, "--out", "other"]) == 0
    rows = evaluated(capsys, run, "other", "--task", "collapse", "--seeds", "4")
    assert [row["name"] for row in rows] == ["raw features", *["untrained encoder"] * 2, "propagated features",
                                                 *["SGCL-T"] * 2]


@pytest.mark.parametrize(("names", "message"), [
    ("prob", "no task named 'prob'; did you mean 'probe'? known: clustering, collapse, knn, links, probe"),
    ("probe,", "no task named ''"), ("", "no task named ''")])
def test_tasks_must_be_known(capsys, run, names, message):
    assert message in refused(capsys, run, "--task", names)


def test_nothing_is_written_when_a_later_task_cannot_be(capsys, run):
    assert main(["evaluate", run, "--task", "probe", "--protocol", "public"]) == 0
    line = refused(capsys, run, "--task", "collapse,probe,knn", "--protocol", "grace")
    assert "knn_probe: the split has no val nodes, on which it chooses: the protocol 'random' has some" in line


# links

def test_links_are_hidden_from_the_training_and_the_floors(capsys, run, monkeypatch):
    seen, fit = [], Estimator.fit
    before = {file.name: file.read_bytes() for file in Path("run").iterdir() if file.is_file()}
    with monkeypatch.context() as patch:
        patch.setattr(Estimator, "fit", lambda self, graph, **more: (seen.append(graph), fit(self, graph, **more))[1])
        rows = evaluated(capsys, run, "--task", "links", "--seeds", "2", "-q")
    assert len(seen) == 2
    for seed, graph in enumerate(seen):
        hidden = split_links(load("blocks"), seed=seed)
        edges = set(zip(graph.adj.row.tolist(), graph.adj.idx.tolist(), strict=True))
        assert not edges & set(zip(*hidden.positives.tolist(), strict=True))
        assert len(edges) // 2 + hidden.positives.size(1) == Graph.from_data(load("blocks")).num_edges
        model = SGCL(**runs.read_config(Path("run"))["settings"])
        expected = {**workflow.floor_rows(model, graph), "SGCL-T": model.fit_transform(hidden.graph)}
        for row in (row for row in rows if row["split_seed"] == seed):
            assert row["test"] == link_auc(expected[row["name"]], hidden.positives, hidden.negatives)
            assert row["hidden_edges"] == hidden.positives.size(1)
    assert {name: (Path("run") / name).read_bytes() for name in before} == before  # the run itself stays as it was


def test_features_made_from_the_links_are_made_again_from_those_left(capsys, monkeypatch):
    pairs = [(i, (i + step) % 30) for i in range(30) for step in (1, 2, 7)]
    write("edges.csv", ["source", "target"], pairs)
    assert main(["train", "--graph", "edges.csv", "--features", "degree", *QUICK, "--out", "run"]) == 0
    seen = []
    monkeypatch.setattr("sgcl.evaluation.tasks.link_auc", lambda x, *pairs: (seen.append(x), link_auc(x, *pairs))[1])
    evaluated(capsys, "run", "--task", "links", "-q")
    hidden = split_links(workflow.load_graph(runs.read_config(Path("run"))), seed=0)
    assert hidden.graph.x.to_dense().argmax(1).tolist() == [6] * 30        # as the reader made them, of all links
    degree = torch.bincount(hidden.graph.edge_index[0], minlength=30)
    assert seen[0].argmax(1).tolist() == degree.tolist()


def test_a_column_for_each_node_is_no_floor(capsys):
    write("edges.csv", ["source", "target"], [(i, (i + step) % 30) for i in range(30) for step in (1, 7)])
    assert main(["train", "--graph", "edges.csv", "--features", "learned", *QUICK, "--out", "run"]) == 0
    rows = evaluated(capsys, "run", "--task", "links,collapse", "-q")
    assert [row["name"] for row in rows] == ["untrained encoder", "SGCL-T"] * 2


def test_progress_of_the_trainings_goes_to_standard_error(capsys, run):
    assert main(["evaluate", run, "--task", "links"]) == 0
    assert "SGCL-T, links of seed 3 hidden: epoch 2/2" in capsys.readouterr().err


# labels of one's own

@pytest.fixture
def people(capsys):
    """A run on a graph of two camps with names for ids, without labels; one name knows nobody."""
    rng = np.random.default_rng(0)
    names = [f"person {i}" for i in range(60)]
    write("edges.csv", ["source", "target"], [(names[i], names[j]) for i in range(59) for j in rng.integers(59, size=6)
                                              if i != j and (i < 30) == (j < 30)])
    write("x.csv", ["id", "a", "b"], [(name, *rng.normal(i < 30, 0.5, 2)) for i, name in enumerate(names)])
    write("y.csv", ["id", "camp", "label"], [(name, "x", "left" if i < 30 else "right")
                                             for i, name in reversed(list(enumerate(names[:50])))])
    assert main(["train", "--graph", "edges.csv", "--features", "x.csv", *QUICK, "--out", "mine"]) == 0
    return names


def test_labels_join_by_id_and_nodes_without_one_are_left_out(capsys, people, monkeypatch):
    seen, split = [], Random.split
    monkeypatch.setattr(Random, "split", lambda self, data, seed: (seen.append(data), split(self, data, seed))[1])
    rows = evaluated(capsys, "mine", "--labels", "y.csv", "--task", "probe,knn,clustering")
    assert {row["labels"] for row in rows} == {str(Path("y.csv").resolve())}
    assert all(row["test"] > 0.5 for row in rows if row["task"] != "clustering")
    data, expected = seen[0], dict(zip(people[:50], ["left"] * 30 + ["right"] * 20, strict=True))
    for name, label in zip(data.ids.tolist(), data.y.tolist(), strict=True):
        assert (data.classes[label] if label >= 0 else None) == expected.get(name)
    assert sum(Random().split(data, 0).sizes) == 50
    assert main(["evaluate", "mine", "--labels", "y.csv"]) == 0
    assert capsys.readouterr().out.startswith("edges, labels y.csv, protocol random, probe converged\n")
    rows = evaluated(capsys, "mine", "--labels", "y.csv", "--label-column", "label")
    assert {row["label_column"] for row in rows} == {"label"}              # another column would be another question


def test_labels_of_nodes_that_the_protocol_leaves_out_do_no_harm(capsys, people, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "development", Development(size=15, per_class=2))
    assert main(["train", "--graph", "edges.csv", "--features", "x.csv", *QUICK, "--protocol", "development", "--out",
                 "part"]) == 0
    write("all.csv", ["id", "label"], [(name, int(i) % 2) for i, name in enumerate(people)])
    rows = evaluated(capsys, "part", "--labels", "all.csv")
    assert [row["protocol"] for row in rows] == ["development"] * 4
    assert len(np.load("part/ids.npy")) < 60


def test_labels_of_ones_own_for_a_named_graph_go_before_its_own(capsys, run):
    write("y.csv", ["id", "label"], [(node, "abc"[node % 3]) for node in range(90)])
    (row,) = evaluated(capsys, run, "--labels", "y.csv", "--no-floors", "--task", "clustering")
    assert row["clusters"] == 3
    assert main(["evaluate", run]) == 0                                    # and leave no trace
    assert "labels" not in runs.read_lines(Path("run/results.jsonl"))[-1]


@pytest.mark.parametrize("task", ["probe", "knn", "clustering", "probe,collapse"])
def test_without_labels_it_says_what_is_missing(capsys, people, task):
    needing = task.replace(",collapse", "")
    assert refused(capsys, "mine", "--task", task) == (
        f"sgcl: the graph has no labels to compare with (--task {needing}): give --labels FILE, a table with the "
        "columns id and label, or ask without labels: links, collapse")


def test_links_and_collapse_need_no_labels(capsys, people):
    rows = evaluated(capsys, "mine", "--task", "links,collapse", "-q")
    assert [row["name"] for row in rows] == [*FLOORS, "SGCL-T"] * 2


@pytest.mark.parametrize(("header", "rows", "message"), [
    (["id", "label"], [("person 1", "a"), ("nobody", "b")], "bad.csv, line 3: node 'nobody' is not in the graph;"),
    (["id", "label"], [("person 1", "a"), ("person 1", "b")], "bad.csv, line 3: node 'person 1' is there a second"),
    (["id", "camp"], [("person 1", "a")], "bad.csv has no column 'label' (it has 'id', 'camp')"),
    (["id", "label"], [("person 1", "")], "bad.csv: column 'label' is empty in every row"),
    (["id", "label"], [], "bad.csv holds no labels"),
    (["id", "label"], [(f"person {i}", i % 2) for i in range(7)], "random: 10/10/80 of 7 labelled nodes leaves a set"),
    (["id", "label"], [(f"person {i}", 1) for i in range(50)], "all training nodes are of class 0: two classes are")])
def test_labels_that_cannot_be_are_told_in_one_line(capsys, people, header, rows, message):
    write("bad.csv", header, rows)
    assert message in refused(capsys, "mine", "--labels", "bad.csv")


def test_a_label_file_that_is_not_there(capsys, people):
    assert "there is no file none.csv" in refused(capsys, "mine", "--labels", "none.csv")
    assert "its name should end in one of" in refused(capsys, "mine", "--labels", "x.pickle")


def test_a_graph_that_has_changed_since_is_told(capsys, people):
    write("x.csv", ["id", "a", "b"], [(name, 0.5, 1.5) for name in [*people, "newcomer"]])
    assert "mine: the nodes of the graph are not those that the run was trained on; bring" in refused(
        capsys, "mine", "--labels", "y.csv")


# several labels a node

@pytest.fixture
def proteins(tmp_path, monkeypatch, capsys):
    """A run on a small folder in the form of ogbn-proteins: three tasks, one of them without labels here and there."""
    rng = np.random.default_rng(0)
    camp = rng.integers(2, size=90)
    edges = [(i, j) for i, j in rng.integers(90, size=(700, 2)) if i != j and camp[i] == camp[j]]
    labels = np.stack([camp, 1 - camp, rng.integers(2, size=90)], axis=1).astype(float)
    labels[::7, 1] = np.nan
    base = tmp_path / "data" / "ogbn_proteins"
    split = rng.permutation(90)
    tables = {"raw/edge": edges, "raw/edge-feat": [rng.normal(camp[i] - 0.5, size=4) for i, _ in edges],
              "raw/node-label": labels, "raw/node_species": [[3702]] * 90, "raw/num-node-list": [[90]],
              "raw/num-edge-list": [[len(edges)]], "split/species/train": split[:30, None],
              "split/species/valid": split[30:60, None], "split/species/test": split[60:, None]}
    for name, rows in tables.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(base / f"{name}.csv.gz", "wt") as file:
            csv.writer(file).writerows(rows)
    entry = dataclasses.replace(DATASETS["ogbn-proteins"], nodes=90, edges=len(edges), features=4, classes=3,
                                split=(30, 30, 30))
    monkeypatch.setitem(DATASETS, "ogbn-proteins", entry)
    monkeypatch.setenv("SGCL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SGCL_DATA", str(tmp_path / "data"))
    assert main(["train", "--dataset", "ogbn-proteins", *QUICK, "--out", "run"]) == 0
    return labels, split


@pytest.mark.parametrize("probe", ["converged", "published"])
def test_several_labels_a_node_are_scored_by_roc_auc(capsys, proteins, monkeypatch, probe):
    monkeypatch.setattr(Ogb, "steps", 10)
    rows = evaluated(capsys, "run", "--probe", probe)
    assert [(row["name"], row["metric"], row["protocol"]) for row in rows] == [
        (name, "roc-auc", "ogb") for name in (*FLOORS, "SGCL-T")]
    assert all(row["disparity"] is None for row in rows)
    assert all(("decay" in row, row["C"] is None) == (probe == "published",) * 2 for row in rows)
    labels, split = proteins
    data = load("ogbn-proteins")
    assert torch.equal(data.y, torch.from_numpy(np.nan_to_num(labels, nan=-1)).to(torch.int8))
    protocol = PROTOCOLS["ogb"]
    ask = protocol.published_probe if probe == "published" else protocol.probe
    result = ask(torch.from_numpy(np.load("run/embeddings.npy")), data.y, protocol.split(data, 0), seed=0)
    test = np.sort(split[60:])
    known = ~np.isnan(labels[test])
    areas = [roc_auc_score(labels[test][known[:, task], task], result.scores[known[:, task], task].numpy())
             for task in range(3)]
    assert rows[-1]["test"] == pytest.approx(np.mean(areas))
    assert main(["evaluate", "run", "--probe", probe]) == 0
    assert "test roc-auc %" in capsys.readouterr().out


def test_tasks_that_compare_with_one_class_a_node_say_so(capsys, proteins):
    assert "knn_probe: predicts one class a node, but the labels are of several tasks" in refused(
        capsys, "run", "--task", "probe,knn")
    assert "cluster: compares clusters with one class a node, but the labels are of several tasks" in refused(
        capsys, "run", "--task", "clustering")
    rows = evaluated(capsys, "run", "--task", "links,collapse", "-q")
    assert [row["name"] for row in rows] == [*FLOORS, "SGCL-T"] * 2
