import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.evaluation import cluster


def blobs(n=60, classes=3, spread=0.1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % classes
    return torch.eye(classes, 4)[y] + spread * torch.randn(n, 4, generator=generator), y


def slow_scores(true, given_):
    """Normalised mutual information and adjusted Rand index, by counting."""
    n = len(true)
    table = np.array([[np.sum((true == a) & (given_ == b)) for b in np.unique(given_)] for a in np.unique(true)])
    rows, cols = table.sum(1), table.sum(0)
    information = sum(c / n * math.log(c * n / (rows[i] * cols[j])) for (i, j), c in np.ndenumerate(table) if c)
    entropy = [-sum(c / n * math.log(c / n) for c in counts) for counts in (rows, cols)]

    def pairs(counts):
        return float(np.sum(counts * (counts - 1) / 2))
    chance = pairs(rows) * pairs(cols) / (n * (n - 1) / 2)
    rand = (pairs(table) - chance) / ((pairs(rows) + pairs(cols)) / 2 - chance)
    return information / (sum(entropy) / 2), rand


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), spread=st.sampled_from([0.3, 1.0]), clusters=st.integers(2, 5))
def test_scores_by_counting(seed, spread, clusters):
    embedding, y = blobs(spread=spread, seed=seed)
    found = cluster(embedding, y, clusters=clusters, starts=1, seed=seed)
    assert len(found.assignment.unique()) == found.clusters == clusters
    nmi, ari = slow_scores(y.numpy(), found.assignment.numpy())
    assert (found.nmi, found.ari) == (pytest.approx(nmi), pytest.approx(ari))


def test_clear_clusters_are_found_whatever_the_length_of_rows():
    embedding, y = blobs()
    found = cluster(embedding * torch.linspace(0.1, 9, len(y))[:, None], y)
    assert (found.nmi, found.ari, found.clusters) == (pytest.approx(1), pytest.approx(1), 3)


def test_labels_are_not_seen_by_the_clustering():
    embedding, y = blobs(spread=1.0)
    before, after = cluster(embedding, y), cluster(embedding, y[torch.randperm(len(y))])
    assert torch.equal(before.assignment, after.assignment)
    assert before.inertia == after.inertia
    assert before.nmi != after.nmi


def test_unlabelled_nodes_are_clustered_and_not_scored():
    embedding, y = blobs()
    y[:5] = -1
    found = cluster(embedding, y)
    assert len(found.assignment) == 60
    assert found.nmi == pytest.approx(1)


def test_the_seed_decides():
    embedding, y = blobs(spread=2.0)
    first, again = (cluster(embedding, y, starts=1, seed=3) for _ in range(2))
    assert torch.equal(first.assignment, again.assignment)
    assert any(not torch.equal(first.assignment, cluster(embedding, y, starts=1, seed=seed).assignment)
               for seed in range(4, 9))


def test_inputs_are_checked():
    embedding, y = blobs()
    with pytest.raises(InputError, match="cluster: 61 clusters of 60 nodes, 60 of them labelled: expected"):
        cluster(embedding, y, clusters=61)
    with pytest.raises(InputError, match="cluster: 0 clusters of 60 nodes, 0 of them labelled"):
        cluster(embedding, torch.full_like(y, -1))
    for clusters in (None, 3):
        with pytest.raises(InputError, match="cluster: all labelled nodes are of class 2: two classes are needed"):
            cluster(embedding, torch.where(y == 2, 2, -1), clusters=clusters)
    with pytest.raises(InputError, match="cluster: starts is 0, expected at least 1"):
        cluster(embedding, y, starts=0)
    with pytest.raises(InputError, match="cluster: compares clusters with one class a node"):
        cluster(embedding, torch.stack([y, y], dim=1))
    with pytest.raises(InputError, match="cluster: the embedding holds NaN"):
        cluster(embedding * torch.nan, y)
