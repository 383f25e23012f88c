"""A run and a graph to an embedding: of other nodes into a file, and of the run's own into its folder."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import Data

from sgcl import embeddings, ram, runs
from sgcl.callbacks import CollapseWatch
from sgcl.errors import InputError
from sgcl.estimator import Estimator
from sgcl.graph import Graph
from sgcl.mapped import MappedFeatures
from sgcl.progress import Shares
from sgcl.readers import LEARNED, SPECTRAL
from sgcl.workflow.graphs import in_order, node_ids


def embed(folder: str | Path, data: Data, out: str | Path, device: str | None = None,
          memory: int | None = None, *, quiet: bool = True) -> dict[str, Any]:
    """Embed the nodes of another graph, or the graphs of another collection, with a run's model and write them under
    their ids.

    With ``memory``, at most so many bytes are taken beside the graph and the weights; temporary files lie beside
    ``out``. Of a store the embedding is always made in blocks, in a quarter of the free memory unless given, into a
    file that an embedding cut short goes on with when it is asked for again.
    """
    folder, out = Path(folder), Path(out)
    embeddings.check_file(out)
    estimator = Estimator.load(folder, device=device)
    config = runs.read_config(folder)
    data = in_order(data, config.get("feature_names"))
    stored = isinstance(data.get("graph"), Graph) and embeddings.in_blocks(estimator.fitted)
    made = config.get("files", {}).get("features")
    if made == LEARNED and not np.array_equal(embeddings.load_ids(folder), node_ids(data)):
        raise InputError(f"{folder} has learned features, which only the nodes it was trained on have; for others, "
                         "train with features of their own, or made from the graph such as --features walk")
    if made == SPECTRAL and runs.fingerprint(Graph.from_data(data), node_ids(data)) != config.get("graph"):
        warnings.warn("each graph has spectral features of its own: the embedding is not comparable with that of the "
                      "graph the run was trained on; --features walk or degree mean the same on every graph",
                      stacklevel=2)
    if stored:
        embedding = _transformed(estimator, Graph.from_data(data), out, memory or some_memory(), quiet=quiet)
        embeddings.write_rest(out, embedding, node_ids(data))
    else:
        embedding = estimator.transform(data, memory=memory, folder=out.parent)
        embeddings.write(out, embedding, node_ids(data))
    rows = "nodes" if data.get("batch") is None else "graphs"
    return {"out": str(out), rows: len(embedding), "width": embedding.shape[1]}


def leave_embedding(folder: Path, estimator: Estimator, data: Data, graph: Graph, memory: int | None, *,
                    watch: CollapseWatch | None = None, quiet: bool) -> None:
    """Write the embedding of a run, and last its ids."""
    stored = isinstance(graph.x, MappedFeatures) and memory is not None
    if stored:
        embedding = _transformed(estimator, graph, folder / "embeddings.npy", memory or 0, quiet=quiet)
    else:
        embedding = estimator.transform(graph, memory=memory, folder=folder)
    if watch is not None:
        watch.look(embedding, "at the end of the training")
    if stored:
        embeddings.save_ids(folder, node_ids(data))
    else:
        embeddings.save(folder, embedding, node_ids(data))


def _transformed(estimator: Estimator, graph: Graph, file: Path, memory: int, *, quiet: bool) -> Tensor:
    """The embedding of a store's graph, mapped from ``file``, or for other formats from an .npy file beside it."""
    out = file if file.suffix == ".npy" else file.with_name(f".{file.name}.npy")
    with Shares("embedding", quiet=quiet) as bar:
        return estimator.transform(graph, memory=memory, out=out,
                                   tell=lambda layer, share: bar(f"layer {layer}", share))


def some_memory() -> int:
    """A quarter of what is free, to embed a graph in blocks."""
    return ram.rounded_down(ram.free_memory() / 4)
