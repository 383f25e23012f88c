import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import heaviest, info_nce, mixed_info_nce


def slow_mixed(z1, z2, weight, order, temperature):
    """The formula in plain loops."""
    u, v = (z / z.norm(dim=1, keepdim=True) for z in (z1, z2))
    num_nodes, total = len(u), 0.0
    for a, b, w in ((u, v, weight), (v, u, weight.T)):
        for i in range(num_nodes):
            others = [k for k in range(num_nodes) if k != i]
            p = torch.exp(a[i] @ b[i] / temperature)
            q = sum(torch.exp(a[i] @ c[k] / temperature) for k in others for c in (a, b))
            chosen = sorted(sorted(others, key=lambda k: -float(w[i, k]))[:len(order)])
            for k, partner in zip(chosen, order.tolist(), strict=True):
                other = chosen[partner]
                mean = (w[i, k] * (a[i] @ b[k]) + w[i, other] * (a[i] @ b[other])) / (w[i, k] + w[i, other])
                q = q + torch.exp(mean / temperature)
            total = total - torch.log(p / (p + q))
    return total / (2 * num_nodes)


def random_case(num_nodes, width, seed):
    generator = torch.Generator().manual_seed(seed)
    z1, z2 = (torch.randn(num_nodes, width, generator=generator, dtype=torch.double) for _ in range(2))
    weight = torch.rand(num_nodes, num_nodes, generator=generator, dtype=torch.double) + 0.1
    return z1, z2, weight


def ranked(weight, count):
    return heaviest(lambda i, k: weight[i, k], len(weight), count)


@given(st.integers(2, 8), st.integers(1, 4), st.integers(1, 7), st.integers(1, 40), st.integers(0, 10**6))
def test_equals_plain_loops_whatever_the_blocks(num_nodes, width, mixed, pairs, seed):
    z1, z2, weight = random_case(num_nodes, width, seed)
    order = torch.randperm(min(mixed, num_nodes - 1))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sgcl.losses.mixed_infonce._PAIRS", pairs)
        for loss in (lambda a, b: mixed_info_nce(a, b, pairs=ranked(weight, len(order)), order=order, temperature=0.3),
                     lambda a, b: slow_mixed(a, b, weight, order, 0.3)):
            a, b = z1.clone().requires_grad_(), z2.clone().requires_grad_()
            value = loss(a, b)
            found.append((value.detach(), *torch.autograd.grad(3 * value, (a, b))))
    for mine, reference in zip(*found, strict=True):
        assert (mine - reference).abs().max() / reference.abs().max().clamp(min=1) < 1e-10


def test_without_further_negatives_it_is_info_nce():
    z1, z2, weight = random_case(7, 3, 0)
    none = mixed_info_nce(z1, z2, pairs=ranked(weight, 0), order=torch.empty(0, dtype=torch.long))
    assert torch.allclose(none, info_nce(z1, z2), rtol=1e-12)


def test_two_nodes_by_hand():
    """One negative, mixed with itself: a third term at cosine 0."""
    eye = torch.eye(2)
    loss = mixed_info_nce(eye, eye, pairs=ranked(eye, 1), order=torch.tensor([0]), temperature=0.5)
    assert float(loss) == pytest.approx(math.log(1 + 3 / math.e**2), rel=1e-6)


@given(st.integers(2, 9), st.integers(0, 8), st.integers(1, 30), st.integers(0, 10**6))
def test_the_heaviest_are_those_of_a_sort(num_nodes, count, pairs, seed):
    weight, count = random_case(num_nodes, 1, seed)[2], min(count, num_nodes - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sgcl.losses.mixed_infonce._PAIRS", pairs)
        found = ranked(weight, count)
    for mine, w in zip(found, (weight, weight.T), strict=True):
        chosen = w.clone().fill_diagonal_(-1).argsort(1, descending=True)[:, :count].sort(1).values
        assert torch.equal(mine.idx.view(num_nodes, -1).long(), chosen)
        assert torch.equal(mine.values(w.dtype).view(num_nodes, -1), w.gather(1, chosen))


def test_weights_come_to_no_harm():
    weight = torch.rand(5, 5)
    before = weight.clone()
    ranked(weight, 2)
    assert torch.equal(weight, before)


def test_no_gradient_is_asked_for():
    eye = torch.eye(3)
    with torch.no_grad():
        assert mixed_info_nce(eye, eye, pairs=ranked(eye, 2), order=torch.tensor([1, 0])).isfinite()


def test_more_mixed_than_negatives_is_told():
    with pytest.raises(InputError, match="heaviest: count is 3, but an anchor of 3 nodes has 2 negatives"):
        ranked(torch.eye(3), 3)


def test_an_order_of_others_is_told():
    eye = torch.eye(4)
    with pytest.raises(InputError, match="order has 3 entries, but 8 pairs are given for 4 anchors"):
        mixed_info_nce(eye, eye, pairs=ranked(eye, 2), order=torch.arange(3))
