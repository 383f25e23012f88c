from collections import Counter

import pytest
import torch
from collections_of import collection_of, seeded, some_collections, values_of
from hypothesis import given
from hypothesis import strategies as st

from sgcl.views import DropEdges, DropNodes, MaskNodes, Subgraph, one_of

PATHS = [(5, [(0, 1), (1, 2), (2, 3), (3, 4)])] * 6


@given(some_collections(), st.integers(0, 1000))
def test_graphs_stay_in_their_places_and_apart(graph, seed):
    graph = graph.replace(n_id=torch.arange(graph.num_nodes) + 100)
    view = one_of([DropNodes(0.3), Subgraph(0.3), DropEdges(0.5)], graph, seeded(seed))
    kept = view.n_id - 100
    assert view.num_graphs == graph.num_graphs
    assert torch.equal(graph.graph_of[kept], view.graph_of)
    assert bool((kept.diff() > 0).all())
    assert torch.equal(values_of(view.x), values_of(graph.x)[kept])
    assert type(view.x) is type(graph.x)
    assert bool((view.graph_of[view.adj.row] == view.graph_of[view.adj.idx]).all())
    assert bool((view.adj.to_dense() <= graph.adj.to_dense()[kept][:, kept]).all())
    assert torch.equal(view.adj.to_dense(), view.adj.to_dense().T)


def test_each_graph_goes_through_one_view_drawn_uniformly():
    generator, seen = seeded(), Counter()
    for _ in range(300):
        view = one_of([DropNodes(0.2), Subgraph(0.2), MaskNodes(0)], collection_of(PATHS), generator)
        seen.update(view.graph_ptr.diff().tolist())
    assert set(seen) == {4, 2, 5}
    assert all(abs(count - 600) < 5 * 600**0.5 for count in seen.values())


@pytest.mark.parametrize("sparse", [False, True])
def test_one_view_or_none_needs_no_draw(sparse):
    graph = collection_of(PATHS, sparse=sparse)
    assert one_of([], graph, seeded()) is graph
    assert torch.equal(one_of([Subgraph()], graph, seeded()).n_id, Subgraph()(graph, seeded()).n_id)


def test_a_graph_that_is_no_collection_goes_through_one():
    graph = collection_of(PATHS[:1]).replace(graph_ptr=None)
    sizes = {one_of([DropNodes(0.2), Subgraph(0.2)], graph, seeded(seed)).num_nodes for seed in range(20)}
    assert sizes == {4, 2}


def test_the_same_seed_gives_the_same_view():
    views = [one_of([DropNodes(0.2), Subgraph(0.2)], collection_of(PATHS), seeded(seed)).n_id.tolist()
             for seed in (1, 1, 2)]
    assert views[0] == views[1] != views[2]
