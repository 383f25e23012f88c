"""Flipping pairs: the law of the dense formula, without the dense matrix."""

from collections import Counter
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph, join
from sgcl.sparse import CSR
from sgcl.views import FlipEdges
from sgcl.views.flip_edges import _distinct, _pairs_without_edge


def graph_of(pairs: list[tuple[int, int]], num_nodes: int, weights: list[float] | None = None) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    value = None if weights is None else torch.tensor(weights).repeat(2)
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), value, shape=(num_nodes, num_nodes),
                       symmetric=True)
    return Graph(torch.ones(num_nodes, 1), adj)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(2, 10))
    every = [(i, j) for i in range(n) for j in range(i)]
    pairs = draw(st.lists(st.sampled_from(every), unique=True))
    return graph_of(pairs, n, [2.0 + k for k in range(len(pairs))] if draw(st.booleans()) else None)


@given(graphs(), st.floats(0, 1), st.integers(0, 1000))
@settings(deadline=None, max_examples=100)
def test_result_is_a_graph_whose_edges_are_old_ones_or_of_weight_one(graph, p, seed):
    before = graph.adj.to_dense().clone()
    view = FlipEdges(p)(graph, seeded(seed)).adj
    after = view.to_dense()
    assert torch.equal(after, after.T)
    assert float(after.diagonal().sum()) == 0
    assert view.symmetric
    both = (before != 0) & (after != 0)
    assert torch.equal(after[both], before[both])
    assert bool((after[(before == 0) & (after != 0)] == 1).all())
    assert view.nnz == int((after != 0).sum())  # no entry twice
    assert torch.equal(graph.adj.to_dense(), before)


@given(graphs())
@settings(deadline=None, max_examples=60)
def test_ranks_walk_through_all_pairs_without_an_edge(graph):
    dense, n = graph.adj.to_dense(), graph.num_nodes
    expected = [(i, j) for i in range(n) for j in range(i) if dense[i, j] == 0]
    i, j = _pairs_without_edge(graph, torch.arange(len(expected)))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == expected


@given(st.lists(graphs(), min_size=1, max_size=4))
@settings(deadline=None, max_examples=60)
def test_pairs_are_those_of_each_graph_of_a_collection(parts):
    collection = join(parts)
    dense, of = collection.adj.to_dense(), collection.graph_of
    expected = [(i, j) for i in range(len(of)) for j in range(i) if of[i] == of[j] and dense[i, j] == 0]
    i, j = _pairs_without_edge(collection, torch.arange(len(expected)))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == expected


def test_no_edge_comes_between_two_graphs():
    lonely = graph_of([], 1)
    collection = join([lonely, graph_of([(0, 1)], 3), lonely, graph_of([(0, 1), (1, 2)], 3), lonely])
    flipped = FlipEdges(1)(collection, seeded())
    assert sorted((i, j) for i, j in zip(flipped.adj.row.tolist(), flipped.adj.idx.tolist(), strict=True) if i < j) == [
        (1, 3), (2, 3), (5, 7)]
    assert torch.equal(flipped.graph_ptr, collection.graph_ptr)


def test_flips_follow_the_dense_formula():
    graph = graph_of([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)], 6)
    a, p, rounds = graph.adj.to_dense(), 0.3, 2000
    generator, total = seeded(), torch.zeros(6, 6)
    for _ in range(rounds):
        total += FlipEdges(p)(graph, generator).adj.to_dense()
    expected = (a * (1 - p) + (1 - a) * p).fill_diagonal_(0)
    assert float((total / rounds - expected).abs().max()) < 5 * (p * (1 - p) / rounds) ** 0.5


def test_pairs_are_flipped_independently():
    graph, p, rounds = graph_of([(0, 1)], 3), 0.4, 2000
    generator, seen = seeded(), Counter()
    for _ in range(rounds):
        dense = FlipEdges(p)(graph, generator).adj.to_dense()
        seen[int(dense[0, 1]), int(dense[0, 2]), int(dense[1, 2])] += 1
    for kept in (0, 1):
        for first in (0, 1):
            for second in (0, 1):
                flips = (1 - kept) + first + second
                expected = rounds * p ** flips * (1 - p) ** (3 - flips)
                assert abs(seen[kept, first, second] - expected) < 5 * expected ** 0.5


@pytest.mark.parametrize("count", [1, 3, 5])
def test_every_set_of_numbers_is_equally_likely(count):
    generator, rounds = seeded(), 3000
    seen = Counter(tuple(_distinct(6, count, generator).tolist()) for _ in range(rounds))
    sets = list(combinations(range(6), count))
    assert set(seen) == set(sets)
    assert all(abs(seen[chosen] - rounds / len(sets)) < 5 * (rounds / len(sets)) ** 0.5 for chosen in sets)


@pytest.mark.parametrize(("total", "count"), [(0, 0), (5, 0), (5, 5), (1000, 500), (1000, 501), (10**12, 1000)])
def test_numbers_are_distinct_and_as_many_as_asked(total, count):
    found = _distinct(total, count, seeded())
    assert len(found) == len(set(found.tolist())) == count
    assert all(0 <= number < total for number in found.tolist())


def test_a_large_graph_gets_about_p_times_its_empty_pairs():
    n, p = 30_000, 1e-4
    ring = graph_of([(i, (i + 1) % n) for i in range(n)], n)
    empty = n * (n - 1) / 2 - n
    view = FlipEdges(p)(ring, seeded())
    assert abs(view.num_edges - n * (1 - p) - p * empty) < 5 * (p * empty) ** 0.5
    assert torch.equal(view.adj.T.idx, view.adj.idx)


def test_nothing_is_flipped_at_zero_and_everything_at_one():
    graph = graph_of([(0, 1), (1, 2)], 4, [5.0, 6.0])
    assert FlipEdges(0)(graph, seeded()) is graph
    assert FlipEdges(1)(graph, seeded()).adj.to_dense().tolist() == [
        [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0]]


def test_a_complete_graph_only_loses_edges_and_a_bare_one_only_gains():
    complete = graph_of(list(combinations(range(5), 2)), 5)
    assert FlipEdges(1)(complete, seeded()).num_edges == 0
    assert FlipEdges(1)(graph_of([], 5), seeded()).num_edges == 10


def test_too_many_new_edges_are_refused_with_a_p_that_works(monkeypatch):
    monkeypatch.setattr("sgcl.views.flip_edges._ALWAYS_FINE", 10)
    n = 100
    ring = graph_of([(i, (i + 1) % n) for i in range(n)], n)
    with pytest.raises(InputError, match=r"FlipEdges: p=0.5 would add about 2.4e\+03 edges to a graph of 100 nodes "
                                         r"and 100 edges; choose p of at most 3.9e-02$"):
        FlipEdges(0.5)(ring, seeded())
    FlipEdges(0.039)(ring, seeded())


def test_a_rate_is_a_probability():
    with pytest.raises(InputError, match=r"FlipEdges: p is -1, expected a probability in \[0, 1\]"):
        FlipEdges(-1)
