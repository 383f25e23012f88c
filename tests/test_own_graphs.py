"""A graph of one's own through the command line: trained, scored, embedded, under the ids it came with."""

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch

from sgcl.cli import main

QUICK = ["--epochs", "2", "--hidden-channels", "8", "-q"]
TRAIN = ["train", "--graph", "edges.csv", "--features", "x.csv", *QUICK]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Sixty people in two camps, with names for ids; one of them knows nobody."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = [f"person {i}" for i in range(60)]
    pairs = [(i, j) for i in range(59) for j in rng.integers(59, size=6) if i != j and (i < 30) == (j < 30)]
    write("edges.csv", ["source", "target"], [(names[i], names[j]) for i, j in pairs])
    write("x.csv", ["id", "a", "b"], [(name, *rng.normal(i < 30, 0.5, 2)) for i, name in enumerate(names)])
    write("y.csv", ["id", "label"], [(name, "left" if i < 30 else "right") for i, name in enumerate(names[:50])])
    return names


def write(file, header, rows):
    with open(file, "w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])


def read(file):
    with open(file, newline="") as stream:
        return list(csv.reader(stream))


def embedding_of(file):
    return {row[0]: [float(value) for value in row[1:]] for row in read(file)[1:]}


def test_train_evaluate_and_embed_keep_the_names(files, capsys, monkeypatch, tmp_path):
    assert main([*TRAIN, "--labels", "y.csv", "--out", "run"]) == 0
    assert np.load("run/ids.npy").tolist() == sorted(files)
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", "e.csv"]) == 0
    ours = embedding_of("e.csv")
    for name, row in zip(np.load("run/ids.npy"), np.load("run/embeddings.npy"), strict=True):
        assert np.allclose(ours[name], row, atol=1e-6)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # the run knows where its files lie
    capsys.readouterr()
    assert main(["evaluate", "../run", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["name"] for row in rows] == ["raw features", "untrained encoder", "propagated features",
                                                 "SGCL-T"]
    assert all(row["test"] > 0.5 for row in rows)


def test_shuffled_rows_give_the_same_embedding_under_each_name(files):
    assert main([*TRAIN, "--out", "run-0"]) == 0
    rng = np.random.default_rng(1)
    for file in ("edges.csv", "x.csv"):
        header, *rows = read(file)
        write(file, header, [rows[i] for i in rng.permutation(len(rows))])
    assert main([*TRAIN, "--out", "run-1"]) == 0
    assert np.array_equal(np.load("run-0/ids.npy"), np.load("run-1/ids.npy"))
    assert np.allclose(np.load("run-0/embeddings.npy"), np.load("run-1/embeddings.npy"), atol=1e-5)


def test_feature_columns_go_by_name_wherever_a_run_is_used(capsys):
    assert main([*TRAIN, "--labels", "y.csv", "--out", "run"]) == 0
    assert json.loads(Path("run/config.json").read_text())["feature_names"] == ["a", "b"]
    assert main(["evaluate", "run", "--json"]) == 0
    before = [row["test"] for row in json.loads(capsys.readouterr().out.splitlines()[-1])["results"]]
    write("x.csv", ["id", "b", "a"], [(name, b, a) for name, a, b in read("x.csv")[1:]])
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", "e.npy"]) == 0
    assert np.allclose(np.load("e.npy"), np.load("run/embeddings.npy"), atol=1e-6)
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    assert [row["test"] for row in json.loads(capsys.readouterr().out)["results"]] == before


@pytest.mark.parametrize(("columns", "message"), [
    (["b", "c"], "'a' is missing, 'c' is new"), (["b"], "'a' is missing; give"), (["b", "a", "c"], "'c' is new; give")])
def test_other_feature_columns_are_told(capsys, columns, message):
    assert main([*TRAIN, "--out", "run"]) == 0
    write("x.csv", ["id", *columns], [(name, *range(len(columns))) for name, *_ in read("x.csv")[1:]])
    capsys.readouterr()
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", "e.npy"]) == 2
    assert f"sgcl: the feature columns are not those that the run was trained on: {message}" in capsys.readouterr().err
    assert not Path("e.npy").exists()


def test_columns_without_names_go_by_their_place(files):
    assert main([*TRAIN, "--out", "run"]) == 0
    np.save("x.npy", np.array([row[1:] for row in read("x.csv")[1:]], dtype=np.float32))
    np.save("ids.npy", np.array(files))
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.npy", "--ids", "ids.npy",
                 "--out", "e.npy"]) == 0
    assert np.allclose(np.load("e.npy"), np.load("run/embeddings.npy"), atol=1e-6)


