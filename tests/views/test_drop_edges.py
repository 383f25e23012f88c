"""Dropping edges: both directions at once, at the right rate, weights kept."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.sparse import CSR
from sgcl.views import DropEdges


def weighted_graph(pairs: list[tuple[int, int]], num_nodes: int, weights: list[float] | None = None) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    value = None if weights is None else torch.tensor(weights).repeat(2)
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), value, shape=(num_nodes, num_nodes),
                       symmetric=True)
    return Graph(torch.ones(num_nodes, 1), adj, n_id=torch.arange(num_nodes) + 100)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(2, 12))
    every = [(i, j) for i in range(n) for j in range(i)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True))
    weights = [0.5 + k for k in range(len(pairs))] if draw(st.booleans()) else None
    return weighted_graph(pairs, n, weights)


@given(graphs(), st.floats(0, 1), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_result_is_a_symmetric_part_of_the_graph_with_its_weights(graph, p, seed):
    before = graph.adj.to_dense().clone()
    view = DropEdges(p)(graph, seeded(seed))
    after = view.adj.to_dense()
    assert torch.equal(after, after.T)
    assert torch.equal(after, torch.where(after != 0, before, 0.0))
    assert view.adj.symmetric
    assert view.adj.shape == graph.adj.shape
    assert torch.equal(graph.adj.to_dense(), before)
    assert view.x is graph.x
    assert view.n_id is graph.n_id
    for i in range(graph.num_nodes):  # still sorted by rows
        columns = view.adj.idx[view.adj.ptr[i]:view.adj.ptr[i + 1]]
        assert torch.equal(columns, columns.sort().values)


@given(graphs(), st.floats(0.01, 0.99), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_equals_the_slow_twin(graph, p, seed):
    draws = torch.rand(graph.num_edges, generator=seeded(seed), dtype=torch.float64).tolist()
    expected, edge = torch.zeros_like(graph.adj.to_dense()), 0
    dense = graph.adj.to_dense()
    for i in range(graph.num_nodes):
        for j in range(i + 1, graph.num_nodes):
            if dense[i, j] != 0:
                if draws[edge] >= p:
                    expected[i, j] = expected[j, i] = dense[i, j]
                edge += 1
    assert torch.equal(DropEdges(p)(graph, seeded(seed)).adj.to_dense(), expected)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_drops_at_the_given_rate(p):
    n = 20_000
    ring = weighted_graph([(i, (i + 1) % n) for i in range(n)], n)
    kept = DropEdges(p)(ring, seeded()).num_edges / n
    assert abs(kept - (1 - p)) < 5 * (p * (1 - p) / n) ** 0.5


def test_edges_go_independently_of_each_other():
    path = weighted_graph([(0, 1), (1, 2)], 3)
    generator, seen = seeded(), {}
    for _ in range(2000):
        dense = DropEdges(0.5)(path, generator).adj.to_dense()
        key = (int(dense[0, 1]), int(dense[1, 2]))
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 4
    assert all(abs(count - 500) < 100 for count in seen.values())


def test_nothing_is_dropped_at_zero_and_everything_at_one():
    graph = weighted_graph([(0, 1), (1, 2), (0, 3)], 5, [1.0, 2.0, 3.0])
    assert DropEdges(0)(graph, seeded()) is graph
    bare = DropEdges(1)(graph, seeded())
    assert bare.adj.nnz == 0
    assert bare.adj.shape == (5, 5)
    assert bare.adj.ptr.tolist() == [0] * 6
    assert DropEdges(0.5)(bare, seeded()).adj.nnz == 0


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_a_rate_is_a_probability(p):
    with pytest.raises(InputError, match=r"DropEdges: p is .*, expected a probability in \[0, 1\]"):
        DropEdges(p)
