import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import graph_nce


def pairs(num_graphs: int, width: int, seed: int = 0) -> list[torch.Tensor]:
    """Two views that are somewhat alike."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(num_graphs, width, generator=generator, dtype=torch.double)
    return [z + 0.5 * torch.randn(num_graphs, width, generator=generator, dtype=torch.double) for _ in range(2)]


def slow_graph_nce(z1, z2, temperature, positive_in, symmetric, weight=None, order=None):
    """The formula in plain loops."""
    u, v = (z / z.norm(dim=1, keepdim=True) for z in (z1, z2))
    graphs, costs = range(len(u)), []
    weight = torch.ones(len(u), len(u), dtype=u.dtype) if weight is None else weight
    for a, b, w in ((u, v, weight), (v, u, weight.T))[:1 + symmetric]:
        for i in graphs:
            others = [k for k in graphs if k != i]
            mean = sum(w[i, k] for k in others) / len(others)
            p = torch.exp(a[i] @ b[i] / temperature)
            q = p if positive_in else 0.0
            for k in others:
                q = q + torch.exp(a[i] @ b[k] / temperature) * (w[i, k] / mean if order is None else 1)
            heaviest = sorted(others, key=lambda k: -w[i, k])
            for here, there in enumerate([] if order is None else order):
                k, j = heaviest[here], heaviest[there]
                mixed = (w[i, k] * (a[i] @ b[k]) + w[i, j] * (a[i] @ b[j])) / (w[i, k] + w[i, j])
                q = q + torch.exp(mixed / temperature)
            costs.append(-torch.log(p / q))
    return sum(costs) / len(costs)


@given(st.integers(2, 8), st.integers(1, 5), st.sampled_from([0.1, 0.2, 2.0]), st.booleans(), st.booleans(),
       st.sampled_from(["plain", "weight", "mix"]), st.integers(0, 10**6))
def test_equals_plain_loops(num_graphs, width, temperature, positive_in, symmetric, scheme, seed):
    z1, z2 = (z.requires_grad_() for z in pairs(num_graphs, width, seed))
    generator = torch.Generator().manual_seed(seed)
    weight = torch.rand(num_graphs, num_graphs, generator=generator, dtype=torch.double) + 0.1
    order = torch.randperm((num_graphs - 1) // 2 + 1, generator=generator)
    weight = None if scheme == "plain" else weight
    chosen = {"temperature": temperature, "positive_in": positive_in, "symmetric": symmetric}
    ours = graph_nce(z1, z2, **chosen, weights=weight, order=order if scheme == "mix" else None)
    theirs = slow_graph_nce(z1, z2, **chosen, weight=weight, order=order.tolist() if scheme == "mix" else None)
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-9)
    for mine, reference in zip(torch.autograd.grad(ours, (z1, z2)), torch.autograd.grad(theirs, (z1, z2)), strict=True):
        torch.testing.assert_close(mine, reference, atol=1e-8, rtol=1e-8)


def test_two_graphs_by_hand():
    """Orthogonal graphs, the same in both views: of each anchor one negative at cosine 0."""
    eye = torch.eye(2, dtype=torch.double)
    assert float(graph_nce(eye, 7 * eye)) == pytest.approx(-5)
    assert float(graph_nce(eye, 7 * eye, positive_in=True)) == pytest.approx(math.log(1 + math.exp(-5)))


def test_equal_weights_are_none_and_have_no_gradient():
    z1, z2 = pairs(6, 3)
    weights = torch.full((6, 6), 0.5, dtype=torch.double, requires_grad=True)
    loss = graph_nce(z1.requires_grad_(), z2, weights=weights)
    torch.testing.assert_close(loss, graph_nce(z1, z2))
    loss.backward()
    assert weights.grad is None


@pytest.mark.parametrize("positive_in", [False, True])
def test_an_anchor_without_weights_has_next_to_no_negatives(positive_in):
    z1, z2 = (z.requires_grad_() for z in pairs(4, 3))
    loss = graph_nce(z1, z2, positive_in=positive_in, weights=torch.zeros(4, 4, dtype=torch.double))
    loss.backward()
    assert bool(z1.grad.isfinite().all())
    assert float(loss.detach()) == pytest.approx(0, abs=1e-9) if positive_in else loss < -50


def test_alike_views_cost_less_than_opposite_ones():
    z, _ = pairs(8, 4)
    assert graph_nce(z, z) < graph_nce(z, -z)


@pytest.mark.parametrize(("change", "message"), [
    ({"z2": torch.zeros(3, 2)}, r"graph_nce: projections have shapes \(4, 2\) and \(3, 2\)"),
    ({"temperature": 0.01}, "graph_nce: temperature is 0.01"),
    ({"weights": torch.ones(4)}, r"graph_nce: weights have shape \(4,\), expected \(4, 4\)"),
    ({"order": torch.arange(2)}, "graph_nce: order mixes negatives by their weights; give weights too"),
    ({"order": torch.arange(4), "weights": torch.ones(4, 4)},
     "graph_nce: order has 4 entries, but an anchor of 4 graphs has 3 negatives")])
def test_bad_input_is_told(change, message):
    with pytest.raises(InputError, match=message):
        graph_nce(**{"z1": torch.ones(4, 2), "z2": torch.ones(4, 2), **change})
