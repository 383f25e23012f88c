"""The benchmark graphs that PyTorch Geometric reads from raw files.

Nothing is changed on the way: features are not normalised, and Chameleon, Actor and WebKB stay directed and keep
their self-loops, as their files have them (:meth:`sgcl.graph.Graph.from_data` makes an undirected graph of them).
"""

import contextlib
import io
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch_geometric.datasets
import torch_geometric.io
from torch_geometric.data import Data

from sgcl.datasets.entry import Dataset
from sgcl.errors import InputError

_YANG = "Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016"
_SHCHUR = "Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018"
_PEI = "Pei et al., Geom-GCN: Geometric Graph Convolutional Networks, ICLR 2020"
_MIT = "MIT, of the repository that publishes the files"
_UNKNOWN = "none stated with the files: ask before shipping them"


def _pyg(reader: str, *name: str) -> Callable[[Path], Data]:
    return partial(_read, reader, name)


def _read(reader: str, name: tuple[Any, ...], root: Path, folder: str = "") -> Data:
    """The dataset as PyG's class of that name reads it from ``root/<class>``, quietly."""
    dataset: Any = getattr(torch_geometric.datasets, reader)
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old pickles, read by new libraries
        return dataset(str(root / (folder or reader)), *name)[0]


def _read_mixhop(homophily: float, root: Path) -> Data:
    data = _read("MixHopSyntheticDataset", (homophily,), root, "MixHopSynthetic")
    data.x = data.x.float()
    return data


def _read_physics(root: Path) -> Data:
    """Arrays in a zip file, read without pickle."""
    path = root / "Coauthor/Physics/raw/ms_academic_phy.npz"
    try:
        return torch_geometric.io.read_npz(str(path))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"coauthor-physics: {path} is not the published file: {error}") from error


def _planetoid(file: str) -> str:
    return f"https://github.com/kimiyoung/planetoid/raw/master/data/{file}"


def _gnn_benchmark(file: str) -> str:
    return f"https://github.com/shchur/gnn-benchmark/raw/master/data/npz/{file}"


def _geom_gcn(name: str, file: str) -> str:
    folder = "splits" if "_split_" in file else f"new_data/{name}"
    return f"https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master/{folder}/{file}"


def _mixhop(file: str) -> str:
    return f"https://raw.githubusercontent.com/samihaija/mixhop/master/data/synthetic/{file}"


def _published(nodes: int, edges: int, features: int, classes: int, homophily: float, components: int | None = None,
               mean_degree: float | None = None, diameter: int | None = None) -> dict[str, float]:
    """A row of the paper's table; it gives the last three for some graphs only."""
    row = {"nodes": nodes, "edges": edges, "features": features, "classes": classes, "components": components,
           "homophily": homophily, "mean_degree": mean_degree, "diameter": diameter}
    return {name: value for name, value in row.items() if value is not None}


def _homophily_graph(tenth: int) -> Dataset:
    """MixHop's graph number ``tenth``: its name, and the name of its files, state the homophily it was made with."""
    return Dataset(f"homophily-0.{tenth}", f"MixHop's synthetic graph with homophily 0.{tenth}",
                   "Abu-El-Haija et al., MixHop: Higher-Order Graph Convolutional Architectures via Sparsified "
                   "Neighborhood Mixing, ICML 2019; after Karimi et al. 2018", "public", 5000, 29798, 2, 10,
                   partial(_read_mixhop, tenth / 10), f"MixHopSynthetic/0{tenth}/raw", _mixhop,
                   split=(1666, 1666, 1668), licence=_UNKNOWN, published={"nodes": 5000, "homophily": tenth / 10})


