import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.encoders import dropout
from sgcl.sparse import SparseFeatures


@pytest.mark.parametrize("kind", [torch.clone, SparseFeatures.from_dense])
def test_dropout_zeroes_entries_and_scales_up_the_others(kind):
    torch.manual_seed(0)
    x = torch.randint(0, 3, (100, 50)).float()
    dropped = dropout(kind(x), 0.25, training=True)
    dropped = dropped if isinstance(dropped, torch.Tensor) else dropped.to_dense()
    left = dropped != 0
    assert torch.allclose(dropped[left], x[left] / 0.75)
    assert left[x != 0].float().mean().item() == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("kind", [torch.clone, SparseFeatures.from_dense])
def test_dropout_leaves_features_alone_at_rate_0_and_outside_training(kind):
    x = kind(torch.ones(3, 2))
    assert dropout(x, 0.0, training=True) is x
    assert dropout(x, 0.5, training=False) is x


@given(st.integers(0, 30), st.integers(1, 4), st.sampled_from([0.001, 0.2, 0.5, 0.9, 0.99999, 1.0]), st.integers(0, 99))
def test_the_gradient_goes_where_the_entries_stay(rows, columns, p, seed):
    torch.manual_seed(seed)
    x = torch.ones(rows, columns, requires_grad=True)
    dropped = dropout(x, p, training=True)
    dropped.sum().backward()
    assert torch.equal(x.grad, dropped)
    assert x.eq(1).all()  # untouched
    if p == 1:
        assert not dropped.any()


@pytest.mark.parametrize("p", [0.01, 0.2, 0.5, 0.8])
def test_entries_go_at_the_rate_each_on_its_own(p):
    torch.manual_seed(0)
    gone = (dropout(torch.ones(1000, 401), p, training=True) == 0).double()
    assert gone.mean().item() == pytest.approx(p, abs=5 * (p * (1 - p) / gone.numel()) ** 0.5 + 2**-16)
    for lag in (1, 2, 3, 4, 401):  # entries that share a random number, and those that do not
        flat = gone.flatten()
        together = (flat[lag:] * flat[:-lag]).mean().item()
        assert together == pytest.approx(p * p, abs=5 * (p * p / gone.numel()) ** 0.5)


def test_a_seed_repeats_and_the_next_call_differs():
    torch.manual_seed(3)
    first, second = (dropout(torch.ones(50, 7), 0.5, training=True) for _ in range(2))
    torch.manual_seed(3)
    assert torch.equal(dropout(torch.ones(50, 7), 0.5, training=True), first)
    assert not torch.equal(first, second)


def test_it_is_linear_in_double_precision_and_in_its_own_gradient():
    def fixed(x):
        torch.manual_seed(0)
        return dropout(x, 0.5, training=True) ** 2

    x = torch.randn(5, 3, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(fixed, x)
    assert torch.autograd.gradgradcheck(fixed, x)


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_a_rate_that_is_none_is_told(p):
    with pytest.raises(InputError, match=r"dropout: p is .*, expected a probability"):
        dropout(torch.ones(2, 2), p, training=True)
