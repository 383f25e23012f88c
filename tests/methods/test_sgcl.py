import warnings

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from sgcl import Bilateral, Diffusion, Graph, Identity, InputError, Taubin
from sgcl.methods import SGCL
from sgcl.sparse import SparseFeatures
from sgcl.views import Compose, DropEdges, MaskFeatures

NOTHING = Compose()


def made(**chosen) -> SGCL:
    torch.manual_seed(0)
    return SGCL(6, hidden_channels=8, **chosen)


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def graph(ring: Data) -> Graph:
    return Graph.from_data(ring)


def complete(num_nodes: int) -> Graph:
    pairs = torch.combinations(torch.arange(num_nodes)).T
    return Graph.from_data(Data(x=torch.ones(num_nodes, 6), edge_index=pairs))


def dense_loss(h1: torch.Tensor, h2: torch.Tensor, p: torch.Tensor, weight: float | None, similarity: str) -> float:
    """One direction, as the paper writes it."""
    num_nodes, width = h1.shape
    if similarity == "cosine":
        c = (F.cosine_similarity(h1[:, None], h2[None, :], dim=2) + 1) / 2
        weight = 1 / (2 * num_nodes) if weight is None else weight
    else:
        u, v = ((h - h.mean(0)) / (h.std(0) + 1e-5) for h in (h1, h2))
        c = u @ v.T / width
        weight = 1 / num_nodes if weight is None else weight
    return float((p * (1 - c)).square().sum() + weight * ((1 - p) * c).square().sum())


def test_positives_of_a_direction_come_from_the_view_that_it_points_to(graph):
    method = made(view1=NOTHING, view2=DropEdges(1.0), smoothing=Bilateral())
    pair = method.augment(graph, chance())
    assert torch.equal(pair.first.adj.to_dense(), graph.adj.to_dense())
    assert pair.second.num_edges == 0
    assert torch.equal(pair.positives12.to_dense(), torch.eye(40))        # view 2 has no edges, so no neighbours
    assert torch.equal(pair.positives21.to_dense(), torch.eye(40) + graph.adj.to_dense() / 4)


@pytest.mark.parametrize("similarity", ["cosine", "correlation"])
@pytest.mark.parametrize("weight", [None, 0.02])
@pytest.mark.parametrize("smoothing", [Taubin(prune=0), Bilateral(), Diffusion(eta=0.2)], ids=str)
def test_the_loss_is_the_dense_formula_from_the_encoders_output_on(graph, smoothing, weight, similarity):
    method = made(shared=False, smoothing=smoothing, negative_weight=weight, similarity=similarity,
                  view1=DropEdges(0.2), view2=Compose((DropEdges(0.7), MaskFeatures(0.5))))
    pair = method.augment(graph, chance())
    h1 = method.encoders[0](pair.first.x, pair.first.adj).detach().double()
    h2 = method.encoders[1](pair.second.x, pair.second.adj).detach().double()
    p12, p21 = smoothing(pair.second.adj).to_dense().double(), smoothing(pair.first.adj).to_dense().double()
    expected = (dense_loss(h1, h2, p12, weight, similarity) + dense_loss(h2, h1, p21, weight, similarity)) / 2
    swapped = (dense_loss(h1, h2, p21, weight, similarity) + dense_loss(h2, h1, p12, weight, similarity)) / 2
    assert method.loss(pair).item() == pytest.approx(expected, rel=1e-5)
    symmetric = torch.allclose(p12, p12.T) and torch.allclose(p21, p21.T)  # then both directions see both in any case
    assert symmetric == (not isinstance(smoothing, Bilateral))
    assert (method.loss(pair).item() == pytest.approx(swapped, rel=1e-5)) == symmetric


def test_terms_take_the_loss_apart(graph):
    both, positive, negative = (made(terms=terms) for terms in ("both", "positive", "negative"))
    pair = both.augment(graph, chance())
    assert both.loss(pair).item() == pytest.approx(positive.loss(pair).item() + negative.loss(pair).item(), rel=1e-5)


def test_one_set_of_weights_or_two(graph):
    shared, two = made(), made(shared=False)
    assert len(shared.encoders) == 1
    assert sum(p.numel() for p in two.parameters()) == 2 * sum(p.numel() for p in shared.parameters())
    first, second = (encoder(graph.x, graph.adj) for encoder in two.encoders)
    assert not torch.allclose(first, second)


