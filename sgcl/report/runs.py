"""Runs and sweeps for a terminal: a table of many, one in brief."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sgcl.report.scores import print_scores
from sgcl.report.table import print_table


def print_runs(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what :func:`sgcl.summary.list_runs` gave, a line a run."""
    print_table(title, ["run", "method", "dataset", "epochs", "loss", "state", "began", "result"], [
        [row["run"], row["name"] or "", row["dataset"] or "", f"{row['epochs']}/{row['epochs_asked'] or '?'}",
         _number(row["loss"]), row["state"], _minute(row["started"]), _score(row["result"])] for row in rows])


def print_run(run: Mapping[str, Any]) -> None:
    """Print what :func:`sgcl.summary.show_run` gave; what is not known has no line."""
    made, history = run["environment"], run["history"]
    beside = {name: made[name] for name in ("commit", "device", "threads") if name in made}
    known = {**made.get("versions", {}), **beside}
    lines = {
        "run": f"{run['run']}: {run['name']}, {run['state']}, began {_minute(run['started'])}",
        "graph": run["dataset"] and f"{run['dataset']}, {_graphs(run)}{run['nodes']} nodes, {run['edges']} edges, "
                                    f"protocol {run['protocol']}",
        "settings": ", ".join(f"{name}={value}" for name, value in run["settings"].items()) or "all as by default",
        "made with": ", ".join(f"{name} {value}" for name, value in known.items()),
        "epochs": f"{run['epochs']} of {run['epochs_asked']}" + ("" if history is None else (
            f" in {history['seconds']:.1f} s, loss {history['first']:.4g} to {history['last']:.4g}, at the lowest "
            f"{history['lowest']:.4g}, peak memory {history['peak_memory'] / 2**20:.0f} MB")),
        "files": ", ".join(f"{name} ({size:,} bytes)" for name, size in run["holds"].items()),
        "again": run["again"],
        "next": run["next"],
    }
    for name, text in lines.items():
        if text:
            print(f"{name:<10} {text}")
    if run["results"]:
        print_scores(run["results"])


def print_sweep(outcome: Mapping[str, Any]) -> None:
    """Print what :func:`sgcl.sweep.sweep` gave: its trials, the best first, and the command line of that one."""
    trials = sorted(outcome["trials"], key=lambda trial: (trial["score"] is None, -(trial["score"] or 0)))
    names = list(trials[0]["values"])
    print_table(f"{outcome['sweep']}: {outcome['method']} on {outcome['dataset']}, by {outcome['metric']}",
                ["trial", *names, "score", "epochs", "seconds", "state"],
                [[str(trial["trial"]), *(_number(trial["values"][name]) for name in names), _number(trial["score"]),
                  str(trial["epochs"]), f"{trial['seconds']:.1f}", trial["state"]] for trial in trials])
    for trial in trials:
        if trial["state"] == "failed":
            print(f"trial {trial['trial']} failed: {trial['why']}")
    print(f"best: {outcome['command'] or 'trial ' + str(outcome['best'])}")


def _score(result: Mapping[str, Any] | None) -> str:
    if result is None:
        return ""
    splits = f", {result['splits']} splits" if result["splits"] > 1 else ""
    return f"{result['metric']} {100 * result['test']:.2f} ({result['protocol']}{splits})"


def _graphs(run: Mapping[str, Any]) -> str:
    return f"{run['graphs']} graphs, " if run.get("graphs") else ""


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
