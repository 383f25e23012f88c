import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData, TemporalData

from sgcl.datasets import grid, statistics
from sgcl.errors import InputError


def slow_statistics(size, pairs, y):
    """Distances by Floyd and Warshall, everything else by loops."""
    distance = {(a, b): 0 if a == b else 10**6 for a in range(size) for b in range(size)}
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    for a, b in edges:
        distance[a, b] = distance[b, a] = 1
    for middle in range(size):
        for a in range(size):
            for b in range(size):
                distance[a, b] = min(distance[a, b], distance[a, middle] + distance[middle, b])
    reached = [value for value in distance.values() if value < 10**6]
    components = len({min(b for b in range(size) if distance[a, b] < 10**6) for a in range(size)})
    same = [y[a] == y[b] for a, b in edges if y[a] >= 0 and y[b] >= 0]
    return {"nodes": size, "edges": len(edges), "features": 2, "classes": max(y) + 1, "components": components,
            "homophily": sum(same) / len(same) if same else None, "mean_degree": 2 * len(edges) / size,
            "diameter": max(reached), "sources": size}


@given(data=st.data(), size=st.integers(1, 9), weighted=st.booleans())
def test_statistics_by_loops(data, size, weighted):
    node = st.integers(0, size - 1)
    pairs = data.draw(st.lists(st.tuples(node, node), max_size=16))
    y = data.draw(st.lists(st.integers(-1, 2), min_size=size, max_size=size))
    graph = Data(x=torch.ones(size, 2), edge_index=torch.tensor(pairs, dtype=torch.long).view(-1, 2).T,
                 y=torch.tensor(y))
    if weighted:
        graph.edge_weight = torch.rand(len(pairs))
    found, expected = statistics(graph), slow_statistics(size, pairs, y)
    assert found == pytest.approx(expected)


def test_a_grid_by_hand():
    found = statistics(grid(6))
    assert found == {"nodes": 36, "edges": 60, "features": 2, "classes": 0, "components": 1, "homophily": None,
                     "mean_degree": 120 / 36, "diameter": 10, "sources": 36}


def test_fewer_sources_give_a_lower_bound():
    found = [statistics(grid(6), sources=1, seed=seed)["diameter"] for seed in range(20)]
    assert max(found) <= 10
    assert min(found) < 10
    assert min(found) >= 5
    assert statistics(grid(6), sources=3, seed=1) == statistics(grid(6), sources=3, seed=1)


def test_features_and_labels_may_be_missing_or_many():
    bare = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3)
    assert statistics(bare)["features"] == 0
    assert statistics(bare)["components"] == 2
    bare.y = torch.tensor([[0, 1, 1], [1, 1, 0], [0, 0, 0]])
    assert (statistics(bare)["classes"], statistics(bare)["homophily"]) == (3, None)


def test_a_collection_is_measured_by_its_sizes():
    graphs = [Data(x=torch.ones(3, 4), edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]), y=torch.tensor([1])),
              Data(x=torch.ones(1, 4), edge_index=torch.empty(2, 0, dtype=torch.long), y=torch.tensor([0]))]
    assert statistics(graphs) == {"graphs": 2, "nodes": 4, "edges": 2, "mean_nodes": 2, "mean_edges": 1, "features": 4,
                                  "classes": 2}


@pytest.mark.parametrize(("data", "message"), [
    (HeteroData(), r"statistics: heterogeneous graphs \(HeteroData\) are not supported; use data.to_homogeneous\(\)"),
    (TemporalData(), r"statistics: temporal graphs \(TemporalData\) are not supported; drop the times"),
    ([], "statistics: expected a torch_geometric.data.Data or several, got list"),
    ("cora", "statistics: expected a torch_geometric.data.Data or several, got str"),
    (Data(num_nodes=0), "statistics: the graph is empty"),
    (Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.tensor([-1.0]), num_nodes=2),
     "data.edge_weight holds negative, NaN or infinite values: weights must be >= 0"),
    (Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2), "data.edge_index names node 5")])
def test_what_cannot_be_measured(data, message):
    with pytest.raises(InputError, match=message):
        statistics(data)


def test_sources_are_checked():
    with pytest.raises(InputError, match="statistics: sources is 0, expected at least 1 node"):
        statistics(grid(3), sources=0)
