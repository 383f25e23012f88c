import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData, TemporalData

from sgcl.errors import InputError
from sgcl.evaluation import link_auc, links, split_links
from sgcl.graph import Graph


def as_set(pairs):
    return {tuple(sorted(pair)) for pair in pairs.T.tolist()}


@given(size=st.integers(4, 14), drawn=st.integers(0, 10_000), share=st.sampled_from([0.1, 0.3, 0.5]),
       seed=st.integers(0, 100), listed=st.booleans())
def test_hidden_and_left_make_up_the_graph(size, drawn, share, seed, listed):
    generator = torch.Generator().manual_seed(drawn)
    edge_index = torch.randint(size, (2, 2 * size), generator=generator)
    graph = Data(x=torch.randn(size, 2, generator=generator), edge_index=edge_index, y=torch.arange(size))
    edges = {pair for pair in as_set(edge_index) if pair[0] != pair[1]}
    hidden, free = round(share * len(edges)), size * (size - 1) // 2 - len(edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "_ENUMERATED", 1 << 20 if listed else 0)
        if not 0 < hidden < len(edges) or free < hidden:
            with pytest.raises(InputError, match="split_links: "):
                split_links(graph, share, seed)
            return
        found, again = split_links(graph, share, seed), split_links(graph, share, seed)
    positives, negatives, left = as_set(found.positives), as_set(found.negatives), as_set(found.graph.edge_index)
    assert len(positives) == len(negatives) == hidden == found.positives.size(1) == found.negatives.size(1)
    assert positives | left == edges
    assert not positives & left
    assert not negatives & edges
    assert all(a != b for a, b in negatives)
    assert found.graph.is_undirected()
    assert found.graph.num_nodes == size
    assert torch.equal(found.graph.x, graph.x)
    assert torch.equal(found.graph.y, graph.y)
    assert torch.equal(graph.edge_index, edge_index)
    assert torch.equal(found.positives, again.positives)
    assert torch.equal(found.negatives, again.negatives)
    Graph.from_data(found.graph)


@pytest.mark.parametrize("listed", [True, False])
def test_pairs_without_an_edge_are_uniform(monkeypatch, listed):
    monkeypatch.setattr(links, "_ENUMERATED", 1 << 20 if listed else 0)
    keys, count = torch.tensor([0 * 5 + 1, 2 * 5 + 3]), {}
    for seed in range(1500):
        (pair,) = as_set(links._without_edge(keys, 5, 1, torch.Generator().manual_seed(seed)))
        count[pair] = count.get(pair, 0) + 1
    assert len(count) == 8
    assert all(value / 1500 == pytest.approx(1 / 8, abs=0.035) for value in count.values())


def test_weights_stay_with_their_edges_and_other_edge_attributes_go():
    edge_index = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    graph = Data(x=torch.ones(6, 1), edge_index=edge_index, edge_weight=torch.arange(1.0, 6.0),
                 edge_attr=torch.ones(5, 3))
    found = split_links(graph, 0.2, seed=0).graph
    assert "edge_attr" not in found
    assert "edge_attr" in graph
    for (source, target), weight in zip(found.edge_index.T.tolist(), found.edge_weight.tolist(), strict=True):
        assert weight == min(source, target) + 1
    assert found.num_edges == 8


@given(seed=st.integers(0, 1000), chunk=st.sampled_from([1, 3, 1 << 16]))
def test_area_by_a_loop_over_pairs(seed, chunk):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(8, 3, generator=generator, dtype=torch.float64)
    ends = torch.randint(8, (11,), generator=generator)
    pairs = torch.stack([ends, (ends + torch.randint(1, 8, (11,), generator=generator)) % 8])
    positives, negatives = pairs[:, :6], pairs[:, 6:]
    for similarity in ("cosine", "dot"):
        rows = F.normalize(x) if similarity == "cosine" else x
        score = [[float(rows[a] @ rows[b]) for a, b in some.T.tolist()] for some in (positives, negatives)]
        expected = sum((p > n + 1e-9) + 0.5 * (abs(p - n) <= 1e-9) for p in score[0] for n in score[1]) / 30
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(links, "_CHUNK", chunk)
            found = link_auc(x, positives, negatives, similarity=similarity)
        assert found == pytest.approx(expected, abs=1e-9)


def test_an_embedding_that_knows_the_edges_scores_one():
    nodes = torch.arange(40)
    ring = Data(x=torch.ones(40, 1), edge_index=torch.stack([nodes, (nodes + 1) % 40]))
    found = split_links(ring, 0.25, seed=0)
    angle = 2 * torch.pi * nodes / 40
    assert link_auc(torch.stack([angle.sin(), angle.cos()], dim=1), found.positives, found.negatives) == 1


EDGES = torch.tensor([[0, 1, 2], [1, 2, 3]])


@pytest.mark.parametrize(("data", "share", "message"), [
    (HeteroData(), 0.1, r"split_links: heterogeneous graphs \(HeteroData\) are not supported; use data.to_homogeneous"),
    (TemporalData(), 0.1, r"split_links: temporal graphs \(TemporalData\) are not supported; drop the times"),
    ("cora", 0.1, "split_links: expected a torch_geometric.data.Data, got str"),
    (Data(x=torch.ones(4, 1), edge_index=EDGES, edge_weight=torch.tensor([1.0, -1.0, 1.0])), 0.5,
     "data.edge_weight holds negative, NaN or infinite values: weights must be >= 0"),
    (Data(x=torch.ones(4, 1)), 0.5, "the graph has no edges"),
    (Data(x=torch.ones(4, 1), edge_index=EDGES), 1.0, "split_links: share is 1.0, expected a share of the edges above"),
    (Data(x=torch.ones(4, 1), edge_index=EDGES), 0.01, "split_links: a share of 0.01 of 3 edges is 0: some must be"),
    (Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1, 2], [1, 2, 0]])), 0.4,
     "split_links: 1 edges are hidden, but only 0 pairs of nodes have no edge to be set against them")])
def test_what_cannot_be_split(data, share, message):
    with pytest.raises(InputError, match=message):
        split_links(data, share)


def test_inputs_are_checked():
    x, pairs = torch.eye(3), torch.tensor([[0], [1]])
    with pytest.raises(InputError, match="no similarity named 'l2'"):
        link_auc(x, pairs, pairs, similarity="l2")
    with pytest.raises(InputError, match=r"link_auc: negatives must be \(2, P\) node numbers, .* got shape \(2, 0\)"):
        link_auc(x, pairs, pairs[:, :0])
    with pytest.raises(InputError, match="link_auc: positives name nodes 0 to 5, but the embedding has 3 rows"):
        link_auc(x, torch.tensor([[0], [5]]), pairs)
    with pytest.raises(InputError, match=r"link_auc: the embedding is torch.int64"):
        link_auc(x.long(), pairs, pairs)
