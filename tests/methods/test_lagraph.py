import math

import pytest
import torch
from torch_geometric.data import Data

from sgcl import Graph, InputError
from sgcl.methods import LaGraph
from sgcl.sparse import SparseFeatures


def made(**chosen) -> LaGraph:
    torch.manual_seed(0)
    return LaGraph(3, **{"hidden_channels": 4, "num_layers": 2, **chosen})


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def circles(*sizes: int) -> Graph:
    """A collection of circles of these sizes."""
    graphs = []
    for size in sizes:
        nodes = torch.arange(size)
        graphs.append(Data(x=torch.rand(size, 3, generator=chance(size)),
                           edge_index=torch.stack([nodes, (nodes + 1) % size])))
    return Graph.from_data(graphs)


@pytest.mark.parametrize("sparse", [False, True])
def test_noise_replaces_the_features_of_the_drawn_nodes_alone(sparse):
    graph = circles(60, 40)
    whole = graph.x
    if sparse:
        graph = graph.replace(x=SparseFeatures.from_dense(whole))
    views = made(mask_rate=0.5, sigma=100.0).augment(graph, chance())
    assert views.clean is graph
    assert views.noisy.adj is graph.adj
    noisy = views.noisy.x.to_dense() if sparse else views.noisy.x
    changed = (noisy != whole).any(1)
    assert graph.graph_of[changed].bincount().tolist() == [30, 20]        # half of each
    assert (noisy[changed] != whole[changed]).all()
    assert noisy[changed].std().item() == pytest.approx(100, rel=0.2)
    assert noisy[changed].mean().item() == pytest.approx(0, abs=25)
    assert torch.equal(whole, circles(60, 40).x)                          # the input is left as it is


def test_the_loss_is_the_formula_in_loops():
    method, graph = made(mask_rate=0.4, invariance_weight=3.0).double(), circles(5, 7, 4)
    graph = graph.replace(x=graph.x.double())
    views = method.augment(graph, chance())
    clean, noisy = method.encoder(views.clean), method.encoder(views.noisy)
    rebuilt = method.decoder(clean.nodes)
    error = sum((rebuilt[i, f].item() - graph.x[i, f].item())**2 for i in range(16) for f in range(3)) / (16 * 3)
    moved = sum((clean.graphs[g, k] - noisy.graphs[g, k]).item()**2 for g in range(3) for k in range(8)) / (3 * 8)
    assert moved > 0
    assert method.loss(views).item() == pytest.approx(error + 3 * math.sqrt(moved), rel=1e-5)


def test_the_decoder_ends_in_a_relu_and_rebuilds_the_clean_graph_alone():
    method, graph = made(invariance_weight=0.0, mask_rate=1.0), circles(5, 7)
    views = method.augment(graph, chance())
    assert (method.decoder(method.encoder(graph).nodes) >= 0).all()
    other = views._replace(noisy=graph.replace(x=-graph.x))
    assert method.loss(views).item() == pytest.approx(method.loss(other).item(), rel=1e-6)


def test_views_that_are_the_same_have_finite_gradients():
    method, graph = made(mask_rate=0.0), circles(5, 7)
    views = method.augment(graph, chance())
    method.loss(views).backward()
    assert all(parameter.grad.isfinite().all() for parameter in method.parameters())


def test_an_embedding_is_the_sums_of_the_nodes_of_all_layers():
    method, graph = made().eval(), circles(5, 7)
    layers = method.encoder(graph).layers
    for number, nodes in enumerate((range(5), range(5, 12))):
        expected = torch.cat([sum(h[i] for i in nodes) for h in layers])
        assert torch.allclose(method.embed(graph)[number], expected, atol=1e-5)


@pytest.mark.parametrize(("chosen", "message"), [
    ({"mask_rate": 1.5}, "LaGraph: mask_rate is 1.5, expected a probability"),
    ({"sigma": -1.0}, "LaGraph: sigma is -1.0, expected a finite number of at least 0"),
    ({"invariance_weight": math.inf}, "LaGraph: invariance_weight is inf, expected a finite number of at least 0"),
    ({"dropout": 3.0}, "dropout is 3.0, expected a probability"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"layer": "gine"}, "no layer named 'gine'"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        made(**chosen)
    assert "\n" not in str(error.value)
