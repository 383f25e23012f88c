from collections import Counter
from itertools import combinations

import pytest
import torch
from collections_of import collection_of, edges_of, seeded, some_collections, values_of
from hypothesis import given
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.views import DropNodes


@given(some_collections(), st.floats(0, 1), st.integers(0, 1000))
def test_every_graph_loses_its_share_and_keeps_the_edges_between_the_others(graph, p, seed):
    view = DropNodes(p)(graph, seeded(seed))
    kept = torch.arange(graph.num_nodes) if view.n_id is None else view.n_id
    sizes = [int(n) for n in graph.graph_ptr.diff()]
    assert view.graph_ptr.diff().tolist() == [max(n - int(p * n), 1) for n in sizes]
    assert torch.equal(graph.graph_of[kept], view.graph_of)
    assert torch.equal(values_of(view.x), values_of(graph.x)[kept])
    assert type(view.x) is type(graph.x)
    assert torch.equal(view.adj.to_dense(), graph.adj.to_dense()[kept][:, kept])


def test_counts_by_hand():
    graph = collection_of([(1, []), (9, []), (10, [(0, 9)]), (25, [])])
    assert DropNodes(0.1)(graph, seeded()).graph_ptr.diff().tolist() == [1, 9, 9, 23]
    assert DropNodes(1)(graph, seeded()).graph_ptr.diff().tolist() == [1, 1, 1, 1]
    assert DropNodes(0)(graph, seeded()) is graph


def test_every_choice_is_equally_likely():
    graph, rounds = collection_of([(2, []), (5, [])]), 2000
    generator = seeded()
    seen = Counter(tuple(DropNodes(0.4)(graph, generator).n_id[2:].tolist()) for _ in range(rounds))
    assert set(seen) == set(combinations(range(2, 7), 3))
    assert all(abs(count - rounds / 10) < 5 * (rounds / 10) ** 0.5 for count in seen.values())


def test_a_graph_that_is_no_collection_is_one_graph():
    graph = collection_of([(10, [(0, 1), (1, 2), (8, 9)])]).replace(graph_ptr=None, n_id=torch.arange(10) + 100)
    view = DropNodes(0.3)(graph, seeded())
    assert view.num_nodes == 7
    assert view.graph_ptr is None
    assert bool((view.n_id >= 100).all())
    assert edges_of(view) <= {(100, 101), (101, 102), (108, 109)}


def test_a_share_is_a_probability():
    with pytest.raises(InputError, match=r"DropNodes: p is 2, expected a probability in \[0, 1\]"):
        DropNodes(2)
