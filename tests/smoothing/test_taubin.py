"""Taubin smoothing against its formula, written out densely."""


import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.smoothing import Taubin, edge_coverage, memory, rows


def slow_twin(adj: np.ndarray, smoothing: Taubin) -> np.ndarray:
    n = len(adj)
    degree = adj.sum(1)
    laplacian = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if degree[i] > 0 and degree[j] > 0:
                laplacian[i, j] = (i == j) - adj[i, j] / np.sqrt(degree[i] * degree[j])
    v = np.eye(n)
    for _ in range(smoothing.steps):
        v = (np.eye(n) + smoothing.tau * laplacian) @ ((np.eye(n) + smoothing.mu * laplacian) @ v)
        if smoothing.prune > 0:
            v[v < smoothing.prune * (1 - 1e-9)] = 0
            np.fill_diagonal(v, 1)
    v = v.clip(0, 1)
    np.fill_diagonal(v, 1)
    return v


def positives_of(data, smoothing) -> tuple[np.ndarray, np.ndarray]:
    adj = Graph.from_data(data).adj
    return smoothing(adj).to_dense().double().numpy(), adj.to_dense().double().numpy()


@given(data=st.one_of(random_data(), random_data(weighted=True)), steps=st.integers(1, 3),
       prune=st.sampled_from([0.0, 1e-6, 0.02, 0.1]), filters=st.sampled_from([(-0.4, 0.3), (-0.9, 0.1), (-2.0, 0.7)]))
def test_equals_the_slow_twin(data, steps, prune, filters):
    smoothing = Taubin(*filters, steps=steps, prune=prune)
    with rows.blocks_of(16):
        fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, slow_twin(adj, smoothing), atol=1e-6)


def test_path_by_hand(path):
    # Â has 1/√2 on both edges, Â² has 1/2 between the ends: 0.34/√2 on the edges, -0.12/2 between the ends
    once, _ = positives_of(path, Taubin(steps=1, prune=0.0))
    a = 0.34 / np.sqrt(2)
    np.testing.assert_allclose(once, [[1, a, 0], [a, 1, a], [0, a, 1]], atol=1e-7)
    # the second step, from the diagonal set back to 1: 0.78 a + 0.34/√2 - 0.12 a = 1.66 a; ends 0.34² / 2 - 0.06 < 0
    twice, _ = positives_of(path, Taubin())
    np.testing.assert_allclose(twice, [[1, 1.66 * a, 0], [1.66 * a, 1, 1.66 * a], [0, 1.66 * a, 1]], atol=1e-7)
    # to the letter, with Â³ = Â: 2 · 0.34 (0.78 - 0.12) Â on the edges
    letter, _ = positives_of(path, Taubin(prune=0.0))
    b = 2 * 0.34 * (0.78 - 0.12) / np.sqrt(2)
    np.testing.assert_allclose(letter, [[1, b, 0], [b, 1, b], [0, b, 1]], atol=1e-7)


def test_an_entry_at_the_threshold_stays(path):
    at = 0.34 / np.sqrt(2)
    for prune, kept in ((at, 1.0), (at * (1 + 1e-6), 0.0), (at * (1 - 1e-6), 1.0)):
        positives, adj = positives_of(path, Taubin(steps=1, prune=prune))
        assert (positives[adj > 0] > 0).mean() == kept


def test_pruning_thins_out_where_degrees_are_high(ring):
    adj = Graph.from_data(ring).adj  # degree 4: 0.34 / 4 on the edges
    assert edge_coverage(Taubin(steps=1, prune=0.08)(adj), adj) == 1.0
    assert edge_coverage(Taubin(steps=1, prune=0.09)(adj), adj) == 0.0


@pytest.mark.parametrize(("mu", "tau"), [(-0.3, 0.3), (-0.2, 0.3), (0.4, 0.3), (-0.4, -0.3), (-0.4, 0.0),
                                         (float("nan"), 0.3), (float("-inf"), 0.3)])
def test_filters_that_do_not_smooth_are_refused(mu, tau):
    with pytest.raises(InputError, match=r"Taubin: mu is .* and tau is .*, expected mu < -tau < 0; take tau > 0"):
        Taubin(mu=mu, tau=tau)


@pytest.mark.parametrize("steps", [0, -1, 1.5, True])
def test_steps_are_counted(steps):
    with pytest.raises(InputError, match=r"Taubin: steps is .*, expected a whole number >= 1"):
        Taubin(steps=steps)


@pytest.mark.parametrize("prune", [-0.1, 1.0, float("nan")])
def test_prune_is_a_threshold(prune):
    with pytest.raises(InputError, match=r"Taubin: prune is .*, expected a threshold in \[0, 1\); 0 keeps every entry"):
        Taubin(prune=prune)


def test_to_the_letter_is_refused_where_memory_is_short(ring, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1000.0)
    adj = Graph.from_data(ring).adj
    with pytest.raises(InputError, match=r"Taubin with prune=0: .* 1.6e\+03 entries, .* free; set prune > 0"):
        Taubin(prune=0.0)(adj)
    assert Taubin()(adj).nnz > 40
