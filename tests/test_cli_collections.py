"""Collections of graphs from the command line: train, evaluate, embed, resume, sweep, and what is refused."""

import json
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from sgcl import Estimator, runs
from sgcl.cli import main
from sgcl.evaluation import PROTOCOLS, Tu, raw_features
from sgcl.graph import Graph
from sgcl.methods import METHODS
from sgcl.readers import read_collection

QUICK = ["--hidden-channels", "4", "--epochs", "2", "--sampler", "graphs", "--graphs-size", "8", "-q"]

pytestmark = [pytest.mark.filterwarnings("always"),           # the command line shows them as notes
              pytest.mark.filterwarnings("ignore:after epoch")]  # two epochs on so little may look like a collapse


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def few_folds(monkeypatch) -> Tu:
    """The protocol with fewer folds than it has, which take less time."""
    monkeypatch.setitem(PROTOCOLS, "tu", Tu(folds=4, inner=2))
    return PROTOCOLS["tu"]


@pytest.fixture
def folder() -> str:
    put_graphs()
    return "graphs"


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A folder with the graphs, their labels and a run."""
    here = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.chdir(here)
        put_graphs()
        assert main(["train", "--collection", "graphs", "--labels", "labels.csv", *QUICK, "--out", "run"]) == 0
    return here


@pytest.fixture
def run(trained, tmp_path) -> str:
    """A copy of the run, whose files lie elsewhere."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return "run"


def put_graphs() -> None:
    """Rings and stars of 4 to 8 nodes, 24 in all, called g0 to g23, with labels."""
    Path("graphs").mkdir()
    rows = ["id,label"]
    for number in range(24):
        size = 4 + number % 5
        pairs = [(a, (a + 1) % size) if number % 2 else (0, a) for a in range(1 - number % 2, size)]
        Path(f"graphs/g{number}.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
        rows.append(f"g{number},{'ring' if number % 2 else 'star'}")
    Path("labels.csv").write_text("\n".join(rows) + "\n")


def refused(capsys, *words) -> str:
    """The one line of a request that is refused, before which notes may stand; nothing is written."""
    capsys.readouterr()
    before = {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()}
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()} == before
    lines = [line for line in said.err.splitlines() if not line.startswith("sgcl: note:")]
    assert len(lines) == 1, said.err
    return lines[0]


def test_a_method_for_nodes_takes_its_form_for_graphs_and_says_so(folder, capsys):
    assert main(["train", "sgcl", "--collection", folder, *QUICK]) == 0
    said = capsys.readouterr()
    assert "sgcl: note: sgcl is for the nodes of a graph: on a collection of graphs sgcl-graphs is taken" in said.err
    assert said.out.startswith("runs/sgcl-graphs-taubin-graphs-0: 24 graphs, loss ")
    config = runs.read_config(Path("runs/sgcl-graphs-taubin-graphs-0"))
    assert config["method"] == "sgcl-graphs"
    assert (config["graphs"], config["protocol"]) == (24, "tu")
    assert config["files"] == {"collection": str(Path(folder).resolve())}


def test_embeddings_lie_under_the_ids_of_the_graphs(run):
    ids = np.load("run/ids.npy")
    assert ids.tolist() == sorted(f"g{number}" for number in range(24))
    collection = read_collection("graphs")
    assert torch.equal(Estimator.load(run).transform(collection), torch.from_numpy(np.load("run/embeddings.npy")))


