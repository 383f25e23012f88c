import dataclasses

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from sgcl.datasets import cache


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), filled=st.sampled_from([0.0, 0.1, 0.9, 1.0]), splits=st.integers(0, 3))
def test_what_is_read_is_what_was_written(tiny, seed, filled, splits):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(5, 4, generator=generator) * (torch.rand(5, 4, generator=generator) < filled)
    data = Data(x=x, edge_index=torch.randint(5, (2, 7), generator=generator), y=torch.arange(5) % 3)
    if splits:
        data.train_mask = torch.rand(5, splits, generator=generator) < 0.5
    cache.write(tiny.entry, data)
    found = cache.read(tiny.entry)
    assert set(found.keys()) == set(data.keys())
    for key in data.keys():  # noqa: SIM118
        assert found[key].dtype == data[key].dtype
        assert torch.equal(found[key], data[key])


def test_sparse_features_are_stored_by_rows(tiny, own_cache):
    size = {}
    for name, x in {"sparse": torch.eye(200), "dense": torch.ones(200, 200)}.items():
        entry = dataclasses.replace(tiny.entry, name=name, features=200)
        cache.write(entry, Data(x=x, edge_index=torch.zeros(2, 1, dtype=torch.long)))
        size[name] = cache.path_of(entry).stat().st_size
        assert torch.equal(cache.read(entry).x, x)
    assert size["sparse"] < size["dense"] / 10


def test_nothing_cached_is_none(tiny):
    assert cache.read(tiny.entry) is None


def test_the_file_name_changes_with_the_reader(tiny, monkeypatch):
    before = cache.path_of(tiny.entry)
    monkeypatch.setattr("torch_geometric.__version__", "0.0")
    assert cache.path_of(tiny.entry) != before


@pytest.mark.parametrize(("variable", "expected"), [("SGCL_CACHE", "chosen"), ("XDG_CACHE_HOME", "chosen/sgcl"),
                                                    ("HOME", "chosen/.cache/sgcl")])
def test_where_the_cache_is(tiny, tmp_path, monkeypatch, variable, expected):
    for name in ("SGCL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "chosen"))
    assert cache.path_of(tiny.entry).parent == tmp_path / expected
