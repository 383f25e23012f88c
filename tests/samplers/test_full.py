"""The whole graph: nothing copied, nothing renumbered."""

import torch

from sgcl.graph import Graph
from sgcl.samplers import FullGraph
from sgcl.sparse import CSR

PATH = CSR(torch.tensor([0, 1, 3, 4]), torch.tensor([1, 0, 2, 1]), symmetric=True)


def test_gives_the_graph_itself():
    for n_id in (None, torch.tensor([4, 5, 9])):
        graph = Graph(torch.ones(3, 2), PATH, n_id)
        generator = torch.Generator().manual_seed(0)
        state = generator.get_state()
        assert FullGraph()(graph, generator) is graph
        assert FullGraph().nodes(graph, generator).tolist() == [0, 1, 2]
        assert torch.equal(generator.get_state(), state)


def test_may_be_handed_out_more_than_once_an_epoch():
    assert FullGraph().batches == 1
    assert FullGraph(batches=3).batches == 3
