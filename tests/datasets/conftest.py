"""A tiny dataset of two raw files, and a cache of its own for every test."""

import hashlib
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from sgcl.datasets import DATASETS, Dataset, entry

FILES = {"edges.txt": b"0 1\n1 2\n1 0\n", "labels.txt": b"0 1 1\n"}


class Tiny:
    """The dataset "tiny": a path of three nodes. ``calls`` counts how often its files were parsed."""

    def __init__(self, root: Path) -> None:
        self.root, self.calls = root, 0
        self.folder = root / "Tiny" / "raw"
        self.entry = Dataset("tiny", "Tiny", "by hand", "random", nodes=3, edges=2, features=4, classes=2,
                             loader=self.parse, folder="Tiny/raw")

    def put_files(self) -> None:
        self.folder.mkdir(parents=True)
        for name, content in FILES.items():
            (self.folder / name).write_bytes(content)

    def parse(self, root: Path) -> Data:
        self.calls += 1
        (root / "Tiny" / "processed").mkdir()  # as PyG's classes do, beside the raw folder
        numbers = [int(word) for word in (root / "Tiny/raw/edges.txt").read_text().split()]
        labels = [int(word) for word in (root / "Tiny/raw/labels.txt").read_text().split()]
        x = torch.zeros(3, 4)
        x[0, 1] = 2.5
        return Data(x=x, edge_index=torch.tensor(numbers).view(-1, 2).T, y=torch.tensor(labels))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SGCL_CACHE", str(folder))
    monkeypatch.delenv("SGCL_DATA", raising=False)
    return folder


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    made = Tiny(tmp_path / "data")
    checksums = {"Tiny/raw": {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}}
    monkeypatch.setattr(entry, "_checksums", lambda: checksums)
    monkeypatch.setitem(DATASETS, "tiny", made.entry)
    return made
