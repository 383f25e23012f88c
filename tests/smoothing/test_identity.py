"""No smoothing."""

import torch

from sgcl.graph import Graph
from sgcl.smoothing import Identity


def test_every_node_is_its_only_positive(ring):
    positives = Identity()(Graph.from_data(ring).adj)
    assert torch.equal(positives.to_dense(), torch.eye(40))
    assert positives.nnz == 40
