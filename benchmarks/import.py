"""How a graph store is imported: rows per second and peak memory at 10, 50 and 200 million edges.

    python benchmarks/import.py [--quick] [--json] [--check]

Random edges between a twentieth as many nodes, as a Parquet file, and 16 features as an .npy file, in 2 GB; the
smallest size as CSV too (quick: 100,000 and 400,000 edges in 100 MB). Each import is a process of its own. Its memory
is the peak anonymous size, packages and all: pages of files that are mapped can be given back at any time. The machine
is shared, so that seconds of the processor stand beside those of the clock, and growth is that of the former. The
bars: the memory stays below the limit and what the packages take, and the time grows linearly.
"""

import math
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from measure import AnonymousPeak, Bar, finish, in_child, options, table

from sgcl import runs

RESULTS = Path(__file__).parent.parent / "results" / "store.jsonl"
SIZES, QUICK = (10_000_000, 50_000_000, 200_000_000), (100_000, 400_000)
DEGREE, FEATURES, BATCH = 20, 16, 1_000_000


def write(folder: str, form: str, edges: int, width: int = FEATURES, dtype: str = "float32") -> None:
    """``edges.parquet`` or ``edges.csv`` and ``x.npy``, a batch at a time; the features repeat themselves, shifted."""
    rng, nodes = np.random.default_rng(edges), edges // DEGREE
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    make = pa.parquet.ParquetWriter if form == "parquet" else pa.csv.CSVWriter
    with make(f"{folder}/edges.{form}", schema) as writer:
        for start in range(0, edges, BATCH):
            ends = rng.integers(nodes, size=(2, min(BATCH, edges - start)))
            writer.write_table(pa.table([pa.array(end) for end in ends], schema=schema))
    x = np.lib.format.open_memmap(f"{folder}/x.npy", "w+", dtype, (nodes, width))
    drawn = (rng.random((min(nodes, BATCH // 10), width), dtype=np.float32) - 0.5).astype(dtype)
    for start in range(0, nodes, BATCH // 10):
        rows = x[start:start + BATCH // 10]
        rows[:] = np.roll(drawn, start // 1000, axis=0)[:len(rows)]


def load(folder: str, form: str, memory: str, dtype: str = "float32") -> dict[str, float]:
    """In a child: one import."""
    from sgcl.store import import_graph

    with AnonymousPeak() as before:
        pass
    start, used = time.perf_counter(), _processor()
    with AnonymousPeak() as peak:
        manifest = import_graph(f"{folder}/edges.{form}", f"{folder}/graph.store", features=f"{folder}/x.npy",
                                feature_dtype=dtype, memory=memory)
    return {"seconds": time.perf_counter() - start, "processor": _processor() - used, "packages": before.top,
            "memory": peak.top, "nodes": manifest["nodes"], "distinct": manifest["edges"],
            "bytes": sum(record["bytes"] for record in manifest["arrays"].values())}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> int:
    given = options(__doc__)
    memory, limit = ("100MB", 100 << 20) if given.quick else ("2GB", 2 << 30)
    sizes, cells = QUICK if given.quick else SIZES, []
    for form, edges in [*(("parquet", size) for size in sizes), ("csv", sizes[0])]:
        with tempfile.TemporaryDirectory(prefix="sgcl-import-") as folder:
            in_child(__file__, "write", folder, form, edges)
            cells.append({"section": "import", "form": form, "edges": edges, "limit": limit,
                          **in_child(__file__, "load", folder, form, memory)})
    bars = []
    if not given.quick:
        bars = [Bar(f"anonymous memory beside the packages over the limit, {cell['form']}, {cell['edges']:,} edges",
                    (cell["memory"] - cell["packages"]) / limit, "<=", 1) for cell in cells]
        large = [cell for cell in cells if cell["form"] == "parquet"]
        slope = statistics.linear_regression([math.log(cell["edges"]) for cell in large],
                                             [math.log(cell["processor"]) for cell in large]).slope
        bars.append(Bar("growth exponent of the processor's time", slope, "<=", 1.1))
        runs.append(RESULTS, {"cells": cells, "bars": [{**bar._asdict(), "holds": bar.holds} for bar in bars],
                              **runs.environment()})
    rows = [[cell["form"], f"{cell['edges']:,}", f"{cell['seconds']:.1f}", f"{cell['processor']:.1f}",
             f"{cell['edges'] / cell['seconds'] / 1e6:.2f}", f"{cell['edges'] / cell['processor'] / 1e6:.2f}",
             f"{cell['memory'] / 2**20:,.0f}", f"{cell['bytes'] / 2**20:,.0f}"] for cell in cells]
    header = ["form", "edges", "s", "processor s", "M rows/s", "M rows/processor s", "peak MB", "store MB"]
    return finish(given, {"cells": cells}, bars, table(header, rows))


if __name__ == "__main__":
    sys.exit(main())
