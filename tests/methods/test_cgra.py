import numpy as np
import pytest
import scipy.sparse.linalg
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import needs_data, random_data
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.datasets import load
from sgcl.methods import CGRA
from sgcl.methods.cgra import similar_nodes, similar_nodes_loss
from sgcl.samplers import RandomNode
from sgcl.sparse import CSR


def made(**chosen) -> CGRA:
    torch.manual_seed(0)
    return CGRA(6, **{"hidden_channels": 8, "projection_channels": 5, **chosen})


def begun(graph: Graph, **chosen) -> CGRA:
    method = made(**chosen)
    method.start(graph)
    return method


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def slow_loss(u: torch.Tensor, v: torch.Tensor, positives: torch.Tensor, temperature: float) -> torch.Tensor:
    """The formula pair by pair, both roles."""
    def f(a, b):
        return torch.exp(a @ b / temperature)

    total = 0.0
    for own, other in ((u, v), (v, u)):
        for i in range(len(u)):
            near = sum(f(own[i], other[j]) + (f(own[i], own[j]) if i != j else 0)
                       for j in range(len(u)) if positives[i, j])
            everyone = sum(f(own[i], other[j]) + (f(own[i], own[j]) if i != j else 0) for j in range(len(u)))
            total = total - torch.log(near / everyone)
    return total / (2 * len(u))


@settings(max_examples=10)
@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5]))
def test_the_loss_is_the_formula_and_so_is_its_gradient(count, seed, temperature):
    rng = np.random.default_rng(seed)
    u, v = (F.normalize(torch.from_numpy(rng.standard_normal((count, 3)))).requires_grad_() for _ in range(2))
    dense = torch.from_numpy(rng.random((count, count)) < 0.3) | torch.eye(count, dtype=torch.bool)
    positives = CSR.from_coo(*dense.nonzero(as_tuple=True), shape=(count, count))
    assert similar_nodes_loss(u, v, positives, temperature).item() == pytest.approx(
        slow_loss(u, v, dense, temperature).item(), rel=1e-9)
    assert torch.autograd.gradcheck(lambda a, b: similar_nodes_loss(a, b, positives, temperature), (u, v))


@given(random_data(weighted=True), st.integers(1, 4))
def test_similar_nodes_are_the_largest_entries_of_the_inverse(data, count):
    graph = Graph.from_data(data)
    adj = graph.adj.to_dense().double()
    inverse = torch.linalg.inv(torch.diag(adj.sum(1)) - adj + torch.eye(len(adj)))
    found = similar_nodes(graph.adj, count, prune=1e-12, steps=3000)
    for i, row in enumerate(found.to_dense().bool()):
        reachable = inverse[i] > 1e-9
        assert row[i]
        assert row.sum() == min(count, reachable.sum())
        assert not row[~reachable].any()
        assert inverse[i][row].min() >= inverse[i][~row & reachable].max() - 1e-9 if (~row & reachable).any() else True


def test_pruning_and_few_steps_find_the_same_most_similar_node_on_a_small_graph():
    chain = torch.tensor([[0, 1, 1, 2, 3], [1, 2, 3, 3, 4]])
    graph = Graph.from_data(Data(x=torch.ones(5, 2), edge_index=chain))
    assert torch.equal(similar_nodes(graph.adj, 2).to_dense(), similar_nodes(graph.adj, 2, 1e-12, 3000).to_dense())


def test_masked_nodes_lose_their_features_and_positives_are_among_them(graph):
    method = begun(graph, mask_rate=0.25, positives=4)
    views = method.augment(graph, chance())
    assert len(views.masked) == 10
    assert torch.equal(views.masked, views.masked.sort().values)
    kept = torch.ones(40).index_fill(0, views.masked, 0.0)
    assert torch.equal(views.hidden.x, graph.x * kept[:, None])
    assert views.graph is graph
    whole = similar_nodes(graph.adj, 4).to_dense()
    assert torch.equal(views.positives.to_dense(), whole[views.masked][:, views.masked])
    assert views.positives.to_dense().diagonal().all()
    assert len(begun(graph, mask_rate=0.001).augment(graph, chance()).masked) == 2


def test_a_batch_takes_its_positives_from_the_whole_graph(graph):
    method = begun(graph, mask_rate=1.0, positives=3)
    batch = RandomNode(batch_size=15)(graph, chance())
    views = method.augment(batch, chance())
    whole = similar_nodes(graph.adj, 3).to_dense()
    assert torch.equal(views.positives.to_dense(), whole[batch.n_id][:, batch.n_id])


