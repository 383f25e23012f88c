"""Graph classification, line by line: every method for collections, the features alone and the encoder untrained.

    python benchmarks/graph_accuracy.py mutag ptc-mr imdb-binary proteins enzymes [--method NAME ...] [--seeds 5]

A line of results/graphs.jsonl is one embedding scored by nested 10-fold cross-validation with a support vector machine
(protocol 7, "tu"): the accuracy of every fold, settings, seed, times, versions. Seed s trains the encoder and draws the
folds, which all methods share. What is there already is not run again, unless its recipe has changed.
"""

import argparse
import sys
import time
from pathlib import Path

import torch
from claims import COLLECTIONS, GRAPH_ROWS, Row

from sgcl import datasets, runs, settings, workflow
from sgcl.estimator import Estimator, estimator_for
from sgcl.evaluation.graphs import Tu
from sgcl.graph import Graph, side_by_side
from sgcl.recipes import recipe

RESULTS = Path(__file__).parent.parent / "results" / "graphs.jsonl"
FLOORS_OF = "sgcl-graphs"  # whose encoder is scored untrained


def run(row: Row, dataset: str, seed: int, results: Path) -> None:
    """Train once and score."""
    made = estimator(row, dataset, seed)
    if any(is_of(line, row.name, dataset, seed, made) for line in runs.read_lines(results)):
        return
    data = side_by_side(datasets.load_collection(dataset))
    start, cpu = time.perf_counter(), time.process_time()
    embedding = made.fit_transform(data)
    about = {"settings": settings.encode(made.settings), "epochs": len(made.history),
             "seconds_training": round(time.perf_counter() - start, 1),
             "seconds_cpu": round(time.process_time() - cpu, 1)}
    write(row.name, row.method, dataset, seed, embedding, data.y, results, **about)


def run_floors(dataset: str, seed: int, results: Path) -> None:
    """The features summed over each graph, and an encoder before its training."""
    known = {(line["name"], line["dataset"], line["seed"]) for line in runs.read_lines(results)}
    data = side_by_side(datasets.load_collection(dataset))
    made, graph = estimator_for(FLOORS_OF)(**recipe(FLOORS_OF, dataset), seed=seed), Graph.from_data(data)
    for name, matrix in workflow.floor_rows(made, graph).items():
        if (name, dataset, seed) not in known:
            write(name, FLOORS_OF, dataset, seed, matrix, data.y, results)


def write(name: str, method: str, dataset: str, seed: int, embedding: torch.Tensor, y: torch.Tensor, results: Path,
          **more: object) -> None:
    start = time.perf_counter()
    score = Tu().score(embedding, y, seed=seed)
    runs.append(results, {"name": name, "method": method, "dataset": dataset, "seed": seed, "protocol": "tu",
                          "probe": "svc", "test": score.mean, "fold_deviation": score.fold_deviation,
                          "folds": score.folds, "C": score.C, "seconds": round(time.perf_counter() - start, 2), **more,
                          **runs.environment()})
    print(f"{dataset} {name} seed {seed}: {100 * score.mean:.2f} (deviation over folds "
          f"{100 * score.fold_deviation:.2f})", flush=True)


def estimator(row: Row, dataset: str, seed: int) -> Estimator:
    chosen = {**recipe(row.method, dataset, row.settings.get("smoothing")), **row.settings}
    return estimator_for(row.method)(**{**chosen, "seed": seed})


def is_of(line: dict, name: str, dataset: str, seed: int, made: Estimator) -> bool:
    return (line["name"], line["dataset"], line["seed"]) == (name, dataset, seed) and settings.resolve(
        made.method_name, line["settings"]) == made.settings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", choices=COLLECTIONS, metavar="NAME")
    parser.add_argument("--method", nargs="+", metavar="NAME", help="rows or methods; all unless given")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    for dataset in given.datasets:
        for seed in range(given.seeds):
            run_floors(dataset, seed, given.results)
        for row in GRAPH_ROWS:
            if given.method is None or {row.name, row.method} & set(given.method):
                for seed in range(given.seeds):
                    run(row, dataset, seed, given.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
