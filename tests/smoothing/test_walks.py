"""Heat kernel and PageRank: their series against the exact matrix, within the stated bound."""

from math import comb, cosh, exp, sinh

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.smoothing import HeatKernel, PageRank, memory

graphs = st.one_of(random_data(), random_data(weighted=True))
prunes = st.sampled_from([0.001, 0.01, 0.05, 0.3])


def exact(adj: np.ndarray, smoothing: HeatKernel | PageRank) -> np.ndarray:
    """The dense kernel, with ones on the diagonal."""
    degree = np.where(adj.sum(1) > 0, adj.sum(1), 1)
    walk = adj / np.sqrt(np.outer(degree, degree)) if smoothing.symmetric else adj / degree[:, None]
    eye = np.eye(len(adj))
    if isinstance(smoothing, HeatKernel):
        kernel = scipy.linalg.expm(-smoothing.time * (eye - walk))
    else:
        kernel = smoothing.alpha * np.linalg.inv(eye - (1 - smoothing.alpha) * walk)
    np.fill_diagonal(kernel, 1)
    return kernel


def slow_twin(adj: np.ndarray, coefficients: list[float], smoothing: HeatKernel | PageRank) -> np.ndarray:
    """The pruned series as the docstring has it."""
    n, degree = len(adj), np.where(adj.sum(1) > 0, adj.sum(1), 1)
    power, total = np.eye(n), np.zeros((n, n))
    for coefficient in coefficients:
        total += coefficient * power
        power = (adj / degree[:, None]) @ power
        power[power < smoothing.prune * (1 - 1e-9)] = 0
    total[total < smoothing.prune * (1 - 1e-9)] = 0
    if smoothing.symmetric:
        total = np.sqrt(degree)[:, None] * total / np.sqrt(degree)
        total = np.maximum(total, total.T)
    np.fill_diagonal(total, 1)
    return total


def positives_of(data, smoothing) -> tuple[np.ndarray, np.ndarray]:
    adj = Graph.from_data(data).adj
    return smoothing(adj).to_dense().double().numpy(), adj.to_dense().double().numpy()


def check_bound(data, smoothing) -> None:
    fast, adj = positives_of(data, smoothing)
    missing = exact(adj, smoothing) - fast
    assert missing.max() <= smoothing.error_bound() + 1e-7
    assert missing.min() >= -1e-6
    if not smoothing.symmetric:
        assert (fast > 0).sum(1).max() <= 1 + 1 / smoothing.prune


@given(data=graphs, time=st.sampled_from([0.1, 1.0, 4.0]), prune=prunes, symmetric=st.booleans())
def test_heat_is_within_its_bound(data, time, prune, symmetric):
    check_bound(data, HeatKernel(time, prune, symmetric))


@given(data=graphs, alpha=st.sampled_from([0.05, 0.15, 0.5, 0.9]), prune=prunes, symmetric=st.booleans())
def test_pagerank_is_within_its_bound(data, alpha, prune, symmetric):
    check_bound(data, PageRank(alpha, prune, symmetric))


@given(data=graphs, time=st.sampled_from([0.1, 1.0, 4.0, 30.0]), symmetric=st.booleans())
def test_unpruned_heat_is_the_matrix_exponential(data, time, symmetric):
    smoothing = HeatKernel(time, 0.0, symmetric)
    fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, exact(adj, smoothing), atol=1e-6)
    assert smoothing.error_bound() <= 1e-8


@given(data=graphs, alpha=st.sampled_from([0.05, 0.15, 0.5, 0.9]), symmetric=st.booleans())
def test_unpruned_pagerank_is_the_inverse(data, alpha, symmetric):
    smoothing = PageRank(alpha, 0.0, symmetric)
    fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, exact(adj, smoothing), atol=1e-6)
    assert smoothing.error_bound() <= 1e-8


@given(data=graphs, prune=prunes, symmetric=st.booleans())
def test_pruned_pagerank_equals_the_slow_twin(data, prune, symmetric):
    smoothing = PageRank(0.4, prune, symmetric)
    coefficients, left = [], 1.0
    while left > prune:
        coefficients.append(0.4 * left)
        left *= 0.6
    fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, slow_twin(adj, coefficients, smoothing), atol=1e-6)


