import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import info_nce
from sgcl.losses.infonce import anchor_losses, unit_rows


def pairs(num_nodes: int, width: int, seed: int = 0, dtype: torch.dtype = torch.double) -> list[torch.Tensor]:
    """Two views that are somewhat alike."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(num_nodes, width, generator=generator, dtype=dtype)
    return [z + 0.5 * torch.randn(num_nodes, width, generator=generator, dtype=dtype) for _ in range(2)]


def slow_info_nce(z1, z2, temperature, weight=None, share=1.0):
    """The formula in plain loops; ``weight`` is the (N, N) matrix of the pairs (u_i, v_k)."""
    u, v = (z / z.norm(dim=1, keepdim=True) for z in (z1, z2))
    num_nodes, total = len(u), 0.0
    weight = torch.ones(num_nodes, num_nodes, dtype=u.dtype) if weight is None else weight
    for a, b, w in ((u, v, weight), (v, u, weight.T)):
        for i in range(num_nodes):
            others = [k for k in range(num_nodes) if k != i]
            mean = sum(w[i, k] for k in others) / len(others)
            p = torch.exp(a[i] @ b[i] / temperature)
            q = sum(w[i, k] / mean * (torch.exp(a[i] @ b[k] / temperature) + torch.exp(a[i] @ a[k] / temperature))
                    for k in others)
            total = total - torch.log(p / (p + share * q))
    return total / (2 * num_nodes)


def with_gradients(loss, z1, z2):
    a, b = z1.clone().requires_grad_(), z2.clone().requires_grad_()
    value = loss(a, b)
    return value.detach(), *torch.autograd.grad(value, (a, b))


@given(st.integers(2, 9), st.integers(1, 5), st.sampled_from([0.1, 0.4, 2.0]), st.booleans(), st.integers(1, 4),
       st.sampled_from([None, 30]), st.integers(0, 10**6))
def test_equals_plain_loops_whatever_the_tiles(num_nodes, width, temperature, weighted, nodes, population, seed):
    z1, z2 = pairs(num_nodes, width, seed)
    weight = torch.rand(num_nodes, num_nodes, dtype=torch.double) + 0.1 if weighted else None
    share = 1.0 if population is None else (population - 1) / (num_nodes - 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sgcl.losses.infonce._NODES", nodes)
        ours = with_gradients(lambda a, b: info_nce(
            a, b, temperature=temperature, population=population,
            weights=None if weight is None else lambda rows, columns: weight[rows, columns]), z1, z2)
    theirs = with_gradients(lambda a, b: slow_info_nce(a, b, temperature, weight, share), z1, z2)
    for mine, reference in zip(ours, theirs, strict=True):
        assert (mine - reference).abs().max() / reference.abs().max().clamp(min=1) < 1e-10


@pytest.mark.parametrize("weighted", [False, True])
def test_gradcheck(weighted, monkeypatch):
    monkeypatch.setattr("sgcl.losses.infonce._NODES", 2)
    weight = torch.rand(5, 5, dtype=torch.double) if weighted else None
    weights = None if weight is None else lambda rows, columns: weight[rows, columns]
    z1, z2 = (z.requires_grad_() for z in pairs(5, 3))
    assert torch.autograd.gradcheck(lambda a, b: info_nce(a, b, temperature=0.3, weights=weights), (z1, z2))


def test_single_precision_keeps_five_digits():
    """700 nodes, so that tiles are cut, at a low temperature."""
    def dense(z1, z2):
        u, v = unit_rows(z1), unit_rows(z2)
        cosines = torch.cat([u, v]) @ torch.cat([u, v]).T / 0.1
        cosines = cosines.masked_fill(torch.eye(len(cosines), dtype=torch.bool), -torch.inf)
        return (cosines.logsumexp(1) - (u * v).sum(1).repeat(2) / 0.1).mean()

    z1, z2 = pairs(700, 32)
    ours = with_gradients(lambda a, b: info_nce(a, b, temperature=0.1), z1.float(), z2.float())
    theirs = with_gradients(dense, z1, z2)
    assert ours[0].dtype == torch.float32
    for mine, reference in zip(ours, theirs, strict=True):
        assert float((mine.double() - reference).norm() / reference.norm()) < 1e-5


def test_two_nodes_by_hand():
    """Orthogonal nodes, the same in both views: p = e^2, and of each anchor two negatives at cosine 0."""
    eye = torch.eye(2)
    assert float(info_nce(eye, 7 * eye, temperature=0.5)) == pytest.approx(math.log(1 + 2 / math.e**2))


def test_equal_weights_are_none():
    z1, z2 = pairs(6, 3)
    half = torch.full((6, 6), 0.5, dtype=torch.double)
    weighted = info_nce(z1, z2, weights=lambda rows, columns: half[rows, columns])
    assert torch.allclose(weighted, info_nce(z1, z2), rtol=1e-12)


def test_an_anchor_without_weights_has_no_negatives():
    z1, z2 = (z.requires_grad_() for z in pairs(4, 3))
    none = torch.zeros(4, 4, dtype=torch.double)
    loss = info_nce(z1, z2, weights=lambda rows, columns: none[rows, columns])
    loss.backward()
    assert float(loss.detach()) == pytest.approx(0, abs=1e-12)
    assert z1.grad.abs().max() < 1e-12


def test_alike_views_cost_less_than_opposite_ones():
    z, _ = pairs(8, 4)
    assert info_nce(z, z) < info_nce(z, -z)


def test_a_row_of_zeros_is_like_nobody_and_gets_no_gradient():
    z1, z2 = pairs(4, 3)
    z1[2] = 0
    z1.requires_grad_()
    loss = info_nce(z1, z2)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.equal(z1.grad[2], torch.zeros(3, dtype=torch.double))
    assert 0 < z1.grad.abs().max() < 10


@pytest.mark.parametrize(("change", "message"), [
    ({"z2": torch.zeros(3, 2)}, r"info_nce: projections have shapes \(4, 2\) and \(3, 2\)"),
    ({"z1": torch.zeros(1, 2), "z2": torch.zeros(1, 2)}, "a batch of one has no negatives: draw larger batches"),
    ({"temperature": 0.01}, "temperature is 0.01, expected a finite number of at least 0.02"),
    ({"temperature": math.inf}, "temperature is inf")])
def test_bad_input_is_told(change, message):
    with pytest.raises(InputError, match=message):
        info_nce(**{"z1": torch.ones(4, 2), "z2": torch.ones(4, 2), **change})


def test_anchors_have_gradients_of_their_own(monkeypatch):
    monkeypatch.setattr("sgcl.losses.infonce._NODES", 2)
    u, v = (unit_rows(z).requires_grad_() for z in pairs(5, 3))
    weight = torch.rand(2, 5, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    assert anchor_losses(u, v, temperature=0.3).mean().item() == pytest.approx(info_nce(u, v, temperature=0.3).item())
    assert torch.autograd.gradcheck(lambda a, b: (weight * anchor_losses(a, b, temperature=0.3)).sum(), (u, v))
