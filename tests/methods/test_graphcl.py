import argparse
import math

import pytest
import torch
from collections_of import rings_and_paths, seeded

from sgcl import InputError, options
from sgcl.estimator import GraphCL as Estimator
from sgcl.methods import GraphCL
from sgcl.views import Compose, DropEdges, DropNodes, MaskNodes, Subgraph


def made(**chosen) -> GraphCL:
    torch.manual_seed(0)
    return GraphCL(4, **{"hidden_channels": 8, **chosen})


def slow_loss(z1: torch.Tensor, z2: torch.Tensor, temperature: float) -> float:
    """The formula in plain loops: anchors are the originals, the graph itself is not in the denominator."""
    def similarity(i, k):
        return math.exp(float(z1[i] @ z2[k] / z1[i].norm() / z2[k].norm()) / temperature)

    return sum(-math.log(similarity(i, i) / sum(similarity(i, k) for k in range(len(z2)) if k != i))
               for i in range(len(z1))) / len(z1)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_loss_is_the_formula(sparse):
    graph, method = rings_and_paths(sparse=sparse), made()
    views = method.augment(graph, seeded())
    z1, z2 = (method.head(method.embed(view)).detach().double() for view in views)
    assert z1.shape == (6, 24)
    assert float(method.loss(views).detach()) == pytest.approx(slow_loss(z1, z2, 0.2), rel=1e-5)


def test_the_head_is_two_layers_with_relu_between():
    head, h = made().head, torch.randn(3, 24)
    first, second = head[0], head[2]
    assert torch.equal(head(h), (h @ first.weight + first.bias).clamp(min=0) @ second.weight + second.bias)


def test_the_first_view_is_the_graph_and_the_second_has_one_operation_for_each():
    graph, method = rings_and_paths(), made(view2=Compose((DropNodes(0.5), Subgraph(0))))
    seen = set()
    for seed in range(10):
        first, second = method.augment(graph, seeded(seed))
        assert first is graph
        sizes = second.graph_ptr.diff()
        assert all(size in (1, n - n // 2) for size, n in zip(sizes.tolist(), graph.graph_ptr.diff(), strict=True))
        seen.add(tuple((sizes == 1).tolist()))
    assert len(seen) > 3  # which one is drawn for each graph, and anew


def test_else_all_parts_in_turn():
    method = made(view2=Compose((DropNodes(0.5), Subgraph(0))), one_part=False)
    assert method.augment(rings_and_paths(), seeded()).second.graph_ptr.diff().tolist() == [1] * 6


def test_all_operations_train_and_gradients_reach_every_parameter():
    method = made(view2=Compose((DropNodes(), Subgraph(), DropEdges(0.1), MaskNodes())))
    method.loss(method.augment(rings_and_paths(), seeded(1))).backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters())


def test_the_embedding_is_before_the_head():
    graph, method = rings_and_paths(), made().eval()
    assert torch.equal(method.embed(graph), method.encoder(graph).graphs)


def test_views_by_flags():
    parser = options.Parser(allow_abbrev=False, argument_default=argparse.SUPPRESS)
    options.add_options(parser, "graphcl")
    words = ["--drop-nodes", "0", "0.2", "--subgraph", "0", "--mask-nodes", "0", "0.3", "--no-one-part"]
    chosen = Estimator(**options.collect(parser.parse_args(words), {}, "graphcl")).settings
    assert chosen["view1"] == Compose()
    assert chosen["view2"] == Compose((DropNodes(0.2), MaskNodes(0.3)))
    assert chosen["one_part"] is False
    assert (chosen["epochs"], chosen["lr"], chosen["sampler"].size) == (20, 0.01, 128)


def test_bad_settings_are_told_in_one_line():
    with pytest.raises(InputError, match=r"^GraphCL: temperature is 0.01, expected"):
        GraphCL(4, temperature=0.01)


def test_a_single_graph_is_no_batch():
    method = made()
    with pytest.raises(InputError, match=r"graph_nce: a batch of one has no negatives: draw larger batches"):
        method.loss(method.augment(rings_and_paths().take(torch.tensor([1])), seeded()))
