"""Settings and a graph to a run folder: trained from the beginning, or on from the last checkpoint."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from sgcl import distributed, embeddings, levels, report, runs, settings
from sgcl.callbacks import CollapseWatch, TensorBoard
from sgcl.chance import step_generator
from sgcl.checkpoints import Checkpoints
from sgcl.errors import InputError
from sgcl.estimator import Estimator, device_for, estimator_for
from sgcl.evaluation import PROTOCOLS
from sgcl.files import lock
from sgcl.graph import Graph
from sgcl.memory import check_memory
from sgcl.progress import ProgressBar
from sgcl.store import PartGraph
from sgcl.trainer import Callback, Epoch
from sgcl.turns import check_accumulate
from sgcl.workflow.embedding import leave_embedding
from sgcl.workflow.graphs import load_graph, node_ids, protocol_for, restricted_graph
from sgcl.workflow.names import label
from sgcl.workflow.records import default_folder, run_config, summary_of, write_run_config
from sgcl.workflow.stops import resumable


def train_run(method: str, chosen: Mapping[str, Any], data: Data, *, dataset: str,
              files: Mapping[str, Any] | None = None, attributes: bool = False, out: str | Path | None = None,
              protocol: str | None = None, checkpoint_every: float = 60.0, memory_limit: int | None = None,
              tensorboard: bool = False, quiet: bool = False, verbose: bool = False,
              callbacks: Sequence[Callback] = ()) -> dict[str, Any]:
    """Train with the ``chosen`` settings (JSON form) and leave a run folder; gives its summary.

    ``dataset`` is a name of the catalogue (``attributes``: a collection read with its node attributes) or, with the
    ``files`` that :func:`sgcl.readers.read_files` was given, any name for one's own graph. Bad input leaves no folder.
    A run that is cut short, by whatever, can be taken up again with :func:`resume_run`, with the same result. What
    cannot fit ``memory_limit`` bytes, or else what memory is free, is refused before it begins.

    Where ``torch.distributed`` has several ranks, all of which call this, rank 0 alone writes; the others give nothing.
    """
    usual = protocol_for(dataset, files)
    protocol = usual if protocol is None else protocol
    estimator = estimator_for(method)(**chosen)
    data, graph = restricted_graph(data, protocol)
    if protocol != usual and data.get("y") is not None:
        PROTOCOLS[protocol].split(data, estimator.settings["seed"])  # one that cannot score the graph is told now
    if distributed.current().rank:
        return _follow(estimator, graph, callbacks)
    resolved = settings.encode(estimator.settings)
    with runs.create(out or default_folder(method, resolved, dataset)) as folder:
        checkpoints = Checkpoints(folder / "checkpoints", every=checkpoint_every)
        write_run_config(folder, estimator, data, graph, dataset=dataset, protocol=protocol,
                         **({} if files is None else {"files": dict(files)}),
                         **({"attributes": True} if attributes else {}))
        return _fill(folder, runs.read_config(folder), data, graph, checkpoints, memory_limit=memory_limit,
                     tensorboard=tensorboard, quiet=quiet, verbose=verbose, callbacks=callbacks)


def check_run(method: str, chosen: Mapping[str, Any], *, dataset: str, files: Mapping[str, Any] | None = None,
              out: str | Path | None = None, protocol: str | None = None, ranks: int = 1) -> Path:
    """Raise what :func:`train_run` would find wrong before it looks at the graph, which may take long to read; gives
    its folder."""
    levels.check_protocol(protocol_for(dataset, files) if protocol is None else protocol,
                          levels.is_collection(dataset, files))
    resolved = settings.encode(estimator_for(method)(**chosen).settings)
    check_accumulate(ranks, resolved["accumulate"])
    folder = Path(out or default_folder(method, resolved, dataset))
    runs.check_free(folder)
    return folder


def resume_run(folder: str | Path, *, data_root: str | None = None, download: bool = False,
               checkpoint_every: float = 60.0, memory_limit: int | None = None, tensorboard: bool = False,
               quiet: bool = False, verbose: bool = False, callbacks: Sequence[Callback] = ()) -> dict[str, Any]:
    """Go on with a run that was cut short, from its last checkpoint or else from the beginning; gives its summary.

    The settings and the graph are the run's own. A run that is finished is left as it is.
    """
    folder = Path(folder)
    config = run_config(folder)
    if distributed.current().rank:
        if runs.is_finished(folder, embedded="parts" not in config):
            return {}
        data = load_graph(config, data_root, download=download)
        return _follow(estimator_for(config["method"])(**config["settings"]),
                       restricted_graph(data, config["protocol"])[1], callbacks)
    with lock(folder):
        if runs.is_finished(folder, embedded="parts" not in config):
            warnings.warn(f"{folder} is finished: there is nothing to resume", stacklevel=2)
            return summary_of(folder, config)
        if "graph" not in config:
            raise InputError(f"{folder} was written by an older sgcl (format {config['format']}), whose runs cannot be "
                             "resumed: train it again with another --out")
        data, graph = restricted_graph(load_graph(config, data_root, download=download), config["protocol"])
        if runs.fingerprint(graph, node_ids(data)) != config["graph"]:
            raise InputError(f"{folder}: the graph is not the one that the run began with; bring its files back, or "
                             "train anew with another --out")
        for name, version in runs.environment()["versions"].items():
            if (before := config.get("versions", {}).get(name)) != version:
                warnings.warn(f"the run began with {name} {before}, this is {version}: the result may differ in the "
                              "last digits", stacklevel=2)
        checkpoints = Checkpoints(folder / "checkpoints", every=checkpoint_every, resume=True)
        found = checkpoints.load()
        history = [] if found is None else found.state["place"]["history"]
        runs.mend_lines(folder / "metrics.jsonl", [Epoch(**epoch).record() for epoch in history])
        return _fill(folder, config, data, graph, checkpoints, memory_limit=memory_limit, tensorboard=tensorboard,
                     quiet=quiet, verbose=verbose, callbacks=callbacks)


def draw_if_possible(draw: partial[None]) -> None:
    """Draw a picture; without matplotlib there is none."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    draw()


