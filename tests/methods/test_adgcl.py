import copy
import math

import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import ADGCL
from sgcl.methods.graphs.adgcl import Noisy, mean_dropped
from sgcl.sparse import CSR

SIZES = ((0, 5), (5, 12), (12, 16))


def made(**chosen) -> ADGCL:
    torch.manual_seed(0)
    return ADGCL(3, **{"hidden_channels": 4, "num_layers": 2, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def circles(weighted: bool = False) -> Graph:
    """Circles of five, seven and four nodes."""
    graphs = []
    for start, stop in SIZES:
        nodes = torch.arange(stop - start)
        graphs.append(Data(x=torch.randn(len(nodes), 3, generator=chance(start)),
                           edge_index=torch.stack([nodes, (nodes + 1) % len(nodes)])))
        if weighted:
            graphs[-1].edge_weight = 0.5 + torch.rand(len(nodes), generator=chance(start))
    graph = Graph.from_data(graphs)
    value = None if graph.adj.value is None else graph.adj.value.double()
    return graph.replace(x=graph.x.double(), adj=graph.adj.with_values(value, symmetric=True))


@pytest.fixture
def graph() -> Graph:
    return circles()


def begun(graph: Graph, **chosen) -> tuple[ADGCL, Noisy]:
    """A method some steps old, so that its batch norms differ between training and eval mode, and a batch."""
    method = made(**chosen).double()
    optimizer = torch.optim.Adam(method.parameters(), lr=0.05)
    for seed in range(3):
        optimizer.zero_grad()
        method.loss(method.augment(graph, chance(seed))).backward()
        optimizer.step()
    method.zero_grad()
    return method, method.augment(graph, chance(9))


def weights(method: ADGCL, views: Noisy, noise: torch.Tensor) -> torch.Tensor:
    """p of each entry, by the perceptron of both ends, in loops over the edges."""
    h = method.learner.encoder(views.graph).nodes
    ends, score = method.learner.ends, method.learner.score

    def w(u, v):
        return score(torch.relu(ends(torch.cat([h[u], h[v]]))))[0]

    pairs = zip(views.graph.adj.row.tolist(), views.graph.adj.idx.tolist(), strict=True)
    return torch.stack([torch.sigmoid(noise[e] + (w(u, v) + w(v, u)) / 2) for e, (u, v) in enumerate(pairs)])


def information(method: ADGCL, graph: Graph, weight: torch.Tensor) -> torch.Tensor:
    """I of the graph and of the graph with these weights, by a dense adjacency and in loops."""
    encoder, projector = method.contrast.encoder, method.contrast.projector

    def projected(adj):
        h = graph.x
        for number, layer in enumerate(encoder.layers):
            h = encoder.norms[number](layer.out(torch.relu((h + adj @ h) @ layer.weight + layer.bias)))
            h = h if number == len(encoder.layers) - 1 else torch.relu(h)
        return projector(torch.stack([h[start:stop].sum(0) for start, stop in SIZES]))

    plain = graph.adj.to_dense().double()
    weighted = torch.zeros_like(plain).index_put((graph.adj.row, graph.adj.idx), weight) * plain
    z1, z2 = projected(plain), projected(weighted)
    f = [[torch.exp(torch.cosine_similarity(a, b, dim=0) / 0.2) for b in z2] for a in z1]
    total = 0.0
    for g in range(3):
        total = total - torch.log(f[g][g] / sum(f[g][k] for k in range(3) if k != g))
        total = total - torch.log(f[g][g] / sum(f[k][g] for k in range(3) if k != g))
    return total / 6


def gradients(value: torch.Tensor, module: torch.nn.Module) -> list[torch.Tensor]:
    found = torch.autograd.grad(value, list(module.parameters()), allow_unused=True)
    return [torch.zeros_like(parameter) if gradient is None else gradient
            for gradient, parameter in zip(found, module.parameters(), strict=True)]


def alike(found: torch.nn.Module, expected: list[torch.Tensor]) -> bool:
    assert any(gradient.abs().max() > 1e-3 for gradient in expected)
    return all(torch.allclose(parameter.grad, gradient, atol=1e-8)
               for parameter, gradient in zip(found.parameters(), expected, strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_value_is_that_of_the_formula_in_loops(weighted):
    method, views = begun(circles(weighted))
    expected = information(method, views.graph, weights(method, views, views.encoder_noise)).item()
    assert method.loss(views).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_encoder_descends_i_for_given_weights(weighted):
    method, views = begun(circles(weighted))
    weight = weights(method, views, views.encoder_noise).detach()
    expected = gradients(information(method, views.graph, weight), method.contrast)
    method.loss(views).backward()
    assert alike(method.contrast, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_learner_ascends_i_without_the_penalty_for_a_given_encoder_in_eval_mode(weighted):
    method, views = begun(circles(weighted), drop_penalty=3.0)
    other = copy.deepcopy(method)
    other.contrast.eval()
    weight = weights(other, views, views.learner_noise)
    graph_of, row = views.graph.graph_of.tolist(), views.graph.adj.row.tolist()
    dropped = 0.0
    for g in range(3):
        mine = [1 - weight[e] for e in range(len(row)) if graph_of[row[e]] == g]
        dropped = dropped + sum(mine) / len(mine) / 3
    gain = information(other, views.graph, weight) - 3.0 * dropped
    method.loss(views).backward()
    assert alike(method.learner, gradients(-gain, other.learner))


def test_one_optimiser_has_all_parameters(graph):
    method, _ = begun(graph)
    learning = {id(parameter) for group in method.parameter_groups(0.1, 0.0) for parameter in group["params"]}
    assert learning == {id(p) for p in [*method.contrast.parameters(), *method.learner.parameters()]}


def test_only_the_pass_of_the_encoder_moves_its_averages(graph):
    method, views = begun(graph)
    before = method.contrast.encoder.norms[0].num_batches_tracked.item()
    method.loss(views)
    assert method.contrast.encoder.norms[0].num_batches_tracked == before + 2  # both views
    assert method.contrast.training
    method.eval().loss(views)
    assert method.contrast.encoder.norms[0].num_batches_tracked == before + 2
    assert not method.contrast.training


def test_both_directions_of_an_edge_have_one_weight_whatever_the_numbers(graph):
    method, views = begun(graph)
    method.eval()
    score = method.learner(graph)
    for part in (score, views.learner_noise, views.encoder_noise):
        assert torch.allclose(part, part[graph.adj.perm])
    assert not torch.equal(views.learner_noise, views.encoder_noise)
    new = torch.tensor([4, 3, 2, 1, 0, 8, 6, 10, 5, 11, 7, 9, 12, 13, 14, 15])  # node i becomes node new[i]
    adj = CSR.from_coo(new[graph.adj.row], new[graph.adj.idx], shape=(16, 16), symmetric=True)
    x = torch.empty_like(graph.x)
    x[new] = graph.x
    turned = method.learner(graph.replace(x=x, adj=adj))
    old, moved = torch.zeros(16, 16).double(), torch.zeros(16, 16).double()
    old[new[graph.adj.row], new[graph.adj.idx]] = score.detach()
    moved[adj.row, adj.idx] = turned.detach()
    assert torch.allclose(old, moved)


def test_the_share_that_is_dropped_is_a_mean_over_the_graphs_that_have_edges():
    edge, triangle = torch.tensor([[0], [1]]), torch.tensor([[0, 1, 2], [1, 2, 0]])
    graph = Graph.from_data([Data(x=torch.ones(2, 1), edge_index=edge), Data(x=torch.ones(3, 1)),
                             Data(x=torch.ones(3, 1), edge_index=triangle)])
    weight = torch.tensor([0.5, 0.5, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0])       # of 01, 10; of 01, 02, 10, 12, 20, 21
    assert mean_dropped(graph, weight).item() == pytest.approx((0.5 + 1 / 3) / 2)


def test_graphs_without_edges_have_nothing_to_drop(graph):
    lonely = graph.replace(adj=CSR(torch.zeros(17, dtype=torch.long), torch.empty(0, dtype=torch.long), symmetric=True))
    method = made().double()
    loss = method.loss(method.augment(lonely, chance()))
    loss.backward()
    assert loss.isfinite()
    assert mean_dropped(lonely, torch.empty(0)) == 0
    assert all(p.grad.isfinite().all() for p in method.parameters() if p.grad is not None)


def test_an_embedding_is_the_sum_of_the_nodes_of_the_last_layer(graph):
    method = made().double().eval()
    h = method.contrast.encoder(graph).nodes
    assert torch.allclose(method.embed(graph), torch.stack([h[start:stop].sum(0) for start, stop in SIZES]))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"temperature": 0.0}, "ADGCL: temperature is 0.0, expected a finite number of at least 0.02"),
    ({"drop_penalty": -1.0}, "ADGCL: drop_penalty is -1.0, expected a finite number of at least 0"),
    ({"drop_penalty": math.nan}, "ADGCL: drop_penalty is nan"),
    ({"num_layers": 0}, "num_layers is 0, expected at least 1"),
    ({"dropout": 3.0}, "dropout is 3.0, expected a probability"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
