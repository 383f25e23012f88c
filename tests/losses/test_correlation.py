import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import barlow_twins_loss, cca_loss


@st.composite
def pairs(draw):
    num_nodes, width = draw(st.integers(3, 8)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return [torch.from_numpy(rng.standard_normal((num_nodes, width)) * 3 + 1) for _ in range(2)]


def columns(h):
    """The columns as lists, each of mean 0 and mean square 1."""
    found = []
    for column in h.T.tolist():
        mean = sum(column) / len(column)
        spread = math.sqrt(sum((v - mean) ** 2 for v in column) / len(column))
        found.append([(v - mean) / spread for v in column])
    return found


def correlation(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / len(a)


@given(pairs(), st.sampled_from([None, 0.0, 0.3]))
def test_barlow_twins_equals_the_formula_in_loops(pair, weight):
    first, second = map(columns, pair)
    width, expected = len(first), 0.0
    for i in range(width):
        for j in range(width):
            c = correlation(first[i], second[j])
            expected += (1 - c) ** 2 if i == j else (1 / width if weight is None else weight) * c**2
    assert float(barlow_twins_loss(*pair, weight)) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(pairs(), st.sampled_from([0.0, 0.3]))
def test_cca_equals_the_formula_in_loops(pair, weight):
    first, second = map(columns, pair)
    nodes, width = pair[0].shape
    expected = sum((first[i][n] - second[i][n]) ** 2 for n in range(nodes) for i in range(width)) / nodes
    for view in (first, second):
        for i in range(width):
            for j in range(width):
                expected += weight * (correlation(view[i], view[j]) - (i == j)) ** 2
    assert float(cca_loss(*pair, weight)) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(pairs())
def test_neither_sees_the_scale_or_the_place_of_a_column(pair):
    moved = [h * 7 - 2 for h in pair]
    assert torch.allclose(barlow_twins_loss(*pair), barlow_twins_loss(*moved))
    assert torch.allclose(cca_loss(*pair, 0.1), cca_loss(*moved, 0.1))


def test_equal_views_of_columns_that_do_not_correlate_cost_nothing():
    h = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert barlow_twins_loss(h, h).item() == pytest.approx(0, abs=1e-10)
    assert cca_loss(h, h, 1.0).item() == pytest.approx(0, abs=1e-10)
    assert cca_loss(h, -h, 1.0).item() == pytest.approx(8)                # 2 columns, each (1 - -1)² on average
    assert barlow_twins_loss(h, -h).item() == pytest.approx(8)            # (1 - -1)² on the diagonal


@pytest.mark.parametrize("loss", [barlow_twins_loss, lambda a, b: cca_loss(a, b, 0.1)])
def test_a_column_that_is_the_same_everywhere_counts_as_zeros(loss):
    h = torch.cat([torch.randn(5, 2, generator=torch.Generator().manual_seed(0)), torch.full((5, 1), 3.0)], dim=1)
    h.requires_grad_()
    value = loss(h, h.detach() + 0.1 * torch.randn(5, 3, generator=torch.Generator().manual_seed(1)))
    value.backward()
    assert value.isfinite()
    assert h.grad.isfinite().all()


@pytest.mark.parametrize(("name", "loss"), [("barlow_twins_loss", barlow_twins_loss),
                                            ("cca_loss", lambda a, b: cca_loss(a, b, 0.1))])
def test_bad_input_is_told(name, loss):
    with pytest.raises(InputError, match=rf"{name}: embeddings have shapes \(3, 2\) and \(3, 4\)"):
        loss(torch.ones(3, 2), torch.ones(3, 4))
    with pytest.raises(InputError, match=f"{name}: a batch of 1 node has no correlations: draw larger batches"):
        loss(torch.ones(1, 2), torch.ones(1, 2))


@pytest.mark.parametrize("loss", [barlow_twins_loss, lambda h1, h2: cca_loss(h1, h2, 0.3)])
def test_gradients_are_those_of_the_whole_formula(loss):
    pair = [torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1)]
    assert torch.autograd.gradcheck(loss, [h.requires_grad_() for h in pair])
