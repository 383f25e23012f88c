"""The node-level graphs of the Open Graph Benchmark, read from their raw files without the ``ogb`` package.

Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020. A dataset is a folder
``ogbn_<name>`` with the tables ``raw/edge.csv.gz`` (E, 2), ``raw/node-feat.csv.gz`` (N, F), ``raw/node-label.csv.gz``
(N, T), ``raw/num-node-list.csv.gz`` and ``raw/num-edge-list.csv.gz`` (N and E), and the node numbers of its split in
``split/<scheme>/{train,valid,test}.csv.gz``. There are no pickles among them, so no checksum is needed, and none is
known here: that the files are the published ones is checked by their numbers of nodes, edges, features and classes.
"""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.datasets.tables import Array, blocks, check_nodes, read_columns, read_table
from sgcl.errors import InputError

_HU = "Hu et al., Open Graph Benchmark, NeurIPS 2020"


def _read(name: str, scheme: str, root: Path) -> Data:
    """``edge_index`` has each edge once, as the file has it; :meth:`sgcl.graph.Graph.from_data` adds the other
    direction. Without node features a node gets the mean of the features of its edges, in both directions.
    """
    raw, split = root / name / "raw", root / name / "split" / scheme
    nodes, edges = _count(raw / "num-node-list.csv.gz"), _count(raw / "num-edge-list.csv.gz")
    edge_index = read_columns(raw / "edge.csv.gz", np.int64, edges)        # (2, E)
    check_nodes(raw / "edge.csv.gz", edge_index, nodes)
    labels = torch.from_numpy(read_table(raw / "node-label.csv.gz", np.float32, nodes)).nan_to_num_(-1)
    data = Data(edge_index=torch.from_numpy(edge_index), y=labels.to(torch.long if labels.dim() == 1 else torch.int8))
    if (raw / "edge-feat.csv.gz").is_file():
        data.x = torch.from_numpy(_mean_of_edges(raw / "edge-feat.csv.gz", edge_index, nodes))
        data.node_species = torch.from_numpy(read_table(raw / "node_species.csv.gz", np.int64, nodes))
    else:
        features = read_table(raw / "node-feat.csv.gz", np.float32, nodes)
        data.x = torch.from_numpy(features.reshape(nodes, -1))
    for mask, file in (("train_mask", "train"), ("val_mask", "valid"), ("test_mask", "test")):
        data[mask] = _mask(split / f"{file}.csv.gz", nodes)
    return data


def _count(path: Path) -> int:
    """The one number in a file; a second would be that of a second graph."""
    return int(read_table(path, np.int64, 1).item())


def _mean_of_edges(path: Path, edge_index: Array, nodes: int) -> Array:
    """(N, F) the mean of the features of the edges at each node, zeros for a node without edges. One block of the
    (E, F) table is in memory at a time."""
    total, done = None, 0
    for block in blocks(path, np.float64):
        ends = edge_index[:, done:done + len(block)]
        if ends.shape[1] < len(block):
            raise InputError(f"{path} has more than {edge_index.shape[1]} rows, one for each edge")
        if total is None:
            total = np.zeros((nodes, block.shape[1]))
        for column, values in enumerate(block.T):
            for side in ends:
                total[:, column] += np.bincount(side, values, minlength=nodes)
        done += len(block)
    if total is None or done != edge_index.shape[1]:
        raise InputError(f"{path} has {done} rows, expected {edge_index.shape[1]}, one for each edge")
    degree = sum(np.bincount(side, minlength=nodes) for side in edge_index)
    mean: Array = (total / np.maximum(degree, 1)[:, None]).astype(np.float32)
    return mean


def _mask(path: Path, nodes: int) -> Tensor:
    mask = torch.zeros(nodes, dtype=torch.bool)
    for block in blocks(path, np.int64, columns=1):
        check_nodes(path, block, nodes)
        mask[torch.from_numpy(block[:, 0])] = True
    return mask


def _files(scheme: str, *features: str) -> tuple[str, ...]:
    tables = ("edge", *features, "node-label", "num-node-list", "num-edge-list")
    return (*(f"raw/{table}.csv.gz" for table in tables),
            *(f"split/{scheme}/{part}.csv.gz" for part in ("train", "valid", "test")))


def _archive(name: str) -> tuple[str, str]:
    return f"https://snap.stanford.edu/ogb/data/nodeproppred/{name}.zip", name


OGB = (
    Dataset("ogbn-arxiv", "ogbn-arxiv", f"Wang et al. 2020; {_HU}", "ogb", 169343, 1166243, 128, 40,
            partial(_read, "ogbn_arxiv", "time"), "ogbn_arxiv", plain=_files("time", "node-feat"),
            archive=_archive("arxiv"), listed=True, split=(90941, 29799, 48603),
            licence="ODC-BY, as stated by OGB",
            published={"nodes": 169343, "edges": 1166243, "features": 128, "classes": 40, "components": 1,
                       "homophily": 0.654, "mean_degree": 13.67, "diameter": 23}),
    Dataset("ogbn-products", "ogbn-products", f"Chiang et al. 2019; {_HU}", "ogb", 2449029, 61859140, 100, 47,
            partial(_read, "ogbn_products", "sales_ranking"), "ogbn_products",
            plain=_files("sales_ranking", "node-feat"), archive=_archive("products"), listed=True,
            split=(196615, 39323, 2213091), licence="Amazon licence, as stated by OGB",
            published={"nodes": 2449029, "edges": 61859140, "features": 100, "classes": 47, "components": 52658,
                       "homophily": 0.808, "mean_degree": 51.54, "diameter": 27}),
    Dataset("ogbn-proteins", "ogbn-proteins", f"Szklarczyk et al. 2019; {_HU}", "ogb", 132534, 39561252, 8, 112,
            partial(_read, "ogbn_proteins", "species"), "ogbn_proteins",
            plain=_files("species", "edge-feat", "node_species"), archive=_archive("proteins"), listed=True,
            split=(86619, 21236, 24679), metric="roc-auc", licence="CC0, as stated by OGB",
            published={"nodes": 132534, "edges": 39561252, "features": 8, "classes": 94, "components": 1,
                       "homophily": 0.91, "mean_degree": 597, "diameter": 9}),
)
