import pytest
import torch
from torch_geometric.data import Data

from sgcl.errors import InputError
from sgcl.evaluation import PROTOCOLS, TASKS, Case, disparity, link_auc, split_links
from sgcl.graph import Graph


@pytest.fixture
def case(ring: Data) -> Case:
    return Case(ring, Graph.from_data(ring).adj, PROTOCOLS["linkx"], seed=1)


def test_the_probe_is_the_protocols_with_what_it_chose_and_the_disparity(ring, case):
    values = TASKS["probe"].measure(ring.x, case)
    expected = PROTOCOLS["linkx"].probe(ring.x, ring.y, PROTOCOLS["linkx"].split(ring, 1))
    assert (values["test"], values["val"]) == (expected.test, expected.val)
    assert (values["C"], values["step"]) == (expected.C, None)
    spread = disparity(ring.x, case.adj, ring.y)
    assert {name: values[name] for name in ("disparity", "disparity_scaled", "disparity_reason", "dirichlet_intra",
                                            "dirichlet_inter", "intra_edges", "inter_edges")} == {
        "disparity": spread.value, "disparity_scaled": spread.scaled, "disparity_reason": None,
        "dirichlet_intra": spread.intra, "dirichlet_inter": spread.inter, "intra_edges": spread.intra_edges,
        "inter_edges": spread.inter_edges}
    assert values["metric"] == "accuracy"
    values = TASKS["probe"].measure(ring.x, Case(ring, case.adj, case.protocol, 1, metric="roc-auc"))
    assert values["metric"] == "roc-auc"


def test_a_score_that_there_is_not_is_none(ring):
    values = TASKS["probe"].measure(ring.x, Case(masked(ring), Graph.from_data(ring).adj, PROTOCOLS["public"],
                                                 probe="published"))
    assert values["val"] is None
    assert (values["probe"], values["C"], values["step"]) == ("published", None, 100)


def masked(data):
    """Half to train, half to test, nothing to validate."""
    even = torch.arange(data.num_nodes) % 2 == 0
    return Data(x=data.x, edge_index=data.edge_index, y=data.y, train_mask=even, val_mask=even & ~even, test_mask=~even)


def test_links_are_told_from_pairs_without(ring, case):
    hidden = split_links(ring, seed=4)
    values = TASKS["links"].measure(ring.x, Case(ring, case.adj, case.protocol, links=hidden))
    assert values == {"metric": "roc-auc", "test": link_auc(ring.x, hidden.positives, hidden.negatives),
                      "hidden_edges": 8}


def test_what_tasks_need():
    assert [name for name, task in TASKS.items() if task.needs_labels] == ["probe", "knn", "clustering"]
    assert [name for name, task in TASKS.items() if not task.seeded] == ["collapse"]
    with pytest.raises(InputError, match=r"no task named 'colapse'; did you mean 'collapse'\?"):
        TASKS["colapse"]
