import math

import numpy as np
import pytest
import scipy.sparse.csgraph
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_data
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import GSCL
from sgcl.methods.gscl import neighbourhoods, ranking_loss
from sgcl.samplers import RandomNode


def made(**chosen) -> GSCL:
    torch.manual_seed(0)
    return GSCL(6, **{"hidden_channels": 5, "projection_channels": 4, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def distances(graph: Graph) -> np.ndarray:
    return scipy.sparse.csgraph.shortest_path(graph.adj.with_values(None).to_scipy(), unweighted=True)


def slow_loss(z: torch.Tensor, stands_for: list[np.ndarray], ranking: str, threshold: float) -> float:
    """The formula node by node: of each group (N, N) for how many nodes of it j stands to i, nearest group first."""
    total = 0.0
    for i in range(len(z)):
        groups = [sum(group[i, j] * math.exp(F.cosine_similarity(z[i], z[j], dim=0).item() / 0.5)
                      for j in np.flatnonzero(group[i])) for group in stands_for]
        for k in range(len(groups)):
            others = groups[k + 1:] if ranking == "pairwise" else [sum(groups[k + 1:])]
            for other in others:
                if groups[k] and other and groups[k] / (groups[k] + other) < threshold:
                    total -= math.log(groups[k] / (groups[k] + other))
    return total / len(z)


@pytest.mark.parametrize("ranking", ["pairwise", "listwise"])
@pytest.mark.parametrize(("hops", "outside", "threshold"), [(2, 40, 1.0), (3, 40, 0.3), (3, 0, 1.0), (1, 40, 0.05)])
def test_the_loss_is_the_formula_where_every_node_is_drawn(graph, ranking, hops, outside, threshold):
    method = made(ranking=ranking, hops=hops, outside=outside, threshold=threshold, samples=40).eval()
    method.start(graph)
    distance = distances(graph)
    groups = [distance == hop for hop in range(1, hops + 1)] + [distance > hops] * (outside > 0)
    with torch.no_grad():
        z = method.projector(method.encoder(graph.x, graph.adj)).double()
        expected = slow_loss(z, groups, ranking, threshold)
        assert method.loss(method.augment(graph, chance())).item() == pytest.approx(expected, rel=1e-5)


def test_without_a_projector_embeddings_are_ranked(graph):
    method = made(projection_channels=0, samples=40, outside=40, threshold=1.0, activation="none")
    method.start(graph)
    distance, views = distances(graph), method.augment(graph, chance())
    groups = [distance == 1, distance == 2, distance > 2]
    loss = method.loss(views)
    assert loss.item() == pytest.approx(slow_loss(method.embed(graph).detach().double(), groups, "pairwise", 1.0),
                                        rel=1e-5)
    loss.backward()
    assert all(parameter.grad.abs().max() > 0 for parameter in method.parameters())


@pytest.mark.parametrize("ranking", ["pairwise", "listwise"])
def test_where_few_are_drawn_each_stands_for_its_share(graph, ranking):
    method = made(ranking=ranking, samples=2, outside=10, threshold=1.0).eval()
    method.start(graph)
    views, distance = method.augment(graph, chance()), distances(graph)
    drawn = views.pairs.with_values(None).to_dense().numpy()
    beyond = np.zeros((40, 40))
    beyond[:, views.drawn.numpy()] = 1
    groups = [4 / 2 * drawn * (distance == 1), 8 / 2 * drawn * (distance == 2), 40 / 10 * beyond * (distance > 2)]
    with torch.no_grad():
        z = method.projector(method.encoder(graph.x, graph.adj)).double()
        assert method.loss(views).item() == pytest.approx(slow_loss(z, groups, ranking, 1.0), rel=1e-5)


@given(random_data(), st.integers(1, 4))
def test_neighbourhoods_are_those_of_shortest_paths(data, hops):
    graph = Graph.from_data(data)
    distance = distances(graph)
    found = neighbourhoods(graph.adj, hops, 100)
    expected = np.where((distance > 0) & (distance <= hops), distance, 0)
    dense = torch.zeros(graph.adj.shape)
    dense[found.row, found.idx] = found.value[:, 0] + 1
    assert np.array_equal(dense.numpy(), expected)
    sizes = [(distance[i] == distance[i, j]).sum() for i, j in zip(found.row.tolist(), found.idx.tolist(), strict=True)]
    assert found.value[:, 1].tolist() == sizes


def test_of_a_large_hop_some_are_remembered_always_the_same():
    spokes = torch.stack([torch.zeros(30, dtype=torch.long), torch.arange(1, 31)])
    star = Graph.from_data(Data(x=torch.ones(31, 2), edge_index=spokes))
    found = neighbourhoods(star.adj, 2, 7)
    assert found.ptr.diff().tolist() == [7] + [8] * 30                     # a leaf: the centre, and 7 of the leaves
    assert torch.equal(found.idx, neighbourhoods(star.adj, 2, 7).idx)
    of_centre = found.value[:7]
    assert of_centre[:, 1].tolist() == [30.0] * 7
    assert found.value[7:, 1].unique().tolist() == [1.0, 29.0]
    assert len(set(found.idx[found.row > 0].tolist())) > 20                # not the same leaves for every leaf


def test_draws_stand_for_their_hop_on_average(graph):
    method = made(samples=3)
    method.start(graph)
    counts = torch.zeros(2, 40)
    for seed in range(400):
        pairs = method.augment(graph, chance(seed)).pairs
        hop, stands_for = pairs.value.unbind(1)
        counts.index_put_((hop.long(), pairs.row), stands_for, accumulate=True)
    distance = distances(graph)
    expected = torch.stack([torch.from_numpy((distance == hop).sum(1)) for hop in (1, 2)])
    assert torch.allclose(counts / 400, expected.float(), rtol=0.15)


def test_nodes_beyond_are_drawn_and_scaled_up(graph):
    method = made(outside=10)
    method.start(graph)
    views = method.augment(graph, chance())
    assert len(views.drawn) == 10
    distance = distances(graph)
    assert np.array_equal(views.near.to_dense().numpy() > 0, distance[:, views.drawn.numpy()] <= 2)


@pytest.mark.parametrize("ranking", ["pairwise", "listwise"])
def test_empty_groups_are_left_out_and_a_shut_gate_leaves_nothing(ranking):
    sums = torch.tensor([[0.0, -torch.inf, 1.0], [-torch.inf, 0.0, 1.0], [0.0, 1.0, -torch.inf]], requires_grad=True)
    loss = ranking_loss(sums, ranking, 1.0)
    expected = (math.log(2) + math.log(1 + math.e) + math.log(2)) / 3
    assert loss.item() == pytest.approx(expected, rel=1e-6)
    loss.backward()
    assert sums.grad.isfinite().all()
    shut = ranking_loss(sums, ranking, 0.1)
    assert shut.item() == 0
    shut.backward()


def test_the_gate_is_for_each_term(graph):
    sums = torch.log(torch.tensor([[1.0, 3.0], [3.0, 1.0]]))               # shares 1/4 and 3/4
    assert ranking_loss(sums, "pairwise", 0.5).item() == pytest.approx(math.log(4) / 2, rel=1e-6)
    assert ranking_loss(sums, "pairwise", 1.0).item() == pytest.approx((math.log(4) + math.log(4 / 3)) / 2, rel=1e-6)


def test_a_batch_has_the_distances_of_the_whole_graph(graph):
    method = made(samples=40)
    method.start(graph)
    batch = RandomNode(batch_size=15)(graph, chance())
    pairs = method.augment(batch, chance()).pairs
    distance = distances(graph)[batch.n_id][:, batch.n_id]
    dense = torch.zeros(15, 15)
    dense[pairs.row, pairs.idx] = pairs.value[:, 0] + 1
    assert np.array_equal(dense.numpy(), np.where(distance <= 2, distance, 0))


@pytest.mark.parametrize(("chosen", "message"), [
    ({"hops": 0}, "hops is 0, expected at least 1"),
    ({"hops": 1, "outside": 0}, "hops is 1 and outside is 0, which leaves nothing to rank"),
    ({"samples": 0}, "samples is 0, expected at least 1"),
    ({"outside": -1}, "outside is -1, expected at least 0"),
    ({"projection_channels": -1}, "GSCL: projection_channels is -1, expected at least 0"),
    ({"ranking": "pair"}, "no GSCL ranking named 'pair'; did you mean 'pairwise'"),
    ({"temperature": 0.0001}, "GSCL: temperature is 0.0001, expected a finite number of at least 0.001"),
    ({"threshold": 0.0}, r"threshold is 0.0, expected a number in \(0, 1\]"),
    ({"threshold": 1.5}, "threshold is 1.5, expected a number"),
    ({"dropout": 1.5}, "dropout is 1.5, expected a probability"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        GSCL(6, **chosen)
    assert "\n" not in str(error.value)
