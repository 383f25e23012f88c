"""What the benchmarks of the store measure, on a graph of a few nodes."""

import importlib
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the benchmarks write Parquet")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent.parent.parent / "benchmarks"), *sys.path])
    return importlib.import_module


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_benchmark_of_the_import_tells_time_and_memory(script, tmp_path, form):
    benchmark = script("import")
    benchmark.write(str(tmp_path), form, 2000)
    found = benchmark.load(str(tmp_path), form, "100MB")
    assert (found["nodes"], found["seconds"] > 0, found["processor"] >= 0) == (100, True, True)
    assert 0 < found["packages"] <= found["memory"]
    assert 900 < found["distinct"] <= 2000


def test_the_page_is_made_of_the_lines(script):
    page = script("store_page")
    text = (Path(__file__).parent.parent.parent / "docs" / "scale.md").read_text()
    assert page.render(text) == text