def test_nodes_it_has_not_seen_get_an_embedding(files):
    header, *rows = read("edges.csv")
    known = {f"person {i}" for i in range(45)}
    write("part.csv", header, [row for row in rows if set(row) <= known])
    header, *rows = read("x.csv")
    write("part-x.csv", header, [row for row in rows if row[0] in known])
    assert main(["train", "--graph", "part.csv", "--features", "part-x.csv", *QUICK, "--out", "run"]) == 0
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", "all.npy"]) == 0
    assert np.load("all.npy").shape == (60, 8)
    assert np.load("all.ids.npy").tolist() == sorted(files)
    assert torch.isfinite(torch.from_numpy(np.load("all.npy"))).all()


@pytest.mark.filterwarnings("ignore:after epoch . the embedding has collapsed")  # little is to be had from ones
@pytest.mark.parametrize("word", ["degree", "walk", "spectral", "ones", "learned"])
def test_features_made_from_the_graph(word):
    assert main(["train", "--graph", "edges.csv", "--features", word, *QUICK, "--out", "run"]) == 0
    assert main(["embed", "run", "--graph", "edges.csv", "--features", word, "--out", "e.parquet"]) == 0
    assert Path("e.parquet").exists()


def test_learned_features_embed_their_own_nodes_and_no_others(capsys):
    assert main(["train", "--graph", "edges.csv", "--features", "learned", "--labels", "y.csv", *QUICK,
                 "--out", "run"]) == 0
    header, *rows = read("edges.csv")
    write("fewer.csv", header, rows[:-3])  # other edges between the same nodes
    assert {end for row in rows[:-3] for end in row} == {end for row in rows for end in row}
    assert main(["embed", "run", "--graph", "fewer.csv", "--features", "learned", "--out", "e.npy"]) == 0
    assert np.load("e.npy").shape == np.load("run/embeddings.npy").shape
    write("renamed.csv", header, [["nobody" if end == rows[0][0] else end for end in row] for row in rows])
    before = sorted(path.name for path in Path().iterdir())
    for file, features in (("renamed.csv", "learned"), ("renamed.csv", "walk")):
        capsys.readouterr()
        assert main(["embed", "run", "--graph", file, "--features", features, "--out", "f.npy"]) == 2
        assert ("sgcl: run has learned features, which only the nodes it was trained on have; for others, train with "
                "features of their own") in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == before
    assert main(["evaluate", "run", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["name"] for row in rows] == ["untrained encoder", "SGCL-T"]  # there are no raw features


@pytest.mark.parametrize("file", ["e.npy", "e.csv", "e.parquet"])
def test_in_bounded_memory_the_embedding_is_the_same(file, capsys):
    assert main([*TRAIN, "--out", "run"]) == 0
    words = ["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out"]
    assert main([*words, f"whole-{file}"]) == 0
    assert main([*words, file, "--memory", "4KB"]) == 0
    if file == "e.npy":
        assert np.abs(np.load(file) - np.load("whole-e.npy")).max() < 1e-6
    elif file == "e.csv":
        for name, row in embedding_of(file).items():
            assert np.allclose(row, embedding_of("whole-e.csv")[name], rtol=0, atol=1e-6)
    else:
        pq = pytest.importorskip("pyarrow.parquet")
        one, other = (pq.read_table(name).to_pydict() for name in (file, "whole-e.parquet"))
        assert one["id"] == other["id"]
        assert np.allclose(one["embedding"], other["embedding"], rtol=0, atol=1e-6)
    assert not [path for path in Path().iterdir() if path.name.startswith(("tmp", "."))]


@pytest.mark.parametrize(("size", "message"), [
    ("2", "memory is '2', expected a size such as 500MB or 2GB"), ("2 apples", "memory is '2 apples', expected a size"),
    ("-1GB", "memory is '-1GB', expected a size"), ("0MB", "memory is '0MB', expected a size"),
    ("1KB", "memory is 0.0009766 MB, but to embed this graph in blocks takes at least 1 MB")])
def test_a_memory_that_is_none_is_told(capsys, size, message):
    assert main([*TRAIN, "--out", "run"]) == 0
    capsys.readouterr()
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", "e.csv",
                 f"--memory={size}"]) == 2
    out, err = capsys.readouterr()
    assert f"sgcl: {message}" in err.splitlines()[-1]
    assert out == ""
    assert not Path("e.csv").exists()


