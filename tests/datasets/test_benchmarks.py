import os

import pytest
import torch

from sgcl.datasets import DATASETS, available, load
from sgcl.graph import Graph

ROOT = os.environ.get("SGCL_DATA")  # read before the tests, which run without it
MASKS = {"cora": (140, 500, 1000), "citeseer": (120, 500, 1000), "pubmed": (60, 500, 1000),
         "chameleon": (1092, 729, 456), "actor": (3648, 2432, 1520), "cornell": (87, 59, 37), "texas": (87, 59, 37),
         "wisconsin": (120, 80, 51)}


def real(*names):
    return [pytest.param(name, marks=pytest.mark.skipif(not ROOT or not available(name, ROOT),
                                                        reason=f"needs SGCL_DATA: {name}")) for name in names]


@pytest.mark.parametrize("name", real(*(name for name, entry in DATASETS.items() if entry.folder)))
def test_the_published_numbers(name):
    entry, data = DATASETS[name], load(name, ROOT)
    graph = Graph.from_data(data)
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (entry.nodes, entry.edges, entry.features)
    assert len(data.y.unique()) == entry.classes
    if name in MASKS:
        splits = 1 if data.train_mask.dim() == 1 else data.train_mask.size(1)
        assert splits == (10 if entry.protocol == "fixed" else 1)
        for mask, size in zip((data.train_mask, data.val_mask, data.test_mask), MASKS[name], strict=True):
            # the masks of one dataset differ in size by a node or two
            assert (mask.view(entry.nodes, -1).sum(0) - size).abs().max() <= (2 if splits > 1 else 0)
    else:
        assert "train_mask" not in data


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
