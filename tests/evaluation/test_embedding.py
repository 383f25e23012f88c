import math

import pytest
import torch

from sgcl.errors import InputError
from sgcl.evaluation.embedding import checked_embedding


def test_what_is_well_is_detached_and_kept():
    x = torch.eye(3, requires_grad=True)
    found = checked_embedding("here", x)
    assert not found.requires_grad
    assert found.data_ptr() == x.data_ptr()


@pytest.mark.parametrize(("embedding", "message"), [
    ([[1.0]], r"here: the embedding is list, expected a tensor of floats \(N, D\)"),
    (torch.ones(3), r"here: the embedding is torch\.float32 of shape \(3,\), expected floats"),
    (torch.ones(0, 3), r"here: the embedding is torch\.float32 of shape \(0, 3\), expected floats"),
    (torch.ones(2, 3).long(), r"here: the embedding is torch\.int64 of shape \(2, 3\), expected floats"),
    (torch.full((2, 3), math.inf), "here: the embedding holds NaN or infinite values: the training diverged")])
def test_what_cannot_be_an_embedding_is_refused(embedding, message):
    with pytest.raises(InputError, match=message):
        checked_embedding("here", embedding)
