from collections import Counter

import pytest
import torch
from collections_of import collection_of, seeded, some_collections, values_of
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from sgcl.errors import InputError
from sgcl.views import Subgraph


@given(some_collections(), st.floats(0, 1), st.integers(0, 1000))
def test_a_connected_piece_of_each_graph_with_all_edges_inside(graph, share, seed):
    view = Subgraph(share)(graph, seeded(seed))
    kept = view.n_id
    pieces, piece = connected_components(view.adj.to_scipy(), directed=False)
    assert pieces == view.num_graphs == graph.num_graphs
    assert piece.tolist() == view.graph_of.tolist()
    assert torch.equal(graph.graph_of[kept], view.graph_of)
    assert torch.equal(view.adj.to_dense(), graph.adj.to_dense()[kept][:, kept])
    assert torch.equal(values_of(view.x), values_of(graph.x)[kept])
    _, component = connected_components(graph.adj.to_scipy(), directed=False)
    for number, nodes in enumerate(kept.split(view.graph_ptr.diff().tolist())):  # as many as asked, or all in reach
        size, reach = int(graph.graph_ptr.diff()[number]), int((component == component[nodes[0]]).sum())
        assert len(nodes) == min(int(share * size) + 1, reach)


def test_pieces_grow_node_by_node_to_any_neighbour_alike():
    """A slow twin in plain steps, on a star with a tail: how often each piece comes is the same."""
    edges = [(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)]
    neighbours = {i: {j for edge in edges if i in edge for j in edge} - {i} for i in range(6)}
    rounds = 4000
    odds = Counter()
    for first in range(6):
        for second in neighbours[first]:
            frontier = (neighbours[first] | neighbours[second]) - {first, second}
            for third in frontier:
                odds[tuple(sorted((first, second, third)))] += 1 / 6 / len(neighbours[first]) / len(frontier)
    generator = seeded()
    seen = Counter(tuple(Subgraph(0.4)(collection_of([(6, edges)]), generator).n_id.tolist()) for _ in range(rounds))
    assert set(seen) == set(odds)
    assert all(abs(seen[piece] - rounds * share) < 5 * (rounds * share) ** 0.5 for piece, share in odds.items())


def test_a_graph_that_is_no_collection_is_one_graph():
    path = collection_of([(10, [(i, i + 1) for i in range(9)])]).replace(graph_ptr=None)
    view = Subgraph(0.3)(path, seeded())
    assert view.graph_ptr is None
    assert view.n_id.diff().tolist() == [1, 1, 1]
    assert Subgraph(1)(path, seeded()).num_nodes == 10
    assert Subgraph(0)(path, seeded()).num_nodes == 1


def test_the_same_seed_gives_the_same_piece_and_the_global_generator_plays_no_part():
    graph = collection_of([(9, [(i, i + 1) for i in range(8)])] * 5)
    pieces = [tuple(Subgraph()(graph, seeded(seed)).n_id.tolist()) for seed in (1, 1, 2)]
    assert pieces[0] == pieces[1] != pieces[2]


def test_a_share_is_a_probability():
    with pytest.raises(InputError, match=r"Subgraph: share is -1, expected a probability in \[0, 1\]"):
        Subgraph(-1)
