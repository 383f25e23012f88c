"""The graph as the rooms hand it on: features and a sorted, symmetric adjacency; never labels.

Everything that trains sees a :class:`Graph` alone, so labels cannot leak into an embedding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import scipy.sparse.csgraph
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, check_kind
from sgcl.mapped import MappedFeatures, normalised
from sgcl.sparse import CSR, SparseFeatures, block_diagonal, larger_way, row_entries

Features = Tensor | SparseFeatures

_SPARSE_BELOW = 0.1  # features filled less than this are kept sparse


@dataclass(frozen=True)
class Graph:
    """An undirected graph without self-loops, or a collection of G of them side by side: block after block.

    Args:
        x: (N, F) features, dense or :class:`~sgcl.sparse.SparseFeatures`; of a graph in a store
            :class:`~sgcl.mapped.MappedFeatures`, of which batches take rows.
        adj: (N, N) symmetric adjacency; its values are the edge weights, ``None`` for ones.
        n_id: (N,) for a sub-graph, the numbers its nodes had in the graph it was taken from.
        graph_ptr: (G + 1,) where the nodes of each graph of a collection start; ``None`` for a single graph.
    """

    x: Features
    adj: CSR
    n_id: Tensor | None = None
    graph_ptr: Tensor | None = None

    @property
    def num_nodes(self) -> int:
        return self.adj.shape[0]

    @property
    def num_edges(self) -> int:
        """Undirected edges."""
        return self.adj.nnz // 2

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def device(self) -> torch.device:
        return self.adj.device

    @property
    def num_graphs(self) -> int:
        return 1 if self.graph_ptr is None else len(self.graph_ptr) - 1

    @property
    def graph_of(self) -> Tensor:
        """(N,) the number of each node's graph."""
        if self.graph_ptr is None:
            return torch.zeros(self.num_nodes, dtype=torch.long, device=self.device)
        return torch.repeat_interleave(self.graph_ptr.diff(), output_size=self.num_nodes)

    def replace(self, **changes: Any) -> Graph:
        return dataclasses.replace(self, **changes)

    def subgraph(self, nodes: Tensor) -> Graph:
        """The sub-graph induced by ``nodes`` (ascending, none twice), at the cost of those rows alone."""
        ptr = None if self.graph_ptr is None else torch.searchsorted(nodes, self.graph_ptr)
        return Graph(self.x[nodes], self.adj.submatrix(nodes), nodes if self.n_id is None else self.n_id[nodes], ptr)

    def take(self, graphs: Tensor) -> Graph:
        """The (n,) graphs of a collection with these numbers, in the given order, at their own cost."""
        assert self.graph_ptr is not None
        ptr, nodes = row_entries(self.graph_ptr, graphs)                   # (n + 1,), (nodes,)
        rows = self.adj.take_rows(nodes)
        moved = torch.repeat_interleave(ptr[:-1] - self.graph_ptr[graphs], ptr.diff())              # (nodes,)
        adj = CSR(rows.ptr, rows.idx + moved[rows.row], rows.value, num_cols=len(nodes), symmetric=self.adj.symmetric)
        return Graph(self.x[nodes], adj, nodes if self.n_id is None else self.n_id[nodes], ptr)

    def to(self, device: torch.device | str) -> Graph:
        if self.device == torch.device(device):
            return self
        n_id, graph_ptr = (None if part is None else part.to(device) for part in (self.n_id, self.graph_ptr))
        return Graph(self.x.to(device), self.adj.to(device), n_id, graph_ptr)

    def source(self, batch: int, batches: int) -> Graph:
        """What batch number ``batch`` of the ``batches`` of an epoch is drawn from: itself, unless it lies in parts."""
        return self

    def whole(self, what: str) -> Graph:
        """Itself, for ``what`` needs all of it; refused where it lies in parts."""
        return self

    @property
    def digest(self) -> str | None:
        """What stands for all of it where it is of a store; ``None`` else."""
        return f"{self.x.digest} {self.num_nodes} {self.adj.nnz}" if isinstance(self.x, MappedFeatures) else None

    def in_memory(self) -> Graph:
        """The graph of a store for whatever looks at the whole of it; itself where it is not of one."""
        if not isinstance(self.x, MappedFeatures):
            return self
        return self.replace(x=self.x[:], adj=self.adj.rows(slice(None), symmetric=self.adj.symmetric))

    @classmethod
    def from_data(cls, data: Data | Graph | Sequence[Data]) -> Graph:
        """Check a PyG ``Data`` and bring it into form: both directions of each edge, sorted, merged, no loops.

        Edge weights are read from ``edge_weight``; the two directions of an edge given with different weights get the
        larger one. The input is left as it is.

        A list of ``Data``, or one with ``batch``, the (N,) number of each node's graph, is a collection of graphs. A
        ``Data`` that has its :class:`Graph` in ``graph``, as one from a store, is that graph.
        """
        if isinstance(data, Graph):
            return data
        if isinstance(data, Sequence):
            data = side_by_side(data)
        check_kind(data)
        if not isinstance(data, Data):
            raise InputError(f"expected a torch_geometric.data.Data or an sgcl Graph, got {type(data).__name__}")
        if isinstance(data.get("graph"), Graph):
            made: Graph = data.graph
            return made
        x, num_nodes = _checked_features(data)
        graph = cls(x, _checked_adjacency(data, num_nodes))
        return graph if data.get("batch") is None else graph.replace(graph_ptr=_checked_graphs(data, graph.adj))


