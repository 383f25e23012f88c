"""What is for nodes and what for graphs: methods, protocols, tasks and columns."""

import pytest
import torch
from torch_geometric.data import Data

from sgcl import InputError, levels
from sgcl.evaluation import PROTOCOLS, TASKS
from sgcl.methods import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_itself_where_it_belongs(name):
    of_graphs = METHODS[name].level == "graph"
    assert levels.method_for(name, collection=of_graphs) == name
    if of_graphs:
        with pytest.raises(InputError, match=f"{name} embeds the graphs of a collection: give --collection FOLDER, or "
                                             "--dataset with one of mutag"):
            levels.method_for(name, collection=False)
    elif f"{name}-graphs" in METHODS:
        with pytest.warns(UserWarning, match=f"{name} is for the nodes of a graph: on a collection .* {name}-graphs"):
            assert levels.method_for(name, collection=True) == f"{name}-graphs"
    else:
        with pytest.raises(InputError, match=f"{name} embeds the nodes of a graph, .*: take one of .*sgcl-graphs"):
            levels.method_for(name, collection=True)


def test_forms_share_a_title_and_unknown_names_are_told():
    assert levels.title("sgcl-graphs") == levels.title("sgcl") == "SGCL"
    with pytest.raises(InputError, match="sgcl-graphs"):
        levels.method_for("sgcl-graph", collection=True)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_protocols_know_their_level(name):
    levels.check_protocol(name, collection=name == "tu")
    with pytest.raises(InputError, match=f"protocol {name!r}"):
        levels.check_protocol(name, collection=name != "tu")


def test_tasks_about_nodes_are_not_asked_of_graphs():
    levels.check_tasks(TASKS, collection=False)
    levels.check_tasks(["probe", "clustering", "collapse"], collection=True)
    with pytest.raises(InputError, match=r"--task links is about the nodes of a graph, .* one of probe, clustering,"):
        levels.check_tasks(["probe", "links"], collection=True)


def test_labels_that_nobody_has_are_columns_of_zeros_or_none():
    data = Data(x=torch.tensor([[5.0, 1, 0, 0], [6, 0, 0, 1]]),
                feature_names=["attribute 0", "label 2", "label 3", "label 4"])
    found = levels.with_columns(data, ["attribute 0", "label 1", "label 2", "label 4"])
    assert found.feature_names == ["attribute 0", "label 2", "label 4", "label 1"]
    assert found.x.tolist() == [[5, 1, 0, 0], [6, 0, 1, 0]]
    assert data.x.shape == (2, 4)
    kept = levels.with_columns(data, ["attribute 0", "label 2"])           # label 4 is there: it is not left out
    assert kept.feature_names == ["attribute 0", "label 2", "label 4"]


def test_features_of_new_graphs_are_made_as_the_run_s_were():
    config = {"files": {"collection": "old", "features": "walk", "labels": "y.csv", "attributes": True}}
    assert levels.same_features(config, {"collection": "new"}) == {
        "collection": "new", "features": "walk", "attributes": True}
    assert levels.same_features(config, {"collection": "new", "features": "ones"})["features"] == "ones"
    assert levels.same_features({"files": {"collection": "old", "features": "folder"}}, {"collection": "new"}) == {
        "collection": "new"}
    assert levels.same_features(config, {"edges": "e.csv"}) == {"edges": "e.csv"}


def test_attributes_of_a_single_graph_are_refused():
    with pytest.raises(InputError, match="digits is one graph, and --attributes is for collections: leave it out"):
        levels.load_dataset("digits", attributes=True)
