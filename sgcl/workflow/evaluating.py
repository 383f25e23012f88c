"""Run folders to result rows: every run by every task and split, beside its floors."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from sgcl import datasets, embeddings, levels, runs, store
from sgcl.errors import InputError
from sgcl.estimator import Estimator
from sgcl.evaluation import TASKS, LinkSplit, Task
from sgcl.files import lock
from sgcl.graph import Graph
from sgcl.progress import ProgressBar
from sgcl.readers import label_graphs, read_graph
from sgcl.workflow.embedding import leave_embedding, some_memory
from sgcl.workflow.graphs import load_graph, node_ids, restricted_graph
from sgcl.workflow.names import row_names
from sgcl.workflow.records import run_config
from sgcl.workflow.scoring import FLOORS, floor_rows, score, without_links


def evaluate_runs(folders: Sequence[str | Path], *, tasks: Sequence[str] = ("probe",), protocol: str | None = None,
                  seeds: int | None = None, probe: str = "converged", labels: str | Path | None = None,
                  columns: Mapping[str, str] | None = None, floors: bool = True, whole_store: str | Path | None = None,
                  data_root: str | None = None, download: bool = False, quiet: bool = True) -> list[dict[str, Any]]:
    """Score runs of one dataset: a row for each (task, run, split), floors first. Each run's rows join its
    results.jsonl, once all of them are there.

    Runs of one name that differ in more than their seed get what differs into their name. What several runs have in
    common, the features and often the untrained encoder, is scored and given once.

    Args:
        tasks: names of :data:`sgcl.evaluation.TASKS`. For ``links`` each run's method is trained anew, with its
            settings, on the graph without the links that are hidden; all other tasks are about the run's embedding.
        protocol: how nodes are split; the run's own unless given.
        seeds: splits 0 to seeds - 1; the split of the run's own seed unless given.
        probe: ``"converged"`` or ``"published"``.
        labels: a table with an id and a label column, instead of the graph's own labels.
        columns: what its columns are called, as ``id_column`` and ``label_column``.
        floors: whether to score raw features and the untrained encoder too.
        whole_store: for runs that were trained from parts, the store that these were cut from. It is embedded into each
            run that has no embedding yet.
        data_root, download: as in :func:`sgcl.datasets.load`.
        quiet: no progress of trainings.
    """
    paths = [Path(folder) for folder in folders]
    configs = [_on_whole(path, run_config(path), whole_store) for path in paths]
    if len({json.dumps([config.get(name) for name in ("dataset", "files", "attributes")]) for config in configs}) > 1:
        raise InputError("the runs are of different datasets: evaluate them one dataset at a time")
    asked = {name: TASKS[name] for name in tasks}
    names = [config["protocol"] if protocol is None else protocol for config in configs]
    collection = levels.is_collection(configs[0]["dataset"], configs[0].get("files"))
    levels.check_tasks(asked, collection)
    if "links" in asked and whole_store is not None:
        raise InputError("--task links would train on the whole graph, and the runs were trained from parts: ask for "
                         "another task")
    for name in names:
        levels.check_protocol(name, collection)
    loaded = _labelled(load_graph(configs[0], data_root, download=download), asked, labels, columns)
    restricted = cache(lambda name: restricted_graph(loaded, name))
    for path, config, name in zip(paths, configs, names, strict=True):
        if "parts" in config and not runs.is_finished(path):
            estimator = Estimator.load(path)
            memory = some_memory() if embeddings.in_blocks(estimator.fitted) else None
            with lock(path):
                leave_embedding(path, estimator, loaded, Graph.from_data(loaded), memory, quiet=quiet)
        if not np.array_equal(embeddings.load(path)[1], node_ids(restricted(name)[0])):
            if name == config["protocol"]:
                raise InputError(f"{path}: the nodes of the graph are not those that the run was trained on; bring its "
                                 "files back, or train it again")
            raise InputError(f"{path} was trained for protocol {config['protocol']!r}, whose nodes are not those of "
                             f"{name!r}: train it with --protocol {name}")
    beside = {} if labels is None else {"labels": str(Path(labels).resolve()), **(columns or {})}
    metric = datasets.DATASETS[configs[0]["dataset"]].metric if labels is None and "files" not in configs[0] else None

    scored: dict[tuple[Any, ...], dict[str, Any]] = {}
    lines: list[tuple[Path, dict[str, Any]]] = []
    for path, config, name, row_name in zip(paths, configs, names, row_names(configs), strict=True):
        (data, graph), own_seed = restricted(name), config["settings"]["seed"]
        frozen = cache(partial(_frozen, path, graph, row_name, floors=floors))
        for task, question in asked.items():
            for split_seed in [None] if not question.seeded else [own_seed] if seeds is None else range(seeds):
                links, rows = (None, frozen()) if task != "links" else _trained_anew(
                    path, config, data, row_name, split_seed or 0, floors=floors, quiet=quiet)
                for title, matrix in rows.items():
                    key = (task, title, name, split_seed, _fingerprint(matrix), *([] if title in FLOORS else [path]))
                    if key not in scored:
                        scored[key] = {"name": title, "run": str(path), "dataset": config["dataset"], "seed": own_seed,
                                       **beside, **score(matrix, data, graph, task=task, protocol=name, probe=probe,
                                                         split_seed=split_seed, metric=metric, links=links)}
                    lines.append((path, {**scored[key], "run": str(path), "seed": own_seed}))
    for path, line in lines:
        runs.append(path / "results.jsonl", line)
    order = {name: number for number, name in enumerate((*asked, *FLOORS))}
    return sorted(scored.values(), key=lambda row: (order[row["task"]], order.get(row["name"], len(order))))


def _on_whole(folder: Path, config: dict[str, Any], graph: str | Path | None) -> dict[str, Any]:
    """The configuration of a run, with a whole store in the place of the parts that it was trained from."""
    if "parts" not in config:
        if graph is not None:
            raise InputError(f"{folder} is scored on the graph that it was trained on: leave out --graph")
        return config
    if graph is None:
        raise InputError(f"{folder} was trained from parts: give the store that they were cut from as --graph STORE, "
                         "which is embedded into the run and scored")
    if store.read_store(graph).graph.x.digest != config["parts"]["cut_from"]:
        raise InputError(f"{graph} is not the store that the parts of {folder} were cut from")
    return {**config, "files": {"edges": str(Path(graph).resolve())}}


def _labelled(data: Data, asked: Mapping[str, Task], labels: str | Path | None,
              columns: Mapping[str, str] | None) -> Data:
    """The graph with the labels that the tasks need: its own, or those of a file."""
    collection = data.get("batch") is not None
    if labels is not None:
        data = (label_graphs if collection else _label_nodes)(data, labels, **columns or {})
    needing = [name for name, task in asked.items() if task.needs_labels]
    missing = int((data.y < 0).sum()) if collection and data.get("y") is not None else 0
    if needing and (data.get("y") is None or (collection and missing == len(data.y))):
        without = ", ".join(name for name, task in TASKS.items()
                            if not task.needs_labels and (task.of_graphs or not collection))
        raise InputError(f"the {'collection' if collection else 'graph'} has no labels to compare with (--task "
                         f"{','.join(needing)}): give --labels FILE, a table with the columns id and label, or ask "
                         f"without labels: {without}")
    if needing and missing:
        warnings.warn(f"{missing} of {len(data.y)} graphs have no label: they are embedded but not scored",
                      stacklevel=3)
    return data


def _label_nodes(data: Data, labels: str | Path, **columns: str) -> Data:
    if isinstance(data.get("graph"), Graph):
        return store.label_nodes(data, labels, **columns)
    return read_graph(data, labels=labels, **columns)


def _frozen(path: Path, graph: Graph, row_name: str, *, floors: bool) -> dict[str, Tensor]:
    """The embedding that a run left, floors before it."""
    rows = {row_name: embeddings.load(path)[0]}
    return {**floor_rows(Estimator.load(path), graph), **rows} if floors else rows


def _trained_anew(path: Path, config: Mapping[str, Any], data: Data, row_name: str, seed: int, *, floors: bool,
                  quiet: bool) -> tuple[LinkSplit, dict[str, Tensor]]:
    """Hidden links, and embeddings by what has never seen them: a run's method, trained on the links that are left."""
    links, graph = without_links(data, seed, config.get("files"))
    estimator = Estimator.load(path)
    with ProgressBar(f"{row_name}, links of seed {seed} hidden", quiet=quiet) as bar:
        estimator.fit(graph, callbacks=[bar])
    rows = {row_name: estimator.transform(graph)}
    return links, {**floor_rows(estimator, graph), **rows} if floors else rows


def _fingerprint(matrix: Tensor) -> str:
    return hashlib.sha256(matrix.contiguous().numpy()).hexdigest()  # type: ignore[arg-type]
