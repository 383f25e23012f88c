"""Replace the features of nodes of each graph by noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from sgcl.errors import InputError, check_rate
from sgcl.graph import Features, Graph
from sgcl.sparse import CSR, SparseFeatures
from sgcl.views.base import View
from sgcl.views.draw_nodes import draw_nodes, graph_sizes


@dataclass(frozen=True)
class MaskNodes(View):
    """Of a graph of n nodes, ⌊p n⌋ get features ~ N(mean, std²), every choice of them equally likely.

    Args:
        p: the share of the nodes.
        mean, std: of their new features.
    """

    p: float = 0.1
    mean: float = 0.5
    std: float = 0.5

    def __post_init__(self) -> None:
        check_rate("MaskNodes", "p", self.p)
        for name, value, least in (("mean", self.mean, -math.inf), ("std", self.std, 0)):
            if not (value >= least and math.isfinite(value)):
                raise InputError(f"MaskNodes: {name} is {value}, expected a finite number"
                                 f"{' of at least 0' if least == 0 else ''}")

    def __call__(self, graph: Graph, generator: torch.Generator) -> Graph:
        if self.p == 0:
            return graph
        chosen = draw_nodes(graph, (graph_sizes(graph).double() * self.p).long(), generator)        # (N,)
        noise = torch.randn(int(chosen.sum()), graph.num_features, generator=generator, dtype=graph.x.dtype)
        return graph.replace(x=_with_rows(graph.x, chosen, (self.mean + self.std * noise).to(graph.device)))


def _with_rows(x: Features, chosen: Tensor, rows: Tensor) -> Features:
    """x with other rows where the (N,) mask is true; sparse features stay sparse."""
    if isinstance(x, Tensor):
        return x.masked_scatter(chosen[:, None], rows)
    old, new = x.matrix, SparseFeatures.from_dense(rows).matrix
    kept, nodes = ~chosen[old.row], chosen.nonzero().view(-1)
    value = old.values() if x.scale is None else old.values() * x.scale[old.idx]
    return SparseFeatures(CSR.from_coo(torch.cat([old.row[kept], nodes[new.row]]), torch.cat([old.idx[kept], new.idx]),
                                       torch.cat([value[kept], new.values()]), shape=x.shape))
