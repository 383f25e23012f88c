"""Diffusion smoothing against its formula."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.smoothing import Diffusion, memory


def slow_twin(adj: np.ndarray, smoothing: Diffusion) -> np.ndarray:
    n = len(adj)
    v = np.eye(n)
    for _ in range(smoothing.steps):
        new = v.copy()
        for i in range(n):
            total = sum((adj[i, j] * v[j] for j in range(n)), np.zeros(n))
            if smoothing.normalize and adj[i].sum() > 0:
                total = total / adj[i].sum()
            new[i] += smoothing.eta * total
        v = new
    v[v < smoothing.prune * (1 - 1e-9)] = 0
    v = v.clip(0, 1)
    np.fill_diagonal(v, 1)
    return v


def positives_of(data, smoothing) -> tuple[np.ndarray, np.ndarray]:
    adj = Graph.from_data(data).adj
    return smoothing(adj).to_dense().double().numpy(), adj.to_dense().double().numpy()


@given(data=st.one_of(random_data(), random_data(weighted=True)), eta=st.sampled_from([0.03, 0.2, 1.0]),
       steps=st.integers(1, 4), normalize=st.booleans(), prune=st.sampled_from([0.0, 0.005, 0.1]))
def test_equals_the_slow_twin(data, eta, steps, normalize, prune):
    smoothing = Diffusion(eta, steps, normalize, prune)
    fast, adj = positives_of(data, smoothing)
    np.testing.assert_allclose(fast, slow_twin(adj, smoothing), atol=1e-6)


def test_path_by_hand(path):
    # (I + 0.1 A)² = I + 0.2 A + 0.01 A²
    full, _ = positives_of(path, Diffusion(eta=0.1, prune=0.0))
    np.testing.assert_allclose(full, [[1, 0.2, 0.01], [0.2, 1, 0.2], [0.01, 0.2, 1]], atol=1e-7)
    # the mean halves what the middle node gets from each end
    mean, _ = positives_of(path, Diffusion(eta=0.1, normalize=True, prune=0.0))
    np.testing.assert_allclose(mean, [[1, 0.2, 0.005], [0.1, 1, 0.1], [0.005, 0.2, 1]], atol=1e-7)
    default, _ = positives_of(path, Diffusion())
    np.testing.assert_allclose(default, [[1, 0.06, 0], [0.06, 1, 0.06], [0, 0.06, 1]], atol=1e-7)


def test_pruning_waits_for_the_end(path):
    # each step gives 0.1 to a neighbour: below the threshold alone, above it after three
    positives, _ = positives_of(path, Diffusion(eta=0.1, steps=3, prune=0.25))
    assert positives[0, 1] == pytest.approx(0.3 + 2 * 0.001)  # 3 eta A + eta³ A³, and A³ = 2 A


def test_edge_weights_count(path):
    path.edge_weight = torch.tensor([2.0, 0.5])
    positives, _ = positives_of(path, Diffusion(eta=0.1, steps=1))
    np.testing.assert_allclose(positives, [[1, 0.2, 0], [0.2, 1, 0.05], [0, 0.05, 1]], atol=1e-7)


@pytest.mark.parametrize(("settings", "message"), [
    ({"eta": 0.0}, "Diffusion: eta is 0.0, expected a finite number > 0"),
    ({"steps": 0}, "Diffusion: steps is 0, expected a whole number >= 1"),
    ({"prune": -1.0}, "Diffusion: prune is -1.0, expected a threshold"),
])
def test_settings_are_checked(settings, message):
    with pytest.raises(InputError, match=message):
        Diffusion(**settings)


def test_unpruned_is_refused_where_memory_is_short(ring, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1000.0)
    adj = Graph.from_data(ring).adj
    with pytest.raises(InputError, match=r"Diffusion with prune=0: .* set prune > 0, e.g. prune=0.005"):
        Diffusion(prune=0.0)(adj)
    assert Diffusion()(adj).nnz == 40 + adj.nnz
