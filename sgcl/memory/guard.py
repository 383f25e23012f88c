"""Refuse a training that cannot fit, before it begins, and name what would."""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path
from typing import NamedTuple

from sgcl import ram
from sgcl.embeddings import in_blocks
from sgcl.errors import InputError
from sgcl.estimator import Estimator, device_for
from sgcl.graph import Graph
from sgcl.mapped import MappedFeatures
from sgcl.memory.footprint import Estimate, Phases, estimate, phases, shown
from sgcl.ram import free_memory
from sgcl.samplers import SAMPLERS, RandomWalk, Sampler, WholeGraphs
from sgcl.trainer import peak_memory

_SPREAD = 4   # an allocator that keeps what is freed may take so many times what is in use
_LEAST = 64   # nodes of a batch that is worth a suggestion
_SIZES = ("batch_size", "roots", "edges", "size")  # what says how large the batches of a sampler are


class Plan(NamedTuple):
    """How a training fits."""

    estimate: Estimate
    embedding: int | None   # bytes to embed the graph in, block by block; ``None`` where it may be done at once


def check_memory(estimator: Estimator, graph: Graph, limit: int | None = None, processes: int = 1) -> Plan | None:
    """How a training fits; an :class:`InputError` that names what would, where it does not.

    Args:
        estimator, graph: what is to be trained on what.
        limit: bytes that the process may hold in all; what it holds and what is free unless given. Near it, memory
            goes back to the system as soon as it is freed, which costs time. Where the graph is that of a store, pages
            of files do not count, for the system takes them back when it needs them.
        processes: of this machine that do the same, and share that memory.

    Returns:
        ``None`` where the training is not on the CPU: other devices have a memory of their own.
    """
    if device_for(estimator.settings["device"]) != "cpu":
        return None
    whole = phases(estimator, graph)
    mapped = isinstance(graph.x, MappedFeatures)
    room = (free_memory() if limit is None else limit) / processes
    room -= 0 if limit is None else resident(mapped)                       # with all that is loaded on first use
    need = estimate(estimator, graph, whole=whole)
    if need.training > room:
        raise InputError(f"training takes about {shown(need.training)} with batches of {need.nodes} nodes, but "
                         f"{shown(max(room, 0))} are left of the "
                         f"{'memory' if limit is None else f'limit of {shown(limit)}'}: "
                         f"{_way_out(estimator, graph, whole, need, room)}")
    stored = mapped and in_blocks(estimator.untrained(graph.num_features))
    if (need.training if stored else need.total) * _SPREAD > room:
        ram.hand_back()
    at_once = need.total <= room or graph.graph_ptr is not None           # graphs are embedded some at a time anyway
    if mapped and not stored and not at_once:
        raise InputError(f"to embed the graph with {estimator.method_name}, whose encoder does not work in blocks, "
                         f"takes about {shown(need.total)}, but {shown(max(room, 0))} are left: take another method")
    left = room - need.always
    return Plan(need, ram.rounded_down(left) if stored else None if at_once else int(left))


def resident(without_files: bool = False) -> int:
    """Bytes that the process holds now, perhaps without the pages of files; the most it ever held where the system does
    not say."""
    try:
        held, of_files = map(int, Path("/proc/self/statm").read_text().split()[1:3])
        return (held - of_files if without_files else held) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()


def _way_out(estimator: Estimator, graph: Graph, whole: Phases, need: Estimate, room: float) -> str:
    """The flags of a sampler whose batches fit."""
    share = 0.8 * room / need.training
    while need.nodes * share >= _LEAST:
        sampler = _smaller(estimator.settings["sampler"], share, graph)
        found = estimate(estimator, graph, sampler=sampler, whole=whole)
        if found.training <= room:
            name = SAMPLERS.name_of(sampler)
            flags = [f"--{name}-{field.replace('_', '-')} {getattr(sampler, field)}"
                     for field in (*_SIZES, "batches") if getattr(sampler, field, None)]
            return f"add --sampler {name} {' '.join(flags)}, which takes about {shown(found.training)}"
        share /= 2
    width = estimator.settings.get("hidden_channels", 0)
    narrower = f", or a narrower model such as --hidden-channels {max(width // 2, 8)}" if width > 8 else ""
    return f"no batch is small enough; it needs more memory{narrower}"


def _smaller(sampler: Sampler, share: float, graph: Graph) -> Sampler:
    """The sampler with batches of that share, and as many more of them; walks, or whole graphs of a collection, for one
    whose batches have no size."""
    sizes = {name: getattr(sampler, name) for name in _SIZES if getattr(sampler, name, None)}
    if not sizes and graph.graph_ptr is not None:
        sampler, sizes = WholeGraphs(), {"size": graph.num_graphs}
    elif "size" in sizes:
        sizes["size"] = min(sizes["size"], graph.num_graphs)
    elif not sizes:
        sampler, sizes = RandomWalk(batches=1), {"batch_size": graph.num_nodes}
    less = {name: _rounded(size * share) for name, size in sizes.items()}
    batches = None if sampler.batches is None else math.ceil(sampler.batches / share)
    return dataclasses.replace(sampler, **less, batches=batches)  # type: ignore[type-var]


def _rounded(number: float) -> int:
    """Down to two digits."""
    unit = int(10 ** max(len(str(int(number))) - 2, 0))
    return max(int(number) // unit * unit, 1)
