"""Whole jobs: a dataset and settings to a run folder, run folders to result rows."""

from __future__ import annotations

import copy
import hashlib
import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from sgcl import datasets, distributed, embeddings, levels, ram, report, runs, settings, store
from sgcl.callbacks import CollapseWatch, TensorBoard
from sgcl.chance import step_generator
from sgcl.checkpoints import Checkpoints
from sgcl.errors import InputError
from sgcl.estimator import Estimator, device_for, estimator_for
from sgcl.evaluation import PROTOCOLS, TASKS, Case, LinkSplit, Task, raw_features, split_links
from sgcl.evaluation.protocol import Protocol
from sgcl.files import lock, whole
from sgcl.graph import Graph, one_column_each
from sgcl.mapped import MappedFeatures
from sgcl.memory import check_memory
from sgcl.methods import Method
from sgcl.progress import ProgressBar, Shares
from sgcl.readers import LEARNED, SPECTRAL, STRUCTURAL, label_graphs, read_graph
from sgcl.signals import Interrupted
from sgcl.sparse import CSR
from sgcl.store import PartGraph
from sgcl.trainer import Callback, Epoch, NonFiniteError, TrainingError, named_rows
from sgcl.turns import check_accumulate

_VARIANTS = {"taubin": "T", "bilateral": "B", "diffusion": "D", "identity": "Identity"}  # as in the paper's tables
FLOORS = ("raw features", "untrained encoder")
BESIDE = ("seed", "device", "workers")  # runs that differ in these alone share a row


def label(method: str, chosen: Mapping[str, Any]) -> str:
    """A method with its smoothing (settings in JSON form), as tables call it: SGCL-T, SGCL-Identity, GRACE."""
    smoothing = chosen.get("smoothing")
    if smoothing is None:
        return levels.title(method)
    name = smoothing if isinstance(smoothing, str) else smoothing["name"]
    return f"{levels.title(method)}-{_VARIANTS.get(name, name)}"


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
    with runs.create(out or _default_folder(method, resolved, dataset)) as folder:
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
    folder = Path(out or _default_folder(method, resolved, dataset))
    runs.check_free(folder)
    return folder


def resume_run(folder: str | Path, *, data_root: str | None = None, download: bool = False,
               checkpoint_every: float = 60.0, memory_limit: int | None = None, tensorboard: bool = False,
               quiet: bool = False, verbose: bool = False, callbacks: Sequence[Callback] = ()) -> dict[str, Any]:
    """Go on with a run that was cut short, from its last checkpoint or else from the beginning; gives its summary.

    The settings and the graph are the run's own. A run that is finished is left as it is.
    """
    folder = Path(folder)
    config = _run_config(folder)
    if distributed.current().rank:
        if runs.is_finished(folder, embedded="parts" not in config):
            return {}
        data = load_graph(config, data_root, download=download)
        return _follow(estimator_for(config["method"])(**config["settings"]),
                       restricted_graph(data, config["protocol"])[1], callbacks)
    with lock(folder):
        if runs.is_finished(folder, embedded="parts" not in config):
            warnings.warn(f"{folder} is finished: there is nothing to resume", stacklevel=2)
            return _summary(folder, config)
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


def next_step(folder: str | Path, parted: bool) -> str:
    """The command to go on with after a training."""
    if not parted:
        return f"sgcl evaluate {folder}"
    return (f"sgcl embed {folder} --graph STORE --out FILE, or sgcl evaluate {folder} --graph STORE, with the store "
            "that the parts were cut from")


def finished(folder: str | Path) -> dict[str, Any]:
    """The summary of a run that is there."""
    return _summary(Path(folder), _run_config(Path(folder)))


