"""The trials of a sweep: each trained, scored and written down, and the command line of the best.

A sweep folder holds ``sweep.json``, what is swept and how it is judged, and ``trials.jsonl``, a line for each trial
that has ended: its values, its score, how it went, and all its settings. A sweep that was cut short goes on with the
same call; what has a line is not trained again.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from sgcl import embeddings, runs, settings, workflow
from sgcl.errors import InputError
from sgcl.estimator import Estimator, device_for, estimator_for
from sgcl.files import lock, whole
from sgcl.memory import check_memory
from sgcl.progress import ProgressBar
from sgcl.signals import Interrupted
from sgcl.sweep.arena import Arena, arena_of
from sgcl.sweep.proposals import Grid, Proposals, Space, Study
from sgcl.trainer import Epoch, TrainingError, train
from sgcl.words import train_command

Settle = Callable[[Mapping[str, str]], Mapping[str, Any]]

FORMAT = 1
_LOOKS = 4  # scores of a training that may be stopped before its end
_OUTCOME = ("state", "score", "scores", "epochs", "why", "seconds")


def sweep(method: str, settle: Settle, space: Space, data: Data, *, dataset: str, out: str | Path,
          select: str = "validation", trials: int | None = None, protocol: str | None = None,
          files: Mapping[str, Any] | None = None, attributes: bool = False, memory_limit: int | None = None,
          quiet: bool = False, verbose: bool = False) -> dict[str, Any]:
    """Train ``method`` with settings from ``space``; gives all trials with their scores, and the best.

    Args:
        method: its name.
        settle: the values of a trial as text, by their names in ``space``, to its settings in JSON form.
        space: the values to try by name or, for Optuna, a :class:`~sgcl.sweep.Range`.
        data, dataset, files, attributes, protocol: the graph, its name, how it was read, and how it is split, as for
            :func:`sgcl.workflow.train_run`.
        out: the sweep folder; one of the same sweep is gone on with.
        select: how trials are judged, see :func:`~sgcl.sweep.arena_of`.
        trials: let Optuna propose so many points, and stop those that fall behind; else all points of the grid.
        memory_limit, quiet, verbose: as for :func:`sgcl.workflow.train_run`.
    """
    protocol = workflow.protocol_for(dataset, files) if protocol is None else protocol
    fixed = estimator_for(method)(**settle({})).settings
    where = arena_of(select, data, seed=fixed["seed"], protocol=protocol, dataset=dataset, files=files)
    proposals = Grid(space) if trials is None else Study(space, trials, seed=fixed["seed"])
    for corner in proposals.corners():
        estimator_for(method)(**settle(_as_text(corner)))  # what is wrong is told before anything is trained
    folder = Path(out)
    with lock(folder):
        _open(folder, {"method": method, "dataset": dataset, "protocol": protocol, "select": select,
                       "graph": runs.fingerprint(where.graph), "settings": settings.encode(fixed),
                       **({} if trials is None else {"optuna": {name: str(values) for name, values in space.items()}})})
        records = _mended(folder / "trials.jsonl")
        for record in records:
            proposals.tell(record)
        while (values := proposals.ask()) is not None:
            estimator = estimator_for(method)(**settle(_as_text(values)))
            resolved, number = settings.encode(estimator.settings), len(records) + 1
            same = next((record for record in records if record["settings"] == resolved), None)
            named = ", ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
                              for name, value in values.items())
            title = f"trial {number}/{max(proposals.total, number)}, {named}"
            try:
                with ProgressBar(title, quiet=quiet, verbose=verbose) as bar:
                    outcome = _tried(estimator, where, proposals, bar, memory_limit) if same is None else {
                        name: same[name] for name in _OUTCOME}
            except InputError:
                if not records:
                    (folder / "sweep.json").unlink()  # other settings may follow: nothing has been tried
                raise
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted in trial {number}; the same command goes on", signal.SIGINT) from None
            records.append({"trial": number, "values": values, **outcome, "settings": resolved})
            runs.append(folder / "trials.jsonl", records[-1])
            proposals.tell(records[-1])
    complete = [record for record in records if record["state"] == "complete"]
    if not complete:
        raise TrainingError(f"no trial of {folder} came to its end; the last: {records[-1]['why']}")
    best = max(complete, key=lambda record: record["score"])
    return {"sweep": str(folder), "method": method, "dataset": dataset, "protocol": protocol, "select": select,
            "metric": where.metric, "trials": records, "best": best["trial"],
            "command": train_command(method, best["settings"], dataset=dataset, files=files, attributes=attributes,
                                     protocol=protocol)}


class _Behind(Exception):
    """The trial shall stop."""


def _tried(estimator: Estimator, where: Arena, proposals: Proposals, bar: ProgressBar, memory_limit: int | None
           ) -> dict[str, Any]:
    """One training and its score. What stops it is part of the outcome."""
    start, scores, done = time.perf_counter(), dict[int, float](), [0]
    outcome: dict[str, Any] = {"state": "complete", "score": None, "why": None}
    training = settings.split(estimator.settings)[1]
    training["device"] = device_for(training["device"])
    graph = estimator.graph(where.graph)
    method = estimator.untrained(graph.num_features)
    looks = {round(training["epochs"] * share / _LOOKS) for share in range(1, _LOOKS)}

    def look(epoch: Epoch) -> None:
        done[0] = epoch.epoch
        if isinstance(proposals, Study) and epoch.epoch in looks and epoch.epoch < epoch.epochs:
            scores[epoch.epoch] = where.score(embeddings.compute(method, graph, training["device"]))
            if proposals.is_behind(epoch.epoch, scores[epoch.epoch]):
                raise _Behind

    check_memory(estimator, graph, memory_limit)  # a refusal is no outcome: with more memory the trial may be tried
    try:
        train(method, graph, **training, callbacks=[bar, look])
        outcome["score"] = scores[done[0]] = where.score(embeddings.compute(method, graph, training["device"]))
    except _Behind:
        outcome.update(state="pruned", why=f"behind the median after epoch {done[0]}")
    except (TrainingError, InputError) as error:
        outcome.update(state="failed", why=str(error))
    return {**outcome, "scores": {str(epoch): score for epoch, score in scores.items()}, "epochs": done[0],
            "seconds": round(time.perf_counter() - start, 2)}


def _as_text(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _open(folder: Path, identity: Mapping[str, Any]) -> None:
    """Say in ``sweep.json`` what is swept; that of another sweep is refused."""
    file = folder / "sweep.json"
    if not file.exists():
        if any(not path.name.startswith(".") for path in folder.iterdir()):
            raise InputError(f"{folder} is there already and holds no sweep: give another --out")
        with whole(file) as part:
            part.write_text(json.dumps({"format": FORMAT, **identity, **runs.environment()}, indent=2) + "\n",
                            encoding="utf-8")
        return
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        version = found["format"]
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{file} is damaged: give another --out") from None
    if version > FORMAT:
        raise InputError(f"{folder} was written by a newer sgcl: upgrade sgcl")
    for name, value in json.loads(json.dumps(identity)).items():
        if found.get(name) != value:
            raise InputError(f"{folder} holds another sweep, whose {name} differ: give another --out")


def _mended(file: Path) -> list[dict[str, Any]]:
    """The trials that have ended; a last line that was cut short is removed."""
    records = runs.read_lines(file)
    if file.exists() and not file.read_bytes().endswith(b"\n"):
        with whole(file) as part:
            part.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return records
