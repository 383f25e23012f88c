"""Search for the settings of a recipe, on validation labels alone.

    python benchmarks/search.py cora --smoothing taubin --draws 12 --seeds 100 101

Settings are drawn at random from the lists below (the draws are the same on every machine); each is trained once for
each seed and scored on the validation nodes of that seed's split at several epochs. Test labels are never looked at.
Every score is a line of results/search.jsonl; what is there already is not run again. Seeds from 100 on are for
searching, those below for reporting.
"""

import argparse
import json
import random
import time
from pathlib import Path

import torch

from sgcl import datasets, embeddings, estimator, runs, settings
from sgcl.evaluation import PROTOCOLS, Split, linear_probe
from sgcl.trainer import Epoch, train

SPACE = {
    "negative_weight": [5e-5, 1e-4, 2e-4, 4e-4, 8e-4],
    "drop_edges": [0.3, 0.4, 0.5, 0.6, 0.7],
    "mask_features": [0.3, 0.4, 0.5, 0.6, 0.7],
    "normalize_features": [False, True],
    "activation": ["prelu", "relu"],
}
STRENGTH = {
    "taubin": [{"mu": -0.4, "tau": 0.3}, {"mu": -0.8, "tau": 0.3}, {"mu": -1.0, "tau": 0.2, "prune": 0.005}],
    "bilateral": [{}, {"hops": 2, "sigma_spatial": 1.0}, {"include_self": True, "sigma_spatial": 1.0}],
    "diffusion": [{"eta": 0.03}, {"eta": 0.1}, {"eta": 0.3}],
    "identity": [{}],
}


def draw(smoothing: str, number: int) -> dict:
    """Settings number ``number``; number 0 is the paper's."""
    if number == 0:
        return settle(smoothing, {})
    chance = random.Random(number)  # the same draw for every smoothing, so that they can be compared
    picked = {name: chance.choice(values) for name, values in SPACE.items()}
    return settle(smoothing, {**picked, "strength": chance.choice(STRENGTH[smoothing])})


def settle(smoothing: str, picked: dict) -> dict:
    """What was picked, over the paper's settings, in the form that a run records."""
    picked = {"negative_weight": 4e-4, "drop_edges": 0.5, "mask_features": 0.5, **picked}
    strength = picked.pop("strength", STRENGTH[smoothing][0])
    view = [{"name": "drop-edges", "p": picked.pop("drop_edges")},
            {"name": "mask-features", "p": picked.pop("mask_features")}]
    return {**picked, "smoothing": {"name": smoothing, **strength}, "view1": view, "view2": view}


def run(dataset: str, chosen: dict, seed: int, epochs: list[int], results: Path) -> None:
    known = {(line["dataset"], json.dumps(line["settings"], sort_keys=True), line["seed"])
             for line in runs.read_lines(results)}
    if (dataset, json.dumps(chosen, sort_keys=True), seed) in known:
        return
    protocol = PROTOCOLS[datasets.DATASETS[dataset].protocol]
    data = protocol.restrict(datasets.load(dataset))
    split = protocol.split(data, seed)
    hidden = data.y.clone()
    hidden[split.test] = -1                                # no score here can depend on a test label
    blind = Split(split.train, split.val[1:], split.val[:1])  # the probe wants something to test on
    made = estimator.SGCL(**chosen, seed=seed, epochs=max(epochs))
    graph = made.graph(data)
    method = made.untrained(graph.num_features)
    scores = {}

    def look(epoch: Epoch) -> None:
        if epoch.epoch in epochs:
            result = linear_probe(embeddings.compute(method, graph), hidden, blind)
            scores[epoch.epoch] = {"val": result.val, "C": result.C}
            method.train()

    start = time.perf_counter()
    train(method, graph, **settings.split(made.settings)[1], callbacks=[look])
    runs.append(results, {"dataset": dataset, "protocol": protocol.name, "settings": chosen, "seed": seed,
                          "scores": scores, "seconds": round(time.perf_counter() - start, 1), **runs.environment()})
    best = max(scores, key=lambda epoch: scores[epoch]["val"])
    print(dataset, json.dumps(chosen), seed, {e: round(100 * s["val"], 2) for e, s in scores.items()}, best, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--smoothing", nargs="+", default=list(STRENGTH))
    parser.add_argument("--draws", type=int, nargs="+", default=list(range(12)), help="numbers of the draws")
    parser.add_argument("--picked", type=json.loads, nargs="+", default=[], metavar="JSON",
                        help="settings to try instead of draws, e.g. '{\"drop_edges\": 0.7, \"epochs\": 50}'")
    parser.add_argument("--seeds", type=int, nargs="+", default=[100])
    parser.add_argument("--epochs", type=int, nargs="+", default=[20, 40, 60, 90, 120, 160, 200],
                        help="when to look; the last one ends the training")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("results/search.jsonl"))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    given.results.parent.mkdir(exist_ok=True)
    for number in given.picked or given.draws:
        for smoothing in given.smoothing:
            chosen = settle(smoothing, number) if given.picked else draw(smoothing, number)
            for seed in given.seeds:
                run(given.dataset, chosen, seed, given.epochs, given.results)


if __name__ == "__main__":
    main()
