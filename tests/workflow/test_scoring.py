"""Floors: which there are, and for which graphs."""

import pytest
import torch
from promises import small
from torch_geometric.data import Data

from sgcl import ram, workflow
from sgcl.evaluation import propagated_features, raw_features
from sgcl.graph import Graph

FEW = torch.eye(20, 12).repeat_interleave(2, dim=0)


@pytest.fixture
def sparse() -> Graph:
    return Graph.from_data(Data(x=FEW, edge_index=torch.tensor([range(39), range(1, 40)])))


def test_the_floors_of_a_graph(ring):
    graph = Graph.from_data(ring)
    rows = workflow.floor_rows(small("sgcl"), graph)
    assert list(rows) == list(workflow.FLOORS)
    assert torch.equal(rows["raw features"], raw_features(graph))
    assert torch.equal(rows["propagated features"], propagated_features(graph))
    assert rows["untrained encoder"].shape == (graph.num_nodes, 8)


@pytest.mark.parametrize("names", [["raw features"], ["untrained encoder"], ["propagated features", "raw features"]])
def test_floors_by_name(ring, names):
    assert sorted(workflow.floor_rows(small("sgcl"), Graph.from_data(ring), names)) == sorted(names)


def test_features_that_would_not_fit_are_left_out_with_a_word(sparse, monkeypatch):
    assert list(workflow.floor_rows(small("sgcl"), sparse)) == list(workflow.FLOORS)
    monkeypatch.setattr(ram, "free_memory", lambda: 3 * 4 * FEW.numel())
    with pytest.warns(UserWarning, match="the raw features are not scored: they do not fit the memory"):
        assert list(workflow.floor_rows(small("sgcl"), sparse)) == ["untrained encoder"]
