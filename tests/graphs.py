"""Graphs of any size, for tests of what grows with them."""

import torch
from torch_geometric.data import Data

from sgcl.graph import Graph
from sgcl.sparse import CSR


def random_graph(num_nodes: int, degree: int = 8, features: int = 20) -> Graph:
    """Edges between random nodes."""
    chance = torch.Generator().manual_seed(0)
    return Graph.from_data(Data(x=torch.randn(num_nodes, features, generator=chance),
                                edge_index=torch.randint(num_nodes, (2, num_nodes * degree // 2), generator=chance)))


def collection(num_graphs: int, num_nodes: int = 10, degree: int = 4, features: int = 20) -> Graph:
    """Graphs of one size, edges between random nodes of each."""
    chance = torch.Generator().manual_seed(0)
    return Graph.from_data([
        Data(x=torch.randn(num_nodes, features, generator=chance),
             edge_index=torch.randint(num_nodes, (2, num_nodes * degree // 2), generator=chance))
        for _ in range(num_graphs)])


def lattice(num_nodes: int, reach: int) -> CSR:
    """A ring in which each node knows the next ``reach`` on both sides."""
    row = torch.arange(num_nodes).repeat(2 * reach)
    hop = torch.cat([torch.arange(1, reach + 1), -torch.arange(1, reach + 1)]).repeat_interleave(num_nodes)
    return CSR.from_coo(row, (row + hop) % num_nodes, shape=(num_nodes, num_nodes), symmetric=True)
