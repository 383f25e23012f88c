"""What a run folder says of its run: config.json written and read, and the summary of a training."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from sgcl import distributed, runs, settings
from sgcl.errors import InputError
from sgcl.estimator import Estimator, device_for
from sgcl.graph import Graph
from sgcl.store import PartGraph
from sgcl.workflow.graphs import node_ids


def write_run_config(folder: Path, estimator: Estimator, data: Data, graph: Graph, **trained_on: Any) -> None:
    """``config.json`` of a run: the model's, and what it was trained on and with."""
    named = {} if data.get("feature_names") is None else {"feature_names": data.feature_names}
    counted = {} if graph.graph_ptr is None else {"graphs": graph.num_graphs}
    runs.write_config(folder, {**estimator.config(graph.num_features), **trained_on, **named, **counted,
                               **(graph.about if isinstance(graph, PartGraph) else
                                  {"nodes": graph.num_nodes, "edges": graph.num_edges}),
                               "graph": runs.fingerprint(graph, node_ids(data)),
                               "started": datetime.now(UTC).isoformat(timespec="seconds"),
                               **({} if (ranks := distributed.current().size) == 1 else {"ranks": ranks}),
                               **runs.environment(device=device_for(estimator.settings["device"]))})


def run_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a run, its settings in full."""
    config = runs.read_config(folder)
    for name in ("dataset", "protocol"):
        if not isinstance(config.get(name), str):
            raise InputError(f"{folder} names no {name}: it is a saved model, not a run of `sgcl train`")
    return {**config, "settings": settings.encode(settings.resolve(config["method"], config["settings"]))}


def finished(folder: str | Path) -> dict[str, Any]:
    """The summary of a run that is there."""
    return summary_of(Path(folder), run_config(Path(folder)))


def summary_of(folder: Path, config: Mapping[str, Any], seconds: float = 0.0) -> dict[str, Any]:
    """What a training gives: where the run lies, what was trained on what, how it went and how to go on."""
    lines = runs.read_lines(folder / "metrics.jsonl")
    named = ("method", "dataset", "protocol", "graphs", "nodes", "edges", "parts")
    return {"run": str(folder), **{name: config[name] for name in named if name in config},
            "epochs": len(lines), "loss": lines[-1]["loss"] if lines else None, "seconds": round(seconds, 2),
            "settings": config["settings"], "next": next_step(folder, "parts" in config)}


def next_step(folder: str | Path, parted: bool) -> str:
    """The command to go on with after a training."""
    if not parted:
        return f"sgcl evaluate {folder}"
    return (f"sgcl embed {folder} --graph STORE --out FILE, or sgcl evaluate {folder} --graph STORE, with the store "
            "that the parts were cut from")


def default_folder(method: str, resolved: Mapping[str, Any], dataset: str) -> Path:
    """Where a run goes unless it is told."""
    smoothing = [resolved["smoothing"]["name"]] if resolved.get("smoothing") else []
    return Path("runs") / "-".join([method, *smoothing, dataset, str(resolved["seed"])])