def test_the_whole_loss_and_its_gradient_from_encoders_on(graph):
    method = begun(graph, positives=3, mask_rate=0.5).double().eval()
    for parameter in method.target.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    views = method.augment(graph.replace(x=graph.x.double()), chance())
    u, v = (F.normalize(method.projector(encoder(view.x, view.adj)[views.masked]))  # the projector learns from both
            for encoder, view in ((method.online, views.hidden), (method.target, views.graph)))
    loss, expected = method.loss(views), slow_loss(u, v, views.positives.to_dense().bool(), 0.2)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-9)
    parameters = [*method.online.parameters(), *method.projector.parameters()]
    for ours, theirs in zip(torch.autograd.grad(loss, parameters, retain_graph=True),
                            torch.autograd.grad(expected, parameters), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_the_target_gets_no_gradient(graph):
    method = begun(graph)
    method.loss(method.augment(graph, chance())).backward()
    assert all(parameter.grad is None for parameter in method.target.parameters())


def test_the_target_begins_as_the_online_encoder_and_follows_by_the_momentum():
    method = made(momentum=0.9)
    pairs = list(zip(method.target.parameters(), method.online.parameters(), strict=True))
    assert all(torch.equal(slow, fast) for slow, fast in pairs)
    with torch.no_grad():
        for _, fast in pairs:
            fast.add_(1.0)
    before = [slow.clone() for slow, _ in pairs]
    method.after_step(0.3)
    for (slow, fast), old in zip(pairs, before, strict=True):
        assert torch.allclose(slow, 0.9 * old + 0.1 * fast, atol=1e-6)


@pytest.mark.parametrize("rates", [(1.0, 0.0), (0.0, 1.0)])
def test_dropout_of_both_encoders_is_before_the_first_layer_and_after_the_last(graph, rates):
    method = begun(graph, input_dropout=rates[0], dropout=rates[1], num_layers=1)
    views, other = method.augment(graph, chance()), graph.replace(x=torch.randn_like(graph.x))
    for part in ("graph", "hidden"):
        assert torch.allclose(method.train().loss(views), method.loss(views._replace(**{part: other})))
        assert not torch.allclose(method.eval().loss(views), method.loss(views._replace(**{part: other})))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"mask_rate": 0.0}, "mask_rate is 0, expected a share above 0"),
    ({"mask_rate": 1.5}, "mask_rate is 1.5, expected a probability"),
    ({"input_dropout": -1.0}, "input_dropout is -1.0, expected a probability"),
    ({"dropout": 3.0}, "dropout is 3.0, expected a probability"),
    ({"momentum": 2.0}, "momentum is 2.0, expected a probability"),
    ({"positives": 0}, "positives is 0, expected at least 1"),
    ({"projection_channels": 0}, "projection_channels is 0, expected at least 1"),
    ({"temperature": 0.0}, "CGRA: temperature is 0.0, expected a finite number of at least 0.02"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)


def test_the_embedding_is_the_online_encoders(graph):
    method = begun(graph).eval()
    with torch.no_grad():
        for parameter in method.target.parameters():
            parameter.add_(1.0)
    assert torch.equal(method.embed(graph), method.online(graph.x, graph.adj))
    assert not torch.allclose(method.embed(graph), method.target(graph.x, graph.adj))


@pytest.mark.parametrize(("chosen", "between"), [({}, 12), ({"projector_channels": 3}, 3)])
def test_the_projector_has_a_layer_inside(chosen, between):
    first, rectified, last = made(hidden_channels=12, projection_channels=5, **chosen).projector
    assert (first.in_features, first.out_features, last.in_features, last.out_features) == (12, between, between, 5)
    assert isinstance(rectified, torch.nn.ReLU)


@needs_data
def test_on_a_graph_of_hubs_pruning_exchanges_few_of_the_positives():
    adj, count = Graph.from_data(load("photo")).adj, 27
    found, matrix = similar_nodes(adj, count), adj.to_scipy().astype(float)
    system = scipy.sparse.diags_array(matrix.sum(1) + 1) - matrix
    nodes, wrong = np.random.default_rng(0).choice(adj.shape[0], 40, replace=False), 0
    for node in nodes:
        row, status = scipy.sparse.linalg.cg(system, np.eye(1, adj.shape[0], node)[0], rtol=1e-10)
        assert status == 0
        wrong += (row[found.idx[found.ptr[node]:found.ptr[node + 1]]] < np.sort(row)[-count] * (1 - 1e-6)).sum()
    assert wrong / (len(nodes) * count) < 0.1
