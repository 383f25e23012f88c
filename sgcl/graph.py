"""The graph as the rooms hand it on: features and a sorted, symmetric adjacency; never labels.

Everything that trains sees a :class:`Graph` alone, so labels cannot leak into an embedding.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import scipy.sparse.csgraph
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.errors import InputError, check_kind
from sgcl.sparse import CSR, SparseFeatures, larger_way

Features = Tensor | SparseFeatures

_SPARSE_BELOW = 0.1  # features filled less than this are kept sparse


@dataclass(frozen=True)
class Graph:
    """An undirected graph without self-loops.

    Args:
        x: (N, F) features, dense or :class:`~sgcl.sparse.SparseFeatures`.
        adj: (N, N) symmetric adjacency; its values are the edge weights, ``None`` for ones.
        n_id: (N,) for a sub-graph, the numbers its nodes had in the graph it was taken from.
    """

    x: Features
    adj: CSR
    n_id: Tensor | None = None

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

    def replace(self, **changes: Any) -> Graph:
        return dataclasses.replace(self, **changes)

    def subgraph(self, nodes: Tensor) -> Graph:
        """The sub-graph induced by ``nodes`` (ascending, none twice), at the cost of those rows alone."""
        return Graph(self.x[nodes], self.adj.submatrix(nodes), nodes if self.n_id is None else self.n_id[nodes])

    def to(self, device: torch.device | str) -> Graph:
        if self.device == torch.device(device):
            return self
        n_id = None if self.n_id is None else self.n_id.to(device)
        return Graph(self.x.to(device), self.adj.to(device), n_id)

    @classmethod
    def from_data(cls, data: Data | Graph) -> Graph:
        """Check a PyG ``Data`` and bring it into form: both directions of each edge, sorted, merged, no loops.

        Edge weights are read from ``edge_weight``; the two directions of an edge given with different weights get the
        larger one. The input is left as it is.
        """
        if isinstance(data, Graph):
            return data
        check_kind(data)
        if not isinstance(data, Data):
            raise InputError(f"expected a torch_geometric.data.Data or an sgcl Graph, got {type(data).__name__}")
        x, num_nodes = _checked_features(data)
        return cls(x, _checked_adjacency(data, num_nodes))


def prepare(data: Data | Graph, *, normalize_features: bool = False) -> Graph:
    """The graph that a model is trained on and embeds.

    Args:
        data: what :meth:`Graph.from_data` takes.
        normalize_features: scale each row of the features so that its absolute values add up to 1; rows of zeros stay.
    """
    graph = Graph.from_data(data)
    if not normalize_features:
        return graph
    if isinstance(graph.x, SparseFeatures):
        rows = graph.x.matrix.with_values(graph.x.matrix.values().abs()).row_sum()
        scale = torch.where(rows > 0, 1 / rows, 0.0)                       # (N,)
        return graph.replace(x=graph.x.scale_entries(scale[graph.x.matrix.row]))
    return graph.replace(x=torch.nn.functional.normalize(graph.x, p=1.0))


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


def _first_bad(x: Features, value: Tensor) -> str:
    if isinstance(x, SparseFeatures):
        return ""
    row, col = (~torch.isfinite(value)).nonzero()[0].tolist()
    return f" (first at node {row}, column {col})"


def _shape_of(value: Any) -> str:
    return f"shape {tuple(value.shape)}" if hasattr(value, "shape") else type(value).__name__