def _follow(estimator: Estimator, graph: Graph, callbacks: Sequence[Callback]) -> dict[str, Any]:
    """Train as a rank that writes nothing."""
    estimator.fit(graph, callbacks=callbacks)
    return {}


def _fill(folder: Path, config: Mapping[str, Any], data: Data, graph: Graph, checkpoints: Checkpoints, *,
          memory_limit: int | None, tensorboard: bool, quiet: bool, verbose: bool, callbacks: Sequence[Callback],
          ) -> dict[str, Any]:
    """Train as ``config`` says, from the last checkpoint if there is one, and write all that a run leaves behind."""
    start = time.perf_counter()
    estimator = estimator_for(config["method"])(**config["settings"])
    checkpoints.identity = estimator.identity(config["graph"])
    name = label(config["method"], config["settings"])
    plan = check_memory(estimator, graph, memory_limit, distributed.processes_here())
    watch = CollapseWatch(partial(_some_rows, estimator, graph))
    with resumable(folder, data):
        with ExitStack() as stack:
            bar = stack.enter_context(ProgressBar(f"{name} on {config['dataset']}", quiet=quiet, verbose=verbose))
            told: list[Callback] = [
                bar, lambda epoch: runs.append(folder / "metrics.jsonl", epoch.record()), watch,
                partial(_note_coverage, estimator, bar), *callbacks]
            if tensorboard:
                told.append(stack.enter_context(TensorBoard(folder / "tensorboard")))
            if plan is not None:
                bar.note(f"memory estimate {plan.estimate}")
            estimator.fit(graph, checkpoint=checkpoints, callbacks=told)
        estimator.save_weights(folder)
        if estimator.history:
            draw_if_possible(partial(report.draw_curve, folder / "curve.png",
                                     {name: [epoch.loss for epoch in estimator.history]}))
        if not isinstance(graph, PartGraph):  # which lacks edges: its embedding would not be that of the graph
            memory = None if plan is None else plan.embedding
            leave_embedding(folder, estimator, data, graph, memory, watch=watch, quiet=quiet)
    return summary_of(folder, config, time.perf_counter() - start)


def _some_rows(estimator: Estimator, graph: Graph) -> Tensor:
    """(n, D) the embedding of one batch, by a method that is being trained."""
    assert estimator.method is not None
    sampler = estimator.settings["sampler"]
    source = estimator.graph(graph).source(0, sampler.batches)
    batch = sampler(source, step_generator(estimator.settings["seed"], 0, 1))
    return embeddings.compute(estimator.method, batch, device_for(estimator.settings["device"]))


def _note_coverage(estimator: Estimator, bar: ProgressBar, epoch: Epoch) -> None:
    share = getattr(estimator.method, "edge_coverage", None)
    if epoch.epoch == 1 and share is not None:
        bar.note(f"{share:.0%} of the edges of a view are positives")
