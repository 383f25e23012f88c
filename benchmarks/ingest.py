"""How large edge lists load: seconds and peak memory of 50 million edges as Parquet and CSV, beside a plain load.

    python benchmarks/ingest.py [--quick] [--json] [--check]

Random edges between a million nodes, written once for each kind of id: integers without gaps, integers over the whole
range of 64 bits, and text of a dozen signs (quick: half a million edges, the first kind). Each load is a process of its
own; its memory is the peak resident size less that just before it, packages imported. The final size is that of
``edge_index`` and ``ids``. Beside it the same file as a plain pandas table, no graph made of it. The bar: a peak of
at most 2 times the final size for every file.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from measure import Bar, finish, in_child, options, peak_increase, table

EDGES, NODES = 50_000_000, 1_000_000
QUICK_EDGES, QUICK_NODES = 500_000, 10_000
KINDS, FORMS = ("dense", "wide", "text"), ("parquet", "csv")
BATCH = 1_000_000


def node_ids(kind: str, num_nodes: int) -> pa.Array:
    if kind == "dense":
        return pa.array(np.arange(num_nodes))
    drawn = np.random.default_rng(0).integers(-2**63, 2**63 - 1, num_nodes)
    return pa.array(drawn) if kind == "wide" else pa.array([f"n{number % 2**40:011x}" for number in drawn.tolist()])


def write(folder: str, kind: str, num_edges: int, num_nodes: int) -> None:
    """The same edges as Parquet and as CSV, a batch at a time."""
    ids, rng = node_ids(kind, num_nodes), np.random.default_rng(1)
    schema = pa.schema([("source", ids.type), ("target", ids.type)])
    with (pa.parquet.ParquetWriter(f"{folder}/{kind}.parquet", schema) as parquet,
          pa.csv.CSVWriter(f"{folder}/{kind}.csv", schema) as text):
        for start in range(0, num_edges, BATCH):
            ends = rng.integers(num_nodes, size=(2, min(BATCH, num_edges - start)))
            batch = pa.table([ids.take(pa.array(end)) for end in ends], schema=schema)
            parquet.write_table(batch)
            text.write_table(batch)


def load(form: str, path: str) -> dict[str, float]:
    """Seconds and peak bytes of one load, and for ours the final bytes."""
    read, loaded = _reader(form, path), {}

    def work() -> None:
        start = time.perf_counter()
        loaded["graph"] = read(path)
        loaded["seconds"] = time.perf_counter() - start

    memory, graph = peak_increase(work), loaded["graph"]
    figures = {"seconds": loaded["seconds"], "memory": memory}
    if form == "ours":
        figures |= {"final": graph.edge_index.nbytes + graph.ids.nbytes, "edges": graph.num_edges}
    return figures


def _reader(form: str, path: str) -> Callable[[str], Any]:
    """The function that loads the file, its package imported."""
    if form == "ours":
        from sgcl.readers import read_graph

        return read_graph
    import pandas

    return pandas.read_csv if path.endswith(".csv") else pandas.read_parquet


def main() -> int:
    given = options(__doc__)
    edges, nodes = (QUICK_EDGES, QUICK_NODES) if given.quick else (EDGES, NODES)
    cells = []
    with tempfile.TemporaryDirectory(prefix="sgcl-ingest-") as folder:
        for kind in KINDS[:1] if given.quick else KINDS:
            in_child(__file__, "write", folder, kind, edges, nodes)
            for form in FORMS:
                path = Path(folder, f"{kind}.{form}")
                ours, plain = (in_child(__file__, "load", how, str(path)) for how in ("ours", "pandas"))
                cells.append({"ids": kind, "form": form, "file": path.stat().st_size, **ours,
                              "ratio": ours["memory"] / ours["final"],
                              "pandas_seconds": plain["seconds"], "pandas_memory": plain["memory"]})
                path.unlink()
    bars = [] if given.quick else [
        Bar(f"peak over final size, {cell['form']}, {cell['ids']} ids", cell["ratio"], "<=", 2) for cell in cells]
    rows = [[cell["form"], cell["ids"], f"{cell['file'] / 2**20:,.0f}", f"{cell['seconds']:.1f}",
             f"{cell['final'] / 2**20:,.0f}", f"{cell['memory'] / 2**20:,.0f}", f"{cell['ratio']:.2f}",
             f"{cell['pandas_seconds']:.1f}", f"{cell['pandas_memory'] / 2**20:,.0f}"] for cell in cells]
    header = ["form", "ids", "file MB", "s", "final MB", "peak MB", "ratio", "pandas s", "pandas peak MB"]
    return finish(given, {"edges": edges, "nodes": nodes, "cells": cells}, bars, table(header, rows))


if __name__ == "__main__":
    sys.exit(main())
