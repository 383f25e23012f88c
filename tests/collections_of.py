"""Small collections of graphs, for tests of what works on each graph alone."""

import torch
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl.graph import Graph
from sgcl.sparse import CSR, SparseFeatures


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def collection_of(graphs: list[tuple[int, list[tuple[int, int]]]], *, features: int = 4, sparse: bool = False) -> Graph:
    """From the nodes and the edges of each graph; features are whole numbers, some of them 0."""
    sizes = torch.tensor([size for size, _ in graphs])
    ptr = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    pairs = [(i + start, j + start) for (_, edges), start in zip(graphs, ptr.tolist(), strict=False) for i, j in edges]
    row, col = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    size = int(ptr[-1])
    adj = CSR.from_coo(torch.cat([row, col]), torch.cat([col, row]), shape=(size, size), symmetric=True)
    x = (torch.arange(size * features).view(size, features) * 7 % 5).float()
    return Graph(SparseFeatures.from_dense(x) if sparse else x, adj, graph_ptr=ptr)


@st.composite
def some_collections(draw: st.DrawFn, max_graphs: int = 5, max_nodes: int = 8) -> Graph:
    graphs = []
    for _ in range(draw(st.integers(1, max_graphs))):
        size = draw(st.integers(1, max_nodes))
        every = [(i, j) for i in range(size) for j in range(i)]
        graphs.append((size, draw(st.lists(st.sampled_from(every), unique=True)) if every else []))
    return collection_of(graphs, sparse=draw(st.booleans()))


def edges_of(graph: Graph) -> set[tuple[int, int]]:
    """The edges in the numbers that the nodes had before."""
    name = torch.arange(graph.num_nodes) if graph.n_id is None else graph.n_id
    pairs = zip(name[graph.adj.row].tolist(), name[graph.adj.idx].tolist(), strict=True)
    return {(i, j) for i, j in pairs if i < j}


def values_of(x: torch.Tensor | SparseFeatures) -> torch.Tensor:
    return x.to_dense() if isinstance(x, SparseFeatures) else x


def circles(*more: Data) -> Graph:
    """Circles of five, seven and four nodes with three features, and what is given beside them."""
    return Graph.from_data([
        *(Data(x=torch.randn(size, 3, generator=seeded(size)),
               edge_index=torch.stack([torch.arange(size), (torch.arange(size) + 1) % size])) for size in (5, 7, 4)),
        *more])


def rings_and_paths(*, sparse: bool = False) -> Graph:
    """Six graphs of two kinds, of four to nine nodes."""
    ring = [(size, [(i, (i + 1) % size) for i in range(size)]) for size in (5, 6, 9)]
    path = [(size, [(i, i + 1) for i in range(size - 1)]) for size in (4, 6, 8)]
    return collection_of([graph for pair in zip(ring, path, strict=True) for graph in pair], sparse=sparse)
