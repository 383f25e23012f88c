"""The demonstration: SGCL with each smoothing on the nearest-neighbour graph of scikit-learn's digits."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sgcl import datasets, embeddings, report, runs, workflow
from sgcl.errors import InputError
from sgcl.estimator import SGCL
from sgcl.graph import Graph
from sgcl.progress import ProgressBar
from sgcl.recipes import recipe
from sgcl.smoothing import SMOOTHINGS

ROWS = {"taubin": "SGCL-T", "bilateral": "SGCL-B", "diffusion": "SGCL-D", "identity": "Identity"}
PROTOCOL = "random"


def run(out: str | Path, *, seeds: int = 3, epochs: int | None = None, as_json: bool = False,
        quiet: bool = False) -> None:
    """Train, score, print one table and leave a run folder.

    A row of the table is ``seeds`` encoders, each scored on a split of its own; the folder holds the SGCL-T run of the
    first seed, the results of all runs, and pictures.
    """
    if seeds < 1:
        raise InputError(f"seeds is {seeds}, expected at least 1")
    data = datasets.load("digits")
    graph = Graph.from_data(data)
    start = time.perf_counter()
    with runs.create(_free(Path(out))) as folder:
        rows: list[dict[str, Any]] = []
        curves: dict[str, list[float]] = {}
        for seed in range(seeds):
            for smoothing, name in ROWS.items():
                estimator = _estimator(smoothing, seed, epochs)
                with ProgressBar(f"{name} seed {seed}", quiet=quiet) as bar:
                    estimator.fit(graph, callbacks=[bar])
                embedding = estimator.transform(graph)
                scored = {name: embedding}
                if smoothing == "taubin":
                    scored = {**workflow.floor_rows(estimator, graph), **scored}
                for row_name, matrix in scored.items():
                    seconds = estimator.history[-1].seconds if estimator.history and row_name == name else 0.0
                    rows.append({"name": row_name, "seed": seed, "dataset": "digits",
                                 "seconds_training": round(seconds, 2),
                                 **workflow.score(matrix, data, graph, protocol=PROTOCOL, split_seed=seed)})
                    runs.append(folder / "results.jsonl", rows[-1])
                if seed == 0:
                    curves[name] = [epoch.loss for epoch in estimator.history]
                    if smoothing == "taubin":
                        _leave_run(folder, estimator, graph, embedding, data)
        workflow.draw_if_possible(partial(report.draw_curve, folder / "curve.png", curves))
        workflow.draw_if_possible(partial(report.draw_smoothing, folder / "smoothing.png", smoothing_panels()))
    if as_json:
        print(json.dumps({"run": str(folder), "results": rows, "seconds": round(time.perf_counter() - start, 1)}))
    else:
        _print(graph, rows, seeds)
        print(f"run folder: {folder} ({', '.join(sorted(file.name for file in folder.iterdir()))})")


def smoothing_panels() -> dict[str, np.ndarray]:
    """A delta at three nodes of a grid, (side, side), before and after each of the paper's filters."""
    graph = Graph.from_data(datasets.load("grid"))
    side = round(graph.num_nodes ** 0.5)
    centres = torch.tensor([[side // 4, side // 4], [side // 2, 2 * side // 3], [3 * side // 4, side // 4]])
    nodes = centres[:, 0] * side + centres[:, 1]
    panels = {}
    for name in ("identity", "taubin", "bilateral", "diffusion"):
        positives = SMOOTHINGS.build(name)(graph.adj).take_rows(nodes)
        values = positives.to_scipy().max(axis=0).toarray().reshape(side, side)
        panels["delta" if name == "identity" else name] = values
    return panels


def _estimator(smoothing: str, seed: int, epochs: int | None) -> SGCL:
    chosen = {**recipe("sgcl", "digits", smoothing), "seed": seed}
    chosen.setdefault("smoothing", smoothing)
    return SGCL(**(chosen if epochs is None else {**chosen, "epochs": epochs}))


def _leave_run(folder: Path, estimator: SGCL, graph: Graph, embedding: torch.Tensor, data: Any) -> None:
    workflow.write_run_config(folder, estimator, data, graph, dataset="digits", protocol=PROTOCOL)
    for epoch in estimator.history:
        runs.append(folder / "metrics.jsonl", epoch.record())
    estimator.save_weights(folder)
    embeddings.save(folder, embedding, workflow.node_ids(data))
    workflow.draw_if_possible(partial(report.draw_map, folder / "map.png", embedding.numpy(), workflow.labels_of(data),
                                      title=f"{ROWS['taubin']} on digits, coloured by class"))


def _print(graph: Graph, rows: list[dict[str, Any]], seeds: int) -> None:
    table = []
    for name in dict.fromkeys(row["name"] for row in rows):
        mine = [row for row in rows if row["name"] == name]
        table.append([name, report.mean_and_deviation([row["test"] for row in mine]),
                      report.mean_and_deviation([row["val"] for row in mine]),
                      f"{np.mean([row['seconds_training'] for row in mine]):.1f}"])
    report.print_table(f"digits: {graph.num_nodes} nodes, {graph.num_edges} edges, 10 classes; random 10/10/80 splits, "
                       f"{seeds} {'seed' if seeds == 1 else 'seeds'}",
                       ["", "test accuracy %", "validation %", "training s"], table)


def _free(folder: Path) -> Path:
    """The folder itself, or the first of folder-2, folder-3, ... that is not taken."""
    number = 1
    free = folder
    while free.exists() and (not free.is_dir() or any(free.iterdir())):
        number += 1
        free = folder.with_name(f"{folder.name}-{number}")
    return free