def side_by_side(graphs: Sequence[Data]) -> Data:
    """One ``Data`` of many: ``x``, ``edge_index`` and the edge weights one after the other, ``batch`` with the number
    of each node's graph, and ``y`` (G,), -1 where a graph has none, if any has."""
    if not len(graphs):
        raise InputError("the collection is empty: it has no graphs")
    for number, graph in enumerate(graphs):
        if not isinstance(graph, Data):
            raise InputError(f"graph {number} of the collection is a {type(graph).__name__}, expected a "
                             "torch_geometric.data.Data; sgcl.read_collection reads NetworkX graphs too")
        if graph.x is None or graph.x.dim() != 2:
            raise InputError(f"graph {number} of the collection has no node features: set its x to an (n, F) matrix")
        if graph.x.size(1) != graphs[0].x.size(1):
            raise InputError(f"graph {number} of the collection has {graph.x.size(1)} features, the first has "
                             f"{graphs[0].x.size(1)}: all need the same")
    sizes = torch.tensor([len(graph.x) for graph in graphs])               # (G,)
    first = (sizes.cumsum(0) - sizes).tolist()
    edges = [torch.empty(2, 0, dtype=torch.long) if graph.edge_index is None else graph.edge_index for graph in graphs]
    for number, (pairs, size) in enumerate(zip(edges, sizes.tolist(), strict=True)):
        if pairs.numel() and not 0 <= int(pairs.min()) <= int(pairs.max()) < size:
            raise InputError(f"graph {number} of the collection has edges to nodes that it does not have: they are "
                             f"numbered 0 to {size - 1}")
    data = Data(x=torch.cat([graph.x for graph in graphs]), batch=torch.repeat_interleave(sizes),
                edge_index=torch.cat([pairs + start for pairs, start in zip(edges, first, strict=True)], dim=1),
                num_graphs=len(graphs))
    if any(graph.get("edge_weight") is not None for graph in graphs):
        data.edge_weight = torch.cat([graph.edge_weight.view(-1) if graph.get("edge_weight") is not None
                                      else torch.ones(pairs.size(1))
                                      for graph, pairs in zip(graphs, edges, strict=True)])
    if any(graph.y is not None for graph in graphs):
        data.y = torch.cat([torch.tensor([-1]) if graph.y is None else graph.y.view(-1)[:1] for graph in graphs])
    return data


def join(parts: Sequence[Graph]) -> Graph:
    """One collection of several, their graphs one after the other; a single graph counts as a collection of one."""
    sizes = torch.tensor([part.num_nodes for part in parts])
    first, device = (sizes.cumsum(0) - sizes).tolist(), parts[0].device
    adj = block_diagonal([part.adj for part in parts])
    starts = [torch.tensor([0], device=device) if part.graph_ptr is None else part.graph_ptr[:-1] for part in parts]
    ptr = torch.cat([here + start for here, start in zip(starts, first, strict=True)]
                    + [torch.tensor([int(sizes.sum())], device=device)])
    n_ids = [part.n_id for part in parts if part.n_id is not None]
    return Graph(_stacked([part.x for part in parts]), adj, torch.cat(n_ids) if len(n_ids) == len(parts) else None, ptr)


