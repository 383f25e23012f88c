"""Graphs larger than memory: a folder of plain ``.npy`` files that a graph is mapped from, and its import from files.

=================  ==============================================================================================
``manifest.json``  format, nodes, edges, features, notes of the import; dtype, shape, bytes and checksum of each array
``ptr.npy``        (N + 1,) int64, where the neighbours of each node start
``idx.npy``        (2E,) int32, the neighbours, ascending; the adjacency is symmetric, and its own transpose
``value.npy``      (2E,) float32 weights, unless all are 1
``x.npy``          (N, F) float32 or float16; or of sparse features ``x_ptr.npy``, ``x_idx.npy``, ``x_value.npy``
``ids.npy``        (N,) int64 or text
``y.npy``          (N,) int64 with -1 for none, or (N, T) int8; with the names of the classes in ``classes.npy``
=================  ==============================================================================================

A store may be cut into parts, for different machines: a folder with a store for each, and a ``manifest.json`` of them.
"""

from sgcl.store.build import import_graph
from sgcl.store.cut import cut_store
from sgcl.store.manifest import is_store, verify
from sgcl.store.named import read_files
from sgcl.store.parts import PartGraph, read_parts
from sgcl.store.read import in_memory, label_nodes, open_store, read_store

__all__ = ["PartGraph", "cut_store", "import_graph", "in_memory", "is_store", "label_nodes", "open_store", "read_files",
           "read_parts", "read_store", "verify"]
