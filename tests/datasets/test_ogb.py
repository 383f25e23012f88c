"""The OGB readers, on small raw folders in the true format: the datasets themselves are too large to be at hand."""

import dataclasses
import gzip
import tracemalloc

import numpy as np
import pytest
import torch

from sgcl.datasets import DATASETS, available, describe, load, ogb, tables
from sgcl.errors import InputError
from sgcl.evaluation import PROTOCOLS
from sgcl.graph import Graph

SCHEMES = {"ogbn-arxiv": "time", "ogbn-products": "sales_ranking", "ogbn-proteins": "species"}


def put(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(",".join(str(value) for value in np.atleast_1d(row)) + "\n" for row in rows)


def put_folder(root, name, *, edges, labels, features=None, edge_features=None, split=((0,), (1,), (2, 3))):
    """A raw folder as OGB publishes it, files that are not read included."""
    base = root / name.replace("-", "_")
    put(base / "raw/edge.csv.gz", edges)
    put(base / "raw/node-label.csv.gz", labels)
    put(base / "raw/num-node-list.csv.gz", [len(labels)])
    put(base / "raw/num-edge-list.csv.gz", [len(edges)])
    (base / "RELEASE_v1.txt").touch()
    (base / "mapping").mkdir()
    if features is not None:
        put(base / "raw/node-feat.csv.gz", features)
        put(base / "raw/node_year.csv.gz", [2015] * len(labels))
    if edge_features is not None:
        put(base / "raw/edge-feat.csv.gz", edge_features)
        put(base / "raw/node_species.csv.gz", [3702] * len(labels))
    for part, nodes in zip(("train", "valid", "test"), split, strict=True):
        put(base / f"split/{SCHEMES[name]}/{part}.csv.gz", nodes)
    return base


def expect(monkeypatch, name, nodes, edges, features, classes, split=(1, 1, 2)):
    entry = dataclasses.replace(DATASETS[name], nodes=nodes, edges=edges, features=features, classes=classes,
                                split=split)
    monkeypatch.setitem(DATASETS, name, entry)


EDGES = [(0, 1), (2, 1), (1, 0), (3, 3)]
FEATURES = [(0.5, -1.25), (1, 2), (-0.000123, 0), (3e-5, 7)]


@pytest.mark.parametrize("name", ["ogbn-arxiv", "ogbn-products"])
def test_a_graph_with_classes(name, tmp_path, monkeypatch):
    put_folder(tmp_path, name, edges=EDGES, labels=[2, 0, 1, 1], features=FEATURES)
    expect(monkeypatch, name, 4, 4, 2, 3)
    for data in (load(name, tmp_path), load(name, tmp_path), load(name)):  # parsed, cached, and from the cache alone
        assert data.edge_index.T.tolist() == [list(edge) for edge in EDGES]
        assert data.edge_index.dtype == data.y.dtype == torch.long
        assert torch.equal(data.x, torch.tensor(FEATURES))
        assert data.y.tolist() == [2, 0, 1, 1]
        assert data.train_mask.tolist() == [True, False, False, False]
        assert data.val_mask.tolist() == [False, True, False, False]
        assert data.test_mask.tolist() == [False, False, True, True]
        split = PROTOCOLS[DATASETS[name].protocol].split(data, 0)
        assert [nodes.tolist() for nodes in split.sets.values()] == [[0], [1], [2, 3]]
        assert Graph.from_data(data).num_edges == 2


def test_proteins_have_the_mean_of_their_edges_and_many_labels(tmp_path, monkeypatch):
    # node 0: edges 0 and 2; node 1: 0, 1 and 2; node 2: 1; node 3: none
    edge_features = [(0.2, 0.0), (0.8, 1.0), (0.4, 0.5)]
    labels = [(0, 1, 0), (1, 1, 0), (0, 0, 0), (1, 0, 1)]
    put_folder(tmp_path, "ogbn-proteins", edges=EDGES[:3], labels=labels, edge_features=edge_features)
    expect(monkeypatch, "ogbn-proteins", 4, 3, 2, 3)
    for block in (1 << 20, 5):
        monkeypatch.setattr(tables, "_BLOCK", block)
        monkeypatch.setenv("SGCL_CACHE", str(tmp_path / f"cache{block}"))
        data = load("ogbn-proteins", tmp_path)
        expected = [[0.3, 0.25], [1.4 / 3, 0.5], [0.8, 1.0], [0.0, 0.0]]
        assert torch.allclose(data.x, torch.tensor(expected), atol=1e-7)
        assert data.x.dtype == torch.float32
        assert data.y.tolist() == [list(row) for row in labels]
        assert data.node_species.tolist() == [3702] * 4
        assert load("ogbn-proteins").node_species.tolist() == [3702] * 4
    assert PROTOCOLS["ogb"].split(data, 0).sizes == (1, 1, 2)


def test_a_label_that_is_missing(tmp_path, monkeypatch):
    put_folder(tmp_path, "ogbn-arxiv", edges=EDGES, labels=[2, "nan", 1, 1], features=FEATURES)
    expect(monkeypatch, "ogbn-arxiv", 4, 4, 2, 3)
    data = load("ogbn-arxiv", tmp_path)
    assert data.y.tolist() == [2, -1, 1, 1]
    assert PROTOCOLS["ogb"].split(data, 0).sizes == (1, 0, 2)


def test_reading_takes_less_than_twice_the_result(tmp_path, monkeypatch):
    random = np.random.RandomState(0)
    edges = random.randint(2000, size=(40_000, 2)).tolist()
    put_folder(tmp_path, "ogbn-products", edges=edges, labels=[0] * 2000,
               features=random.randint(9, size=(2000, 20)).tolist())
    monkeypatch.setattr(tables, "_BLOCK", 1 << 14)
    tracemalloc.start()
    try:
        data = DATASETS["ogbn-products"].loader(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = data.edge_index.nbytes + data.x.nbytes + data.y.nbytes
    assert data.edge_index.T.tolist() == edges
    assert peak < 1.5 * size


def test_the_published_numbers_are_checked(tmp_path):
    put_folder(tmp_path, "ogbn-arxiv", edges=EDGES, labels=[2, 0, 1, 1], features=FEATURES)
    with pytest.raises(InputError, match=r"ogbn-arxiv: the raw files hold \(4, 4, 2, 3, 1, 1, 2\) nodes, edges, "
                                         r"features and classes, and train, val and test nodes, the published ones "
                                         r"\(169343, 1166243, 128, 40, 90941, 29799, 48603\)"):
        load("ogbn-arxiv", tmp_path)


def test_the_sizes_of_the_split_are_checked(tmp_path, monkeypatch):
    put_folder(tmp_path, "ogbn-arxiv", edges=EDGES, labels=[2, 0, 1, 1], features=FEATURES)
    expect(monkeypatch, "ogbn-arxiv", 4, 4, 2, 3, split=(1, 2, 1))
    with pytest.raises(InputError, match=r"ogbn-arxiv: the raw files hold \(4, 4, 2, 3, 1, 1, 2\) .* the published"):
        load("ogbn-arxiv", tmp_path)


def test_absent_files_are_named_with_their_place(tmp_path):
    base = put_folder(tmp_path, "ogbn-arxiv", edges=EDGES, labels=[2, 0, 1, 1], features=FEATURES)
    assert available("ogbn-arxiv", tmp_path)
    (base / "split/time/valid.csv.gz").unlink()
    assert not available("ogbn-arxiv", tmp_path)
    with pytest.raises(InputError, match=r"ogbn-arxiv: no split/time/valid.csv.gz in .*ogbn_arxiv: put the raw files"):
        load("ogbn-arxiv", tmp_path)
    assert "raw/edge-feat.csv.gz" in describe("ogbn-proteins")["files"]
    assert "raw/node-feat.csv.gz" not in describe("ogbn-proteins")["files"]


@pytest.mark.parametrize(("file", "rows", "message"), [
    ("raw/edge.csv.gz", [(0, 1), (1, 4), (2, 0), (0, 2)], "edge.csv.gz names nodes 0 to 4, but there are 4"),
    ("raw/edge.csv.gz", [(0, 1)], "edge.csv.gz has 1 rows, expected 4"),
    ("raw/node-feat.csv.gz", [(1, 2)] * 3, "node-feat.csv.gz has 3 rows, expected 4"),
    ("raw/node-label.csv.gz", ["a"] * 4, "node-label.csv.gz: row 1 is not 1 numbers"),
    ("raw/num-node-list.csv.gz", [4, 4], "num-node-list.csv.gz has 2 rows, expected 1"),
    ("split/time/test.csv.gz", [2, 9], "test.csv.gz names nodes 2 to 9, but there are 4")])
def test_files_that_do_not_fit_together(tmp_path, file, rows, message):
    base = put_folder(tmp_path, "ogbn-arxiv", edges=EDGES, labels=[2, 0, 1, 1], features=FEATURES)
    put(base / file, rows)
    with pytest.raises(InputError, match=message):
        load("ogbn-arxiv", tmp_path)


@pytest.mark.parametrize(("rows", "message"), [(2, "has 2 rows, expected 3, one for each edge"),
                                               (4, "has more than 3 rows, one for each edge")])
def test_every_edge_has_features(tmp_path, rows, message):
    put_folder(tmp_path, "ogbn-proteins", edges=EDGES[:3], labels=[(0, 1)] * 4, edge_features=[(1, 2)] * rows)
    with pytest.raises(InputError, match=f"edge-feat.csv.gz {message}"):
        load("ogbn-proteins", tmp_path)


def test_names_lead_to_the_archives_of_ogb():
    assert [entry.archive[0].rsplit("/", 1)[1] for entry in ogb.OGB] == ["arxiv.zip", "products.zip", "proteins.zip"]