def prepare(data: Data | Graph | Sequence[Data], *, normalize_features: bool = False) -> Graph:
    """The graph that a model is trained on and embeds.

    Args:
        data: what :meth:`Graph.from_data` takes.
        normalize_features: scale each row of the features so that its absolute values add up to 1; rows of zeros stay.
    """
    graph = Graph.from_data(data)
    if not normalize_features:
        return graph
    if isinstance(graph.x, MappedFeatures):
        return graph.replace(x=MappedFeatures(graph.x.matrix, graph.x.digest, normalised=True))
    return graph.replace(x=normalised(graph.x))


def scale_columns(x: Features, scale: Tensor) -> Features:
    """x with column f multiplied by scale[f]: (N, F), (F,) give (N, F)."""
    return x.scale_columns(scale) if isinstance(x, SparseFeatures) else x * scale


def scale_rows(x: Features, scale: Tensor) -> Features:
    """x with row i multiplied by scale[i]: (N, F), (N,) give (N, F)."""
    return x.scale_entries(scale[x.matrix.row]) if isinstance(x, SparseFeatures) else x * scale[:, None]


def one_column_each(x: Features) -> bool:
    """Whether every node has a column of its own, as learned features do: nothing but the node is then in them."""
    if not isinstance(x, SparseFeatures) or x.matrix.nnz != len(x):
        return False
    return bool((x.matrix.ptr.diff() == 1).all()) and bool((x.matrix.idx.diff() > 0).all())


def largest_component(data: Data) -> Data:
    """``data`` restricted to its largest connected component, nodes in their old order, numbers kept in ``n_id``."""
    adj = _checked_adjacency(data, _num_nodes(data))
    _, label = scipy.sparse.csgraph.connected_components(adj.to_scipy(), directed=False)
    component = torch.from_numpy(label).long()
    nodes = (component == component.bincount().argmax()).nonzero().view(-1)
    beside = {name: data[name] for name in ("x", "ids", "classes", "feature_names", "notes")
              if name in data}  # not for PyG to slice
    part = Data(**{name: value for name, value in data.to_dict().items() if name not in beside})
    part.num_nodes = adj.shape[0]
    part = part.subgraph(nodes)
    for name, value in beside.items():
        part[name] = _rows(value, nodes) if name in ("x", "ids") else value
    part.n_id = nodes
    return part


def _stacked(blocks: list[Features]) -> Features:
    """(n1 + n2 + ..., F) rows under rows: sparse where all are."""
    if not all(isinstance(x, SparseFeatures) for x in blocks):
        return torch.cat([x.to_dense() if isinstance(x, SparseFeatures) else x for x in blocks])
    matrices = [x.matrix if x.scale is None else x.matrix.with_values(x.matrix.values() * x.scale[x.matrix.idx])
                for x in blocks if isinstance(x, SparseFeatures)]
    ptr = [matrices[0].ptr]
    for matrix in matrices[1:]:
        ptr.append(matrix.ptr[1:] + ptr[-1][-1])
    return SparseFeatures(CSR(torch.cat(ptr), torch.cat([matrix.idx for matrix in matrices]),
                              torch.cat([matrix.values() for matrix in matrices]), num_cols=matrices[0].shape[1]))


def _rows(value: Any, nodes: Tensor) -> Any:
    """Rows of a matrix of features, dense or sparse, or of an array of ids."""
    if isinstance(value, Tensor) and value.layout != torch.strided:
        return SparseFeatures.from_torch(value)[nodes]
    return value[nodes.numpy()] if not isinstance(value, Tensor | SparseFeatures) else value[nodes]


def _num_nodes(data: Data) -> int:
    if data.x is not None:
        return int(data.x.shape[0])
    if "num_nodes" in data:
        return int(data.num_nodes or 0)
    raise InputError("the graph has neither x nor num_nodes: set data.num_nodes")


