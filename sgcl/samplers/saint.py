"""GraphSAINT's normalisation: how much each node and edge counts, given how often a sampler draws it."""

from __future__ import annotations

import torch
from torch import Tensor

from sgcl.graph import Graph
from sgcl.samplers.base import Sampler, check_counts


def saint_coefficients(sampler: Sampler, graph: Graph, samples: int, generator: torch.Generator
                       ) -> tuple[Tensor, Tensor]:
    """Coefficients that undo the bias of a sampler (Zeng et al., GraphSAINT, 2020), estimated from some batches.

    Among ``samples`` batches, let C_v be how many hold node v and C_vu how many hold the edge (v, u). Then

        node_v  = samples / (N C_v)        sum over a batch of node_v * loss_v  estimates the mean of loss_v over N
        edge_vu = C_v / C_vu               sum over a batch's neighbours u of v of edge_vu * A_vu * h_u, given that v is
                                           in the batch, estimates the sum over all neighbours of A_vu * h_u

    which are 1/lambda_v and 1/alpha_uv of the paper. What no batch held counts as held once, so all coefficients are
    finite. For a batch, take ``node[batch.n_id]``; the full graph has 1/N and 1 everywhere.

    Args:
        sampler: whose bias to undo.
        graph: N nodes and nnz = 2E adjacency entries.
        samples: how many batches to draw; the paper draws until each node is seen about 50 times.

    Returns:
        (N,) coefficients of the nodes and (nnz,) coefficients of the entries of ``graph.adj``, in their order; entry
        (v, u) weighs what u sends to v, so they are not symmetric.
    """
    check_counts("saint_coefficients", samples=samples)
    adj = graph.adj
    numbered = adj.with_values(torch.arange(adj.nnz, device=adj.device))
    node_count = torch.zeros(graph.num_nodes, device=adj.device)
    edge_count = torch.zeros(adj.nnz, device=adj.device)
    for _ in range(samples):
        nodes = sampler.nodes(graph, generator)
        node_count[nodes] += 1
        edge_count[numbered.submatrix(nodes).values()] += 1
    node_count.clamp_(min=1)
    edge_count.clamp_(min=1)
    return samples / (graph.num_nodes * node_count), node_count[adj.row] / edge_count
