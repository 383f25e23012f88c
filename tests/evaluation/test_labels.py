import pytest
import torch

from sgcl.errors import InputError
from sgcl.evaluation.labels import checked_labels, checked_tasks, has_tasks


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


@pytest.mark.parametrize("y", [torch.tensor([[0, 1], [1, -1]]), torch.tensor([[0.0, 1.0], [1.0, torch.nan]]),
                               torch.tensor([[0, 1], [1, -1]], dtype=torch.int8)])
def test_tasks_of_any_kind(y):
    assert has_tasks(y)
    found = checked_tasks("here", y, 2)
    assert found.tolist() == [[0, 1], [1, -1]]
    assert found.dtype == torch.int8


def test_booleans_are_tasks():
    assert checked_tasks("here", torch.tensor([[True, False]]), 1).tolist() == [[1, 0]]


def test_a_column_is_no_task():
    assert not has_tasks(torch.tensor([[0], [1]]))
    assert not has_tasks(torch.tensor([0, 1]))
    assert not has_tasks(None)


def test_what_cannot_be_a_task_is_refused():
    with pytest.raises(InputError, match=r"here: labels \(N, 2\) of several tasks must be 0 or 1, and -1 or NaN"):
        checked_tasks("here", torch.tensor([[0, 2]]), 1)
    with pytest.raises(InputError, match=r"here: labels have shape \(1, 2\), expected a row for each of the 3 nodes"):
        checked_tasks("here", torch.tensor([[0, 1]]), 3)
