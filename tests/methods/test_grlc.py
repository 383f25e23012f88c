import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import GRLC, grlc, recompute
from sgcl.methods.grlc import alike


def made(**chosen) -> GRLC:
    torch.manual_seed(0)
    method = GRLC(6, **{"hidden_channels": 5, "negatives": 3, **chosen})
    for bias in (method.first.bias, method.second.bias):
        bias.data.normal_()
    return method


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def inner_of(method: GRLC, x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ method.first.weight + method.first.bias)


def outer_of(method: GRLC, inner: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    return torch.relu(matrix @ inner @ method.second.weight + method.second.bias)


@torch.no_grad()
def dense_structure(method: GRLC, graph: Graph) -> torch.Tensor:
    """The (N, N) matrix that positives are propagated with, as the formulas have it."""
    loops = graph.adj.to_dense().to(graph.x.dtype) + torch.eye(graph.num_nodes)
    plain = loops / (loops.sum(1)[:, None] * loops.sum(1)).sqrt()
    if method.structure == "fixed":
        return plain
    inner = inner_of(method, graph.x)
    if method.structure == "scale":
        h = outer_of(method, inner, plain)
        weighed = F.cosine_similarity(h[:, None], h[None], dim=2) * plain
        return weighed / (weighed.sum(1)[:, None] * weighed.sum(1)).sqrt()
    h = outer_of(method, inner, torch.eye(graph.num_nodes, dtype=inner.dtype))
    cosine = F.cosine_similarity(h[:, None], h[None], dim=2)
    kept = torch.eye(graph.num_nodes, dtype=inner.dtype)
    for i in range(graph.num_nodes):
        for j in range(graph.num_nodes):
            if loops[i, j] and cosine[i, j] > cosine[:, j].mean():
                kept[i, j] = 1
    return kept / (kept.sum(1)[:, None] * kept.sum(1)).sqrt()


def slow_loss(method: GRLC, views) -> torch.Tensor:
    """The formula node by node and negative by negative; dropout keeps a share of every entry, as ``fade`` does."""
    (graph, orders), kept = views, 1 - method.dropout
    structure, eye = dense_structure(method, graph), torch.eye(graph.num_nodes, dtype=graph.x.dtype)
    inner, faded = inner_of(method, graph.x), inner_of(method, kept * graph.x)
    anchor, positive = outer_of(method, inner, eye), outer_of(method, kept * faded, structure)
    over = structure if method.propagate_negatives else eye
    others = [outer_of(method, kept * faded[order], over) for order in orders]
    near = far = 0.0
    for i in range(graph.num_nodes):
        p = (anchor[i] - positive[i]).norm()
        first = [(inner[i] - faded[order[i]]).norm().item() for order in orders]
        for k, other in enumerate(others):
            n, weight = (anchor[i] - other[i]).norm(), (first[k] - min(first)) / (max(first) - min(first))
            near = near + weight * (p - n + method.margin).relu()
            far = far + (n - p.detach() - method.margin - method.bound).relu() / len(orders)
    return (method.near_weight * near + method.far_weight * far) / graph.num_nodes


def fade(x: torch.Tensor, p: float = 0.5, training: bool = True) -> torch.Tensor:
    return (1 - p) * x if training else x


@pytest.mark.parametrize("chosen", [
    {}, {"structure": "fixed", "margin": 0.1, "bound": 0.05}, {"structure": "scale", "propagate_negatives": True},
    {"near_weight": 0.0, "margin": 0.0, "bound": 0.0}, {"far_weight": 0.0, "expansion": 3}], ids=str)
def test_the_loss_and_its_gradient_are_those_of_the_formula(graph, chosen, monkeypatch):
    monkeypatch.setattr(grlc, "dropout", fade)
    method = made(**chosen).double()
    views = method.augment(graph.replace(x=graph.x.double()), chance())
    loss, expected, parameters = method.loss(views), slow_loss(method, views), list(method.parameters())
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for ours, theirs in zip(torch.autograd.grad(loss, parameters), torch.autograd.grad(expected, parameters),
                            strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("structure", ["filter", "scale", "fixed"])
def test_the_embedding_is_the_positive_over_the_same_structure(graph, structure):
    method = made(structure=structure, unit=False).eval()
    with torch.no_grad():
        expected = outer_of(method, inner_of(method, graph.x), dense_structure(method, graph))
        assert torch.allclose(method.embed(graph), expected, atol=1e-5)
        method.unit = True
        assert torch.allclose(method.embed(graph), F.normalize(expected), atol=1e-5)


def test_filtering_leaves_some_edges_and_not_all(graph):
    method = made()
    left = alike(graph.adj, F.normalize(method._encoded(graph.x, None)[1].detach()))
    assert 0 < left.nnz < graph.adj.nnz


def test_negatives_are_permutations_each_its_own(graph):
    orders = made(negatives=4).augment(graph, chance()).orders
    assert orders.shape == (4, 40)
    assert all(torch.equal(order.sort().values, torch.arange(40)) for order in orders)
    assert not torch.equal(orders[0], orders[1])


def test_what_the_backward_makes_again_has_the_same_dropout(graph, monkeypatch):
    gradients = []
    for again in (False, True):
        if again:
            monkeypatch.setattr(recompute, "_ENTRIES", 0)
        method = made(dropout=0.5)
        views = method.augment(graph, chance())
        torch.manual_seed(1)
        method.loss(views).backward()
        gradients.append([parameter.grad for parameter in method.parameters()])
    for ours, plain in zip(*gradients, strict=True):
        assert torch.allclose(ours, plain, atol=1e-6)


def test_negatives_all_at_one_distance_leave_the_first_term_out(graph):
    method = made(far_weight=0.0, dropout=0.0)
    same = graph.replace(x=torch.ones_like(graph.x))
    loss = method.loss(method.augment(same, chance()))
    assert loss.item() == 0
    loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in method.parameters())


@pytest.mark.parametrize(("chosen", "message"), [
    ({"negatives": 1}, "negatives is 1, expected at least 2"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"expansion": 0}, "expansion is 0, expected at least 1"),
    ({"margin": -0.1}, "margin is -0.1, expected a finite number of at least 0"),
    ({"bound": float("nan")}, "bound is nan, expected a finite number"),
    ({"near_weight": float("inf")}, "near_weight is inf, expected a finite number"),
    ({"far_weight": -1.0}, "far_weight is -1.0, expected a finite number of at least 0"),
    ({"structure": "filtr"}, "no GRLC structure named 'filtr'; did you mean 'filter'"),
    ({"dropout": 1.5}, "dropout is 1.5, expected a probability"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        GRLC(6, **chosen)
    assert "\n" not in str(error.value)
