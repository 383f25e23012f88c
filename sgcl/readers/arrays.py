"""Arrays and sparse matrices: from NumPy files, never through pickle, or handed over as they are."""

from __future__ import annotations

import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from sgcl.errors import InputError
from sgcl.readers.ids import LONGEST, Ids
from sgcl.readers.table import first_line, readable

_SPARSE_FORMATS = ("csr", "csc", "coo")
_DAMAGE = (ValueError, TypeError, KeyError, IndexError, EOFError, OSError, MemoryError, RuntimeError, SyntaxError,
           tokenize.TokenError, zipfile.BadZipFile, zlib.error, struct.error)  # what damaged files make NumPy raise


def load_array(path: Path, *, mapped: bool = False) -> np.ndarray | scipy.sparse.csr_array:
    """The array of a ``.npy`` file, perhaps ``mapped`` from it and not read yet, the one array of a ``.npz`` file, or
    the matrix that SciPy saved in one."""
    readable(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's advice on headers in the manner of Python 2, which it reads
            return _loaded(path, mapped)
    except InputError:
        raise
    except _DAMAGE as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise InputError(f"{path} holds Python objects or is no NumPy file; save an array of numbers") from None
        raise InputError(f"{path} is no whole NumPy file ({first_line(error)}); write it again") from None


def sparse_matrix(name: str, matrix: Any) -> scipy.sparse.csr_array:
    """The matrix by rows, its indices checked; entries given twice are added up."""
    if matrix.format not in _SPARSE_FORMATS or matrix.ndim != 2:
        raise InputError(f"{name}: a sparse {matrix.ndim}-dimensional matrix of format {matrix.format!r}; "
                         "give .tocsr() of it")
    try:
        if matrix.format == "coo":
            matrix = scipy.sparse.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
        else:
            matrix.check_format(full_check=True)
        if not _numeric(matrix.dtype):
            raise ValueError(f"entries of type {matrix.dtype}")
    except ValueError as error:
        raise InputError(f"{name}: not a valid sparse matrix ({first_line(error)}); write it again") from None
    rows = scipy.sparse.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    return rows


def feature_matrix(name: str, given: Any, *, copy: bool = True) -> np.ndarray | scipy.sparse.csr_array:
    """(N, F) float32, dense or sparse by rows, checked."""
    if isinstance(given, Tensor):
        given = _from_torch(given.detach().cpu())
    if scipy.sparse.issparse(given):
        with np.errstate(over="ignore"):
            x = sparse_matrix(name, given).astype(np.float32)
        _check_shape(name, x)
        finite = np.isfinite(x.data)
        bad = None if finite.all() else int(np.searchsorted(x.indptr, finite.argmin(), side="right")) - 1
    else:
        check_dense(name, given)
        with np.errstate(over="ignore"):
            x = given.astype(np.float32, copy=copy)
        finite = np.isfinite(x)
        bad = None if finite.all() else int(np.unravel_index(int(finite.argmin()), x.shape)[0])
    if bad is not None:
        raise InputError(f"{name}, row {bad + 1}: holds a NaN, infinite or too large number; replace it")
    return x


def check_dense(name: str, given: Any) -> None:
    """Raise unless this is an (N, F) array of numbers."""
    if not isinstance(given, np.ndarray) or not _numeric(given.dtype):
        kind = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise InputError(f"{name}: features of type {kind}; expected an (N, F) array of numbers")
    if given.ndim != 2:
        raise InputError(f"{name}: features of shape {given.shape}; expected (N, F), one row for each node")
    _check_shape(name, given)


def row_ids(given: Any) -> Ids | None:
    """The ids of the rows of arrays that carry none: a sequence, an array, or a ``.npy`` file of one."""
    if given is None:
        return None
    name = str(given) if isinstance(given, str | Path) else "ids"
    array = load_array(Path(given)) if isinstance(given, str | Path) else _as_array(given)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iuU":
        raise InputError(f"{name}: expected a one-dimensional array of integers or text")
    if array.dtype.kind == "u" and len(array) and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{name}: holds integers beyond 64 bits with sign; give them as text")
    order = np.argsort(array, kind="stable")
    repeated = np.flatnonzero(array[order][1:] == array[order][:-1])
    if len(repeated):
        twice = array[order][repeated[0]].item()
        raise InputError(f"{name}: {twice!r} is there twice; every row needs an id of its own")
    if array.dtype.kind != "U":
        return Ids(array.astype(np.int64))
    texts = array.tolist()
    if "" in texts or array.dtype.itemsize > 4 * LONGEST:
        raise InputError(f"{name}: an id is empty or longer than {LONGEST} characters")
    return Ids(np.arange(len(array)), texts)


def _loaded(path: Path, mapped: bool) -> np.ndarray | scipy.sparse.csr_array:
    loaded = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        if "format" in loaded.files and "shape" in loaded.files:
            return sparse_matrix(str(path), scipy.sparse.load_npz(path))
        if len(loaded.files) != 1:
            raise InputError(f"{path} holds {len(loaded.files)} arrays, expected one array or a matrix saved by "
                             "scipy.sparse.save_npz")
        array: np.ndarray = loaded[loaded.files[0]]
        return array


def _check_shape(name: str, x: Any) -> None:
    if 0 in x.shape:
        raise InputError(f"{name}: features of shape {x.shape}; expected at least one row and one column")


def _as_array(given: Any) -> np.ndarray | None:
    try:
        return np.asarray(given)
    except ValueError:  # lists of unequal length
        return None


def _from_torch(x: Tensor) -> np.ndarray | scipy.sparse.csr_array:
    if x.layout == torch.strided:
        dense: np.ndarray = x.float().numpy()
        return dense
    entries = x.to_sparse_coo().coalesce()
    return scipy.sparse.coo_array((entries.values().float().numpy(), tuple(entries.indices().numpy())),
                                  shape=tuple(x.shape)).tocsr()


def _numeric(kind: np.dtype) -> bool:
    return kind.kind in "biuf"