def evaluate_runs(folders: Sequence[str | Path], *, tasks: Sequence[str] = ("probe",), protocol: str | None = None,
                  seeds: int | None = None, probe: str = "converged", labels: str | Path | None = None,
                  columns: Mapping[str, str] | None = None, floors: bool = True, whole_store: str | Path | None = None,
                  data_root: str | None = None, download: bool = False, quiet: bool = True) -> list[dict[str, Any]]:
    """Score runs of one dataset: a row for each (task, run, split), floors first. Each run's rows join its
    results.jsonl, once all of them are there.

    Runs of one name that differ in more than their seed get what differs into their name. What several runs have in
    common, the features and often the untrained encoder, is scored and given once.

    Args:
        tasks: names of :data:`sgcl.evaluation.TASKS`. For ``links`` each run's method is trained anew, with its
            settings, on the graph without the links that are hidden; all other tasks are about the run's embedding.
        protocol: how nodes are split; the run's own unless given.
        seeds: splits 0 to seeds - 1; the split of the run's own seed unless given.
        probe: ``"converged"`` or ``"published"``.
        labels: a table with an id and a label column, instead of the graph's own labels.
        columns: what its columns are called, as ``id_column`` and ``label_column``.
        floors: whether to score raw features and the untrained encoder too.
        whole_store: for runs that were trained from parts, the store that these were cut from. It is embedded into each
            run that has no embedding yet.
        data_root, download: as in :func:`sgcl.datasets.load`.
        quiet: no progress of trainings.
    """
    paths = [Path(folder) for folder in folders]
    configs = [_on_whole(path, _run_config(path), whole_store) for path in paths]
    if len({json.dumps([config.get(name) for name in ("dataset", "files", "attributes")]) for config in configs}) > 1:
        raise InputError("the runs are of different datasets: evaluate them one dataset at a time")
    asked = {name: TASKS[name] for name in tasks}
    names = [config["protocol"] if protocol is None else protocol for config in configs]
    collection = levels.is_collection(configs[0]["dataset"], configs[0].get("files"))
    levels.check_tasks(asked, collection)
    if "links" in asked and whole_store is not None:
        raise InputError("--task links would train on the whole graph, and the runs were trained from parts: ask for "
                         "another task")
    for name in names:
        levels.check_protocol(name, collection)
    loaded = _labelled(load_graph(configs[0], data_root, download=download), asked, labels, columns)
    restricted = cache(lambda name: restricted_graph(loaded, name))
    for path, config, name in zip(paths, configs, names, strict=True):
        if "parts" in config and not runs.is_finished(path):
            estimator = Estimator.load(path)
            memory = _some_memory() if embeddings.in_blocks(estimator.fitted) else None
            with lock(path):
                _leave_embedding(path, estimator, loaded, Graph.from_data(loaded), memory, quiet=quiet)
        if not np.array_equal(embeddings.load(path)[1], node_ids(restricted(name)[0])):
            if name == config["protocol"]:
                raise InputError(f"{path}: the nodes of the graph are not those that the run was trained on; bring its "
                                 "files back, or train it again")
            raise InputError(f"{path} was trained for protocol {config['protocol']!r}, whose nodes are not those of "
                             f"{name!r}: train it with --protocol {name}")
    beside = {} if labels is None else {"labels": str(Path(labels).resolve()), **(columns or {})}
    metric = datasets.DATASETS[configs[0]["dataset"]].metric if labels is None and "files" not in configs[0] else None

    scored: dict[tuple[Any, ...], dict[str, Any]] = {}
    lines: list[tuple[Path, dict[str, Any]]] = []
    for path, config, name, row_name in zip(paths, configs, names, _row_names(configs), strict=True):
        (data, graph), own_seed = restricted(name), config["settings"]["seed"]
        frozen = cache(partial(_frozen, path, graph, row_name, floors=floors))
        for task, question in asked.items():
            for split_seed in [None] if not question.seeded else [own_seed] if seeds is None else range(seeds):
                links, rows = (None, frozen()) if task != "links" else _trained_anew(
                    path, config, data, row_name, split_seed or 0, floors=floors, quiet=quiet)
                for title, matrix in rows.items():
                    key = (task, title, name, split_seed, _fingerprint(matrix), *([] if title in FLOORS else [path]))
                    if key not in scored:
                        scored[key] = {"name": title, "run": str(path), "dataset": config["dataset"], "seed": own_seed,
                                       **beside, **score(matrix, data, graph, task=task, protocol=name, probe=probe,
                                                         split_seed=split_seed, metric=metric, links=links)}
                    lines.append((path, {**scored[key], "run": str(path), "seed": own_seed}))
    for path, line in lines:
        runs.append(path / "results.jsonl", line)
    order = {name: number for number, name in enumerate((*asked, *FLOORS))}
    return sorted(scored.values(), key=lambda row: (order[row["task"]], order.get(row["name"], len(order))))


