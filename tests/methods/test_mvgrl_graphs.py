import math

import pytest
import torch
from collections_of import circles, seeded
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import MVGRLGraphs, mvgrl
from sgcl.methods.graphs.mvgrl import blocks_of


def made(**chosen) -> MVGRLGraphs:
    torch.manual_seed(0)
    return MVGRLGraphs(3, **{"hidden_channels": 4, "prune": 0.0, **chosen})


@pytest.fixture
def graph() -> Graph:
    """Circles of five, seven and four nodes, and a star of six."""
    return circles(Data(x=torch.randn(6, 3, generator=seeded(6)),
                        edge_index=torch.tensor([[0, 0, 0, 0, 0], [1, 2, 3, 4, 5]])))


def inverse(adj: torch.Tensor, alpha: float) -> torch.Tensor:
    """a (I - (1 - a) D^-1/2 (A + I) D^-1/2)^-1"""
    a = adj.double() + torch.eye(len(adj))
    a = a / (a.sum(0)[:, None] * a.sum(0)).sqrt()
    return alpha * torch.linalg.inv(torch.eye(len(adj)) - (1 - alpha) * a)


@pytest.mark.parametrize(("prune", "error"), [(0.0, 1e-5), (1e-4, 1e-3)])
def test_each_graph_has_the_diffusion_that_it_has_alone(graph, prune, error):
    found = made(prune=prune).augment(graph, seeded()).diffusion.to_dense().double()
    for number, (start, stop) in enumerate(((0, 5), (5, 12), (12, 16), (16, 22))):
        expected = torch.zeros(stop - start, 22, dtype=torch.float64)
        expected[:, start:stop] = inverse(graph.take(torch.tensor([number])).adj.to_dense(), 0.2)
        assert torch.allclose(found[start:stop], expected, atol=error)


@pytest.mark.parametrize("numbers", [[1], [0, 2, 3], [3, 0]])
def test_a_batch_takes_the_blocks_of_its_graphs(graph, numbers):
    method = made()
    method.start(graph)
    batch = graph.take(torch.tensor(numbers))
    found = method.augment(batch, seeded())
    assert found.graph is batch
    assert torch.equal(found.diffusion.to_dense(), blocks_of(method._known[1], batch.n_id).to_dense())
    expected = made().augment(batch.replace(n_id=None), seeded()).diffusion
    assert torch.allclose(found.diffusion.to_dense(), expected.to_dense(), atol=1e-6)


def test_the_diffusion_of_the_training_collection_is_worked_out_once(graph, monkeypatch):
    calls, page_rank = [], mvgrl.page_rank
    monkeypatch.setattr(mvgrl, "page_rank", lambda *given, **more: calls.append(1) or page_rank(*given, **more))
    method = made()
    method.start(graph)
    method.augment(graph, seeded())
    method.augment(graph.take(torch.tensor([0, 2])), seeded())
    method.embed(graph.take(torch.arange(4)))
    assert len(calls) == 1
    method.embed(graph.take(torch.tensor([3, 1])))
    assert len(calls) == 2


def head(part, h):
    """Three layers with PReLU, and a shortcut."""
    out = h
    for number in (0, 2, 4):
        out = out @ part.layers[number].weight.T + part.layers[number].bias
        out = torch.where(out > 0, out, 0.25 * out)
    return out + h @ part.shortcut.weight.T + part.shortcut.bias


def encoded(method, graph):
    """Nodes and graphs of each view behind their heads, by dense matrices."""
    adj = graph.adj.to_dense().double() + torch.eye(22)
    s, views = method.augment(graph, seeded()).diffusion.to_dense().double(), []
    for encoder, matrix in zip(method.encoders, (adj / (adj.sum(0)[:, None] * adj.sum(0)).sqrt(), s), strict=True):
        h, sums = graph.x, []
        for layer in encoder.layers:
            h = matrix @ h @ layer.weight + layer.bias
            h = torch.where(h > 0, h, 0.25 * h)
            sums.append(torch.stack([h[a:b].sum(0) for a, b in ((0, 5), (5, 12), (12, 16), (16, 22))]))
        views.append((head(method.node_head, h), head(method.graph_head, torch.cat(sums, dim=1))))
    return views


def test_the_loss_is_the_formula_in_loops_and_the_embedding_the_sum_of_the_graphs(graph):
    method, graph = made().double(), graph.replace(x=graph.x.double())
    (h1, z1), (h2, z2) = encoded(method, graph)

    def soft_plus(t):
        return math.log(1 + math.exp(t)) - math.log(2)

    total, owner = 0.0, graph.graph_of.tolist()
    for nodes, graphs in ((h1, z2), (h2, z1)):
        for v in range(22):
            for g in range(4):
                score = (nodes[v] @ graphs[g]).item()
                total += soft_plus(-score) / 22 if owner[v] == g else soft_plus(score) / (22 * 3)
    assert method.loss(method.augment(graph, seeded())).item() == pytest.approx(total, rel=1e-5)
    assert torch.allclose(method.embed(graph), z1 + z2, atol=1e-5)


def test_the_layers_are_trained_and_not_the_heads_alone(graph):
    method = made()
    method.loss(method.augment(graph, seeded())).backward()
    learning = {id(parameter) for group in method.parameter_groups(0.1, 0.0) for parameter in group["params"]}
    for encoder in method.encoders:
        for layer in encoder.layers:
            assert id(layer.weight) in learning
            assert layer.weight.grad.abs().max() > 0


@pytest.mark.parametrize(("chosen", "message"), [
    ({"alpha": 0.0}, r"MVGRLGraphs: alpha is 0.0, expected a restart probability in \(0, 1\)"),
    ({"top": 0}, "MVGRLGraphs: top is 0, expected at least 1"),
    ({"prune": 1.0}, r"MVGRLGraphs: prune is 1.0, expected a threshold in \[0, 1\)"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"dropout": 3.0}, "dropout is 3.0, expected a probability"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
