import pytest
import torch

from sgcl.encoders import DenseLayer
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