BENCHMARKS = (
    Dataset("cora", "Cora", f"McCallum et al. 2000; {_YANG}", "development", 2708, 5278, 1433, 7,
            _pyg("Planetoid", "Cora"), "Planetoid/Cora/raw", _planetoid, split=(140, 500, 1000), licence=_MIT,
            published=_published(2708, 5429, 1433, 7, 0.804, 78, 4.08, 19)),
    Dataset("citeseer", "CiteSeer", f"Giles et al. 1998; {_YANG}", "development", 3327, 4552, 3703, 6,
            _pyg("Planetoid", "CiteSeer"), "Planetoid/CiteSeer/raw", _planetoid, split=(120, 500, 1000),
            licence=_MIT, published=_published(3327, 4732, 3703, 6, 0.735, 438, 3.47, 28)),
    Dataset("pubmed", "PubMed", f"Namata et al. 2012; {_YANG}", "development", 19717, 44324, 500, 3,
            _pyg("Planetoid", "PubMed"), "Planetoid/PubMed/raw", _planetoid, split=(60, 500, 1000),
            licence=_MIT, published=_published(19717, 44324, 500, 3, 0.802, 1, 4.5, 18)),
    Dataset("computers", "Amazon Computers", f"McAuley et al. 2015; {_SHCHUR}", "random", 13752, 245861, 767, 10,
            _pyg("Amazon", "Computers"), "Amazon/Computers/raw", _gnn_benchmark, licence=_MIT,
            published=_published(13381, 245778, 767, 10, 0.777, 314, 36.74, 10)),
    Dataset("photo", "Amazon Photo", f"McAuley et al. 2015; {_SHCHUR}", "random", 7650, 119081, 745, 8,
            _pyg("Amazon", "Photo"), "Amazon/Photo/raw", _gnn_benchmark, licence=_MIT,
            published=_published(7487, 119043, 745, 8, 0.827, 136, 31.8, 11)),
    Dataset("coauthor-cs", "Coauthor CS", _SHCHUR, "random", 18333, 81894, 6805, 15,
            _pyg("Coauthor", "CS"), "Coauthor/CS/raw", _gnn_benchmark, licence=_MIT,
            published=_published(18333, 81894, 6805, 15, 0.80, 1, 8.93, 24)),
    Dataset("coauthor-physics", "Coauthor Physics", _SHCHUR, "random", 34493, 247962, 8415, 5,
            _read_physics, "Coauthor/Physics/raw", _gnn_benchmark, plain=("ms_academic_phy.npz",), licence=_MIT,
            published={"nodes": 34493, "edges": 247962, "features": 8415, "classes": 5}),
    Dataset("chameleon", "Chameleon", f"Rozemberczki, Allen and Sarkar 2019; {_PEI}", "fixed", 2277, 31371, 2325, 5,
            _pyg("WikipediaNetwork", "chameleon"), "WikipediaNetwork/chameleon/geom_gcn/raw",
            partial(_geom_gcn, "chameleon"), licence=_UNKNOWN, published=_published(2277, 36101, 2325, 5, 0.23)),
    Dataset("actor", "Actor", f"Tang et al. 2009; {_PEI}", "fixed", 7600, 26659, 932, 5,
            _pyg("Actor"), "Actor/raw", partial(_geom_gcn, "film"), licence=_UNKNOWN,
            published=_published(7600, 29926, 931, 5, 0.22)),
    Dataset("cornell", "Cornell", f"WebKB, Craven et al. 1998; {_PEI}", "fixed", 183, 277, 1703, 5,
            _pyg("WebKB", "Cornell"), "WebKB/cornell/raw", partial(_geom_gcn, "cornell"), licence=_UNKNOWN,
            published=_published(183, 295, 1703, 5, 0.3)),
    Dataset("texas", "Texas", f"WebKB, Craven et al. 1998; {_PEI}", "fixed", 183, 279, 1703, 5,
            _pyg("WebKB", "Texas"), "WebKB/texas/raw", partial(_geom_gcn, "texas"), licence=_UNKNOWN,
            published=_published(183, 309, 1703, 5, 0.11)),
    Dataset("wisconsin", "Wisconsin", f"WebKB, Craven et al. 1998; {_PEI}", "fixed", 251, 450, 1703, 5,
            _pyg("WebKB", "Wisconsin"), "WebKB/wisconsin/raw", partial(_geom_gcn, "wisconsin"), licence=_UNKNOWN,
            published=_published(251, 499, 1703, 5, 0.21)),
    *(_homophily_graph(tenth) for tenth in range(10)),
)
