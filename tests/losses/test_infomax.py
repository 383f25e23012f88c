import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl import InputError
from sgcl.losses import infomax_loss


def looped(real, fake, summary, weight, bias):
    """The cross-entropy of all 2N scores, one after the other."""
    width, total = len(summary), 0.0
    for nodes, is_real in ((real, True), (fake, False)):
        for h in nodes.tolist():
            score = bias + sum(h[i] * weight[i][j] * summary[j] for i in range(width) for j in range(width))
            chance = 1 / (1 + math.exp(-score))
            total -= math.log(chance if is_real else 1 - chance)
    return total / (2 * len(real))


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_equals_the_formula_in_loops(num_nodes, width, seed):
    rng = np.random.default_rng(seed)
    real, fake = (torch.from_numpy(rng.standard_normal((num_nodes, width))) for _ in range(2))
    summary, weight = torch.from_numpy(rng.random(width)), torch.from_numpy(rng.standard_normal((width, width)))
    bias = torch.tensor(rng.standard_normal())
    expected = looped(real, fake, summary.tolist(), weight.tolist(), float(bias))
    assert float(infomax_loss(real, fake, summary, weight, bias)) == pytest.approx(expected, rel=1e-10)


def test_scores_of_any_size_cost_a_finite_amount():
    h, bias = torch.full((2, 1), 1e4), torch.zeros(())
    loss = infomax_loss(-h, h, torch.ones(1), torch.ones(1, 1), bias)     # all wrong
    assert loss.item() == pytest.approx(1e4)
    assert infomax_loss(h, -h, torch.ones(1), torch.ones(1, 1), bias).item() == 0


def test_shapes_that_do_not_fit_are_told():
    with pytest.raises(InputError, match=r"shapes \(3, 2\) and \(4, 2\), expected the same \(N, D\) twice"):
        infomax_loss(torch.ones(3, 2), torch.ones(4, 2), torch.ones(2), torch.ones(2, 2), torch.zeros(()))
