"""Random edges: P(u, v) proportional to 1/deg(u) + 1/deg(v), only edges, only nodes that have some."""

import gc
from collections import Counter

import pytest
import torch

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers import RandomEdge
from sgcl.samplers.edge import _CONNECTED, random_edges
from sgcl.sparse import CSR


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def graph_of(pairs: list[tuple[int, int]], num_nodes: int) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(num_nodes, num_nodes), symmetric=True)
    return Graph(torch.ones(num_nodes, 1), adj)


PAIRS = [(1, 2), (1, 3), (1, 4), (2, 3), (4, 5)]  # nodes 0 and 6 are alone
GRAPH = graph_of(PAIRS, 7)


def test_edges_follow_the_law():
    rounds, degree = 20_000, {1: 3, 2: 2, 3: 2, 4: 2, 5: 1}
    seen = Counter(tuple(sorted(edge)) for edge in random_edges(GRAPH.adj, rounds, seeded()).tolist())
    weight = {(u, v): 1 / degree[u] + 1 / degree[v] for u, v in PAIRS}
    assert set(seen) == set(PAIRS)
    chi_square = 0.0
    for pair in PAIRS:
        expected = rounds * weight[pair] / sum(weight.values())
        chi_square += (seen[pair] - expected) ** 2 / expected
    assert chi_square < 18.5  # the 0.999 quantile of 4 degrees of freedom


def test_a_budget_gives_the_ends_of_exactly_those_draws():
    nodes = RandomEdge(batch_size=1, edges=3).nodes(GRAPH, seeded(4))
    assert nodes.tolist() == sorted(set(random_edges(GRAPH.adj, 3, seeded(4)).view(-1).tolist()))


def test_a_budget_of_one_is_an_edge():
    generator = seeded()
    assert all(RandomEdge(edges=1)(GRAPH, generator).num_edges == 1 for _ in range(20))


def test_nodes_without_edges_are_in_no_batch():
    generator = seeded()
    for size in (2, 4, 5, 100):
        for _ in range(20):
            nodes = RandomEdge(batch_size=size).nodes(GRAPH, generator).tolist()
            assert set(nodes) <= {1, 2, 3, 4, 5}
            assert len(nodes) == min(size, 5)


def test_what_is_kept_of_a_graph_goes_with_it():
    graph = graph_of(PAIRS, 7)
    nodes = RandomEdge(batch_size=100).nodes(graph, seeded())
    nodes.zero_()  # a batch is the caller's own
    assert RandomEdge(batch_size=100).nodes(graph, seeded()).tolist() == [1, 2, 3, 4, 5]
    gc.collect()
    before = len(_CONNECTED)
    del graph
    gc.collect()
    assert len(_CONNECTED) == before - 1


def test_a_graph_without_edges_is_refused():
    with pytest.raises(InputError, match="RandomEdge: the graph has no edges to draw; use RandomNode"):
        RandomEdge()(graph_of([], 3), seeded())


@pytest.mark.parametrize("name", ["batch_size", "edges"])
def test_settings_are_whole_and_positive(name):
    with pytest.raises(InputError, match=f"RandomEdge: {name} is -2, expected a whole number of at least 1"):
        RandomEdge(**{name: -2})
