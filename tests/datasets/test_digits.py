import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from sgcl.datasets import digits
from sgcl.errors import InputError


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbours_are_the_nearest(metric):
    data = digits(k=3, metric=metric)
    neighbours = [set() for _ in range(data.num_nodes)]
    for source, target in data.edge_index.T.tolist():
        neighbours[source].add(target)
    x = data.x.double().numpy()
    for node in range(0, data.num_nodes, 100):
        if metric == "cosine":
            distance = 1 - x @ x[node] / np.linalg.norm(x, axis=1) / np.linalg.norm(x[node])
        else:
            distance = np.square(x - x[node]).sum(1)
        distance[node] = np.inf
        third = np.sort(distance)[2]
        assert set(np.flatnonzero(distance < third - 1e-9)) <= neighbours[node]
        assert len(neighbours[node]) >= 3
        for other in neighbours[node]:  # near, seen from one of the two ends
            assert distance[other] <= third + 1e-9 or node in neighbours[other]


def test_the_graph_is_undirected_without_loops():
    data = digits()
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.validate()
    assert int(data.edge_index[0].bincount(minlength=data.num_nodes).min()) >= 10


def test_features_are_the_pixels_scaled_to_one():
    data = digits()
    assert data.x.shape == (1797, 64)
    assert torch.equal(data.x * 16, torch.from_numpy(load_digits().data).float())
    assert float(data.x.min()) == 0
    assert float(data.x.max()) == 1
    assert sorted(data.y.unique().tolist()) == list(range(10))


def test_settings_are_checked():
    with pytest.raises(InputError, match="digits: k is 0, expected 1 to 1796 neighbours"):
        digits(k=0)
    with pytest.raises(InputError, match="digits: metric is 'manhattan', expected 'cosine' or 'euclidean'"):
        digits(metric="manhattan")
