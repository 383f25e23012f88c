"""Masking features: whole columns, the same for dense and for sparse features."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.sparse import CSR, SparseFeatures
from sgcl.views import MaskFeatures

PATH = CSR(torch.tensor([0, 1, 3, 4]), torch.tensor([1, 0, 2, 1]), symmetric=True)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(st.integers(1, 20), st.floats(0, 1), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_columns_go_whole_and_the_others_stay(width, p, seed):
    x = torch.arange(3.0 * width).view(3, width) + 1
    before = x.clone()
    masked = MaskFeatures(p)(Graph(x, PATH), seeded(seed)).x
    for column in range(width):
        assert torch.equal(masked[:, column], before[:, column]) or bool((masked[:, column] == 0).all())
    assert torch.equal(x, before)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_masks_at_the_given_rate(p):
    width = 20_000
    masked = MaskFeatures(p)(Graph(torch.ones(3, width), PATH), seeded()).x
    assert abs(float((masked[0] == 0).double().mean()) - p) < 5 * (p * (1 - p) / width) ** 0.5


@given(st.floats(0, 1), st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_sparse_features_are_masked_alike_and_stay_sparse(p, seed):
    x = torch.tensor([[1.0, 0, 2, 0, 0], [0, 3, 0, 0, 0], [0, 0, 0, 0, 4]])
    sparse = SparseFeatures.from_dense(x)
    masked = MaskFeatures(p)(Graph(sparse, PATH), seeded(seed)).x
    assert isinstance(masked, SparseFeatures)
    assert torch.equal(masked.to_dense(), MaskFeatures(p)(Graph(x, PATH), seeded(seed)).x)
    assert torch.equal(sparse.to_dense(), x)


def test_masking_twice_hides_both_columns():
    sparse = SparseFeatures.from_dense(torch.ones(3, 200))
    generator = seeded()
    once = MaskFeatures(0.5)(Graph(sparse, PATH), generator)
    twice = MaskFeatures(0.5)(once, generator)
    assert 0 < twice.x.to_dense().sum() < once.x.to_dense().sum()


def test_nothing_is_masked_at_zero_and_everything_at_one():
    graph = Graph(torch.ones(3, 4), PATH)
    assert MaskFeatures(0)(graph, seeded()) is graph
    assert MaskFeatures(1)(graph, seeded()).x.tolist() == [[0.0] * 4] * 3


def test_a_rate_is_a_probability():
    with pytest.raises(InputError, match=r"MaskFeatures: p is 2, expected a probability in \[0, 1\]"):
        MaskFeatures(2)
