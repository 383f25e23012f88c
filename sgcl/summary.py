"""What run folders tell at a glance: a row of a list for each, or one of them in brief. Nothing in them is changed."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sgcl import files, runs, settings, workflow
from sgcl.errors import InputError
from sgcl.methods import METHODS
from sgcl.report import question
from sgcl.words import train_command

_ENVIRONMENT = ("versions", "commit", "device", "machine", "threads")


def list_runs(folder: str | Path) -> list[dict[str, Any]]:
    """A row for each run and saved model in a folder, however deep, by when it began."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: give the one that holds your runs")
    return sorted((_row(config.parent) for config in folder.rglob("config.json")),
                  key=lambda row: (row["started"], row["run"]))


def show_run(folder: str | Path) -> dict[str, Any]:
    """One run: its row, and what it was made with, how it went, what came of it and how to go on."""
    folder = Path(folder)
    config = runs.read_config(folder)
    lines = _lines(folder / "metrics.jsonl")
    losses = [line["loss"] for line in lines]
    about = {name: config.get(name) for name in ("graphs", "nodes", "edges", "files", "protocol")}
    return {**_row(folder), **about, "settings": _changed(config),
            "environment": {name: config[name] for name in _ENVIRONMENT if name in config},
            "history": {"first": losses[0], "lowest": min(losses), "last": losses[-1],
                        "seconds": lines[-1]["seconds"], "peak_memory": lines[-1]["peak_memory"]} if lines else None,
            "results": _answers(_lines(folder / "results.jsonl")),
            "holds": {file.relative_to(folder).as_posix(): file.stat().st_size for file in sorted(folder.rglob("*"))
                      if file.is_file() and file.name != files.LOCK},
            "again": _again(config), "next": _next(folder, config)}


def _row(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    empty = {"run": str(folder), "name": None, "method": None, "dataset": None, "epochs": 0, "epochs_asked": None,
             "loss": None, "started": datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds"),
             "result": None}
    try:
        config = runs.read_config(folder)
    except InputError as why:
        return {**empty, "state": "unreadable", "why": str(why)}
    lines = _lines(folder / "metrics.jsonl")
    last = {"epochs": len(lines), "loss": lines[-1]["loss"]} if lines else {}
    return {**empty, "name": workflow.label(config["method"], config["settings"]), "method": config["method"],
            "dataset": config.get("dataset"), "epochs_asked": config["settings"].get("epochs"), **last,
            "started": config.get("started", empty["started"]), "state": _state(folder, config),
            "result": _result(_lines(folder / "results.jsonl"))}


def _lines(file: Path) -> list[dict[str, Any]]:
    """JSON lines; none of a file that is damaged, which whoever needs it will say."""
    try:
        return runs.read_lines(file)
    except (OSError, ValueError):
        return []


def _state(folder: Path, config: Mapping[str, Any]) -> str:
    if "dataset" not in config:
        return "model"
    if files.is_locked(folder):
        return "running"
    finished = runs.is_finished(folder, embedded="parts" not in config)
    return "finished" if finished else "interrupted"


def _answers(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of all that was asked, the last of each: who asks twice has one answer."""
    named = [{"task": "probe", **row} for row in rows]
    return list({(*question(row), row.get("name"), row.get("seed"), row.get("split_seed")): row
                 for row in named}.values())


def _result(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The mean over the splits of what was last asked of the run itself: the best of them would flatter it."""
    own = [row for row in rows if row.get("name") not in workflow.FLOORS and row.get("test") is not None]
    if not own:
        return None
    asked = {name: own[-1].get(name) for name in ("task", "protocol", "probe", "metric")}
    scores = {row.get("split_seed"): row["test"] for row in own if question(row) == question(own[-1])}
    return {**asked, "test": statistics.mean(scores.values()), "splits": len(scores)}


def _changed(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are not the defaults, without nesting; all of a method that is not known here."""
    chosen = workflow.flat_settings(config["settings"])
    try:
        usual = workflow.flat_settings(settings.encode(settings.defaults(config["method"])))
    except InputError:
        return chosen
    return {name: value for name, value in chosen.items() if name not in usual or usual[name] != value}


def _again(config: Mapping[str, Any]) -> str | None:
    """The command that repeats the run."""
    if "dataset" not in config:
        return None
    try:
        return train_command(config["method"], config["settings"], dataset=config["dataset"],
                             files=config.get("files"), attributes=config.get("attributes", False),
                             protocol=config.get("protocol"))
    except InputError:
        return None


def _next(folder: Path, config: Mapping[str, Any]) -> str:
    if _state(folder, config) == "interrupted":
        return f"sgcl train --resume {folder}"
    if "dataset" in config:
        return workflow.next_step(folder, "parts" in config)
    of_graphs = config["method"] in METHODS and METHODS[config["method"]].level == "graph"  # type: ignore[attr-defined]
    what = "--collection FOLDER" if of_graphs else "--graph EDGES"
    return f"sgcl embed {folder} {what} --out FILE"
