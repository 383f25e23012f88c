"""Whole jobs: a dataset and settings to a run folder, run folders to result rows."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import datasets, embeddings, report, runs, settings
from sgcl.errors import InputError
from sgcl.estimator import Estimator, estimator_for
from sgcl.evaluation import PROTOCOLS, Disparity, disparity, raw_features
from sgcl.graph import Graph
from sgcl.progress import ProgressBar
from sgcl.readers import read_graph

_VARIANTS = {"taubin": "T", "bilateral": "B", "diffusion": "D", "identity": "Identity"}  # as in the paper's tables
_FLOORS = ("raw features", "untrained encoder")
_NO_DISPARITY = Disparity(None, None, None, None, 0, 0, reason="nodes have several labels")
_BESIDE = ("seed", "device")  # runs that differ in these alone share a row


def label(method: str, chosen: Mapping[str, Any]) -> str:
    """A method with its smoothing (settings in JSON form), as tables call it: SGCL-T, SGCL-Identity, GRACE."""
    smoothing = chosen.get("smoothing")
    if smoothing is None:
        return method.upper()
    name = smoothing if isinstance(smoothing, str) else smoothing["name"]
    return f"{method.upper()}-{_VARIANTS.get(name, name)}"


def train_run(method: str, chosen: Mapping[str, Any], data: Data, *, dataset: str,
              files: Mapping[str, Any] | None = None, out: str | Path | None = None, protocol: str | None = None,
              quiet: bool = False) -> dict[str, Any]:
    """Train with the ``chosen`` settings (JSON form) and leave a run folder; gives its summary.

    ``dataset`` is a name of the catalogue or, with the ``files`` that :func:`sgcl.readers.read_graph` was given, any
    name for one's own graph. Bad input leaves no folder.
    """
    if protocol is None:
        protocol = (datasets.DATASETS[dataset].protocol if files is None else None) or "random"
    estimator = estimator_for(method)(**chosen)
    graph = Graph.from_data(data)  # first, so that what is wrong is told of the graph as it came
    restricted = PROTOCOLS[protocol].restrict(data)
    if restricted is not data:
        data, graph = restricted, Graph.from_data(restricted)
    resolved = settings.encode(estimator.settings)
    name = label(method, resolved)
    start = time.perf_counter()
    with runs.create(out or _default_folder(method, resolved, dataset)) as folder:
        write_run_config(folder, estimator, graph, dataset=dataset, protocol=protocol,
                         **({} if files is None else {"files": dict(files)}))
        with ProgressBar(f"{name} on {dataset}", quiet=quiet) as bar:
            estimator.fit(graph, callbacks=[bar, lambda epoch: runs.append(folder / "metrics.jsonl", epoch.record())])
        estimator.save_weights(folder)
        embeddings.save(folder, estimator.transform(graph), node_ids(data))
        losses = [epoch.loss for epoch in estimator.history]
        if losses:
            draw_if_possible(partial(report.draw_curve, folder / "curve.png", {name: losses}))
    return {"run": str(folder), "method": method, "dataset": dataset, "protocol": protocol, "nodes": graph.num_nodes,
            "edges": graph.num_edges, "epochs": len(losses), "loss": losses[-1] if losses else None,
            "seconds": round(time.perf_counter() - start, 2), "settings": resolved}


def evaluate_runs(folders: Sequence[str | Path], *, protocol: str | None = None, seeds: int | None = None,
                  probe: str = "converged", floors: bool = True,
                  data_root: str | None = None) -> list[dict[str, Any]]:
    """Score runs of one dataset: a row for each (run, split), floors first. Each run's rows join its results.jsonl.

    Runs of one name that differ in more than their seed get what differs into their name. What several runs have in
    common, the features and often the untrained encoder, is scored and given once.
    """
    paths = [Path(folder) for folder in folders]
    configs = [_run_config(path) for path in paths]
    if len({json.dumps([config["dataset"], config.get("files")]) for config in configs}) > 1:
        raise InputError("the runs are of different datasets: evaluate them one dataset at a time")
    names = [config["protocol"] if protocol is None else protocol for config in configs]
    restricted = cache(lambda name: PROTOCOLS[name].restrict(load_graph(configs[0], data_root)))
    for path, config, name in zip(paths, configs, names, strict=True):
        if not np.array_equal(embeddings.load(path)[1], node_ids(restricted(name))):
            raise InputError(f"{path} was trained for protocol {config['protocol']!r}, whose nodes are not those of "
                             f"{name!r}: train it with --protocol {name}")

    scored: dict[tuple[Any, ...], dict[str, Any]] = {}
    for path, config, name, row_name in zip(paths, configs, names, _row_names(configs), strict=True):
        data = restricted(name)
        graph = Graph.from_data(data)
        rows = {row_name: embeddings.load(path)[0]}
        if floors:
            rows = {**floor_rows(Estimator.load(path), graph), **rows}
        own_seed = config["settings"]["seed"]
        for split_seed in [own_seed] if seeds is None else range(seeds):
            for title, matrix in rows.items():
                key = (title, name, split_seed, _fingerprint(matrix), *([] if title in _FLOORS else [path]))
                if key not in scored:
                    scored[key] = {"name": title, "run": str(path), "dataset": config["dataset"], "seed": own_seed,
                                   **score(matrix, data, graph, protocol=name, split_seed=split_seed, probe=probe)}
                runs.append(path / "results.jsonl", {**scored[key], "run": str(path), "seed": own_seed})
    order = {name: number for number, name in enumerate(_FLOORS)}
    return sorted(scored.values(), key=lambda row: order.get(row["name"], len(order)))


def floor_rows(estimator: Estimator, graph: Graph) -> dict[str, Tensor]:
    """What any method must beat: the features themselves, and its encoder before training."""
    untrained = embeddings.compute(estimator.untrained(graph.num_features), estimator.graph(graph))
    return dict(zip(_FLOORS, (raw_features(graph), untrained), strict=True))


def score(embedding: Tensor, data: Data, graph: Graph, *, protocol: str, split_seed: int,
          probe: str = "converged") -> dict[str, Any]:
    """One embedding under one split: scores, disparity, and how they came about."""
    metric = datasets.DATASETS[data.name].metric if data.get("name") in datasets.DATASETS else None
    start = time.perf_counter()
    split = PROTOCOLS[protocol].split(data, split_seed)
    if probe == "published":
        result = PROTOCOLS[protocol].published_probe(embedding, data.y, split, seed=split_seed)
    else:
        result = PROTOCOLS[protocol].probe(embedding, data.y, split, seed=split_seed, metric=metric)
    spread = disparity(embedding, graph.adj, data.y) if data.y.numel() == len(embedding) else _NO_DISPARITY
    return {"protocol": protocol, "split_seed": split_seed, "probe": probe, "metric": result.metric,
            "test": result.test, "val": None if math.isnan(result.val) else result.val, "C": result.C,
            "step": result.step, "disparity": spread.value, "dirichlet_intra": spread.intra,
            "dirichlet_inter": spread.inter, "seconds": round(time.perf_counter() - start, 3)}


def load_graph(config: Mapping[str, Any], data_root: str | None = None) -> Data:
    """The graph that a run's configuration names: of the catalogue, or of one's own files."""
    if "files" in config:
        return read_graph(**config["files"])
    return datasets.load(config["dataset"], data_root)


def embed(folder: str | Path, data: Data, out: str | Path, device: str | None = None) -> dict[str, Any]:
    """Embed the nodes of another graph with a run's model and write them under their ids."""
    estimator = Estimator.load(folder, device=device)
    embedding = estimator.transform(data)
    embeddings.write(Path(out), embedding, node_ids(data))
    return {"out": str(out), "nodes": len(embedding), "width": embedding.shape[1]}


