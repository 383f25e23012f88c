"""What is measured: all cells of one training, in a process of their own, to their lines."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import datasets, levels, runs, settings, sweep, workflow
from sgcl.bench.cells import Cell
from sgcl.chance import step_generator
from sgcl.estimator import Estimator, estimator_for
from sgcl.evaluation import PROTOCOLS, published_probe
from sgcl.graph import Graph
from sgcl.memory import check_memory, peak_increase
from sgcl.smoothing import SMOOTHINGS
from sgcl.trainer import Epoch

SHARED = ("random", "converged")    # where all methods meet: protocol and probe; scores their untrained encoders too
BLOCKS = "sbm-"                     # begins the name of a block model; its number of nodes follows
_LOOKS = 10                         # at the test folds, by hindsight
_TIMED = 6                          # epochs, the second half of which counts
_COUNTED = 3                        # epochs whose CPU seconds are counted, but for the first
_STEPS = 100                        # of the published probe, for its time
_LIGHT = 5_000                      # nodes, for which no method takes a gigabyte (docs/results/memory.md)


def measure(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The lines of cells that share a training."""
    return [{**line, **runs.environment()} for line in MEASURES[cells[0].measure](cells)]


def load(dataset: str) -> Data:
    """A dataset of the catalogue, or a block model of mean degree 10 with 128 features."""
    if dataset.startswith(BLOCKS):
        return datasets.sbm(int(dataset.removeprefix(BLOCKS)), mean_degree=10, features=128)
    return levels.load_dataset(dataset)


def _probe(cells: Sequence[Cell], load: Callable[[str], Data] = load) -> Iterator[dict[str, Any]]:
    """Train once, unless the cells are floors, then score in every way that is asked."""
    first, about = cells[0], dict[str, Any]()
    data, graph = workflow.restricted_graph(load(first.dataset), first.protocol or "")
    made = _estimator(first)
    embeddings: dict[str, Tensor] = {}
    if first.is_floor:
        about = {"settings": settings.encode(made.settings)}
    else:
        embeddings[_OWN], about = _trained(made, graph)
    names = [cell.name if cell.is_floor else workflow.FLOORS[1] for cell in cells if cell.is_floor or _is_shared(cell)]
    embeddings |= workflow.floor_rows(made, graph, names)
    for cell in cells:
        name = cell.name if cell.is_floor else _OWN
        if name not in embeddings:
            yield cell.line(failed="there are no features to score")
            continue
        line = cell.line(**_scored(cell, embeddings[name], data, graph), **about)
        if _is_shared(cell):
            line["untrained"] = _scored(cell, embeddings[workflow.FLOORS[1]], data, graph)["test"]
        yield line


def _scored(cell: Cell, embedding: Tensor, data: Data, graph: Graph) -> dict[str, Any]:
    return workflow.score(embedding, data, graph, protocol=cell.protocol or "", probe=cell.probe or "",
                          split_seed=cell.seed, metric=datasets.DATASETS[cell.dataset].metric)


