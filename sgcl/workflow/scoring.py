"""One embedding to its scores, and the floors that it is scored beside."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from sgcl import embeddings, ram, store
from sgcl.estimator import Estimator
from sgcl.evaluation import PROTOCOLS, TASKS, Case, LinkSplit, raw_features, split_links
from sgcl.graph import Graph, one_column_each
from sgcl.mapped import MappedFeatures
from sgcl.methods import Method
from sgcl.readers import STRUCTURAL, read_graph
from sgcl.sparse import CSR
from sgcl.workflow.embedding import some_memory

FLOORS = ("raw features", "untrained encoder")


def score(embedding: Tensor, data: Data, graph: Graph, *, protocol: str, split_seed: int | None, task: str = "probe",
          probe: str = "converged", metric: str | None = None, links: LinkSplit | None = None) -> dict[str, Any]:
    """One embedding by one task: its values, and how they came about."""
    start = time.perf_counter()
    adj: CSR | None = graph.adj
    if isinstance(graph.x, MappedFeatures) and task == "probe":  # for the disparity
        fits = 64 * graph.adj.nnz < ram.free_memory()
        adj = graph.adj.rows(slice(None), symmetric=True) if fits else None
    values = TASKS[task].measure(embedding, Case(data, adj, PROTOCOLS[protocol], split_seed or 0, probe, metric,
                                                 links))
    return {"task": task, "protocol": protocol, "split_seed": split_seed, **values,
            "seconds": round(time.perf_counter() - start, 3)}


def floor_rows(estimator: Estimator, graph: Graph) -> dict[str, Tensor]:
    """What any method must beat: the features themselves, and its encoder before training."""
    method = estimator.untrained(graph.num_features)
    if isinstance(graph.x, MappedFeatures):
        return _stored_floors(estimator, method, graph)
    untrained = embeddings.compute(method, estimator.graph(graph))
    if one_column_each(graph.x):  # nothing to score, and (N, N) written out
        return {FLOORS[1]: untrained}
    return dict(zip(FLOORS, (raw_features(graph), untrained), strict=True))


def _stored_floors(estimator: Estimator, method: Method, graph: Graph) -> dict[str, Tensor]:
    """The same for the graph of a store: in blocks where the method can, and features only where they fit."""
    memory = some_memory() if embeddings.in_blocks(method) else None
    untrained = embeddings.compute(method, estimator.graph(graph), memory=memory)
    if 3 * 4 * graph.num_nodes * graph.num_features > ram.free_memory():
        warnings.warn(f"the {FLOORS[0]} are not scored: they do not fit the memory", stacklevel=2)
        return {FLOORS[1]: untrained}
    return dict(zip(FLOORS, (raw_features(graph.in_memory()), untrained), strict=True))


def without_links(data: Data, seed: int, files: Mapping[str, Any] | None = None) -> tuple[LinkSplit, Graph]:
    """Links to be hidden, and the graph without them; features that were made from the links are made anew."""
    data = store.in_memory(data, "--task links")
    links = split_links(data, seed=seed)
    made = (files or {}).get("features")
    return links, Graph.from_data(read_graph(links.graph, features=made) if made in STRUCTURAL else links.graph)
