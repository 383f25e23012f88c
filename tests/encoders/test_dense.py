import pytest
import torch

from sgcl.encoders import DenseLayer, dropout
from sgcl.sparse import SparseFeatures


@pytest.mark.parametrize("bias", [True, False])
def test_a_dense_layer_is_a_linear_map_of_dense_and_of_sparse_features(bias):
    x = torch.randn(5, 4) * (torch.rand(5, 4) < 0.5)
    layer = DenseLayer(4, 3, bias=bias)
    if bias:
        layer.bias.data = torch.randn(3)
    expected = torch.nn.functional.linear(x, layer.weight.T, layer.bias)
    assert torch.allclose(layer(x), expected, atol=1e-6)
    assert torch.allclose(layer(SparseFeatures.from_dense(x)), expected, atol=1e-6)


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
