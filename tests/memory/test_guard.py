import json
import os
import re
import subprocess
import sys

import pytest
import torch
from graphs import collection, random_graph
from torch_geometric.data import Data

from sgcl import InputError, embeddings, ram, workflow
from sgcl.estimator import Estimator, estimator_for
from sgcl.memory import check_memory, estimate, guard, resident
from sgcl.samplers import EgoGraph, FullGraph, RandomEdge, RandomNode, RandomWalk, WholeGraphs

CHILD = """
import json, re, sys, torch
from pathlib import Path
from torch_geometric.data import Data
from sgcl.errors import InputError
from sgcl.graph import Graph
from sgcl.options import given_by_name, collect
from sgcl.smoothing import Taubin
from sgcl.workflow import train_run, training

def status(field):
    return next(int(line.split()[1]) * 1024 for line in Path("/proc/self/status").read_text().splitlines()
                if line.startswith(field + ":"))

def forget():
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    return status("VmRSS")

def run(chosen):
    limit = forget() + room
    return limit, train_run("sgcl", {"hidden_channels": 16, "epochs": 2, **chosen}, data, dataset="own",
                            files={"edges": "e.csv"}, out=sys.argv[1], memory_limit=limit, quiet=True)

nodes, room, chance = 20000, 150 * 2**20, torch.Generator().manual_seed(0)
edges = torch.randint(nodes, (2, 2 * nodes), generator=chance)
data = Data(x=torch.randn(nodes, 300, generator=chance), edge_index=edges)
Taubin()(Graph.from_data(Data(x=data.x[:3], edge_index=torch.tensor([[0, 1], [1, 2]]))).adj)  # loads what it needs
before = forget()
try:
    run({})
except InputError as error:
    refused = {"line": str(error), "grown": status("VmHWM") - before, "left": Path(sys.argv[1]).exists()}
words = iter(re.search("add (--sampler .*), which", refused["line"])[1].split())
given = given_by_name({flag.removeprefix("--"): next(words) for flag in words}, "sgcl")
check, seen = training.check_memory, []

def noted(*args):
    plan = check(*args)
    seen.extend([forget(), plan.estimate.training])
    return plan

training.check_memory = noted
limit, summary = run(collect(given, {}, "sgcl"))
print(json.dumps({"refused": refused, "estimate": seen[1], "grown": status("VmHWM") - seen[0], "limit": limit,
                  "peak": status("VmHWM"), "sampler": summary["settings"]["sampler"]}))
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs the peak memory of Linux")
def test_what_is_refused_is_not_begun_and_what_is_suggested_runs_within_the_limit(tmp_path):
    done = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path / "run")], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert re.fullmatch(r"training takes about \d+ MB with batches of 20000 nodes, but 1\d\d MB are left of "
                        r"the limit of [\d.]+ .B: add --sampler walk --walk-batch-size \d+ --walk-batches \d+, which "
                        r"takes about \d+ MB", found["refused"]["line"])
    assert found["refused"]["grown"] < 75 * 2**20                          # half of what was left
    assert not found["refused"]["left"]
    assert found["sampler"]["batch_size"] * found["sampler"]["batches"] >= 20000
    assert found["grown"] <= 1.2 * found["estimate"]
    assert found["peak"] <= found["limit"]


def test_enough_memory_is_enough():
    made, graph = estimator_for("sgcl")(hidden_channels=8), random_graph(100)
    need = estimate(made, graph)
    plan = check_memory(made, graph)
    assert plan.estimate.total == pytest.approx(need.total, rel=0.01)
    assert plan.embedding is None
    assert check_memory(made, graph, resident() + 2 * need.total).estimate.nodes == 100


def test_an_embedding_that_does_not_fit_at_once_is_made_in_blocks(tmp_path, monkeypatch):
    made, graph = estimator_for("sgcl")(hidden_channels=128, sampler=RandomNode(batch_size=64)), random_graph(4000)
    need = estimate(made, graph)
    assert need.training < need.total
    room = (need.training + need.total) // 2
    plan = check_memory(made, graph, resident() + room)
    assert plan.embedding == pytest.approx(room - need.always, rel=0.2)
    monkeypatch.setattr("sgcl.workflow.training.check_memory", lambda *args: plan)
    monkeypatch.setattr("sgcl.workflow.training.draw_if_possible", lambda draw: None)
    data = Data(x=graph.x, edge_index=torch.stack([graph.adj.row, graph.adj.idx]))
    summary = workflow.train_run("sgcl", {**made.settings, "epochs": 1}, data, dataset="own", files={"edges": "e.csv"},
                                 out=tmp_path / "run", quiet=True)
    expected = Estimator.load(tmp_path / "run").transform(graph)
    assert torch.allclose(embeddings.load(tmp_path / "run")[0], expected, atol=1e-5)
    assert sorted(path.name for path in (tmp_path / "run").iterdir() if path.suffix not in (".npy", ".parquet")) == [
        "config.json", "metrics.jsonl", "weights.safetensors"]             # no temporary file is left
    assert summary["nodes"] == 4000


@pytest.mark.parametrize(("width", "narrower"), [
    (512, ", or a narrower model such as --hidden-channels 256"),
    (12, ", or a narrower model such as --hidden-channels 8"), (8, ""), (4, "")])
def test_a_limit_that_the_process_is_beyond_already(width, narrower):
    with pytest.raises(InputError, match=r"but 0 MB are left of the limit of 1 MB: no batch is small enough; it needs "
                                         f"more memory{narrower}$"):
        check_memory(estimator_for("sgcl")(hidden_channels=width), random_graph(100), 2**20)


def test_without_a_limit_what_is_free_counts(monkeypatch):
    monkeypatch.setattr(guard, "free_memory", lambda: 70 * 2**20)
    with pytest.raises(InputError, match=r"with batches of 3000 nodes, but 70 MB are left of the memory: "):
        check_memory(estimator_for("sgcl")(hidden_channels=64), random_graph(3000))


def test_other_devices_have_a_memory_of_their_own(monkeypatch):
    monkeypatch.setattr(guard, "device_for", lambda name: "cuda")
    assert check_memory(estimator_for("sgcl")(hidden_channels=8), random_graph(100), 1) is None


@pytest.mark.parametrize(("room", "calls"), [(10**13, 0), (100 * 2**20, 1)])
def test_near_the_limit_freed_memory_goes_back(monkeypatch, room, calls):
    done = []
    monkeypatch.setattr(ram, "hand_back", lambda: done.append(1))
    check_memory(estimator_for("sgcl")(hidden_channels=8), random_graph(100), resident() + room)
    assert len(done) == calls


@pytest.mark.parametrize(("sampler", "smaller"), [
    (RandomWalk(batch_size=2000, batches=4), RandomWalk(batch_size=500, batches=16)),
    (RandomWalk(roots=2000, batches=4), RandomWalk(batch_size=500, roots=500, batches=16)),
    (RandomNode(batch_size=1000, batches=1), RandomNode(batch_size=250, batches=4)),
    (RandomEdge(edges=400, batches=2), RandomEdge(batch_size=500, edges=100, batches=8)),
    (EgoGraph(hops=3, batch_size=800, roots=8, batches=2), EgoGraph(hops=3, batch_size=200, roots=2, batches=8)),
])
def test_smaller_batches_are_more_of_them(sampler, smaller):
    assert guard._smaller(sampler, 0.25, random_graph(10)) == smaller


def test_smaller_batches_of_graphs():
    graphs = collection(40)
    for sampler in (WholeGraphs(size=128), WholeGraphs(size=40, batches=None), FullGraph()):
        assert guard._smaller(sampler, 0.25, graphs) == WholeGraphs(size=10)
    assert guard._smaller(WholeGraphs(size=20, batches=1), 0.25, graphs) == WholeGraphs(size=5, batches=4)


def test_too_little_for_a_batch_of_graphs_names_a_smaller_one():
    made, graphs = estimator_for("sgcl-graphs")(hidden_channels=128), collection(400)
    need = estimate(made, graphs)
    assert check_memory(made, graphs, resident() + 2 * need.total).embedding is None
    with pytest.raises(InputError, match=r"add --sampler graphs --graphs-size \d+, which takes about"):
        check_memory(made, graphs, resident() + int(0.5 * need.always + 0.5 * need.training))


@pytest.mark.parametrize(("number", "rounded"), [(0.2, 1), (7.9, 7), (64, 64), (1999, 1900), (123456, 120000)])
def test_sizes_are_rounded_down(number, rounded):
    assert guard._rounded(number) == rounded
