"""The kinds of graphs that are not supported get the same line at every door."""

import pytest
import torch
from torch_geometric.data import Data, HeteroData, TemporalData

from sgcl import SGCL, InputError, read_graph
from sgcl.datasets import statistics
from sgcl.evaluation import Development, Random, raw_features, split_links
from sgcl.graph import Graph

TIMED = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0]),
             edge_time=torch.tensor([3, 4]))
DOORS = {"fit": SGCL(epochs=1).fit, "graph": Graph.from_data, "read_graph": read_graph, "features": raw_features,
         "restrict": Development().restrict, "split": lambda data: Random().split(data, 0), "split_links": split_links}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize(("data", "message"), [
    (HeteroData(), r"heterogeneous graphs \(HeteroData\) are not supported; use data\.to_homogeneous\(\)$"),
    (TemporalData(), r"temporal graphs \(TemporalData\) are not supported; drop the times: Data\(edge_index=.*$"),
    (TIMED, r"temporal graphs \(data\.edge_time\) are not supported; drop the times: del data\.edge_time$")])
def test_kinds_of_graphs_that_are_not_supported(door, data, message):
    with pytest.raises(InputError, match=message):
        door(data)


@pytest.mark.parametrize("door", [SGCL(epochs=1).fit, read_graph, statistics, split_links, Development().restrict])
def test_negative_weights(door):
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_weight=torch.tensor([1.0, -2.0]))
    with pytest.raises(InputError, match=r"negative|weight -2") as error:
        door(data)
    assert "\n" not in str(error.value)
