"""Test labels reach the last score and nothing before it: not the graph, the training, the embedding or a choice."""

import dataclasses

import pytest
import torch

from sgcl import SGCL, runs, workflow
from sgcl.datasets import load
from sgcl.evaluation import PROTOCOLS, Development, Fixed, Linkx, Ogb, Public, Random, Redrawn, Sgcl
from sgcl.graph import Graph

CHOSEN = {"hidden_channels": 8, "epochs": 12, "patience": 1, "lr": 0.05}  # stopped early: epochs are a choice too
TRAINED = ("weights.safetensors", "embeddings.npy", "ids.npy")


@pytest.fixture(autouse=True)
def small(monkeypatch, datasets):
    """Protocols that fit a hundred nodes, and probes of a few steps."""
    for protocol in (Development, Sgcl, Redrawn):
        monkeypatch.setitem(PROTOCOLS, protocol.name, protocol(size=40, per_class=5))
    for protocol in (Public, Random, Development, Fixed, Ogb, Linkx):
        monkeypatch.setattr(protocol, "steps", 40)


def run(folder, data, protocol, datasets):
    """Train and score; what was chosen on the way, and the scores."""
    datasets("leaky", data, protocol)
    outcome = workflow.train_run("sgcl", CHOSEN, load("leaky"), dataset="leaky", out=folder, quiet=True)
    tasks = ("probe",) if protocol == "grace" else ("probe", "knn")        # no validation nodes to choose k on
    rows = [*workflow.evaluate_runs([folder], tasks=tasks, floors=False),
            *workflow.evaluate_runs([folder], probe="published", floors=False)]
    files = {name: (folder / name).read_bytes() for name in TRAINED}
    losses = [line["loss"] for line in runs.read_lines(folder / "metrics.jsonl")]
    choices = [{name: row.get(name) for name in ("task", "name", "probe", "C", "step", "decay", "k", "val")}
               for row in rows]
    return (files, outcome["epochs"], losses, choices), [row["test"] for row in rows]


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "tu"])
def test_permuted_test_labels_change_the_score_and_nothing_else(tmp_path, datasets, protocol):
    data = load("blocks")
    if protocol == "fixed":
        for name in ("train_mask", "val_mask", "test_mask"):
            data[name] = data[name][:, None]
    test = PROTOCOLS[protocol].split(PROTOCOLS[protocol].restrict(data), 0).test
    other = data.clone()
    other.y[test] = data.y[test].roll(1)
    assert not torch.equal(other.y, data.y)
    before, scores = run(tmp_path / "run", data, protocol, datasets)
    after, others = run(tmp_path / "again", other, protocol, datasets)
    assert before == after
    assert 1 <= before[1] < CHOSEN["epochs"]
    assert scores != others


def test_a_graph_has_no_room_for_labels():
    assert [field.name for field in dataclasses.fields(Graph)] == ["x", "adj", "n_id", "graph_ptr"]


def test_labels_and_masks_make_no_difference_to_an_embedding():
    data, bare = load("blocks"), load("blocks")
    for name in ("y", "train_mask", "val_mask", "test_mask"):
        del bare[name]
    first, second = (SGCL(**CHOSEN).fit_transform(graph) for graph in (data, bare))
    assert torch.equal(first, second)
