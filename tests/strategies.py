"""Random graphs for property tests, and the mark of tests that need the benchmark graphs."""

import os

import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from torch_geometric.data import Data

needs_data = pytest.mark.skipif(not os.environ.get("SGCL_DATA"), reason="needs the benchmark graphs: set SGCL_DATA")


@st.composite
def random_data(draw, max_nodes=12, weighted=False):
    """A small PyG graph: some edges one way only, some twice, self-loops and isolated nodes among them."""
    num_nodes = draw(st.integers(2, max_nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    edges = rng.integers(0, num_nodes, size=(2, draw(st.integers(1, 3 * num_nodes))))
    edges = np.concatenate([edges, [[0], [1]]], axis=1)
    data = Data(x=torch.from_numpy(rng.standard_normal((num_nodes, 4))).float(), edge_index=torch.from_numpy(edges))
    if weighted:
        data.edge_weight = torch.from_numpy(rng.uniform(0.1, 2.0, edges.shape[1])).float()
    return data