def test_columns_of_other_names(capsys, monkeypatch):
    write("people.csv", ["from", "to", "weight"], [(one, other, "much") for one, other in read("edges.csv")[1:]])
    write("x.csv", ["name", "a", "b"], read("x.csv")[1:])
    write("y.csv", ["name", "camp"], read("y.csv")[1:])
    graph = ["--graph", "people.csv", "--features", "x.csv", "--source", "from", "--target", "to", "--no-edge-weight",
             "--id-column", "name", "--label-column", "camp"]
    assert main(["train", *graph, "--labels", "y.csv", *QUICK, "--out", "run"]) == 0
    assert main(["embed", "run", *graph, "--out", "e.npy"]) == 0
    assert np.allclose(np.load("e.npy"), np.load("run/embeddings.npy"), atol=1e-6)
    capsys.readouterr()
    for labels in ([], ["--labels", "y.csv", "--id-column", "name", "--label-column", "camp"]):
        assert main(["evaluate", "run", "--json", *labels]) == 0
        assert len(json.loads(capsys.readouterr().out)["results"]) == 4
    assert main(["evaluate", "run", "--labels", "y.csv"]) == 2
    assert "name it with id_column= (--id-column)" in capsys.readouterr().err
    Path("run/ids.npy").unlink()  # cut short before its end
    assert main(["train", "--resume", "run", "-q"]) == 0
    assert main(["show", "run", "--json"]) == 0
    again = shlex.split(json.loads(capsys.readouterr().out.splitlines()[-1])["again"])
    assert main([*again[1:], "-q", "--out", "again"]) == 0
    assert np.allclose(np.load("again/embeddings.npy"), np.load("run/embeddings.npy"), atol=1e-6)