def write_run_config(folder: Path, estimator: Estimator, graph: Graph, **trained_on: Any) -> None:
    """``config.json`` of a run: the model's, and what it was trained on and with."""
    runs.write_config(folder, {**estimator.config(graph.num_features), **trained_on, "nodes": graph.num_nodes,
                               "edges": graph.num_edges, **runs.environment()})


def node_ids(data: Data) -> np.ndarray:
    """(N,) the ids under which embeddings are written: the user's own, or numbers in the dataset's order."""
    if "ids" in data:
        return np.asarray(data.ids)
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


def _default_folder(method: str, resolved: Mapping[str, Any], dataset: str) -> Path:
    smoothing = [resolved["smoothing"]["name"]] if resolved.get("smoothing") else []
    return Path("runs") / "-".join([method, *smoothing, dataset, str(resolved["seed"])])


def _run_config(folder: Path) -> dict[str, Any]:
    config = runs.read_config(folder)
    for name in ("dataset", "protocol"):
        if not isinstance(config.get(name), str):
            raise InputError(f"{folder} names no {name}: it is a saved model, not a run of `sgcl train`")
    return {**config, "settings": settings.encode(settings.resolve(config["method"], config["settings"]))}


def _row_names(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The label of each run, with the settings that tell it apart where runs of one label differ in more than seed."""
    labels = [label(config["method"], config["settings"]) for config in configs]
    flat = [_flat(config["settings"]) for config in configs]
    names = []
    for own, chosen in zip(labels, flat, strict=True):
        others = [other for name, other in zip(labels, flat, strict=True) if name == own]
        differing = [f"{name}={value}" for name, value in chosen.items()
                     if name not in _BESIDE and any(other.get(name) != value for other in others)]
        names.append(" ".join([own, *differing]))
    return names


def _flat(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in JSON form without nesting: {"smoothing.mu": -0.4, "view1.drop-edges.p": 0.5, "lr": 0.001, ...}."""
    flat = {}
    for name, value in chosen.items():
        parts = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        for part in parts:
            prefix = f"{name}.{part['name']}" if isinstance(value, list) else name
            flat.update({f"{prefix}.{key}": number for key, number in part.items()})
        if not parts:
            flat[name] = value
    return flat


def _fingerprint(matrix: Tensor) -> str:
    return hashlib.sha256(matrix.contiguous().numpy()).hexdigest()  # type: ignore[arg-type]
