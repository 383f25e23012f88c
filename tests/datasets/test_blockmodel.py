import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.datasets import blockmodel, sbm, statistics
from sgcl.errors import InputError


@settings(max_examples=40)
@given(nodes=st.integers(12, 80), classes=st.integers(2, 5), homophily=st.sampled_from([0.0, 0.3, 0.85, 1.0]),
       features=st.integers(1, 7), exponent=st.sampled_from([2.1, 3.0, math.inf]), seed=st.integers(0, 1000))
def test_every_number_is_the_one_asked_for(nodes, classes, homophily, features, exponent, seed):
    data = sbm(nodes, edges=nodes // 2, classes=classes, homophily=homophily, features=features, exponent=exponent,
               seed=seed)
    pairs = {tuple(sorted(pair)) for pair in data.edge_index.T.tolist()}
    assert len(pairs) == nodes // 2 == data.num_edges // 2
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert sum(int(data.y[a] == data.y[b]) for a, b in pairs) == round(homophily * (nodes // 2))
    assert data.x.shape == (nodes, features)
    size = data.y.bincount(minlength=classes)
    assert int(size.max() - size.min()) <= 1


def test_the_degree_or_the_edges():
    assert sbm(100, mean_degree=6).num_edges == 600
    assert sbm(100).num_edges == 1000
    assert sbm(100, edges=7).num_edges == 14
    with pytest.raises(InputError, match="sbm: give edges or mean_degree, not both"):
        sbm(100, edges=7, mean_degree=2)


@pytest.mark.parametrize("where", [0, 1])
def test_pairs_are_drawn_by_the_product_of_propensities(where):
    y, propensity = torch.tensor([1, 0, 1, 0, 2]), torch.tensor([1.0, 2.0, 3.0, 0.5, 1.5], dtype=torch.float64)
    draw = blockmodel._drawers(y, propensity, 3, torch.Generator().manual_seed(0))[where]
    one, other = draw(60_000)
    found = np.zeros((5, 5))
    np.add.at(found, (one.numpy(), other.numpy()), 1 / len(one))
    alike = (y[:, None] == y).numpy()
    expected = np.outer(propensity, propensity) * (alike if where == 0 else ~alike)
    assert np.abs(found - expected / expected.sum()).max() < 0.01


def test_degrees_have_a_heavy_tail_unless_the_exponent_is_infinite():
    heavy, even = (sbm(3000, mean_degree=8, features=1, exponent=exponent) for exponent in (2.2, math.inf))
    degrees = [data.edge_index[0].bincount(minlength=3000) for data in (heavy, even)]
    assert int(degrees[0].max()) > 4 * int(degrees[1].max())


def test_features_tell_classes_apart_by_the_signal():
    for signal in (0.0, 5.0):
        data = sbm(2000, classes=2, features=6, signal=signal, seed=2)
        means = torch.stack([data.x[data.y == label].mean(0) for label in (0, 1)])
        for centre in means:
            assert float(centre.norm()) == pytest.approx(signal, abs=0.25)
        assert float((data.x - means[data.y]).std()) == pytest.approx(1, abs=0.05)


def test_the_seed_decides():
    first, again, other = sbm(200, seed=1), sbm(200, seed=1), sbm(200, seed=2)
    assert torch.equal(first.edge_index, again.edge_index)
    assert torch.equal(first.x, again.x)
    assert not torch.equal(first.edge_index, other.edge_index)


def test_large_graphs_are_drawn_in_parts(monkeypatch):
    monkeypatch.setattr(blockmodel, "_AT_ONCE", 50)
    found = statistics(sbm(300, edges=900, homophily=0.5), sources=1)
    assert (found["edges"], found["homophily"]) == (900, 0.5)


def test_a_graph_may_be_complete():
    data = sbm(8, edges=28, classes=2, homophily=12 / 28, exponent=math.inf)
    assert statistics(data, sources=1)["edges"] == 28


@pytest.mark.parametrize(("settings_", "message"), [
    ({"homophily": 2}, "sbm: homophily is 2, expected a probability"),
    ({"classes": 1}, "sbm: 10 nodes, 50 edges, 1 classes and 64 features, expected at least 1 edge, 2 classes"),
    ({"features": 0}, "sbm: 10 nodes, 50 edges, 2 classes and 0 features"),
    ({"edges": 0}, "sbm: 10 nodes, 0 edges"),
    ({"exponent": 2.0}, "sbm: exponent is 2.0, expected more than 2"),
    ({"homophily": 1.0}, "sbm: 50 edges inside classes are asked for, but there are only 20 pairs of nodes for them"),
    ({"homophily": 0.0, "edges": 26}, "sbm: 26 edges between classes are asked for, but there are only 25 pairs")])
def test_settings_are_checked(settings_, message):
    with pytest.raises(InputError, match=message):
        sbm(**{"nodes": 10, "classes": 2, **settings_})


def test_a_graph_too_dense_for_its_hubs_is_told(monkeypatch):
    monkeypatch.setattr(blockmodel, "_MOST_ROUNDS", 3)
    with pytest.raises(InputError, match=r"sbm: only \d+ of \d+ edges inside classes found room, the nodes with most"):
        sbm(400, edges=19_000, classes=2, homophily=1.0, exponent=2.05)