def _checked_features(data: Data) -> tuple[Features, int]:
    x = data.x
    if x is None:
        raise InputError("the graph has no node features: set data.x to an (N, F) matrix")
    if isinstance(x, SparseFeatures):
        value = x.matrix.values()
    elif not isinstance(x, Tensor) or x.dim() != 2:
        raise InputError(f"data.x must be an (N, F) matrix, got {_shape_of(x)}")
    elif x.layout == torch.sparse_csr or x.layout == torch.sparse_coo:
        x = SparseFeatures.from_torch(x)
        value = x.matrix.values()
    else:
        x = value = x.detach().float()
    if x.shape[0] == 0:
        raise InputError("the graph is empty: it has no nodes")
    if x.shape[1] == 0:
        raise InputError("the node features have no columns: data.x is (N, 0)")
    declared = data.get("num_nodes")
    if declared is not None and int(declared) != x.shape[0]:
        raise InputError(f"data.x has {x.shape[0]} rows but the graph has {int(declared)} nodes: one row for each node")
    if x.shape[0] == 1:
        raise InputError("the graph has a single node: contrastive learning needs at least two")
    if not bool(torch.isfinite(value).all()):
        raise InputError(f"node features hold NaN or infinite values{_first_bad(x, value)}: "
                         "replace them, e.g. data.x.nan_to_num_()")
    if isinstance(x, Tensor) and int(x.count_nonzero()) < _SPARSE_BELOW * x.numel():
        return SparseFeatures.from_dense(x), x.shape[0]
    return x, x.shape[0]


def _checked_adjacency(data: Data, num_nodes: int) -> CSR:
    edge_index = data.edge_index
    if edge_index is None or edge_index.numel() == 0:
        raise InputError("the graph has no edges: data.edge_index is empty")
    if edge_index.dim() != 2 or edge_index.size(0) != 2 or edge_index.is_floating_point():
        raise InputError(f"data.edge_index must be a (2, E) integer tensor, got {_shape_of(edge_index)}")
    low, high = int(edge_index.min()), int(edge_index.max())
    if low < 0 or high >= num_nodes:
        raise InputError(f"data.edge_index names node {low if low < 0 else high}, but nodes are numbered "
                         f"0 to {num_nodes - 1}")
    row, col = edge_index.long()
    weight = data.get("edge_weight")
    if weight is not None:
        weight = weight.detach().float().view(-1)
        if len(weight) != len(row):
            raise InputError(f"data.edge_weight has {len(weight)} entries for {len(row)} edges: one for each edge")
        if not bool(torch.isfinite(weight).all()) or bool((weight < 0).any()):
            raise InputError("data.edge_weight holds negative, NaN or infinite values: weights must be >= 0")
    loop = row == col
    if bool(loop.any()):
        row, col = row[~loop], col[~loop]
        weight = None if weight is None else weight[~loop]
        if len(row) == 0:
            raise InputError("the graph has no edges besides self-loops")
    if weight is None and row.device.type != "cpu":
        return CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(num_nodes, num_nodes), symmetric=True)
    return larger_way(CSR.from_coo(row, col, weight, shape=(num_nodes, num_nodes)).to("cpu"))


def _checked_graphs(data: Data, adj: CSR) -> Tensor:
    """(G + 1,) where the nodes of each graph start."""
    batch = data.batch
    if batch.dim() != 1 or len(batch) != adj.shape[0] or batch.is_floating_point():
        raise InputError(f"data.batch must give the number of a graph for each of the {adj.shape[0]} nodes, got "
                         f"{_shape_of(batch)}")
    if bool((batch.diff() < 0).any()) or int(batch[0]) < 0:
        raise InputError("data.batch must count the graphs in order: sort the nodes by their graph")
    declared = data.get("num_graphs")
    size = torch.bincount(batch, minlength=int(declared or 0))             # (G,)
    if bool((size == 0).any()):
        raise InputError(f"graph {int((size == 0).nonzero()[0])} of the collection has no nodes: leave it out")
    if bool((batch[adj.row] != batch[adj.idx]).any()):
        raise InputError("the collection has edges from one graph to another: give each graph its own nodes")
    return torch.nn.functional.pad(size.cumsum(0), (1, 0))


def _first_bad(x: Features, value: Tensor) -> str:
    if isinstance(x, SparseFeatures):
        return ""
    row, col = (~torch.isfinite(value)).nonzero()[0].tolist()
    return f" (first at node {row}, column {col})"


def _shape_of(value: Any) -> str:
    return f"shape {tuple(value.shape)}" if hasattr(value, "shape") else type(value).__name__
