"""A graph store beside memory: batches when its pages are cached, and a graph larger than the memory it is given.

    python benchmarks/store.py [cached] [large] [--quick] [--json] [--check] [--threads N] [--folder DIR]

cached: a step of SGCL-T on random-walk batches of 2,000 nodes of a random graph of a million nodes and ten million
edges with 128 features (quick: 20,000 nodes), the same batches in turns from memory, from a store in float32 and from
one in float16, the best of its turns each. The bar: a step from a store takes at most 1.3 times one from memory.

large: 10 million nodes, 200 million edges, 256 float16 features (quick: 20,000 nodes), made and written as Parquet and
.npy, imported in 2 GB, then trained for 50 batches and embedded at width 128 with a limit of 3.5 GB. The bars: at least
8 GB of store, and at most 4 GB of anonymous memory, packages and all, in each process.
"""

import argparse
import importlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from measure import AnonymousPeak, Bar, finish, in_child, table

from sgcl import chance, ram, runs, store
from sgcl.estimator import estimator_for
from sgcl.graph import Graph
from sgcl.samplers import RandomWalk

RESULTS = Path(__file__).parent.parent / "results" / "store.jsonl"
SCRIPT = importlib.import_module("import")  # benchmarks/import.py
GB = 1 << 30


def cached(folder: str, edges: int, turns: int, threads: int) -> list[dict]:
    """In a child: seconds of the drawing of a batch and of the whole step, from each form."""
    torch.set_num_threads(threads)
    SCRIPT.write(folder, "parquet", edges, 128)
    stored = {}
    for dtype in ("float32", "float16"):
        store.import_graph(f"{folder}/edges.parquet", f"{folder}/{dtype}.store", features=f"{folder}/x.npy",
                           feature_dtype=dtype)
        stored[dtype] = store.open_store(f"{folder}/{dtype}.store")
    whole = stored["float32"].in_memory()
    graphs: dict[str, Graph] = {"memory": whole.replace(x=whole.x.clone()), **stored}
    for graph in stored.values():  # every page into the cache
        float(graph.x.matrix.sum()), int(graph.adj.idx.sum()), int(graph.adj.ptr.sum())
    method = estimator_for("sgcl")(hidden_channels=128).untrained(128)
    steps = {name: _Step(graph, method) for name, graph in graphs.items()}
    found = {name: [[], []] for name in graphs}
    with ram.kept():  # as in a training
        for turn in range(turns + 1):
            for name, step in steps.items():
                drawn, took = step(turn)
                if turn:
                    found[name][0].append(drawn)
                    found[name][1].append(took)
    return [{"section": "cached", "form": name, "edges": edges, "drawing": statistics.median(drawn),
             "step": statistics.median(took), "best_drawing": min(drawn), "best_step": min(took)}
            for name, (drawn, took) in found.items()]


class _Step:
    """A step of training: the batch of a turn, its views, its loss and gradients."""

    def __init__(self, graph: Graph, method: torch.nn.Module) -> None:
        self.graph, self.method, self.sampler = graph, method, RandomWalk(batch_size=2000)

    def __call__(self, turn: int) -> tuple[float, float]:
        generator = chance.step_generator(0, 1, turn)
        start = time.perf_counter()
        batch = self.sampler(self.graph, generator)
        drawn = time.perf_counter() - start
        self.method.zero_grad(set_to_none=True)
        self.method.loss(self.method.augment(batch, generator)).backward()
        return drawn, time.perf_counter() - start


