"""Shared by all tests: tiny graphs, and settings for hypothesis."""

import os
import signal
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests share the cores already; before torch is imported
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background jobs; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
import torch
from hypothesis import HealthCheck, settings
from torch_geometric.data import Data

from sgcl.datasets import DATASETS, Dataset

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]}
settings.register_profile("sgcl", max_examples=50, derandomize=True, **_COMMON)  # the same examples every time
settings.register_profile("explore", max_examples=2000, **_COMMON)  # new ones: pytest --hypothesis-profile=explore
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


def blocks() -> Data:
    """A hundred nodes of two classes, most edges inside a class, with masks for one split."""
    chance = torch.Generator().manual_seed(0)
    y = torch.arange(100) % 2
    row, col = torch.randint(100, (2, 600), generator=chance)
    kept = (y[row] == y[col]) | (torch.rand(600, generator=chance) < 0.2)
    place = torch.arange(100)
    return Data(x=torch.randn(100, 6, generator=chance) + y[:, None], edge_index=torch.stack([row, col])[:, kept], y=y,
                train_mask=place < 20, val_mask=(place >= 20) & (place < 40), test_mask=place >= 40)


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that makes a graph known under a name; "blocks" is known already."""
    def add(name: str, data: Data, protocol: str = "random") -> None:
        entry = Dataset(name, name.title(), "made for a test", protocol, nodes=0, edges=0, features=0, classes=0,
                        loader=lambda: data.clone())
        monkeypatch.setitem(DATASETS, name, entry)

    add("blocks", blocks())
    return add