def test_evaluation_by_nested_folds_beside_the_floors(run, few_folds, capsys):
    assert main(["evaluate", run, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["name"] for row in rows] == ["raw features", "untrained encoder", "SGCL-T"]
    data = read_collection("graphs", labels="labels.csv")
    matrices = [raw_features(data), None, torch.from_numpy(np.load("run/embeddings.npy"))]
    for row, matrix in zip(rows, matrices, strict=True):
        assert len(row["folds"]) == 4
        assert row["test"] == pytest.approx(np.mean(row["folds"]))
        assert row["fold_deviation"] == pytest.approx(np.std(row["folds"], ddof=1))
        if matrix is not None:
            assert row["folds"] == list(few_folds.score(matrix, data.y, seed=0).folds)
    assert rows == runs.read_lines(Path("run/results.jsonl"))
    assert main(["evaluate", run, "--task", "clustering,collapse", "--no-floors"]) == 0
    assert main(["show", run]) == 0
    shown = capsys.readouterr().out
    assert "graphs, 24 graphs, " in shown
    assert "protocol tu, a support vector machine, nested folds" in shown
    assert "± over seeds" in shown
    assert "± over folds" in shown
    assert main(["runs", "."]) == 0
    assert "(tu" in capsys.readouterr().out


def test_the_command_that_show_gives_repeats_the_run(run, capsys):
    assert main(["show", run, "--json"]) == 0
    words = json.loads(capsys.readouterr().out)["again"].split()[1:]
    assert main([*words, "--out", "again", "-q"]) == 0
    assert np.array_equal(np.load("again/embeddings.npy"), np.load("run/embeddings.npy"))


def test_graphs_that_were_not_there_are_embedded(run, capsys):
    Path("new").mkdir()
    Path("new/7.csv").write_text("source,target\n0,1\n1,2\n2,3\n3,0\n")
    Path("new/8.csv").write_text(Path("graphs/g0.csv").read_text())
    assert main(["embed", run, "--collection", "new", "--out", "new.csv"]) == 0
    assert capsys.readouterr().out == "new.csv: 2 graphs, width 12\n"
    lines = [line.split(",") for line in Path("new.csv").read_text().splitlines()]
    assert [line[0] for line in lines] == ["id", "7", "8"]
    known = dict(zip(np.load("run/ids.npy").tolist(), np.load("run/embeddings.npy"), strict=True))
    assert np.allclose([float(value) for value in lines[2][1:]], known["g0"], rtol=1e-4)


def test_features_and_node_labels_of_new_graphs_are_made_as_the_run_s_were(capsys):
    tu = {"A": "1, 2\n2, 3\n4, 5\n6, 7\n", "graph_indicator": "1\n1\n1\n2\n2\n3\n3\n", "graph_labels": "0\n1\n0\n",
          "node_labels": "3\n3\n5\n3\n5\n4\n4\n", "node_attributes": "1\n2\n3\n4\n5\n6\n7\n"}
    for name, changes in (("old", {}), ("new", {"node_labels": "5\n5\n5\n5\n5\n4\n4\n"}),
                          ("odd", {"node_labels": "5\n5\n5\n5\n5\n4\n9\n"})):
        Path(name).mkdir()
        for part, text in {**tu, **changes}.items():
            Path(f"{name}/T_{part}.txt").write_text(text)
    assert main(["train", "sgcl-graphs", "--collection", "old", "--attributes", *QUICK, "--out", "run"]) == 0
    assert runs.read_config(Path("run"))["feature_names"] == ["attribute 0", "label 3", "label 4", "label 5"]
    capsys.readouterr()
    assert main(["embed", "run", "--collection", "old", "--out", "old.npy"]) == 0  # with the attributes, unasked
    assert np.array_equal(np.load("old.npy"), np.load("run/embeddings.npy"))
    assert main(["embed", "run", "--collection", "new", "--out", "new.npy"]) == 0
    assert np.allclose(np.load("new.npy")[2], np.load("old.npy")[2], rtol=1e-5)
    assert "'label 9' is new" in refused(capsys, "embed", "run", "--collection", "odd", "--out", "odd.npy")


def test_a_run_that_was_cut_short_goes_on_exactly(run, monkeypatch, capsys):
    append = runs.append

    def cut_off(file, record):
        append(file, record)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runs, "append", cut_off)
        assert main(["train", "--collection", "graphs", *QUICK, "--checkpoint-every", "0", "--out", "cut"]) == 130
    assert not Path("cut/ids.npy").exists()
    assert main(["train", "--resume", "cut", "-q"]) == 0
    assert np.array_equal(np.load("cut/embeddings.npy"), np.load("run/embeddings.npy"))
    Path("graphs/g0.csv").write_text("source,target\n0,1\n")
    Path("cut/ids.npy").unlink()
    assert "the graph is not the one that the run began with" in refused(capsys, "train", "--resume", "cut")


def test_the_fingerprint_tells_where_graphs_end(folder):
    graph = Graph.from_data(read_collection(folder))
    ptr = torch.cat([graph.graph_ptr[:1], graph.graph_ptr[2:]])
    found = {runs.fingerprint(graph.replace(graph_ptr=one)) for one in (graph.graph_ptr, ptr, None)}
    assert len(found) == 3


