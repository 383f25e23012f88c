import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from sgcl.losses import logsumexp
from sgcl.losses.logsumexp import both_logsumexps, group_logsumexp, pair_logsumexp
from sgcl.sparse import CSR


@st.composite
def cases(draw):
    rows, columns, width = draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    u, v = (torch.from_numpy(rng.standard_normal((count, width))) for count in (rows, columns))
    out = torch.from_numpy(rng.random((rows, columns)) < draw(st.sampled_from([0.0, 0.3, 0.8])))
    return u, v, out


@given(cases(), st.sampled_from([0.1, 1.0]), st.sampled_from([1, 7, 1000]))
def test_all_pairs_but_some_as_a_dense_matrix_has_them(case, temperature, block):
    u, v, out = case
    out[:, 0] &= not out.all(1).any()  # a row without any is another test
    without = CSR.from_coo(*out.nonzero(as_tuple=True), shape=tuple(out.shape))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logsumexp, "_BLOCK", block)
        for sums in (lambda a, b: pair_logsumexp(a, b, temperature=temperature, without=without),
                     lambda a, b: (a @ b.T / temperature).masked_fill(out, -torch.inf).logsumexp(1)):
            a, b = u.clone().requires_grad_(), v.clone().requires_grad_()
            value = sums(a, b)
            weighed = (value * torch.arange(1, len(u) + 1)).sum()
            found.append((value.detach(), *torch.autograd.grad(weighed, (a, b))))
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-10)


def test_without_a_list_no_pair_is_left_out():
    u = torch.tensor([[0.0], [1.0]])
    assert pair_logsumexp(u, u, temperature=0.5).tolist() == pytest.approx([math.log(2), math.log(1 + math.e**2)])


def test_a_row_with_nothing_left_is_minus_infinity_and_gets_no_gradient():
    u = torch.ones(2, 3, requires_grad=True)
    without = CSR.from_coo(torch.tensor([0, 0]), torch.tensor([0, 1]), shape=(2, 2))
    sums = pair_logsumexp(u, u, temperature=1.0, without=without)
    assert sums[0] == -math.inf
    assert sums[1].item() == pytest.approx(3 + math.log(2))
    sums.sum().backward()
    assert u.grad.isfinite().all()
    assert u.grad[0].tolist() == pytest.approx([0.5] * 3)   # only as a candidate of the other row


def test_large_exponents_do_not_overflow():
    u = torch.tensor([[30.0], [-30.0]])
    assert pair_logsumexp(u, u, temperature=0.1).tolist() == pytest.approx([9000.0, 9000.0])
    assert group_logsumexp(torch.tensor([900.0, -900.0]), torch.tensor([0, 0]), 1).item() == pytest.approx(900)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 0.8]), st.sampled_from([0.02, 0.5]),
       st.sampled_from([1, 7, 1000]))
def test_both_directions_are_one_direction_twice(count, seed, share, temperature, block):
    rng = np.random.default_rng(seed)
    rows = [F.normalize(torch.from_numpy(rng.standard_normal((count, 3)))) for _ in range(2)]
    out = torch.from_numpy(rng.random((count, count)) < share)
    out[:, 0] &= not out.all(1).any()
    without = CSR.from_coo(*out.nonzero(as_tuple=True), shape=(count, count))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logsumexp, "_BLOCK", block)
        for sums in (lambda a, b: both_logsumexps(a, b, temperature=temperature, without=without),
                     lambda a, b: tuple((one @ other.T / temperature).masked_fill(out, -torch.inf).logsumexp(1)
                                        for one, other in ((a, b), (b, a)))):
            u, v = (part.clone().requires_grad_() for part in rows)
            forth, back = sums(u, v)
            weighed = (forth * torch.arange(1, count + 1) - back * torch.arange(count)).sum()
            found.append((forth.detach(), back.detach(), *torch.autograd.grad(weighed, (u, v))))
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_an_anchor_with_nothing_left_in_one_direction_keeps_the_other():
    u = F.normalize(torch.randn(2, 3, generator=torch.Generator().manual_seed(0)))
    v = u.flip(0).clone().requires_grad_()
    without = CSR.from_coo(torch.tensor([0, 0]), torch.tensor([0, 1]), shape=(2, 2))
    forth, back = both_logsumexps(u, v, temperature=1.0, without=without)
    assert forth[0] == back[0] == -math.inf
    assert forth[1].item() == pytest.approx((u[1] @ v.T).logsumexp(0).item())
    assert back[1].item() == pytest.approx((v[1] @ u.T).logsumexp(0).item())
    (forth[1] + back[1]).backward()
    assert v.grad.isfinite().all()
    assert v.grad.any(1).all()


def test_groups_are_summed_each_on_its_own_and_an_empty_one_is_minus_infinity():
    scores = torch.tensor([0.0, 1.0, 2.0, 0.5], dtype=torch.double, requires_grad=True)
    group = torch.tensor([2, 0, 0, 2])
    sums = group_logsumexp(scores, group, 4)
    expected = [math.log(math.e + math.e**2), -math.inf, math.log(1 + math.exp(0.5)), -math.inf]
    assert sums.tolist() == pytest.approx(expected)
    sums[[0, 2]].sum().backward()
    assert scores.grad.tolist() == pytest.approx([1 / (1 + math.exp(0.5)), 1 / (1 + math.e), 1 / (1 + 1 / math.e),
                                                  1 / (1 + math.exp(-0.5))])
