"""Readouts beside a loop over the graphs."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl.encoders.readout import readout
from sgcl.graph import Graph
from sgcl.sparse import CSR

LOOP = {"sum": lambda rows: rows.sum(0), "mean": lambda rows: rows.mean(0), "max": lambda rows: rows.max(0).values}


def without_edges(sizes: list[int]) -> Graph:
    nodes = sum(sizes)
    adj = CSR(torch.zeros(nodes + 1, dtype=torch.long), torch.empty(0, dtype=torch.long), symmetric=True)
    return Graph(torch.ones(nodes, 1), adj, graph_ptr=torch.tensor([0, *sizes]).cumsum(0))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.sampled_from(sorted(LOOP)), st.integers(0, 99))
def test_a_readout_is_that_of_each_graph_by_itself(sizes, kind, seed):
    h = torch.randn(sum(sizes), 3, generator=torch.Generator().manual_seed(seed))
    expected = torch.stack([LOOP[kind](rows) for rows in h.split(sizes)])
    assert torch.allclose(readout(h, without_edges(sizes), kind), expected, atol=1e-6)


@pytest.mark.parametrize("kind", sorted(LOOP))
def test_a_graph_without_nodes_gets_zeros(kind):
    assert readout(torch.full((2, 1), -1.0), without_edges([1, 0, 1]), kind).tolist() == [[-1], [0], [-1]]


@pytest.mark.parametrize("kind", sorted(LOOP))
def test_a_single_graph_is_a_collection_of_one(kind):
    h, graph = torch.randn(4, 2), without_edges([4])
    assert torch.allclose(readout(h, graph.replace(graph_ptr=None), kind), readout(h, graph, kind))
