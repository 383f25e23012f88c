"""Graphs made by a rule, for pictures and measurements."""

import torch
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError


def grid(n: int = 15) -> Data:
    """An n x n grid, each node joined to its 4 neighbours; node r n + c stands in row r, column c. No labels.

    Returns:
        ``x`` (n², 2): the node's (row, column), scaled to [0, 1]; ``edge_index`` (2, 4 n (n - 1)): both directions.
    """
    if n < 2:
        raise InputError(f"grid: n is {n}, expected at least 2 nodes a side")
    node = torch.arange(n * n).view(n, n)                                  # (n, n)
    right = torch.stack([node[:, :-1].flatten(), node[:, 1:].flatten()])   # (2, n (n - 1))
    down = torch.stack([node[:-1].flatten(), node[1:].flatten()])          # (2, n (n - 1))
    one_way = torch.cat([right, down], dim=1)
    step = torch.linspace(0, 1, n)
    return Data(x=torch.cartesian_prod(step, step), edge_index=torch.cat([one_way, one_way.flip(0)], dim=1))


GRID = Dataset("grid", "Grid of 15 x 15 nodes", "made by a rule", "random", nodes=225, edges=420, features=2, classes=0,
               loader=grid, licence="made by a rule")
