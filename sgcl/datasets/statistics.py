"""The numbers of the papers' tables, measured on any graph: components, homophily, degree, diameter."""

from collections.abc import Sequence
from typing import Any

import scipy.sparse.csgraph
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, check_kind
from sgcl.graph import Graph
from sgcl.sparse import CSR


def statistics(data: Data | Sequence[Data], *, sources: int = 1000, seed: int = 0) -> dict[str, Any]:
    """Measure a graph, read as undirected and without self-loops; weights do not count. Memory O(N + E).

    Args:
        data: a graph, or a collection of graphs (several, or one with ``batch``), of which only sizes are measured.
        sources: nodes, drawn at random, from which the longest shortest path is searched; time O(sources (N + E)).
        seed: of that draw.

    Returns:
        ``nodes``, ``edges``, ``features``, ``classes`` (0 without labels; the tasks, where a node has several labels),
        ``components``, ``homophily`` (the share of edges inside classes among those with two labelled ends; ``None``
        without any, or where a node has several labels), ``mean_degree`` 2 E / N, ``diameter``: the largest distance
        from any of the ``sources`` to a node that can be reached, a lower bound of the diameter unless ``sources``
        equals ``nodes``. For a collection: ``graphs``, ``nodes``, ``edges``, ``mean_nodes``, ``mean_edges``,
        ``features``, ``classes``.
    """
    if not isinstance(data, Data):
        return _of_collection(data)
    if data.get("batch") is not None:
        graphs, edges = int(data.batch.max()) + 1, count_edges(data)
        return {"graphs": graphs, "nodes": len(data.batch), "edges": edges, "mean_nodes": len(data.batch) / graphs,
                "mean_edges": edges / graphs, "features": _features(data), "classes": _classes(data.get("y"))}
    if sources < 1:
        raise InputError(f"statistics: sources is {sources}, expected at least 1 node to search from")
    adj = _adjacency(data)
    pattern = adj.to_scipy()
    nodes = adj.shape[0]
    components = int(scipy.sparse.csgraph.connected_components(pattern, directed=False, return_labels=False))
    drawn = torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))[:sources].tolist()
    return {"nodes": nodes, "edges": adj.nnz // 2, "features": _features(data), "classes": _classes(data.get("y")),
            "components": components, "homophily": _homophily(adj, data.get("y")),
            "mean_degree": adj.nnz / nodes, "diameter": max(_eccentricity(pattern, source) for source in drawn),
            "sources": len(drawn)}


def count_edges(data: Data) -> int:
    """Undirected edges without self-loops."""
    row, col = data.edge_index[:, data.edge_index[0] != data.edge_index[1]]
    nodes = int(data.num_nodes)
    return CSR.from_coo(torch.minimum(row, col), torch.maximum(row, col), shape=(nodes, nodes)).nnz


def _of_collection(graphs: Any) -> dict[str, Any]:
    check_kind(graphs, "statistics")
    if not isinstance(graphs, Sequence) or not graphs or not all(isinstance(graph, Data) for graph in graphs):
        raise InputError(f"statistics: expected a torch_geometric.data.Data or several, got {type(graphs).__name__}")
    nodes, edges = sum(int(graph.num_nodes) for graph in graphs), sum(count_edges(graph) for graph in graphs)
    labels = [graph.y for graph in graphs if graph.get("y") is not None]
    return {"graphs": len(graphs), "nodes": nodes, "edges": edges, "mean_nodes": nodes / len(graphs),
            "mean_edges": edges / len(graphs), "features": _features(graphs[0]),
            "classes": _classes(torch.cat(labels) if labels else None)}


def _adjacency(data: Data) -> CSR:
    nodes = data.num_nodes
    if not nodes:
        raise InputError("statistics: the graph is empty: it has no nodes")
    edge_index = data.get("edge_index")
    if edge_index is None or edge_index.numel() == 0 or bool((edge_index[0] == edge_index[1]).all()):
        return CSR(torch.zeros(nodes + 1, dtype=torch.long), torch.empty(0, dtype=torch.long), symmetric=True)
    bare = Data(x=torch.ones(nodes, 1), edge_index=edge_index, edge_weight=data.get("edge_weight"))
    return Graph.from_data(bare).adj.with_values(None, symmetric=True)


def _features(data: Data) -> int:
    return 0 if data.get("x") is None else int(data.x.shape[1])


def _classes(y: Tensor | None) -> int:
    if y is None or y.numel() == 0:
        return 0
    if y.dim() == 2 and y.size(1) > 1:
        return int(y.size(1))
    return max(int(y.max()) + 1, 0)


def _homophily(adj: CSR, y: Tensor | None) -> float | None:
    if y is None or y.numel() != adj.shape[0]:
        return None
    y = y.reshape(-1)
    both = (y[adj.row] >= 0) & (y[adj.idx] >= 0)
    return float((y[adj.row] == y[adj.idx])[both].double().mean()) if bool(both.any()) else None


def _eccentricity(pattern: Any, source: int) -> int:
    """The distance of the node that a breadth-first search reaches last, counted on the way back."""
    order, before = scipy.sparse.csgraph.breadth_first_order(pattern, source, return_predecessors=True)
    node, steps = int(order[-1]), 0
    while node != source:
        node, steps = int(before[node]), steps + 1
    return steps