def floor_rows(estimator: Estimator, graph: Graph) -> dict[str, Tensor]:
    """What any method must beat: the features themselves, and its encoder before training."""
    method = estimator.untrained(graph.num_features)
    if isinstance(graph.x, MappedFeatures):
        return _stored_floors(estimator, method, graph)
    untrained = embeddings.compute(method, estimator.graph(graph))
    if one_column_each(graph.x):  # nothing to score, and (N, N) written out
        return {FLOORS[1]: untrained}
    return dict(zip(FLOORS, (raw_features(graph), untrained), strict=True))


def _stored_floors(estimator: Estimator, method: Method, graph: Graph) -> dict[str, Tensor]:
    """The same for the graph of a store: in blocks where the method can, and features only where they fit."""
    memory = _some_memory() if embeddings.in_blocks(method) else None
    untrained = embeddings.compute(method, estimator.graph(graph), memory=memory)
    if 3 * 4 * graph.num_nodes * graph.num_features > ram.free_memory():
        warnings.warn(f"the {FLOORS[0]} are not scored: they do not fit the memory", stacklevel=2)
        return {FLOORS[1]: untrained}
    return dict(zip(FLOORS, (raw_features(graph.in_memory()), untrained), strict=True))


def _some_memory() -> int:
    """A quarter of what is free, to embed a graph in blocks."""
    return ram.rounded_down(ram.free_memory() / 4)


def score(embedding: Tensor, data: Data, graph: Graph, *, protocol: str, split_seed: int | None, task: str = "probe",
          probe: str = "converged", metric: str | None = None, links: LinkSplit | None = None) -> dict[str, Any]:
    """One embedding by one task: its values, and how they came about."""
    start = time.perf_counter()
    adj: CSR | None = graph.adj
    if isinstance(graph.x, MappedFeatures) and task == "probe":  # for the disparity
        fits = 64 * graph.adj.nnz < ram.free_memory()
        adj = graph.adj.rows(slice(None), symmetric=True) if fits else None
    values = TASKS[task].measure(embedding, Case(data, adj, PROTOCOLS[protocol], split_seed or 0, probe, metric,
                                                 links))
    return {"task": task, "protocol": protocol, "split_seed": split_seed, **values,
            "seconds": round(time.perf_counter() - start, 3)}


def load_graph(config: Mapping[str, Any], data_root: str | None = None, *, download: bool = False) -> Data:
    """The graph that a run's configuration names: of the catalogue, or of one's own files."""
    if "files" in config:
        return _in_order(store.read_files(config["files"]), config.get("feature_names"))
    return levels.load_dataset(config["dataset"], data_root, attributes=config.get("attributes", False),
                               download=download)


def protocol_for(dataset: str, files: Mapping[str, Any] | None = None) -> str:
    """The protocol of a dataset of the catalogue, and one for graphs and one for collections of one's own."""
    if files is not None:
        return "tu" if levels.is_collection(dataset, files) else "random"
    return datasets.DATASETS[dataset].protocol or "random"


def restricted_graph(data: Data, protocol: str) -> tuple[Data, Graph]:
    """The nodes that the protocol knows, and their graph."""
    graph = Graph.from_data(data)  # first, so that what is wrong is told of the graph as it came
    levels.check_protocol(protocol, graph.graph_ptr is not None)
    if type(PROTOCOLS[protocol]).restrict is not Protocol.restrict:
        data = store.in_memory(data, f"protocol {protocol!r}")
    part = PROTOCOLS[protocol].restrict(data)
    return (data, graph) if part is data else (part, Graph.from_data(part))


def without_links(data: Data, seed: int, files: Mapping[str, Any] | None = None) -> tuple[LinkSplit, Graph]:
    """Links to be hidden, and the graph without them; features that were made from the links are made anew."""
    data = store.in_memory(data, "--task links")
    links = split_links(data, seed=seed)
    made = (files or {}).get("features")
    return links, Graph.from_data(read_graph(links.graph, features=made) if made in STRUCTURAL else links.graph)