def test_a_loss_that_is_not_finite_names_the_graphs(folder, monkeypatch, capsys):
    method = METHODS["sgcl-graphs"]
    loss = method.loss
    monkeypatch.setattr(method, "loss", lambda self, views: loss(self, views) * float("nan"))
    assert main(["train", "sgcl-graphs", "--collection", folder, *QUICK, "--out", "run"]) == 1
    said = capsys.readouterr().err
    failed = json.loads(Path("run/failed-batch.json").read_text())
    assert len(failed["ids"]) == 8
    assert f"batch 1 (graphs {', '.join(failed['ids'][:3])}" in said
    assert "the ids of its graphs are in run/failed-batch.json" in said


def test_a_sweep_by_rank(folder, capsys):
    assert main(["sweep", "--collection", folder, "--grid", "lr=1e-3,1e-2", "--select", "rank", *QUICK, "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["method"], outcome["metric"]) == ("sgcl-graphs", "effective rank")
    assert outcome["command"].startswith("sgcl train sgcl-graphs --collection ")


@pytest.mark.parametrize(("words", "message"), [
    (["train", "grace", "--collection", "graphs"], "grace embeds the nodes of a graph, .*: take one of .*sgcl-graphs"),
    (["train", "sgcl-graphs", "--dataset", "digits"], "sgcl-graphs embeds the graphs of a collection: give --collecti"),
    (["train", "--collection", "graphs", "--protocol", "random"], "'random' splits the nodes of a graph, .*: take tu"),
    (["train", "--dataset", "digits", "--protocol", "tu"], "'tu' scores collections of graphs, not the nodes of one"),
    (["train", "--collection", "nowhere"], "nowhere is no folder: a collection is one"),
    (["train", "--collection", "empty"], "the collection is empty: "),
    (["train", "--collection", "graphs", "--attributes"], "is for collections in the TU format"),
    (["train", "--graph", "graphs/g0.csv", "--attributes", "--features", "ones"], "is for collections in the TU"),
    (["train", "--dataset", "digits", "--attributes"], "digits is one graph, and --attributes is for collections"),
    (["train", "--collection", "graphs", "--dataset", "digits"], "which graph\\? give either"),
    (["train", "--collection", "graphs", "--ids", "ids.npy"], "--ids is for the rows of one graph"),
    (["train", "--collection", "graphs", "--labels", "wrong.csv"], "graph 'h' is not in the collection"),
    (["sweep", "--collection", "graphs", "--grid", "lr=1,2"], "--select validation is about the nodes of a graph"),
    (["sweep", "--collection", "graphs", "--grid", "lr=1,2", "--select", "links"], "give --select rank")])
def test_requests_that_make_no_sense(folder, capsys, words, message):
    Path("empty").mkdir()
    Path("wrong.csv").write_text("id,label\nh,1\n")
    line = refused(capsys, *words)
    assert re.search(message, line), line
    assert not Path("runs").exists()


@pytest.mark.parametrize(("words", "message"), [
    (["evaluate", "run", "--task", "links"], "--task links is about the nodes of a graph"),
    (["evaluate", "run", "--task", "knn"], "ask for one of probe, clustering, collapse"),
    (["evaluate", "run", "--protocol", "random"], "take tu"),
    (["evaluate", "run", "--labels", "one.csv"], "tu: all 24 labelled graphs are of one class: there is nothing"),
    (["evaluate", "run", "--labels", "few.csv"], "10 folds of 2 labelled items"),
    (["embed", "run", "--dataset", "digits", "--out", "x.npy"], "the run embeds the graphs of a collection: give"),
    (["embed", "run", "--collection", "graphs", "--features", "ones", "--out", "x.npy"], "has 1 features, .* on 65")])
def test_questions_that_make_no_sense(run, capsys, words, message):
    Path("one.csv").write_text("id,label\n" + "".join(f"g{number},1\n" for number in range(24)))
    Path("few.csv").write_text("id,label\ng0,1\ng1,2\n")
    line = refused(capsys, *words)
    assert re.search(message, line), line


@pytest.mark.usefixtures("few_folds")
def test_labels_that_are_missing_are_told_and_none_at_all_refused(folder, capsys):
    assert main(["train", "sgcl-graphs", "--collection", folder, *QUICK, "--out", "run"]) == 0
    assert "the collection has no labels to compare with (--task probe)" in refused(capsys, "evaluate", "run")
    lines = Path("labels.csv").read_text().splitlines()
    Path("some.csv").write_text("\n".join(lines[:21]) + "\n")
    assert main(["evaluate", "run", "--labels", "some.csv", "--no-floors"]) == 0
    assert "4 of 24 graphs have no label: they are embedded but not scored" in capsys.readouterr().err
