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


def test_norms_stand_between_layers_and_activations_and_the_end_may_be_linear(ring):
    graph = Graph.from_data(ring)
    encoder = Encoder(6, 4, 3, activation="relu", norm="batch", linear_end=True)
    a = graph.adj.to_dense() + torch.eye(40)
    a = a / (a.sum(0)[:, None] * a.sum(0)).sqrt()
    first, last = encoder.layers
    h = a @ ring.x @ first.weight + first.bias
    h = torch.relu((h - h.mean(0)) / (h.var(0, correction=0) + 1e-5).sqrt())
    assert torch.allclose(encoder(graph.x, graph.adj), a @ h @ last.weight + last.bias, atol=1e-5)
    whole = Encoder(6, 4, 3, activation="relu", norm="batch")(graph.x, graph.adj)
    assert (whole >= 0).all()


def test_another_matrix_may_stand_in_for_the_adjacency(ring):
    graph = Graph.from_data(ring)
    encoder = Encoder(6, 4, num_layers=1)
    other = graph.adj.with_values(torch.rand(graph.adj.nnz))
    dense = other.to_dense() @ ring.x @ encoder.layers[0].weight
    expected = torch.where(dense > 0, dense, 0.25 * dense)
    assert torch.allclose(encoder.propagate(graph.x, other), expected, atol=1e-5)


def test_dropout_is_for_training_only(ring):
    graph = Graph.from_data(ring)
    encoder = Encoder(6, 16, dropout=0.5)
    assert not torch.equal(encoder(graph.x, graph.adj), encoder(graph.x, graph.adj))
    encoder.eval()
    assert torch.equal(encoder(graph.x, graph.adj), encoder(graph.x, graph.adj))


@pytest.mark.parametrize(("change", "message"), [
    ({"layer": "gcnn"}, "did you mean 'gcn'"), ({"activation": "rlu"}, "did you mean 'relu'"),
    ({"norm": "btch"}, "did you mean 'batch'"), ({"dropout": 1.5}, "dropout is 1.5"),
    ({"num_layers": 0}, "num_layers is 0"),
    ({"hidden_channels": 0}, "hidden_channels is 0")])
def test_bad_settings_are_told(change, message):
    with pytest.raises(InputError, match=message):
        Encoder(3, **change)


def test_rrelu_has_the_mean_of_its_slopes():
    activation = Encoder(6, 4, activation="rrelu").activations[0]
    assert torch.allclose(activation(torch.tensor([-48.0, 2.0])), torch.tensor([-11.0, 2.0]))
