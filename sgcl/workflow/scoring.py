"""One embedding to its scores, and the floors that it is scored beside."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Mapping
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from sgcl import embeddings, ram, store
from sgcl.estimator import Estimator
from sgcl.evaluation import PROTOCOLS, TASKS, Case, LinkSplit, propagated_features, raw_features, split_links
from sgcl.graph import Graph, one_column_each
from sgcl.mapped import MappedFeatures
from sgcl.readers import STRUCTURAL, read_graph
from sgcl.sparse import CSR
from sgcl.workflow.embedding import some_memory

FLOORS = ("raw features", "untrained encoder", "propagated features")


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


def floor_rows(estimator: Estimator, graph: Graph, names: Collection[str] = FLOORS) -> dict[str, Tensor]:
    """What any method must beat: the features themselves, its encoder before training, and, of single graphs, the
    features propagated. A graph without features, or with more than fit the memory, has the encoder alone."""
    of_features = {FLOORS[0]: raw_features, FLOORS[2]: propagated_features}
    if graph.graph_ptr is not None:
        del of_features[FLOORS[2]]
    wanted = [name for name in of_features if name in names]
    if wanted and not one_column_each(graph.x) and _fit(graph):
        rows = {name: of_features[name](graph.in_memory()) for name in wanted}
    else:
        rows = {}
    if FLOORS[1] in names:
        method = estimator.untrained(graph.num_features)
        stored = isinstance(graph.x, MappedFeatures) and embeddings.in_blocks(method)
        rows[FLOORS[1]] = embeddings.compute(method, estimator.graph(graph), memory=some_memory() if stored else None)
    return {name: rows[name] for name in FLOORS if name in rows}


def _fit(graph: Graph) -> bool:
    """Whether features that are not in memory as they are, or sparse, can be written out, three times in all."""
    dense = isinstance(graph.x, Tensor) or graph.graph_ptr is not None
    fits = dense or 3 * 4 * graph.num_nodes * graph.num_features < ram.free_memory()
    if not fits:
        warnings.warn(f"the {FLOORS[0]} are not scored: they do not fit the memory", stacklevel=3)
    return fits


def without_links(data: Data, seed: int, files: Mapping[str, Any] | None = None) -> tuple[LinkSplit, Graph]:
    """Links to be hidden, and the graph without them; features that were made from the links are made anew."""
    data = store.in_memory(data, "--task links")
    links = split_links(data, seed=seed)
    made = (files or {}).get("features")
    return links, Graph.from_data(read_graph(links.graph, features=made) if made in STRUCTURAL else links.graph)
