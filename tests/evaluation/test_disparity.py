import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sgcl.errors import InputError
from sgcl.evaluation import dirichlet_energy, disparity
from sgcl.sparse import CSR


def slow_disparity(embedding, pairs, y):
    """The two means by a loop over a set of undirected edges."""
    x = embedding / embedding.norm(dim=1, keepdim=True).clamp(min=1e-12)
    found = {True: [], False: []}
    for i, j in {(min(pair), max(pair)) for pair in pairs}:
        if i != j and y[i] >= 0 and y[j] >= 0:
            found[int(y[i]) == int(y[j])].append(0.5 * float((x[i] - x[j]).square().sum()))
    means = {same: sum(values) / len(values) if values else None for same, values in found.items()}
    return means[True], means[False], len(found[True]), len(found[False])


@st.composite
def graphs(draw):
    size = draw(st.integers(2, 9))
    node = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(node, node), min_size=1, max_size=25))
    y = torch.tensor(draw(st.lists(st.integers(-1, 2), min_size=size, max_size=size)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    embedding = torch.randn(size, draw(st.integers(1, 5)), generator=generator, dtype=torch.float64)
    embedding[draw(node)] *= draw(st.sampled_from([0.0, 1.0, 50.0]))
    return embedding, pairs, y


def adjacency(pairs, size, value=None):
    row, col = torch.tensor(pairs).T
    return CSR.from_coo(row, col, value, shape=(size, size))


@given(graphs())
def test_disparity_by_a_loop_over_edges(graph):
    embedding, pairs, y = graph
    intra, inter, num_intra, num_inter = slow_disparity(embedding, pairs, y)
    both = pairs + [(j, i) for i, j in pairs]
    symmetric = adjacency([pair for pair in both if pair[0] != pair[1]] or [(0, 1), (1, 0)], len(y))
    symmetric.symmetric = True
    forms = [torch.tensor(pairs).T, torch.tensor(both).T, adjacency(pairs, len(y))]
    if any(i != j for i, j in pairs):
        forms.append(symmetric)
    for edges in forms:
        for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
            found = disparity(embedding.to(dtype), edges, y)
            assert (found.intra_edges, found.inter_edges) == (num_intra, num_inter)
            for mean, expected in ((found.intra, intra), (found.inter, inter)):
                assert (mean is None) == (expected is None)
                assert mean is None or mean == pytest.approx(expected, abs=tolerance)
            if intra is None or inter is None:
                assert found.value is None
                assert found.scaled is None
                assert found.reason.startswith("the graph has no ")
            else:
                assert found.value == pytest.approx(intra - inter, abs=tolerance)
                assert found.scaled == pytest.approx((intra - inter + 2) / 4, abs=tolerance)
                assert found.reason is None


def test_a_square_by_hand():
    # 0 and 1 point the same way, 2 at a right angle to them, 3 against them; rows need not have unit length
    embedding = torch.tensor([[2.0, 0.0], [5.0, 0.0], [0.0, 1.0], [-3.0, 0.0]])
    edge_index = torch.tensor([[0, 1, 2, 0], [1, 2, 3, 3]])  # ½d²: 0, 1, 1, 2
    found = disparity(embedding, edge_index, torch.tensor([0, 0, 0, 1]))
    assert (found.intra, found.inter, found.value, found.scaled) == (0.5, 1.5, -1.0, 0.25)
    assert (found.intra_edges, found.inter_edges) == (2, 2)


def test_edge_weights_do_not_count():
    embedding, y = torch.eye(3), torch.tensor([0, 0, 1])
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1)]
    plain, heavy = (disparity(embedding, adjacency(pairs, 3, value), y) for value in (None, torch.full((4,), 7.0)))
    assert plain == heavy


@pytest.mark.parametrize(("y", "reason"), [([0, 0, 0], "the graph has no inter-class edges"),
                                           ([0, 1, 2], "the graph has no intra-class edges"),
                                           ([0, -1, 0], "the graph has no intra-class and inter-class edges")])
def test_undefined_is_said_so(y, reason):
    found = disparity(torch.eye(3), torch.tensor([[0, 1], [1, 2]]), torch.tensor(y))
    assert found.value is None
    assert found.reason == reason


def test_a_graph_without_edges_is_undefined():
    found = disparity(torch.eye(3), torch.empty(2, 0, dtype=torch.long), torch.tensor([0, 1, 1]))
    assert (found.value, found.intra_edges, found.inter_edges) == (None, 0, 0)


@given(graphs(), st.integers(0, 100))
def test_energy_over_ordered_pairs(graph, seed):
    embedding, pairs, y = graph
    weight = torch.rand(len(pairs), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    for value in (None, weight):
        adj = adjacency(pairs, len(y), value)
        dense, total = adj.to_dense(), 0.0
        for i in range(len(y)):
            for j in range(len(y)):
                total += 0.5 * float(dense[i, j]) * float((embedding[i] - embedding[j]).square().sum())
        assert dirichlet_energy(embedding, adj) == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_energy_is_the_trace_with_the_laplacian(path):
    adj = CSR.from_coo(torch.tensor([0, 1, 1, 2]), torch.tensor([1, 0, 2, 1]), shape=(3, 3), symmetric=True)
    laplacian = torch.tensor([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    assert dirichlet_energy(path.x, adj) == pytest.approx(float((path.x.T @ laplacian @ path.x).trace()))
    assert dirichlet_energy(path.x, adj) == pytest.approx(2 + 1)  # ||(1, -1)||² + ||(-1, 0)||²


def test_energy_survives_a_large_common_shift():
    x = torch.tensor([[0.0], [1.0], [3.0]], dtype=torch.float64)
    adj = CSR.from_coo(torch.tensor([0, 1, 1, 2]), torch.tensor([1, 0, 2, 1]), shape=(3, 3), symmetric=True)
    assert dirichlet_energy(x + 1e6, adj) == pytest.approx(5, rel=1e-8)


def test_inputs_are_checked():
    x, y, edges = torch.eye(3), torch.tensor([0, 0, 1]), torch.tensor([[0, 1], [1, 2]])
    adj = CSR.from_coo(edges[0], edges[1], shape=(4, 4))
    with pytest.raises(InputError, match=r"disparity: edge_index names nodes 0 to 3, but the embedding has 3 rows"):
        disparity(x, edges + torch.tensor([[0], [1]]), y)
    with pytest.raises(InputError, match=r"disparity: edge_index must be \(2, E\) integers, got shape \(3, 2\)"):
        disparity(x, edges.new_zeros(3, 2), y)
    with pytest.raises(InputError, match=r"disparity: the adjacency is \(4, 4\), but the embedding has 3 rows"):
        disparity(x, adj, y)
    with pytest.raises(InputError, match="disparity: the graph has no labels"):
        disparity(x, edges, None)
    with pytest.raises(InputError, match="disparity: the embedding holds NaN or infinite values"):
        disparity(x * math.inf, edges, y)
    with pytest.raises(InputError, match=r"dirichlet_energy: the embedding is torch.int64 of shape \(3,\)"):
        dirichlet_energy(y, adj)
    with pytest.raises(InputError, match=r"dirichlet_energy: the adjacency is \(4, 4\), but the embedding has 3 rows"):
        dirichlet_energy(x, adj)
