import math

import pytest
import torch
from collections_of import rings_and_paths, seeded

from sgcl import InputError
from sgcl.estimator import InfoGraph as Estimator
from sgcl.methods import InfoGraph


def made(**chosen) -> InfoGraph:
    torch.manual_seed(0)
    return InfoGraph(4, **{"hidden_channels": 5, **chosen})


def head(parts, h: torch.Tensor) -> torch.Tensor:
    """Three layers with ReLU, and one beside them."""
    deep = h
    for number in (0, 2, 4):
        deep = (deep @ parts.deep[number].weight + parts.deep[number].bias).clamp(min=0)
    return (deep + h @ parts.short.weight + parts.short.bias).detach().double()


def slow_loss(nodes: torch.Tensor, graphs: torch.Tensor, graph_of: list[int]) -> float:
    def sp(t):
        return math.log1p(math.exp(-abs(t))) + max(t, 0)

    count, others = len(nodes), len(graphs) - 1
    own = sum(math.log(2) - sp(-float(nodes[v] @ graphs[g])) for v, g in enumerate(graph_of)) / count
    foreign = sum(sp(-t) + t - math.log(2) for v, mine in enumerate(graph_of) for g in range(len(graphs)) if g != mine
                  for t in [float(nodes[v] @ graphs[g])]) / (count * others)
    return foreign - own


def test_the_loss_is_the_formula():
    graph, method = rings_and_paths(), made(num_layers=2)
    encoded = method.encoder(graph)
    nodes = head(method.node_head, torch.cat([encoded.layers[0], encoded.layers[1]], dim=1))
    expected = slow_loss(nodes, head(method.graph_head, encoded.graphs), graph.graph_of.tolist())
    loss = method.loss(method.augment(graph, seeded()))
    assert nodes.shape == (38, 10)
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-5)
    loss.backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters())


def test_nothing_is_augmented_and_the_embedding_is_before_the_head():
    graph, method = rings_and_paths(), made().eval()
    assert method.augment(graph, seeded()).graph is graph
    assert torch.equal(method.embed(graph), method.encoder(graph).graphs)
    assert method.embed(graph).shape == (6, 15)


def test_training_is_that_of_the_paper_and_lowers_the_loss():
    estimator = Estimator(hidden_channels=8)
    assert (estimator.settings["epochs"], estimator.settings["lr"], estimator.settings["sampler"].size) == (
        20, 0.001, 128)
    history = estimator.fit(rings_and_paths()).history
    assert history[-1].loss < history[0].loss


def test_a_single_graph_is_no_batch():
    method = made()
    with pytest.raises(InputError, match="a batch of a single graph has nothing to tell it from; give at least 2"):
        method.loss(method.augment(rings_and_paths().take(torch.tensor([1])), seeded()))
