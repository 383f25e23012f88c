import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.evaluation import Protocol, Split
from sgcl.evaluation.protocol import ascending_split, check_graph, random_state, split_of_masks


class Halves(Protocol):
    """A protocol of a user's own: a name and a split are enough."""

    name = "halves"

    def split(self, data, seed):
        nodes = torch.arange(data.num_nodes)
        return Split(nodes[::4], nodes[1::4], nodes[2::4])


def test_a_protocol_of_ones_own():
    y = torch.arange(40) % 2
    data = Data(x=torch.ones(40, 1), y=y)
    split = Halves().split(data, 0)
    assert Halves().restrict(data) is data
    y[split.val], y[split.test], y[split.train] = (torch.arange(10) % 2 for _ in range(3))
    assert Halves().probe(y[:, None].float() - 0.5, y, split).test == 1
    with pytest.raises(TypeError, match="abstract"):
        Protocol()


def test_a_column_of_masks():
    mask = torch.tensor([[True, False], [False, True], [False, False]])
    data = Data(num_nodes=3, y=torch.tensor([0, 1, -1]), train_mask=mask, val_mask=~mask, test_mask=mask & False)
    split = split_of_masks("here", data, 1)
    assert [nodes.tolist() for nodes in split.sets.values()] == [[1], [0], []]


def test_splits_are_ascending():
    split = ascending_split(np.array([5, 2]), np.array([], dtype=int), np.array([9, 0, 3]))
    assert [nodes.tolist() for nodes in split.sets.values()] == [[2, 5], [], [0, 3, 9]]


def test_seeds_are_those_of_numpy():
    assert random_state(7).randint(1000) == np.random.RandomState(7).randint(1000)
    with pytest.raises(InputError, match="seed 4294967296 is out of range"):
        random_state(2**32)


def test_graphs_pass_unchanged():
    data = Data(num_nodes=2)
    assert check_graph("here", data) is data
