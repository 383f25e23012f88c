"""The benchmark graphs that PyTorch Geometric reads from raw files.

Nothing is changed on the way: features are not normalised, and Chameleon, Actor and WebKB stay directed and keep
their self-loops, as their files have them (:meth:`sgcl.graph.Graph.from_data` makes an undirected graph of them).
"""

import contextlib
import io
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch_geometric.datasets
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset

_YANG = "Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016"
_SHCHUR = "Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018"
_PEI = "Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020"


def _pyg(reader: str, *name: str) -> Callable[[Path], Data]:
    return partial(_read, reader, name)


def _read(reader: str, name: tuple[str, ...], root: Path) -> Data:
    """The dataset as PyG's class of that name reads it from ``root/<class>``, quietly."""
    dataset: Any = getattr(torch_geometric.datasets, reader)
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old pickles, read by new libraries
        return dataset(str(root / reader), *name)[0]


def _planetoid(file: str) -> str:
    return f"https://github.com/kimiyoung/planetoid/raw/master/data/{file}"


def _gnn_benchmark(file: str) -> str:
    return f"https://github.com/shchur/gnn-benchmark/raw/master/data/npz/{file}"


def _geom_gcn(name: str, file: str) -> str:
    folder = "splits" if "_split_" in file else f"new_data/{name}"
    return f"https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master/{folder}/{file}"


BENCHMARKS = (
    Dataset("cora", "Cora", f"McCallum et al. 2000; {_YANG}", "development", 2708, 5278, 1433, 7,
            _pyg("Planetoid", "Cora"), "Planetoid/Cora/raw", _planetoid),
    Dataset("citeseer", "CiteSeer", f"Giles et al. 1998; {_YANG}", "development", 3327, 4552, 3703, 6,
            _pyg("Planetoid", "CiteSeer"), "Planetoid/CiteSeer/raw", _planetoid),
    Dataset("pubmed", "PubMed", f"Namata et al. 2012; {_YANG}", "development", 19717, 44324, 500, 3,
            _pyg("Planetoid", "PubMed"), "Planetoid/PubMed/raw", _planetoid),
    Dataset("computers", "Amazon Computers", f"McAuley et al. 2015; {_SHCHUR}", "random", 13752, 245861, 767, 10,
            _pyg("Amazon", "Computers"), "Amazon/Computers/raw", _gnn_benchmark),
    Dataset("photo", "Amazon Photo", f"McAuley et al. 2015; {_SHCHUR}", "random", 7650, 119081, 745, 8,
            _pyg("Amazon", "Photo"), "Amazon/Photo/raw", _gnn_benchmark),
    Dataset("coauthor-cs", "Coauthor CS", _SHCHUR, "random", 18333, 81894, 6805, 15,
            _pyg("Coauthor", "CS"), "Coauthor/CS/raw", _gnn_benchmark),
    Dataset("chameleon", "Chameleon", f"Rozemberczki, Allen and Sarkar 2019; {_PEI}", "fixed", 2277, 31371, 2325, 5,
            _pyg("WikipediaNetwork", "chameleon"), "WikipediaNetwork/chameleon/geom_gcn/raw",
            partial(_geom_gcn, "chameleon")),
    Dataset("actor", "Actor", f"Tang et al. 2009; {_PEI}", "fixed", 7600, 26659, 932, 5,
            _pyg("Actor"), "Actor/raw", partial(_geom_gcn, "film")),
    Dataset("cornell", "Cornell", f"WebKB, Craven et al. 1998; {_PEI}", "fixed", 183, 277, 1703, 5,
            _pyg("WebKB", "Cornell"), "WebKB/cornell/raw", partial(_geom_gcn, "cornell")),
    Dataset("texas", "Texas", f"WebKB, Craven et al. 1998; {_PEI}", "fixed", 183, 279, 1703, 5,
            _pyg("WebKB", "Texas"), "WebKB/texas/raw", partial(_geom_gcn, "texas")),
    Dataset("wisconsin", "Wisconsin", f"WebKB, Craven et al. 1998; {_PEI}", "fixed", 251, 450, 1703, 5,
            _pyg("WebKB", "Wisconsin"), "WebKB/wisconsin/raw", partial(_geom_gcn, "wisconsin")),
)
