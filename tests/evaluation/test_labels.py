import pytest
import torch

from sgcl.errors import InputError
from sgcl.evaluation.labels import checked_labels


@pytest.mark.parametrize("y", [torch.tensor([2, -1, 0]), torch.tensor([[2], [-1], [0]]),
                               torch.tensor([2, -1, 0], dtype=torch.int8)])
def test_a_column_is_as_good_as_a_vector(y):
    found = checked_labels("here", y, 3)
    assert found.tolist() == [2, -1, 0]
    assert found.dtype == torch.long


@pytest.mark.parametrize(("y", "message"), [
    (None, "here: the graph has no labels: set data.y to one integer for each node"),
    (torch.tensor([0.0, 1.0, 2.0]), "here: labels must be integers, got torch.float32"),
    (torch.tensor([True, False, True]), "here: labels must be integers, got torch.bool"),
    ([0, 1, 2], "here: labels must be integers, got list"),
    (torch.tensor([0, 1]), r"here: labels have shape \(2,\), expected one for each of the 3 nodes"),
    (torch.zeros(3, 2, dtype=torch.long), r"here: labels have shape \(3, 2\)"),
    (torch.tensor([0, -2, 1]), "here: label -2 found; classes count from 0, and -1 stands for no label"),
])
def test_what_cannot_be_a_label_is_refused(y, message):
    with pytest.raises(InputError, match=message):
        checked_labels("here", y, 3)
