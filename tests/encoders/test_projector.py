import pytest
import torch

from sgcl import InputError
from sgcl.encoders import Projector


def test_it_is_two_layers_with_an_elu_between():
    projector = Projector(3, 2)
    h = torch.randn(5, 3)
    first, second = projector.first, projector.second
    between = h @ first.weight.T + first.bias
    between = torch.where(between > 0, between, between.exp() - 1)
    assert between.shape == (5, 2)
    assert torch.allclose(projector(h), between @ second.weight.T + second.bias, atol=1e-6)


def test_the_width_between_is_that_of_the_embedding_unless_given():
    assert Projector(3).first.out_features == 3


def test_a_width_below_one_is_told():
    with pytest.raises(InputError, match="Projector: hidden_channels is 0, expected at least 1"):
        Projector(3, 0)