def train(folder: str, batches: int, threads: int, limit: int) -> dict[str, float]:
    """In a child: a run on the store, embedding and all."""
    from sgcl import workflow

    torch.set_num_threads(threads)
    files = {"edges": f"{folder}/graph.store"}
    chosen = {"sampler": {"name": "walk", "batch_size": 2000, "batches": batches}, "epochs": 1, "hidden_channels": 128}
    start = time.perf_counter()
    with AnonymousPeak() as peak:
        outcome = workflow.train_run("sgcl", chosen, store.read_files(files), dataset="large", files=files,
                                     out=f"{folder}/run", memory_limit=limit)
    seconds = time.perf_counter() - start
    trained = json.loads(Path(folder, "run", "metrics.jsonl").read_text().splitlines()[-1])["seconds"]
    written = Path(folder, "run", "embeddings.npy").stat().st_size
    return {"memory": peak.top, "seconds": seconds, "training": trained, "loss": outcome["loss"], "written": written}


def large(folder: str, edges: int, features: int, batches: int, threads: int) -> list[dict]:
    start = time.perf_counter()
    in_child(SCRIPT.__file__, "write", folder, "parquet", edges, features, "float16")
    made = time.perf_counter() - start
    loaded = in_child(SCRIPT.__file__, "load", folder, "parquet", "2GB", "float16")
    print(f"imported: {loaded}", file=sys.stderr, flush=True)
    for name in ("edges.parquet", "x.npy"):
        Path(folder, name).unlink()
    trained = in_child(__file__, "train", folder, batches, threads, int(3.5 * GB))
    size = {"section": "large", "edges": edges, "features": features}
    return [{**size, "what": "import", "making": made, **loaded},
            {**size, "what": "train and embed", "batches": batches, **trained}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("section", nargs="*", choices=[[], "cached", "large"], help="which; both unless given")
    for flag, about in (("--json", "one JSON object of figures"), ("--quick", "small graphs only, no bars"),
                        ("--check", "exit 1 and name the bar where one is missed")):
        parser.add_argument(flag, action="store_true", help=about)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--edges", type=int, default=200_000_000, help="of the large graph, 20 for each node")
    parser.add_argument("--features", type=int, default=256, help="of the large graph")
    parser.add_argument("--folder", help="for some 40 GB of files, all of them removed at the end")
    given = parser.parse_args()
    cells, bars, rows = [], [], []
    with tempfile.TemporaryDirectory(prefix="sgcl-store-", dir=given.folder) as folder:
        if "cached" in (given.section or ["cached"]):
            found = in_child(__file__, "cached", folder, 200_000 if given.quick else 10_000_000,
                             3 if given.quick else 41, given.threads)
            cells += found
            rows += [["cached", cell["form"], f"{1e3 * cell['drawing']:.1f} ms drawing",
                      f"{1e3 * cell['step']:.1f} ms", ""] for cell in found]
            bars += [Bar(f"step from a {cell['form']} store / from memory, cached", cell["best_step"]
                         / found[0]["best_step"], "<=", 1.3) for cell in found[1:]]
    with tempfile.TemporaryDirectory(prefix="sgcl-store-", dir=given.folder) as folder:
        if "large" in (given.section or ["large"]):
            edges = 400_000 if given.quick else given.edges
            found = large(folder, edges, given.features, 3 if given.quick else 50, given.threads)
            cells += found
            rows += [["large", cell["what"], f"{cell['seconds']:.0f} s", f"{cell['memory'] / GB:.2f} GB",
                      f"{cell.get('bytes', cell.get('written', 0)) / GB:.2f} GB"] for cell in found]
            bars.append(Bar("size of the large store, 10^9 bytes", found[0]["bytes"] / 1e9, ">=", 8))
            bars += [Bar(f"anonymous memory of {cell['what']}, GB", cell["memory"] / GB, "<=", 4) for cell in found]
    bars = [] if given.quick else bars
    if not given.quick:
        runs.append(RESULTS, {"cells": cells, "bars": [{**bar._asdict(), "holds": bar.holds} for bar in bars],
                              **runs.environment(), "threads": given.threads})
    return finish(given, {"cells": cells}, bars, table(["section", "what", "time", "step or memory", "files"], rows))


if __name__ == "__main__":
    sys.exit(main())
