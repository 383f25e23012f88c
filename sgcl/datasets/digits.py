"""Handwritten digits as a graph of nearest neighbours: a labelled graph that needs no files.

The images: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI 1998, as shipped with scikit-learn.
"""

import torch
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError


def digits(k: int = 10, metric: str = "cosine") -> Data:
    """1,797 images of 8 x 8 pixels, each joined to its k nearest; an edge runs both ways if either end asks for it.

    Euclidean distances between these integer images tie at the k-th neighbour of some; cosine ones do not.

    Args:
        k: neighbours of a node, before the edges are made symmetric.
        metric: ``"cosine"`` or ``"euclidean"``.

    Returns:
        ``x`` (1797, 64): pixels scaled to [0, 1]; ``edge_index`` (2, E); ``y`` (1797,): the digit.
    """
    from sklearn.datasets import load_digits  # slow to import: only those who ask for the digits wait for it
    from sklearn.neighbors import kneighbors_graph

    pixels, digit = load_digits(return_X_y=True)
    if not 1 <= k < len(pixels):
        raise InputError(f"digits: k is {k}, expected 1 to {len(pixels) - 1} neighbours")
    if metric not in ("cosine", "euclidean"):
        raise InputError(f"digits: metric is {metric!r}, expected 'cosine' or 'euclidean'")
    near = kneighbors_graph(pixels / 16, k, metric=metric, include_self=False)
    row, col = near.maximum(near.T).tocsr().nonzero()
    edge_index = torch.stack([torch.from_numpy(row).long(), torch.from_numpy(col).long()])
    return Data(x=torch.from_numpy(pixels / 16).float(), edge_index=edge_index, y=torch.from_numpy(digit).long())


DIGITS = Dataset("digits", "Digits, 10 nearest neighbours",
                 "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI 1998", "random",
                 nodes=1797, edges=12535, features=64, classes=10, loader=digits,
                 licence="CC BY 4.0, as stated by UCI; comes with scikit-learn")
