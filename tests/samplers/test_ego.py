"""Ego graphs: within k hops of the roots, never more than the cap, fair where the cap cuts."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers import EgoGraph
from sgcl.samplers.base import fill, uniform_nodes
from sgcl.sparse import CSR


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def graph_of(pairs: list[tuple[int, int]], num_nodes: int) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(num_nodes, num_nodes), symmetric=True)
    return Graph(torch.ones(num_nodes, 1), adj)


def distances(graph: Graph, roots: list[int]) -> dict[int, int]:
    """Hops from the nearest root, by breadth-first search."""
    adj, distance, queue = graph.adj.to_dense(), dict.fromkeys(roots, 0), list(roots)
    while queue:
        here = queue.pop(0)
        for there in range(graph.num_nodes):
            if adj[here, there] != 0 and there not in distance:
                distance[there] = distance[here] + 1
                queue.append(there)
    return distance


def roots_of(graph: Graph, count: int, seed: int) -> list[int]:
    generator = seeded(seed)
    return fill(count, graph.num_nodes, lambda wanted: uniform_nodes(graph, wanted, generator)).tolist()


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(3, 16))
    every = [(i, j) for i in range(n) for j in range(i)]
    return graph_of(draw(st.lists(st.sampled_from(every), unique=True, max_size=40)), n)


@given(graphs(), st.integers(1, 3), st.integers(1, 3), st.integers(0, 1000))
@settings(deadline=None, max_examples=80)
def test_without_a_cap_all_nodes_within_the_hops_are_there(graph, hops, roots, seed):
    nodes = EgoGraph(hops=hops, roots=roots).nodes(graph, seeded(seed)).tolist()
    distance = distances(graph, roots_of(graph, roots, seed))
    assert nodes == sorted(node for node, far in distance.items() if far <= hops)


@given(graphs(), st.integers(1, 3), st.integers(3, 8), st.sampled_from([None, 1, 2]), st.integers(0, 1000))
@settings(deadline=None, max_examples=80)
def test_with_a_cap_roots_stay_and_near_nodes_come_first(graph, hops, cap, max_neighbors, seed):
    sampler = EgoGraph(hops=hops, roots=3, batch_size=cap, max_neighbors=max_neighbors)
    nodes = sampler.nodes(graph, seeded(seed)).tolist()
    roots = roots_of(graph, 3, seed)
    distance = distances(graph, roots)
    assert set(roots) <= set(nodes)
    assert len(nodes) <= cap
    assert all(distance[node] <= hops for node in nodes)
    if max_neighbors is None:
        within = sorted(far for far in distance.values() if far <= hops)
        assert sorted(distance[node] for node in nodes) == within[:cap]


def test_a_cap_cuts_without_regard_to_node_numbers():
    star = graph_of([(0, leaf) for leaf in range(1, 41)], 41)
    count, generator, rounds = torch.zeros(41), seeded(), 1500
    for _ in range(rounds):
        count[EgoGraph(hops=2, roots=1, batch_size=11).nodes(star, generator)] += 1
    assert int(count[0]) == rounds
    share = 10 / 40
    assert float((count[1:] / rounds - share).abs().max()) < 5 * (share * (1 - share) / rounds) ** 0.5


def test_at_most_so_many_neighbours_are_followed_each_equally_often():
    star = graph_of([(0, leaf) for leaf in range(1, 9)] + [(9, 10)], 11)
    sampler, generator, rounds = EgoGraph(hops=1, max_neighbors=3), seeded(), 2000
    count = torch.zeros(11)
    for _ in range(rounds):
        reached = sampler._neighbors(star.adj, torch.tensor([0, 9]), generator)
        assert len(reached) == 4
        count[reached] += 1
    assert count[10] == rounds
    assert float((count[1:9] / rounds - 3 / 8).abs().max()) < 0.06


def test_roots_beyond_the_graph_are_all_its_nodes():
    path = graph_of([(0, 1), (1, 2)], 4)
    assert EgoGraph(roots=10).nodes(path, seeded()).tolist() == [0, 1, 2, 3]


def test_balls_are_added_until_the_batch_is_full():
    cliques = [(8 * c + i, 8 * c + j) for c in range(20) for i in range(8) for j in range(i)]
    batch = EgoGraph(hops=1, batch_size=40)(graph_of(cliques, 160), seeded())
    whole = [count for count in (batch.n_id // 8).bincount().tolist() if count == 8]
    assert batch.num_nodes == 40
    assert len(whole) >= 2


def test_more_roots_than_nodes_of_a_batch_are_refused():
    with pytest.raises(InputError, match="EgoGraph: 30 roots do not fit into a batch of 20 nodes"):
        EgoGraph(roots=30, batch_size=20)


@pytest.mark.parametrize("name", ["hops", "batch_size", "roots", "max_neighbors"])
def test_settings_are_whole_and_positive(name):
    with pytest.raises(InputError, match=f"EgoGraph: {name} is 0, expected a whole number of at least 1"):
        EgoGraph(**{name: 0})