def embed(folder: str | Path, data: Data, out: str | Path, device: str | None = None,
          memory: int | None = None, *, quiet: bool = True) -> dict[str, Any]:
    """Embed the nodes of another graph, or the graphs of another collection, with a run's model and write them under
    their ids.

    With ``memory``, at most so many bytes are taken beside the graph and the weights; temporary files lie beside
    ``out``. Of a store the embedding is always made in blocks, in a quarter of the free memory unless given, into a
    file that an embedding cut short goes on with when it is asked for again.
    """
    folder, out = Path(folder), Path(out)
    embeddings.check_file(out)
    estimator = Estimator.load(folder, device=device)
    config = runs.read_config(folder)
    data = _in_order(data, config.get("feature_names"))
    stored = isinstance(data.get("graph"), Graph) and embeddings.in_blocks(estimator.fitted)
    made = config.get("files", {}).get("features")
    if made == LEARNED and not np.array_equal(embeddings.load_ids(folder), node_ids(data)):
        raise InputError(f"{folder} has learned features, which only the nodes it was trained on have; for others, "
                         "train with features of their own, or made from the graph such as --features walk")
    if made == SPECTRAL and runs.fingerprint(Graph.from_data(data), node_ids(data)) != config.get("graph"):
        warnings.warn("each graph has spectral features of its own: the embedding is not comparable with that of the "
                      "graph the run was trained on; --features walk or degree mean the same on every graph",
                      stacklevel=2)
    if stored:
        embedding = _transformed(estimator, Graph.from_data(data), out, memory or _some_memory(), quiet=quiet)
        embeddings.write_rest(out, embedding, node_ids(data))
    else:
        embedding = estimator.transform(data, memory=memory, folder=out.parent)
        embeddings.write(out, embedding, node_ids(data))
    rows = "nodes" if data.get("batch") is None else "graphs"
    return {"out": str(out), rows: len(embedding), "width": embedding.shape[1]}


def write_run_config(folder: Path, estimator: Estimator, data: Data, graph: Graph, **trained_on: Any) -> None:
    """``config.json`` of a run: the model's, and what it was trained on and with."""
    named = {} if data.get("feature_names") is None else {"feature_names": data.feature_names}
    counted = {} if graph.graph_ptr is None else {"graphs": graph.num_graphs}
    runs.write_config(folder, {**estimator.config(graph.num_features), **trained_on, **named, **counted,
                               **(graph.about if isinstance(graph, PartGraph) else
                                  {"nodes": graph.num_nodes, "edges": graph.num_edges}),
                               "graph": runs.fingerprint(graph, node_ids(data)),
                               "started": datetime.now(UTC).isoformat(timespec="seconds"),
                               **({} if (ranks := distributed.current().size) == 1 else {"ranks": ranks}),
                               **runs.environment(device=device_for(estimator.settings["device"]))})


def node_ids(data: Data) -> np.ndarray:
    """(N,) the ids of the nodes, or (G,) of the graphs of a collection, under which embeddings are written: the user's
    own, or numbers in the dataset's order."""
    if "ids" in data:
        return np.asarray(data.ids)
    if "batch" in data:
        return np.arange(data.num_graphs)
    ids: np.ndarray = data.n_id.numpy() if "n_id" in data else np.arange(data.num_nodes)
    return ids


