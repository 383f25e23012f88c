"""GraphSAINT's coefficients: by their formula, and unbiased."""

import pytest
import torch

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers import FullGraph, RandomNode, RandomWalk, saint_coefficients
from sgcl.sparse import CSR

PAIRS = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (4, 5)]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def graph() -> Graph:
    row, col = torch.tensor(PAIRS).T
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(7, 7), symmetric=True)
    return Graph(torch.arange(7.0)[:, None] + 1, adj)


def test_equals_the_slow_twin():
    whole, sampler, samples = graph(), RandomWalk(roots=2, length=1), 25
    node, edge = saint_coefficients(sampler, whole, samples, seeded(3))
    generator = seeded(3)
    batches = [set(sampler.nodes(whole, generator).tolist()) for _ in range(samples)]
    for v in range(7):
        held = max(sum(v in batch for batch in batches), 1)
        assert float(node[v]) == pytest.approx(samples / (7 * held))
    for e, (v, u) in enumerate(zip(whole.adj.row.tolist(), whole.adj.idx.tolist(), strict=True)):
        held = max(sum(v in batch for batch in batches), 1)
        both = max(sum(v in batch and u in batch for batch in batches), 1)
        assert float(edge[e]) == pytest.approx(held / both)


def test_the_full_graph_needs_no_correction():
    node, edge = saint_coefficients(FullGraph(), graph(), 3, seeded())
    assert torch.allclose(node, torch.full((7,), 1 / 7))
    assert torch.equal(edge, torch.ones(12))


def test_estimates_of_the_mean_and_of_the_sum_over_neighbours_are_unbiased():
    whole, sampler = graph(), RandomNode(batch_size=3, by="degree")
    node, edge = saint_coefficients(sampler, whole, 2000, seeded(1))
    weighted = whole.adj.with_values(edge)
    loss = torch.tensor([5.0, 1, 2, 3, 4, 6, 0])  # node 6 is alone and never drawn: let it cost nothing
    mean, generator = 0.0, seeded(2)
    sums, times = torch.zeros(7), torch.zeros(7)
    for _ in range(2000):
        nodes = sampler.nodes(whole, generator)
        mean += float((node[nodes] * loss[nodes]).sum()) / 2000
        sums[nodes] += weighted.submatrix(nodes).to_dense() @ whole.x[nodes, 0]
        times[nodes] += 1
    assert mean == pytest.approx(float(loss.mean()), rel=0.05)
    expected = whole.adj.to_dense() @ whole.x[:, 0]
    torch.testing.assert_close((sums / times)[:6], expected[:6], rtol=0.15, atol=0.0)


def test_what_was_never_drawn_has_finite_coefficients():
    node, edge = saint_coefficients(RandomNode(batch_size=1), graph(), 1, seeded())
    assert bool(torch.isfinite(node).all())
    assert torch.equal(edge, torch.ones(12))


def test_samples_are_whole_and_positive():
    with pytest.raises(InputError, match="saint_coefficients: samples is 0, expected a whole number of at least 1"):
        saint_coefficients(FullGraph(), graph(), 0, seeded())