def test_a_word_is_no_file_of_that_name(capsys):
    Path("ones").write_text("id,a\n")
    words = ["datasets", "--graph", "edges.csv", "--json", "--features"]
    assert main([*words, "ones"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["features"] == 1
    assert main([*words, "./ones"]) == 2
    assert "ones: cannot tell what is in a file named so" in capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_spectral_features_of_another_graph_are_noted(capsys):
    assert main(["train", "--graph", "edges.csv", "--features", "spectral", *QUICK, "--out", "run"]) == 0
    header, *rows = read("edges.csv")
    write("fewer.csv", header, rows[:-3])
    for file, noted in (("edges.csv", False), ("fewer.csv", True)):
        capsys.readouterr()
        assert main(["embed", "run", "--graph", file, "--features", "spectral", "--out", "e.npy"]) == 0
        assert ("sgcl: note: each graph has spectral features of its own" in capsys.readouterr().err) == noted


def test_what_needs_no_graph_is_told_before_it_is_read(capsys, monkeypatch):
    assert main([*TRAIN, "--out", "run"]) == 0
    Path("run/weights.safetensors").unlink()
    monkeypatch.setattr("sgcl.readers.read_graph", None)
    for words, message in (
            ([*TRAIN, "--out", "run"], "run holds an unfinished run"),
            ([*TRAIN, "--out", "x.csv"], "x.csv is there already and not empty"),
            ([*TRAIN, "--out", "new", "--lr", "0"], "lr is 0.0"),
            ([*TRAIN, "--out", "new", "--protocol", "randon"], "did you mean 'random'"),
            ([*TRAIN, "--out", "new", "--memory-limit", "much"], "memory is 'much'"),
            (["embed", "run", *TRAIN[1:5], "--out", "e.txt"], "written as .parquet, .csv, .npy"),
            (["embed", "nothing", *TRAIN[1:5], "--out", "e.npy"], "nothing is not a run folder"),
            (["embed", "run", *TRAIN[1:5], "--out", "e.npy"], "holds no weights.safetensors"),
            (["embed", "run", *TRAIN[1:5], "--out", "e.npy", "--memory", "much"], "memory is 'much'")):
        capsys.readouterr()
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line


def test_statistics_of_ones_own_graph(capsys):
    assert main(["datasets", "--graph", "edges.csv", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["nodes"] == 59
    assert row["components"] == 2


@pytest.mark.parametrize(("words", "message"), [
    ([*TRAIN, "--dataset", "cora"], "which graph?"),
    (["train", "--graph", "nothing.csv", "--features", "degree", *QUICK], "nothing.csv"),
    (["train", "--graph", "edges.csv", *QUICK], "the graph has no node features: give --features FILE, or one of "
                                                "degree, walk, spectral, ones, learned to make them from the graph"),
    (["sweep", "--graph", "edges.csv", "--grid", "lr=1e-3", *QUICK], "give --features FILE"),
    (["datasets", "cora", "--graph", "edges.csv"], "which graph? give either NAME or --graph EDGES"),
    (["datasets", "--graph", "edges.csv", "--source", "from"], "no column 'from' (it has 'source', 'target'): name it "
                                                               "with source= (--source)"),
    ([*TRAIN, "--edge-weight", "w"], "name it with weight= (--edge-weight)"),
    ([*TRAIN, "--id-column", "name"], "name it with id_column= (--id-column)"),
    ([*TRAIN, "--labels", "y.csv", "--label-column", "class"], "name it with label_column= (--label-column)"),
    (["train", "--graph", "edges.csv", "--features", "degre", *QUICK], "did you mean 'degree'"),
    (["train", "--graph", "x.csv", "--features", "degree", *QUICK], "x.csv"),
    (["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", "e.csv"], "run is not a run folder"),
])
def test_bad_requests_are_one_line_and_leave_nothing(capsys, tmp_path, words, message):
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(words) == 2
    out, err = capsys.readouterr()
    notes = [line for line in err.splitlines() if line.startswith("sgcl: note: ")]
    (line,) = [line for line in err.splitlines() if line not in notes]
    assert message in line
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(("out", "message"), [("e.pickle", "written as .parquet, .csv, .npy"),
                                              ("nowhere/e.csv", "cannot write")])
def test_embeddings_that_cannot_be_written(capsys, out, message):
    assert main([*TRAIN, "--out", "run"]) == 0
    before = sorted(path.name for path in Path().iterdir())
    capsys.readouterr()
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "x.csv", "--out", out]) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_graph_of_another_width_is_told(capsys):
    assert main([*TRAIN, "--out", "run"]) == 0
    assert main(["embed", "run", "--graph", "edges.csv", "--features", "degree", "--out", "e.csv"]) == 2
    assert "the model was fitted on 2" in capsys.readouterr().err
