"""Random walks: along edges, uniform steps, exactly as many roots as asked."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.samplers import RandomWalk
from sgcl.samplers.walk import step, walks
from sgcl.sparse import CSR


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def graph_of(pairs: list[tuple[int, int]], num_nodes: int, weights: list[float] | None = None) -> Graph:
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    value = None if weights is None else torch.tensor(weights).repeat(2)
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), value, shape=(num_nodes, num_nodes),
                       symmetric=True)
    return Graph(torch.ones(num_nodes, 1), adj)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(2, 12))
    every = [(i, j) for i in range(n) for j in range(i)]
    return graph_of(draw(st.lists(st.sampled_from(every), unique=True)), n)


@given(graphs(), st.integers(1, 20), st.integers(1, 5), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_walks_step_along_edges_and_stay_on_isolated_nodes(graph, roots, length, seed):
    adj = graph.adj.to_dense()
    paths = walks(graph, roots, length, seeded(seed))
    assert paths.shape == (roots, length + 1)
    for path in paths.tolist():
        for here, there in pairwise(path):
            assert adj[here, there] == 1 or (here == there and adj[here].sum() == 0)


def test_steps_are_uniform_over_neighbours_whatever_the_weights():
    star = graph_of([(0, 1), (0, 2), (0, 3), (0, 4)], 6, weights=[1.0, 10.0, 100.0, 0.0])
    reached = step(star.adj, torch.zeros(8000, dtype=torch.long), seeded()).bincount(minlength=6).tolist()
    assert reached[0] == reached[5] == 0
    assert all(abs(count - 2000) < 200 for count in reached[1:5])
    assert step(star.adj, torch.tensor([1, 5, 4]), seeded()).tolist() == [0, 5, 0]


def test_roots_are_uniform_and_drawn_with_replacement():
    paths = walks(graph_of([(0, 1)], 4), 8000, 1, seeded())
    assert all(abs(count - 2000) < 200 for count in paths[:, 0].bincount().tolist())


def test_given_roots_give_the_nodes_of_exactly_those_walks():
    ring = graph_of([(i, (i + 1) % 500) for i in range(500)], 500)
    nodes = RandomWalk(batch_size=2, roots=20, length=3).nodes(ring, seeded(5))
    assert nodes.tolist() == sorted(set(walks(ring, 20, 3, seeded(5)).view(-1).tolist()))


def test_a_filled_batch_is_made_of_whole_walks_but_for_the_last():
    ring = graph_of([(i, (i + 1) % 500) for i in range(500)], 500)
    first = walks(ring, 8, 4, seeded(5)).view(-1).tolist()  # a batch of 40 asks for 8 walks of 5 nodes first
    nodes = set(RandomWalk(batch_size=40).nodes(ring, seeded(5)).tolist())
    assert len(nodes) == 40
    assert set(first) < nodes


def test_longer_walks_hold_more_edges():
    ring = graph_of([(i, (i + 1) % 5000) for i in range(5000)], 5000)
    short, long = (RandomWalk(batch_size=200, length=length)(ring, seeded()).num_edges for length in (1, 20))
    assert long > short


def test_edges_are_not_needed_to_fill_a_batch():
    assert len(RandomWalk(batch_size=99, length=20).nodes(graph_of([], 100), seeded())) == 99


@pytest.mark.parametrize("name", ["batch_size", "length", "roots"])
def test_settings_are_whole_and_positive(name):
    with pytest.raises(InputError, match=f"RandomWalk: {name} is 0, expected a whole number of at least 1"):
        RandomWalk(**{name: 0})