def test_the_embedding_is_that_of_the_first_encoder_or_of_both(graph):
    shared = made()
    assert torch.equal(shared.embed(graph), shared.encoders[0](graph.x, graph.adj))
    embeddings = {}
    for embedding in ("first", "mean", "concat"):
        method = made(shared=False, embedding=embedding)
        embeddings[embedding] = method.embed(graph)
        first, second = (encoder(graph.x, graph.adj) for encoder in method.encoders)
    assert torch.equal(embeddings["first"], first)
    assert torch.allclose(embeddings["mean"], (first + second) / 2)
    assert torch.equal(embeddings["concat"], torch.cat([first, second], dim=1))


def test_features_stand_beside_the_embedding_in_unit_rows(graph):
    x = graph.x.clone()
    x[3] = 0                                                              # no features: such a row stays as it is
    method = made(embedding="features")
    h = method.encoders[0](x, graph.adj).detach()
    expected = [[*(v / max(x[i].norm(), 1e-12) for v in x[i]), *(v / h[i].norm() for v in h[i])] for i in range(len(x))]
    for features in (x, SparseFeatures.from_dense(x)):
        found = method.embed(graph.replace(x=features))
        assert found.shape == (40, 6 + 8)
        assert torch.allclose(found, torch.tensor(expected), atol=1e-6)


def test_learned_features_have_nothing_to_put_beside_the_embedding(graph):
    learned = graph.replace(x=SparseFeatures.from_dense(torch.eye(40)))
    with pytest.raises(InputError, match=r"learned features have a column for each node.*take embedding='first'"):
        SGCL(40, hidden_channels=8, embedding="features").augment(learned, chance())


def test_a_smoothing_that_leaves_most_edges_out_is_told_once():
    method = made(view1=NOTHING, view2=NOTHING)
    with pytest.warns(UserWarning, match=r"Taubin\(.*\) keeps 0% of a view's edges as positives; a smaller prune"):
        method.augment(complete(40), chance())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method.augment(complete(40), chance())
    method = made(view1=NOTHING, view2=NOTHING, smoothing=Bilateral(top=3))
    with pytest.warns(UserWarning, match=r"Bilateral\(.*\) keeps 8% of a view's edges as positives; a larger top"):
        method.augment(complete(40), chance())


def test_the_share_of_edges_is_worked_out(graph):
    spokes = torch.stack([torch.zeros(10, dtype=torch.long), torch.arange(1, 11)])
    rim = torch.tensor([[1, 3, 5], [2, 4, 6]])
    wheel = Graph.from_data(Data(x=torch.ones(11, 6), edge_index=torch.cat([spokes, rim], dim=1)))
    method = made(view1=NOTHING, view2=NOTHING, smoothing=Bilateral(prune=0.3))    # spokes: 1/10 out, 1/2 or 1 back
    positives = method.augment(wheel, chance()).positives12
    assert positives.nnz - 11 == 10 + 6                                            # 16 of 26: more than half
    method = made(view1=NOTHING, view2=NOTHING, smoothing=Bilateral(prune=0.6))    # 4 of 26 are left
    with pytest.warns(UserWarning, match="keeps 15%"):
        method.augment(wheel, chance())


@pytest.mark.parametrize("smoothing", [Identity(), Bilateral(), Diffusion(eta=0.2)], ids=str)
def test_a_smoothing_that_keeps_its_edges_or_means_to_keep_none_is_not_told(smoothing):
    method = made(view1=NOTHING, view2=NOTHING, smoothing=smoothing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method.augment(complete(40), chance())


def test_a_view_without_edges_is_not_told(graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(view1=NOTHING, view2=DropEdges(1.0)).augment(graph, chance())


@pytest.mark.parametrize(("chosen", "message"), [
    ({"negative_weight": 0.0}, "negative_weight is 0.0, expected a finite number above 0"),
    ({"negative_weight": float("nan")}, "negative_weight is nan"),
    ({"negative_weight": float("inf")}, "negative_weight is inf"),
    ({"embedding": "last"}, "no SGCL embedding named 'last'"),
    ({"similarity": "cosin"}, "no SGCL similarity named 'cosin'; did you mean 'cosine'"),
    ({"terms": "positives"}, "no SGCL terms named 'positives'; did you mean 'positive'"),
    ({"layer": "sagee"}, "no layer named 'sagee'; did you mean 'sage'"),
    ({"activation": "rel"}, "no activation named 'rel'; did you mean 'relu'"),
    ({"dropout": 1.5}, "dropout is 1.5, expected a probability"),
    ({"hidden_channels": 0}, "hidden_channels is 0, expected at least 1"),
    ({"num_layers": 0}, "num_layers is 0, expected at least 1"),
])
def test_bad_settings_are_told_in_one_line(chosen, message):
    with pytest.raises(InputError, match=message) as error:
        SGCL(6, **chosen)
    assert "\n" not in str(error.value)