def draw_if_possible(draw: partial[None]) -> None:
    """Draw a picture; without matplotlib there is none."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return
    draw()


def labels_of(data: Data) -> np.ndarray | None:
    """(N,) labels for colouring, where there are any."""
    return data.y.numpy() if isinstance(data.get("y"), torch.Tensor) and data.y.dim() == 1 else None


def _in_order(data: Data, names: list[str] | None) -> Data:
    """``data`` with its feature columns in the order of ``names``; as it is where one of the two has no names."""
    own = data.get("feature_names")
    if names is None or own is None or own == names:
        return data
    if isinstance(data.get("graph"), Graph):
        raise InputError(f"{data.store}: its feature columns are not those that the run was trained on, in their "
                         "order: import it with the same columns")
    if data.get("batch") is not None:
        data = levels.with_columns(data, names)
    place = {name: column for column, name in enumerate(data.feature_names)}
    if place.keys() != set(names):
        differing = [f"{name!r} is missing" for name in sorted(set(names) - place.keys())[:1]]
        differing += [f"{name!r} is new" for name in sorted(place.keys() - set(names))[:1]]
        raise InputError(f"the feature columns are not those that the run was trained on: {', '.join(differing)}; give "
                         "the same columns, in any order")
    data = copy.copy(data)
    data.x, data.feature_names = data.x[:, [place[name] for name in names]], names
    return data


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
    with _resumable(folder, data):
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
            _leave_embedding(folder, estimator, data, graph, memory, watch=watch, quiet=quiet)
    return _summary(folder, config, time.perf_counter() - start)


def _leave_embedding(folder: Path, estimator: Estimator, data: Data, graph: Graph, memory: int | None, *,
                     watch: CollapseWatch | None = None, quiet: bool) -> None:
    """Write the embedding of a run, and last its ids."""
    stored = isinstance(graph.x, MappedFeatures) and memory is not None
    if stored:
        embedding = _transformed(estimator, graph, folder / "embeddings.npy", memory or 0, quiet=quiet)
    else:
        embedding = estimator.transform(graph, memory=memory, folder=folder)
    if watch is not None:
        watch.look(embedding, "at the end of the training")
    if stored:
        embeddings.save_ids(folder, node_ids(data))
    else:
        embeddings.save(folder, embedding, node_ids(data))


def _transformed(estimator: Estimator, graph: Graph, file: Path, memory: int, *, quiet: bool) -> Tensor:
    """The embedding of a store's graph, mapped from ``file``, or for other formats from an .npy file beside it."""
    out = file if file.suffix == ".npy" else file.with_name(f".{file.name}.npy")
    with Shares("embedding", quiet=quiet) as bar:
        return estimator.transform(graph, memory=memory, out=out,
                                   tell=lambda layer, share: bar(f"layer {layer}", share))


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


@contextmanager
def _resumable(folder: Path, data: Data) -> Iterator[None]:
    """Say of whatever stops a run how to go on with it."""
    how = f"go on with: sgcl train --resume {folder}"
    try:
        yield
    except Interrupted as stop:
        raise Interrupted(f"{stop}; {how}", stop.number) from None
    except NonFiniteError as error:
        file, ids = folder / "failed-batch.json", _ids_of(data, error)
        with whole(file) as part:
            part.write_text(json.dumps({"epoch": error.epoch, "batch": error.batch, "ids": ids}) + "\n",
                            encoding="utf-8")
        message = str(error).replace(named_rows(error.rows.tolist(), error.kind), named_rows(ids, error.kind))
        raise TrainingError(f"{message}; the ids of its {error.kind} are in {file}; without its cause, {how}") from None
    except TrainingError as error:
        raise type(error)(f"{error}; {how}") from None
    except OSError as error:  # a full disk, a folder that went away
        raise TrainingError(f"cannot write {error.filename or folder}: {error.strerror or error}; once that is "
                            f"mended, {how}") from None


def _ids_of(data: Data, error: NonFiniteError) -> list[Any]:
    """What the nodes or graphs of a batch are called."""
    if isinstance(data.get("graph"), PartGraph):
        names: list[Any] = data.graph.names(error.batch - 1, error.rows.tolist())
        return names
    return list(node_ids(data)[error.rows.numpy()].tolist())


def _summary(folder: Path, config: Mapping[str, Any], seconds: float = 0.0) -> dict[str, Any]:
    lines = runs.read_lines(folder / "metrics.jsonl")
    named = ("method", "dataset", "protocol", "graphs", "nodes", "edges", "parts")
    return {"run": str(folder), **{name: config[name] for name in named if name in config},
            "epochs": len(lines), "loss": lines[-1]["loss"] if lines else None, "seconds": round(seconds, 2),
            "settings": config["settings"], "next": next_step(folder, "parts" in config)}


def _default_folder(method: str, resolved: Mapping[str, Any], dataset: str) -> Path:
    smoothing = [resolved["smoothing"]["name"]] if resolved.get("smoothing") else []
    return Path("runs") / "-".join([method, *smoothing, dataset, str(resolved["seed"])])


def _run_config(folder: Path) -> dict[str, Any]:
    config = runs.read_config(folder)
    for name in ("dataset", "protocol"):
        if not isinstance(config.get(name), str):
            raise InputError(f"{folder} names no {name}: it is a saved model, not a run of `sgcl train`")
    return {**config, "settings": settings.encode(settings.resolve(config["method"], config["settings"]))}


