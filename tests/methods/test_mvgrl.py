import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from strategies import random_data
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import MVGRL, mvgrl
from sgcl.methods.mvgrl import largest, page_rank


def made(**chosen) -> MVGRL:
    torch.manual_seed(0)
    return MVGRL(6, **{"hidden_channels": 4, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring) -> Graph:
    return Graph.from_data(ring)


def dense_diffusion(graph: Graph, alpha: float) -> torch.Tensor:
    """a (I - (1 - a) D^-1/2 (A + I) D^-1/2)^-1 by an inverse."""
    a = graph.adj.to_dense().double() + torch.eye(graph.num_nodes)
    a = a / (a.sum(0)[:, None] * a.sum(0)).sqrt()
    return alpha * torch.linalg.inv(torch.eye(graph.num_nodes) - (1 - alpha) * a)


@given(random_data(weighted=True), st.sampled_from([0.2, 0.4, 0.7]))
def test_the_whole_diffusion_is_the_inverse(data, alpha):
    graph = Graph.from_data(data)
    found = page_rank(graph.adj, alpha=alpha, top=99, prune=0)
    assert torch.allclose(found.to_dense().double(), dense_diffusion(graph, alpha), atol=1e-5)


@given(random_data(), st.sampled_from([0.01, 0.05]))
def test_pruning_only_lowers_entries_and_by_little(data, prune):
    graph = Graph.from_data(data)
    found = page_rank(graph.adj, alpha=0.2, top=99, prune=prune).to_dense().double()
    exact, degree = dense_diffusion(graph, 0.2), graph.adj.row_sum().double() + 1
    back = (degree[None] / degree[:, None]).sqrt()                        # P from S, where row j is column j of P
    assert (found <= exact + 1e-6).all()
    assert ((exact - found) / back <= prune / 0.2 + 2 * prune).all()


@given(arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 8)), elements=st.integers(0, 4)), st.integers(1, 5))
def test_the_largest_entries_of_each_row_stay_and_those_that_equal_them(whole, top):
    found = largest(scipy.sparse.csr_array(whole.astype(float)), top).toarray()
    for row, kept in zip(whole.tolist(), found.tolist(), strict=True):
        least = sorted(row, reverse=True)[min(top, len(row)) - 1]
        assert kept == [value if value >= least else 0 for value in row]


def test_a_block_of_rows_at_a_time_gives_the_same(graph, monkeypatch):
    whole = page_rank(graph.adj, alpha=0.2, top=6, prune=1e-3)
    monkeypatch.setattr("sgcl.smoothing.rows._BLOCK", 100)
    parts = page_rank(graph.adj, alpha=0.2, top=6, prune=1e-3)
    assert torch.equal(whole.ptr, parts.ptr)
    assert torch.equal(whole.idx, parts.idx)
    assert torch.allclose(whole.value, parts.value)


def test_which_of_equal_entries_stay_does_not_hang_on_numbers():
    star = Graph.from_data(Data(x=torch.ones(9, 6), edge_index=torch.stack([torch.zeros(8, dtype=torch.long),
                                                                            torch.arange(1, 9)])))
    found = page_rank(star.adj, alpha=0.2, top=3, prune=0)
    assert found.ptr.diff()[0] == 9                                       # the centre sees all leaves alike
    assert torch.equal(found.to_dense()[0, 1:], found.to_dense()[0, 1].expand(8))


def test_the_diffusion_is_worked_out_once(graph, ring, monkeypatch):
    calls = []
    monkeypatch.setattr(mvgrl, "page_rank", lambda *given, **more: calls.append(1) or page_rank(*given, **more))
    method = made()
    method.start(graph)
    first = method.augment(graph, chance())
    method.augment(graph, chance(1))
    method.embed(graph)
    method.embed(Graph.from_data(ring))                                   # another object, the same edges
    assert len(calls) == 1
    assert torch.allclose(first.diffusion.to_dense().double(), dense_diffusion(graph, 0.2), atol=0.01)
    method.embed(graph.subgraph(torch.arange(30)))
    assert len(calls) == 2


def test_a_batch_takes_its_rows_and_columns(graph):
    method = made()
    method.start(graph)
    nodes = torch.tensor([1, 2, 6, 7, 30])
    views = method.augment(graph.subgraph(nodes), chance())
    whole = method.augment(graph, chance()).diffusion.to_dense()
    assert torch.equal(views.diffusion.to_dense(), whole[nodes][:, nodes])


def test_without_a_start_a_batch_has_its_own_diffusion(graph):
    part = graph.subgraph(torch.arange(20))
    views = made(prune=0.0).augment(part, chance())
    assert torch.allclose(views.diffusion.to_dense().double(), dense_diffusion(part, 0.2), atol=1e-5)


def test_the_loss_is_the_mean_cross_entropy_of_all_scores_and_so_is_its_gradient(graph):
    method = made(prune=0.0).double()
    graph = graph.replace(x=graph.x.double())
    views = method.augment(graph, chance())
    first, second = method.encoders
    s = views.diffusion.to_dense().double()

    def encoded(x):
        h = s @ x @ second.layers[0].weight + second.layers[0].bias
        return first(x, graph.adj), torch.where(h > 0, h, second.activations[0].slope * h)

    (h1, h2), (fake1, fake2) = encoded(graph.x), encoded(views.fake.x)
    c1, c2 = torch.sigmoid(h1.mean(0)), torch.sigmoid(h2.mean(0))
    total = 0.0
    for nodes, summary, is_real in ((h2, c1, True), (h1, c2, True), (fake2, c1, False), (fake1, c2, False)):
        for h in nodes:
            p = torch.sigmoid(h @ method.weight @ summary + method.bias)
            total = total - torch.log(p if is_real else 1 - p)
    loss, parameters = method.loss(views), list(method.parameters())
    assert loss.item() == pytest.approx((total / 160).item(), rel=1e-6)
    for ours, theirs in zip(torch.autograd.grad(loss, parameters),       # both summaries pass gradients on as well
                            torch.autograd.grad(total / 160, parameters, retain_graph=True), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-8)
    assert sorted(views.fake.x.tolist()) == sorted(graph.x.tolist())
    assert views.fake.adj is graph.adj
    assert torch.allclose(method.embed(graph), h1 + h2, atol=1e-6)


@pytest.mark.parametrize(("chosen", "message"), [
    ({"alpha": 0.0}, r"MVGRL: alpha is 0.0, expected a restart probability in \(0, 1\)"),
    ({"alpha": 1.0}, "alpha is 1.0"), ({"top": 0}, "MVGRL: top is 0, expected at least 1"),
    ({"prune": 1.0}, r"MVGRL: prune is 1.0, expected a threshold in \[0, 1\)"),
    ({"prune": float("nan")}, "prune is nan"), ({"hidden_channels": 0}, "hidden_channels is 0")])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