def _hindsight(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Score on test folds several times in a training, and tell the best of it."""
    for cell in cells:
        made = _estimator(cell)
        found = _on_the_way(cell, made)
        yield cell.line(test=max(found.values()), last=found[cell.epochs], by_epoch=found,
                        settings=settings.encode(made.settings))


def _on_the_way(cell: Cell, made: Estimator) -> dict[int, float]:
    """Test scores by epoch."""
    data, graph = workflow.restricted_graph(load(cell.dataset), cell.protocol or "")
    looks = {-(-cell.epochs * number // _LOOKS) for number in range(1, _LOOKS + 1)}
    found: dict[int, float] = {}

    def look(epoch: Epoch) -> None:
        if epoch.epoch in looks:
            found[epoch.epoch] = _scored(cell, made.transform(graph), data, graph)["test"]

    check_memory(made, graph)
    made.fit(graph, callbacks=[look])
    return found


def _validation(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Train once and score on validation nodes; the labels of test nodes are out of sight."""
    for cell in cells:
        where = sweep.arena_of("validation", load(cell.dataset), seed=cell.seed, protocol=cell.protocol or "",
                               dataset=cell.dataset)
        embedding, about = _trained(_estimator(cell), where.graph)
        yield cell.line(val=where.score(embedding), **about)


def _epoch(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Seconds of an epoch of the training, and of a step of the published probe on its embedding."""
    for cell in cells:
        protocol = cell.protocol or ""
        data, graph = workflow.restricted_graph(load(cell.dataset), protocol)
        short = settings.with_epochs(cell.method, cell.settings, min(_TIMED, cell.epochs))
        made = estimator_for(cell.method)(**{**short, "seed": cell.seed})
        check_memory(made, graph)
        embedding = made.fit_transform(graph)
        ends = [0.0, *(epoch.seconds for epoch in made.history)]
        took = [late - early for early, late in itertools.pairwise(ends)]
        split = PROTOCOLS[protocol].split(data, cell.seed)
        began = time.perf_counter()
        published_probe(embedding, data.y, split, steps=_STEPS, every=None, seed=cell.seed)
        step = (time.perf_counter() - began) / _STEPS
        yield cell.line(seconds_epoch=statistics.median(took[len(took) // 2:]), seconds_downstream=step,
                        settings=settings.encode(_estimator(cell).settings))


def _cost(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """CPU seconds of an epoch of the training, the mean of two after the first."""
    for cell in cells:
        graph = Graph.from_data(load(cell.dataset))
        short = settings.with_epochs(cell.method, cell.settings, min(_COUNTED, cell.epochs))
        made = estimator_for(cell.method)(**{**short, "seed": cell.seed})
        check_memory(made, graph)
        ends = [time.process_time()]

        def note(epoch: Epoch, ends: list[float] = ends) -> None:
            ends.append(time.process_time())

        made.fit(graph, callbacks=[note])
        took = [late - early for early, late in itertools.pairwise(ends)]
        yield cell.line(cpu_epoch=round(statistics.mean(took[1:] or took), 4), epochs=cell.epochs,
                        settings=settings.encode(_estimator(cell).settings))


def _memory(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """The rise of the resident size over a first step, with all that the method prepares, and CPU seconds."""
    for cell in cells:
        made = _estimator(cell)
        epochs = 2 if cell.method == "greet" else 1  # one of its encoders, one of its discriminator
        step(made, made.graph(datasets.load("grid")), epochs)  # what is loaded at first use is not the step's
        graph = made.graph(load(cell.dataset))
        took: list[tuple[float, float]] = []
        peak = peak_increase(partial(_noted, took, made, graph, epochs))
        yield cell.line(nodes=graph.num_nodes, edges=graph.num_edges, peak=peak, seconds_once=round(took[0][0], 2),
                        seconds_step=round(took[0][1], 2), settings=settings.encode(made.settings))


def _noted(took: list[tuple[float, float]], made: Estimator, graph: Graph, epochs: int) -> None:
    took.append(step(made, graph, epochs))


def step(made: Estimator, graph: Graph, epochs: int) -> tuple[float, float]:
    """CPU seconds of what is done once, and of the longest step, one batch an epoch."""
    method, sampler = made.untrained(graph.num_features), made.settings["sampler"]
    began = time.process_time()
    method.start(graph)
    optimiser = torch.optim.Adam(method.parameter_groups(1e-3, 0.0), lr=1e-3)
    once, steps = time.process_time() - began, []
    for epoch in range(1, epochs + 1):
        generator = step_generator(0, epoch, 0)
        began = time.process_time()
        method.eval()
        with torch.no_grad():
            method.before_epoch(graph, epoch, epochs, generator)
        method.train()
        once += time.process_time() - began
        began = time.process_time()
        method.loss(method.augment(sampler(graph, generator), generator)).backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        method.after_step(epoch / epochs)
        steps.append(time.process_time() - began)
    return once, max(steps)


def _statistics(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    for cell in cells:
        yield cell.line(measured=datasets.statistics(load(cell.dataset)))


def _filter(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """What a smoothing makes of a delta in the middle of a grid: the values, and their means by distance."""
    for cell in cells:
        adj = Graph.from_data(load(cell.dataset)).adj
        side = round(adj.shape[0] ** 0.5)
        middle = side // 2
        smoothing = SMOOTHINGS.build(cell.settings["smoothing"])
        row = smoothing(adj).take_rows(torch.tensor([middle * side + middle])).to_scipy().toarray().reshape(side, side)
        far = [[abs(i - middle) + abs(j - middle) for j in range(side)] for i in range(side)]
        by_distance = [statistics.mean(float(row[i, j]) for i in range(side) for j in range(side) if far[i][j] == hops)
                       for hops in range(5)]
        yield cell.line(by_distance=by_distance, values=[[round(float(value), 6) for value in line] for line in row],
                        smoothing=SMOOTHINGS.describe(smoothing))


MEASURES: dict[str, Callable[[Sequence[Cell]], Iterator[dict[str, Any]]]] = {
    "probe": _probe, "attributes": partial(_probe, load=partial(levels.load_dataset, attributes=True)),
    "hindsight": _hindsight, "validation": _validation, "epoch": _epoch, "cost": _cost, "memory": _memory,
    "statistics": _statistics, "filter": _filter}
_OWN = "trained"


def _estimator(cell: Cell) -> Estimator:
    return estimator_for(cell.method)(**{**cell.settings, "seed": cell.seed})


def _trained(made: Estimator, graph: Graph) -> tuple[Tensor, dict[str, Any]]:
    """(N, D) the embedding, and what is to be told of the training."""
    if graph.num_nodes > _LIGHT:
        check_memory(made, graph)
    wall, cpu = time.perf_counter(), time.process_time()
    embedding = made.fit_transform(graph)
    return embedding, {
        "settings": settings.encode(made.settings), "epochs": len(made.history),
        "loss": made.history[-1].loss if made.history else None,
        "seconds_training": round(time.perf_counter() - wall, 1), "seconds_cpu": round(time.process_time() - cpu, 1)}


def _is_shared(cell: Cell) -> bool:
    return (cell.protocol, cell.probe) == SHARED and not cell.is_floor
