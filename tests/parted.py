"""Small stores written as they are, without an import, for tests of parts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse

from sgcl.store.arrays import write_array
from sgcl.store.manifest import write_manifest


def made_store(folder: Path, nodes: int, pairs: Sequence[tuple[int, int]], *, weighted: bool = False,
               sparse: bool = False, dtype: str = "float32", **beside: np.ndarray) -> Path:
    """A store of ``pairs``; node i is called 10 i, an edge (i, j) weighs i + j, features are numbers of i."""
    folder.mkdir()
    row, col = np.array([*pairs, *((j, i) for i, j in pairs)]).reshape(-1, 2).T
    adj = scipy.sparse.csr_array((row + col + 0.5, (row, col)), shape=(nodes, nodes))
    adj.data = (adj.tocoo().row + adj.tocoo().col).astype(np.float32)  # of an edge that is given twice too
    x = np.sin(np.arange(1, 3 * nodes + 1)).reshape(nodes, 3)
    arrays = {"ptr": adj.indptr.astype(np.int64), "idx": adj.indices.astype(np.int32), "ids": 10 * np.arange(nodes)}
    if weighted:
        arrays["value"] = adj.data
    if sparse:
        kept = scipy.sparse.csr_array(np.where(x > 0, x, 0))
        arrays |= {"x_ptr": kept.indptr.astype(np.int64), "x_idx": kept.indices.astype(np.int32),
                   "x_value": kept.data.astype(np.float32)}
    else:
        arrays["x"] = x.astype(dtype)
    arrays |= beside
    records = {name: write_array(folder / f"{name}.npy", array) for name, array in arrays.items()}
    write_manifest(folder, records, nodes=nodes, edges=adj.nnz // 2, features=3, feature_names=["a", "b", "c"],
                   notes=[], imported=["by hand"])
    return folder


def ring(nodes: int) -> list[tuple[int, int]]:
    """A ring with chords."""
    return [(i, (i + step) % nodes) for i in range(nodes) for step in (1, 2, 5)]
