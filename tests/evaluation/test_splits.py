import pytest
import torch

from sgcl.errors import InputError
from sgcl.evaluation import Split


def test_sizes_and_sets():
    split = Split(torch.tensor([3]), torch.tensor([0, 2]), torch.tensor([1, 4, 5]))
    assert split.sizes == (1, 2, 3)
    assert {name: nodes.tolist() for name, nodes in split.sets.items()} == {"train": [3], "val": [0, 2],
                                                                            "test": [1, 4, 5]}


@pytest.mark.parametrize(("train", "val", "test"), [([0, 1], [1], [2]), ([0], [1], [0]), ([0, 0], [1], [2])])
def test_a_node_is_in_one_set_once(train, val, test):
    with pytest.raises(InputError, match="split: a node is in two of train, val and test, or twice in one"):
        Split(torch.tensor(train), torch.tensor(val), torch.tensor(test))


def test_node_numbers_are_checked():
    one, none = torch.tensor([1]), torch.empty(0, dtype=torch.long)
    with pytest.raises(InputError, match=r"split: val must be a vector of node numbers \(torch.long\), got shape"):
        Split(one, torch.tensor([True, False, False]), none)
    with pytest.raises(InputError, match="split: node number -1 is negative"):
        Split(one, none, torch.tensor([-1]))
