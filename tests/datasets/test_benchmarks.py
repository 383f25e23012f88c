import dataclasses
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.utils import homophily

from sgcl.datasets import DATASETS, available, benchmarks, load, statistics
from sgcl.errors import InputError
from sgcl.graph import Graph

ROOT = os.environ.get("SGCL_DATA")  # read before the tests, which run without it
MASKS = {"cora": (140, 500, 1000), "citeseer": (120, 500, 1000), "pubmed": (60, 500, 1000),
         "chameleon": (1092, 729, 456), "actor": (3648, 2432, 1520), "cornell": (87, 59, 37), "texas": (87, 59, 37),
         "wisconsin": (120, 80, 51), **{f"homophily-0.{tenth}": (1666, 1666, 1668) for tenth in range(10)}}

# nodes, columns of edge_index, undirected edges without loops, features, classes, and the edge homophily of edge_index
TABLE = {"cora": (2708, 10556, 5278, 1433, 7, 0.810), "citeseer": (3327, 9104, 4552, 3703, 6, 0.736),
         "pubmed": (19717, 88648, 44324, 500, 3, 0.802), "computers": (13752, 491722, 245861, 767, 10, 0.777),
         "photo": (7650, 238162, 119081, 745, 8, 0.827), "coauthor-cs": (18333, 163788, 81894, 6805, 15, 0.808),
         "chameleon": (2277, 36101, 31371, 2325, 5, 0.235), "actor": (7600, 30019, 26659, 932, 5, 0.219),
         "cornell": (183, 298, 277, 1703, 5, 0.305), "texas": (183, 325, 279, 1703, 5, 0.108),
         "wisconsin": (251, 515, 450, 1703, 5, 0.196),
         **{f"homophily-0.{tenth}": (5000, 59596, 29798, 2, 10, share) for tenth, share in enumerate(
             (0.000, 0.101, 0.196, 0.294, 0.395, 0.493, 0.594, 0.688, 0.791, 0.897))}}


def real(*names):
    return [pytest.param(name, marks=pytest.mark.skipif(not ROOT or not available(name, ROOT),
                                                        reason=f"needs SGCL_DATA: {name}")) for name in names]


@pytest.mark.parametrize("name", real(*TABLE))
def test_the_published_numbers(name):
    entry, data = DATASETS[name], load(name, ROOT)
    graph = Graph.from_data(data)
    found = (data.num_nodes, data.num_edges, graph.num_edges, data.num_features, len(data.y.unique()))
    assert found == TABLE[name][:5]
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (entry.nodes, entry.edges, entry.features)
    assert len(data.y.unique()) == entry.classes
    assert homophily(data.edge_index, data.y, method="edge") == pytest.approx(TABLE[name][5], abs=6e-4)
    if name in MASKS:
        splits = 1 if data.train_mask.dim() == 1 else data.train_mask.size(1)
        assert splits == (10 if entry.protocol == "fixed" else 1)
        for mask, size in zip((data.train_mask, data.val_mask, data.test_mask), MASKS[name], strict=True):
            # the masks of one dataset differ in size by a node or two
            assert (mask.view(entry.nodes, -1).sum(0) - size).abs().max() <= (2 if splits > 1 else 0)
    else:
        assert "train_mask" not in data


def test_every_benchmark_has_a_row_or_is_not_to_be_had():
    assert {entry.name for entry in benchmarks.BENCHMARKS} == set(TABLE) | {"coauthor-physics"}


@pytest.mark.parametrize("name", real("cora", "citeseer", "pubmed", "photo"))
def test_components_and_diameter_are_those_of_the_paper(name):
    found, published = statistics(load(name, ROOT), sources=1000 if name != "pubmed" else 60), DATASETS[name].published
    assert found["components"] == published["components"]
    if name != "pubmed":  # fewer sources are searched from, and the diameter is a lower bound
        assert abs(found["diameter"] - published["diameter"]) <= 1
    assert found["diameter"] <= published["diameter"] + 1
    assert found["homophily"] == pytest.approx(published["homophily"], abs=0.01)


@pytest.mark.parametrize(("name", "expected"), [pytest.param(*values.values[:1], share, marks=values.marks) for
                                                values, share in zip(real("actor", "cornell", "texas", "wisconsin"),
                                                                     (0.22, 0.30, 0.06, 0.18), strict=True)])
def test_homophily_without_loops(name, expected):
    assert statistics(load(name, ROOT), sources=1)["homophily"] == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("name", real(*(f"homophily-0.{tenth}" for tenth in (0, 9))))
def test_homophily_graphs_have_floats_and_an_isolated_node(name):
    data = load(name, ROOT)
    assert data.x.dtype == torch.float32
    assert int((data.edge_index[0] == 0).sum()) == 0


def physics(tmp_path, monkeypatch, **changes):
    """Three nodes in the arrays of the Coauthor files, and an entry that expects them."""
    folder = tmp_path / "Coauthor/Physics/raw"
    folder.mkdir(parents=True)
    attr, adj = scipy.sparse.csr_matrix(np.eye(3, 5)), scipy.sparse.csr_matrix(np.diag([1.0, 1.0], k=1))
    arrays = {f"{name}_{part}": getattr(matrix, part) for name, matrix in (("attr", attr), ("adj", adj))
              for part in ("data", "indices", "indptr", "shape")}
    np.savez(folder / "ms_academic_phy.npz", labels=np.array([0, 1, 1]), **{**arrays, **changes})
    entry = dataclasses.replace(DATASETS["coauthor-physics"], nodes=3, edges=2, features=5, classes=2)
    monkeypatch.setitem(DATASETS, "coauthor-physics", entry)
    return folder / "ms_academic_phy.npz"


def test_coauthor_physics(tmp_path, monkeypatch):
    physics(tmp_path, monkeypatch)
    data = load("coauthor-physics", tmp_path)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.y.tolist() == [0, 1, 1]
    assert torch.equal(data.x, torch.eye(3, 5))


def test_arrays_that_are_pickles_are_refused(tmp_path, monkeypatch):
    path = physics(tmp_path, monkeypatch, adj_data=np.array([{"a": 1}, None], dtype=object))
    with pytest.raises(InputError, match=rf"coauthor-physics: {path} is not the published file: .*allow_pickle=False"):
        load("coauthor-physics", tmp_path)


def test_a_truncated_file_is_named(tmp_path, monkeypatch):
    path = physics(tmp_path, monkeypatch)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"coauthor-physics: .*ms_academic_phy.npz is not the published file"):
        load("coauthor-physics", tmp_path)
    assert not zipfile.is_zipfile(path)


@pytest.mark.parametrize("name", real("cora"))
def test_cached_and_parsed_are_the_same_and_not_normalised(name):
    parsed, cached = load(name, ROOT), load(name, ROOT)
    assert set(parsed.keys()) == set(cached.keys())
    for key in ("x", "edge_index", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(parsed[key], cached[key])
    assert set(parsed.x.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("name", real("texas"))
def test_directed_graphs_stay_as_their_files_have_them(name):
    data = load(name, ROOT)
    assert data.num_edges == 325
    assert data.has_self_loops()
    assert not data.is_undirected()


@pytest.mark.parametrize("name", real("cornell"))
def test_reading_is_silent(name, capfd, monkeypatch, recwarn):
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)  # under which PyG itself is silent
    load(name, ROOT)
    assert capfd.readouterr() == ("", "")
    assert len(recwarn) == 0
