"""Shared by all tests: tiny graphs, and settings for hypothesis."""

import pytest
import torch
from hypothesis import HealthCheck, settings
from torch_geometric.data import Data

settings.register_profile("sgcl", deadline=None, max_examples=50,
                          suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
settings.load_profile("sgcl")


@pytest.fixture
def path() -> Data:
    """Three nodes in a row: 0 - 1 - 2."""
    return Data(x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), edge_index=torch.tensor([[0, 1], [1, 2]]))


@pytest.fixture(scope="session")
def ring() -> Data:
    """Forty nodes in a ring with chords, two classes, features that tell them apart a little."""
    nodes = torch.arange(40)
    edge_index = torch.cat([torch.stack([nodes, (nodes + 1) % 40]), torch.stack([nodes, (nodes + 5) % 40])], dim=1)
    y = (nodes >= 20).long()
    x = torch.randn(40, 6, generator=torch.Generator().manual_seed(0)) + y[:, None]
    return Data(x=x, edge_index=edge_index, y=y)
