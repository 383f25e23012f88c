import pytest
import torch

from sgcl import Graph, InputError
from sgcl.encoders import LAYERS, Encoder


@pytest.mark.parametrize("layer", list(LAYERS))
@pytest.mark.parametrize("num_layers", [1, 3])
def test_shapes_and_gradients_for_each_layer_type(ring, layer, num_layers):
    graph = Graph.from_data(ring)
    encoder = Encoder(6, 8, 5, num_layers=num_layers, layer=layer)
    h = encoder(graph.x, graph.adj)
    assert h.shape == (40, 5)
    h.square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all()


def test_two_gcn_layers_by_dense_products(ring):
    graph = Graph.from_data(ring)
    encoder = Encoder(6, 4, activation="relu")
    a = graph.adj.to_dense() + torch.eye(40)
    a = a / (a.sum(0)[:, None] * a.sum(0)).sqrt()
    h = ring.x
    for layer in encoder.layers:
        h = torch.relu(a @ h @ layer.weight + layer.bias)
    assert torch.allclose(encoder(graph.x, graph.adj), h, atol=1e-5)


def test_dropout_is_for_training_only(ring):
    graph = Graph.from_data(ring)
    encoder = Encoder(6, 16, dropout=0.5)
    assert not torch.equal(encoder(graph.x, graph.adj), encoder(graph.x, graph.adj))
    encoder.eval()
    assert torch.equal(encoder(graph.x, graph.adj), encoder(graph.x, graph.adj))


@pytest.mark.parametrize(("change", "message"), [
    ({"layer": "gcnn"}, "did you mean 'gcn'"), ({"activation": "rlu"}, "did you mean 'relu'"),
    ({"dropout": 1.5}, "dropout is 1.5"), ({"num_layers": 0}, "num_layers is 0"),
    ({"hidden_channels": 0}, "hidden_channels is 0")])
def test_bad_settings_are_told(change, message):
    with pytest.raises(InputError, match=message):
        Encoder(3, **change)
