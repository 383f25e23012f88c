"""Bilateral smoothing against its formula, and what its settings do and do not change."""

import warnings
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.smoothing import Bilateral, memory


def shortest_paths(adj: np.ndarray) -> np.ndarray:
    hops = np.where(adj > 0, 1.0, np.inf)
    np.fill_diagonal(hops, 0)
    for middle in range(len(adj)):
        hops = np.minimum(hops, hops[:, [middle]] + hops[[middle], :])
    return hops


def slow_twin(adj: np.ndarray, smoothing: Bilateral) -> np.ndarray:
    n, hops = len(adj), shortest_paths(adj)
    result = np.eye(n)
    for i in range(n):
        near = [j for j in range(n) if hops[i, j] <= smoothing.hops and (j != i or smoothing.include_self)]
        weight = {j: exp(-hops[i, j] / (2 * smoothing.sigma_spatial**2)
                         - 2 * (i != j) / (2 * smoothing.sigma_intensity**2)) for j in near}
        for j in near:
            share = weight[j] / sum(weight.values())
            if j != i and share >= smoothing.prune * (1 - 1e-9):
                result[i, j] = share
    return result


def positives_of(data, smoothing) -> tuple[np.ndarray, np.ndarray]:
    adj = Graph.from_data(data).adj
    return smoothing(adj).to_dense().double().numpy(), adj.to_dense().double().numpy()


@given(data=st.one_of(random_data(), random_data(weighted=True)), hops=st.integers(1, 4),
       sigma=st.sampled_from([0.4, 1.0, 5.0]), intensity=st.sampled_from([0.5, 2.0]), include_self=st.booleans(),
       prune=st.sampled_from([0.0, 0.05, 0.3]))
def test_equals_the_slow_twin(data, hops, sigma, intensity, include_self, prune):
    smoothing = Bilateral(sigma, intensity, hops, include_self, prune)
    fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, slow_twin(adj, smoothing), atol=1e-6)


def test_path_by_hand(path):
    np.testing.assert_allclose(positives_of(path, Bilateral())[0], [[1, 1, 0], [0.5, 1, 0.5], [0, 1, 1]])
    w = exp(-0.5 - 1)
    self_included, _ = positives_of(path, Bilateral(1.0, 1.0, include_self=True))
    np.testing.assert_allclose(self_included, [[1, w / (1 + w), 0], [w / (1 + 2 * w), 1, w / (1 + 2 * w)],
                                               [0, w / (1 + w), 1]], rtol=1e-6)
    near, far = 1 / (1 + exp(-0.5)), exp(-0.5) / (1 + exp(-0.5))
    two_hops, _ = positives_of(path, Bilateral(1.0, hops=2))
    np.testing.assert_allclose(two_hops, [[1, near, far], [0.5, 1, 0.5], [far, near, 1]], rtol=1e-6)


@given(data=random_data(), sigma=st.floats(1e-160, 1e6), intensity=st.floats(1e-160, 1e6))
def test_every_neighbour_gets_one_over_the_degree_whatever_the_sigmas(data, sigma, intensity):
    positives, adj = positives_of(data, Bilateral(sigma, intensity))
    degree = adj.sum(1, keepdims=True)
    np.testing.assert_allclose(positives[adj > 0], (adj / degree.clip(1))[adj > 0], rtol=1e-6)


def test_warns_when_next_to_nothing_is_left(path):
    with pytest.warns(UserWarning, match=r"largest weight off the diagonal is 2e-22, .* in effect the identity; raise"):
        positives, _ = positives_of(path, Bilateral(include_self=True))
    assert 0 < positives[0, 1] < 1e-21
    with pytest.warns(UserWarning, match="largest weight off the diagonal is 0, "):
        gone, _ = positives_of(path, Bilateral(sigma_spatial=1e-3, include_self=True))
    assert (gone == np.eye(3)).all()


def test_does_not_warn_otherwise(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        positives_of(path, Bilateral())
        positives_of(path, Bilateral(sigma_spatial=1.0, include_self=True))
        positives_of(path, Bilateral(hops=3))


@pytest.mark.parametrize("name", ["sigma_spatial", "sigma_intensity"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_sigmas_are_positive(name, value):
    with pytest.raises(InputError, match=f"Bilateral: {name} is .*, expected a finite number > 0"):
        Bilateral(**{name: value})


def test_hops_and_prune_are_checked(ring, monkeypatch):
    with pytest.raises(InputError, match="Bilateral: hops is 0, expected a whole number >= 1"):
        Bilateral(hops=0)
    with pytest.raises(InputError, match="Bilateral: prune is 1"):
        Bilateral(prune=1)
    monkeypatch.setattr(memory, "free_memory", lambda: 1000.0)
    adj = Graph.from_data(ring).adj
    with pytest.raises(InputError, match=r"Bilateral with prune=0: .* set fewer hops or prune > 0"):
        Bilateral(hops=2)(adj)
    assert Bilateral()(adj).nnz == 40 + adj.nnz