def _on_whole(folder: Path, config: dict[str, Any], graph: str | Path | None) -> dict[str, Any]:
    """The configuration of a run, with a whole store in the place of the parts that it was trained from."""
    if "parts" not in config:
        if graph is not None:
            raise InputError(f"{folder} is scored on the graph that it was trained on: leave out --graph")
        return config
    if graph is None:
        raise InputError(f"{folder} was trained from parts: give the store that they were cut from as --graph STORE, "
                         "which is embedded into the run and scored")
    if store.read_store(graph).graph.x.digest != config["parts"]["cut_from"]:
        raise InputError(f"{graph} is not the store that the parts of {folder} were cut from")
    return {**config, "files": {"edges": str(Path(graph).resolve())}}


def _labelled(data: Data, asked: Mapping[str, Task], labels: str | Path | None,
              columns: Mapping[str, str] | None) -> Data:
    """The graph with the labels that the tasks need: its own, or those of a file."""
    collection = data.get("batch") is not None
    if labels is not None:
        data = (label_graphs if collection else _label_nodes)(data, labels, **columns or {})
    needing = [name for name, task in asked.items() if task.needs_labels]
    missing = int((data.y < 0).sum()) if collection and data.get("y") is not None else 0
    if needing and (data.get("y") is None or (collection and missing == len(data.y))):
        without = ", ".join(name for name, task in TASKS.items()
                            if not task.needs_labels and (task.of_graphs or not collection))
        raise InputError(f"the {'collection' if collection else 'graph'} has no labels to compare with (--task "
                         f"{','.join(needing)}): give --labels FILE, a table with the columns id and label, or ask "
                         f"without labels: {without}")
    if needing and missing:
        warnings.warn(f"{missing} of {len(data.y)} graphs have no label: they are embedded but not scored",
                      stacklevel=3)
    return data


def _label_nodes(data: Data, labels: str | Path, **columns: str) -> Data:
    if isinstance(data.get("graph"), Graph):
        return store.label_nodes(data, labels, **columns)
    return read_graph(data, labels=labels, **columns)


def _frozen(path: Path, graph: Graph, row_name: str, *, floors: bool) -> dict[str, Tensor]:
    """The embedding that a run left, floors before it."""
    rows = {row_name: embeddings.load(path)[0]}
    return {**floor_rows(Estimator.load(path), graph), **rows} if floors else rows


def _trained_anew(path: Path, config: Mapping[str, Any], data: Data, row_name: str, seed: int, *, floors: bool,
                  quiet: bool) -> tuple[LinkSplit, dict[str, Tensor]]:
    """Hidden links, and embeddings by what has never seen them: a run's method, trained on the links that are left."""
    links, graph = without_links(data, seed, config.get("files"))
    estimator = Estimator.load(path)
    with ProgressBar(f"{row_name}, links of seed {seed} hidden", quiet=quiet) as bar:
        estimator.fit(graph, callbacks=[bar])
    rows = {row_name: estimator.transform(graph)}
    return links, {**floor_rows(estimator, graph), **rows} if floors else rows


def _row_names(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The label of each run, with the settings that tell it apart where runs of one label differ in more than seed."""
    labels = [label(config["method"], config["settings"]) for config in configs]
    flat = [flat_settings(config["settings"]) for config in configs]
    names = []
    for own, chosen in zip(labels, flat, strict=True):
        others = [other for name, other in zip(labels, flat, strict=True) if name == own]
        differing = [f"{name}={value}" for name, value in chosen.items()
                     if name not in BESIDE and any(other.get(name) != value for other in others)]
        names.append(" ".join([own, *differing]))
    return names


def flat_settings(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in JSON form without nesting: {"smoothing.mu": -0.4, "view1.drop-edges.p": 0.5, "lr": 0.001, ...}."""
    flat = {}
    for name, value in chosen.items():
        parts = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        for part in parts:
            prefix = f"{name}.{part['name']}" if isinstance(value, list) else name
            flat.update({f"{prefix}.{key}": number for key, number in part.items()})
        if not parts:
            flat[name] = value
    return flat


def _fingerprint(matrix: Tensor) -> str:
    return hashlib.sha256(matrix.contiguous().numpy()).hexdigest()  # type: ignore[arg-type]
