import importlib
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.evaluation import collapse, effective_rank, mean_cosine

module = importlib.import_module("sgcl.evaluation.collapse")  # whose name in the room is the function's


@given(n=st.integers(2, 20), width=st.integers(1, 9), rank=st.integers(1, 9), block=st.sampled_from([1, 20, 1 << 22]),
       seed=st.integers(0, 1000), dtype=st.sampled_from([torch.float32, torch.float64]))
def test_both_by_their_definition(n, width, rank, block, seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, rank, generator=generator) @ torch.randn(rank, width, generator=generator)
    x = x.to(dtype)
    singular = torch.linalg.svdvals(x.double())
    share = [float(value) for value in singular / singular.sum() if value > 1e-7 * singular[0]]
    entropy = -sum(p * math.log(p) for p in share)
    u = F.normalize(x.double())
    cosines = [float(u[i] @ u[j]) for i in range(n) for j in range(n) if i != j]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        found = collapse(x)
    assert found.effective_rank == pytest.approx(math.exp(entropy), rel=1e-3)
    assert found.mean_cosine == pytest.approx(sum(cosines) / len(cosines), abs=1e-9)
    assert found.width == width


def test_the_two_ends():
    assert effective_rank(torch.eye(5)) == pytest.approx(5)
    assert mean_cosine(torch.eye(5)) == pytest.approx(0)
    same = torch.tensor([[1.0, 2.0, -1.0]]).repeat(6, 1) * torch.arange(1.0, 7.0)[:, None]
    assert effective_rank(same) == pytest.approx(1)
    assert mean_cosine(same) == pytest.approx(1)


def test_rows_of_zeros():
    assert effective_rank(torch.zeros(4, 3)) == 0
    assert mean_cosine(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])) == pytest.approx(1 / 3)


def test_inputs_are_checked():
    with pytest.raises(InputError, match="mean_cosine: the embedding has a single row, and pairs need two"):
        mean_cosine(torch.ones(1, 3))
    with pytest.raises(InputError, match=r"effective_rank: the embedding is torch.int64"):
        effective_rank(torch.ones(2, 3).long())
    with pytest.raises(InputError, match="mean_cosine: the embedding is list, expected a tensor of floats"):
        mean_cosine([[1.0]])