@given(data=graphs, prune=prunes, symmetric=st.booleans())
def test_pruned_heat_equals_the_slow_twin(data, prune, symmetric):
    smoothing = HeatKernel(2.0, prune, symmetric)
    coefficients = [exp(-2.0)]
    while 1 - sum(coefficients) > prune:
        coefficients.append(coefficients[-1] * 2.0 / len(coefficients))
    fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, slow_twin(adj, coefficients, smoothing), atol=1e-6)


def test_path_by_hand(path):
    # T³ = T, so that odd powers are T and even ones T²: 1/2 between the ends
    t = 0.7
    heat, _ = positives_of(path, HeatKernel(t, prune=0.0))
    edge, ends = exp(-t) * sinh(t), exp(-t) * (cosh(t) - 1) / 2
    np.testing.assert_allclose(heat, [[1, edge, ends], [edge / 2, 1, edge / 2], [ends, edge, 1]], atol=1e-7)
    b = 0.75
    edge, ends = 0.25 * b / (1 - b * b), 0.25 * b * b / (1 - b * b) / 2
    pagerank, _ = positives_of(path, PageRank(0.25, prune=0.0))
    np.testing.assert_allclose(pagerank, [[1, edge, ends], [edge / 2, 1, edge / 2], [ends, edge, 1]], atol=1e-7)
    symmetric, _ = positives_of(path, PageRank(0.25, prune=0.0, symmetric=True))
    root = edge / np.sqrt(2)
    np.testing.assert_allclose(symmetric, [[1, root, ends], [root, 1, root], [ends, root, 1]], atol=1e-7)


@given(data=graphs, prune=prunes)
def test_the_symmetric_form_is_symmetric_when_pruned(data, prune):
    for smoothing in (HeatKernel(prune=prune, symmetric=True), PageRank(prune=prune, symmetric=True)):
        positives, _ = positives_of(data, smoothing)
        np.testing.assert_allclose(positives, positives.T, atol=1e-6)


def test_bounds_by_hand():
    # coefficients 1/2 and 1/4, tail 1/4: 1/4 ((1/4 + 1/4) + (3/4 + 1/4)) + 1/4
    assert PageRank(0.5, prune=0.25).error_bound() == pytest.approx(0.625)
    # about prune / alpha and prune (1 + t), plus at most prune
    assert 0.001 / 0.15 < PageRank(0.15, prune=0.001).error_bound() < 0.001 / 0.15 + 0.001
    assert 0.0019 < HeatKernel(1.0, prune=0.001).error_bound() < 0.003


def test_a_long_time_does_not_overflow(ring):
    positives, adj = positives_of(ring, HeatKernel(time=2000.0, prune=0.0))
    off = ~np.eye(len(adj), dtype=bool)
    np.testing.assert_allclose(positives[off], 1 / 40, atol=1e-6)  # every degree is 4: the walk ends anywhere


def test_walks_round_a_ring_by_counting():
    # the walk on a long cycle: after k hops at distance d with probability C(k, (k + d) / 2) / 2^k
    nodes = torch.arange(30)
    data = Data(x=torch.ones(30, 1), edge_index=torch.stack([nodes, (nodes + 1) % 30]))
    positives, _ = positives_of(data, PageRank(0.8, prune=0.0))
    for d in (1, 2, 3):
        expected = sum(0.8 * 0.2**k * comb(k, (k + d) // 2) / 2**k for k in range(d, 27, 2))
        assert positives[0, d] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("build", "message"), [
    (lambda: HeatKernel(time=0.0), "HeatKernel: time is 0.0, expected a finite number > 0"),
    (lambda: HeatKernel(prune=1.0), r"HeatKernel: prune is 1.0, expected a threshold in \[0, 1\)"),
    (lambda: PageRank(alpha=0.0), r"PageRank: alpha is 0.0, expected a restart probability in \(0, 1\)"),
    (lambda: PageRank(alpha=1.0), r"PageRank: alpha is 1.0, expected a restart probability in \(0, 1\)"),
    (lambda: PageRank(prune=-0.1), "PageRank: prune is -0.1"),
])
def test_settings_are_checked(build, message):
    with pytest.raises(InputError, match=message):
        build()


@pytest.mark.parametrize("part", [HeatKernel, PageRank])
def test_unpruned_is_refused_where_memory_is_short(ring, monkeypatch, part):
    monkeypatch.setattr(memory, "free_memory", lambda: 1000.0)
    adj = Graph.from_data(ring).adj
    with pytest.raises(InputError, match=f"{part.__name__} with prune=0: .* set prune > 0"):
        part(prune=0.0)(adj)
    assert part()(adj).nnz > 40
