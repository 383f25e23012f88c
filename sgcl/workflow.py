"""Whole jobs: a dataset and settings to a run folder, run folders to result rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import datasets, embeddings, report, runs, settings
from sgcl.errors import InputError
from sgcl.estimator import Estimator, estimator_for, read_config
from sgcl.evaluation import PROTOCOLS, disparity, linear_probe, raw_features
from sgcl.graph import Graph
from sgcl.progress import ProgressBar

_VARIANTS = {"taubin": "T", "bilateral": "B", "diffusion": "D"}  # as the paper's tables call them


def label(method: str, chosen: Mapping[str, Any]) -> str:
    """A method with its smoothing, as tables call it: SGCL-T, SGCL-identity, GRACE."""
    smoothing = (chosen.get("smoothing") or {}).get("name")
    return method.upper() + (f"-{_VARIANTS.get(smoothing, smoothing)}" if smoothing else "")


def train_run(method: str, chosen: Mapping[str, Any], data: Data, *, dataset: str, out: str | Path | None = None,
              protocol: str | None = None, quiet: bool = False) -> dict[str, Any]:
    """Train with the ``chosen`` settings (JSON form) and leave a run folder; gives its summary.

    Everything is checked before the folder is made.
    """
    protocol = datasets.DATASETS[dataset].protocol if protocol is None else protocol
    estimator = estimator_for(method)(**chosen)
    data = PROTOCOLS[protocol].restrict(data)
    graph = Graph.from_data(data)
    resolved = settings.encode(estimator.settings)
    name = label(method, resolved)
    folder = runs.create(out or Path("runs") / "-".join(
        [method, *([resolved["smoothing"]["name"]] if "smoothing" in resolved else []), dataset,
         str(resolved["seed"])]))
    start = time.perf_counter()
    runs.write_config(folder, {**estimator.config(graph.num_features), "dataset": dataset, "protocol": protocol,
                               "nodes": graph.num_nodes, "edges": graph.num_edges, **runs.environment()})
    with ProgressBar(f"{name} on {dataset}", quiet=quiet) as bar:
        estimator.fit(graph, callbacks=[bar, lambda epoch: runs.append(folder / "metrics.jsonl", epoch.record())])
    estimator.save_weights(folder)
    embedding = estimator.transform(graph)
    embeddings.save(folder, embedding, node_ids(data))
    seconds = time.perf_counter() - start
    losses = [epoch.loss for epoch in estimator.history]
    if losses:
        draw_if_possible(partial(report.draw_curve, folder / "curve.png", {name: losses}))
    return {"run": str(folder), "method": method, "dataset": dataset, "protocol": protocol, "nodes": graph.num_nodes,
            "edges": graph.num_edges, "epochs": len(losses), "loss": losses[-1] if losses else None,
            "seconds": round(seconds, 2), "settings": resolved}


def evaluate_runs(folders: Sequence[str | Path], *, protocol: str | None = None, seeds: int | None = None,
                  probe: str = "converged", floors: bool = True,
                  data_root: str | None = None) -> list[dict[str, Any]]:
    """Score runs of one dataset: a row for each (run, split), floors first. Each run's rows join its results.jsonl."""
    configs = [read_config(Path(folder)) for folder in folders]
    if len({config["dataset"] for config in configs}) > 1:
        raise InputError("the runs are of different datasets: evaluate them one dataset at a time")
    scored: list[dict[str, Any]] = []
    for folder, config in zip(map(Path, folders), configs, strict=True):
        name = config["protocol"] if protocol is None else protocol
        embedding, ids = embeddings.load(folder)
        data = PROTOCOLS[name].restrict(datasets.load(config["dataset"], data_root))
        if not np.array_equal(ids, node_ids(data)):
            raise InputError(f"{folder} was trained for protocol {config['protocol']!r}, whose nodes are not those of "
                             f"{name!r}: train it with --protocol {name}")
        graph = Graph.from_data(data)
        rows = {label(config["method"], config["settings"]): embedding}
        if floors:
            rows = {**floor_rows(Estimator.load(folder), graph), **rows}
        own_seed = config["settings"]["seed"]
        for split_seed in [own_seed] if seeds is None else range(seeds):
            for row_name, matrix in rows.items():
                row = {"name": row_name, "run": str(folder), "dataset": config["dataset"], "seed": own_seed,
                       **score(matrix, data, graph, protocol=name, split_seed=split_seed, probe=probe)}
                runs.append(folder / "results.jsonl", row)
                scored.append(row)
    order = {name: number for number, name in enumerate(("raw features", "untrained encoder"))}
    return sorted(scored, key=lambda row: order.get(row["name"], len(order)))


def floor_rows(estimator: Estimator, graph: Graph) -> dict[str, Tensor]:
    """What any method must beat: the features themselves, and its encoder before training."""
    return {"raw features": raw_features(graph),
            "untrained encoder": embeddings.compute(estimator.untrained(graph.num_features), estimator.graph(graph))}


def score(embedding: Tensor, data: Data, graph: Graph, *, protocol: str, split_seed: int,
          probe: str = "converged") -> dict[str, Any]:
    """One embedding under one split: accuracies, disparity, and how they came about."""
    start = time.perf_counter()
    split = PROTOCOLS[protocol].split(data, split_seed)
    if probe == "published":
        result = PROTOCOLS[protocol].published_probe(embedding, data.y, split, seed=split_seed)
    else:
        result = linear_probe(embedding, data.y, split)
    spread = disparity(embedding, graph.adj, data.y)
    return {"protocol": protocol, "split_seed": split_seed, "probe": probe, "test": result.test, "val": result.val,
            "C": result.C, "step": result.step, "disparity": spread.value, "dirichlet_intra": spread.intra,
            "dirichlet_inter": spread.inter, "seconds": round(time.perf_counter() - start, 3)}


def node_ids(data: Data) -> np.ndarray:
    """(N,) the ids under which embeddings are written: numbers in the dataset's own order."""
    ids: np.ndarray = data.n_id.numpy() if "n_id" in data else np.arange(data.num_nodes)
    return ids


def draw_if_possible(draw: partial[None]) -> None:
    """Draw a picture; without matplotlib there is none."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    draw()


def labels_of(data: Data) -> np.ndarray | None:
    """(N,) labels for colouring, where there are any."""
    return data.y.numpy() if isinstance(data.get("y"), torch.Tensor) and data.y.dim() == 1 else None
