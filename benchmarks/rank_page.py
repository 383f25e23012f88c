"""The figures of ranks, parts and the plan in docs/scale.md, from lines in results/; called by benchmarks/render.py."""

from pathlib import Path
from typing import Any

import plan

from sgcl.runs import read_lines

ROOT = Path(__file__).parent.parent


def render(page: str) -> str:
    """The page with its tables as the lines say, each between two comments with its name."""
    tables = {"faults": _faults(), "ranks": _ranks(), "parts": _parts(), "plan": plan.rows(_last("plan"))}
    for name, rows in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(start)
        lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
        page = before + start + "\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + end + rest.split(end)[1]
    return page


def _last(name: str) -> dict[str, Any]:
    return read_lines(ROOT / "results" / f"{name}.jsonl")[-1]


def _faults() -> list[list[str]]:
    return [["run", "rank killed", "after batches", "job ended in s", "rank named", "resumed with ranks",
             "final loss differs by"],
            *([str(run["draw"]), str(run["rank"]), str(run["batches"]), f"{run['seconds_to_end']:.1f}",
               "yes" if run["named"] else "no", str(run["ranks_after"]), f"{run['difference']:.1e}"]
              for run in _last("faults")["runs"])]


def _ranks() -> list[list[str]]:
    last = _last("distributed")
    return [["ranks", "batches a second", "over one rank", "peak MB a rank", "largest difference of a loss",
             "MB of gradients a step"],
            *([ranks, f"{rate:.2f}", f"{rate / last['batches_a_second']['1']:.2f}",
               f"{last['memory'][ranks] / 1e6:.0f}", f"{last['loss_difference']:g}" if ranks != "1" else "",
               f"{last['sent_a_step'] / 1e6:.2f}" if ranks != "1" else ""]
              for ranks, rate in last["batches_a_second"].items())]


def _parts() -> list[list[str]]:
    return [["how", "parts", "edges cut", "at random", "largest part over the mean", "seconds"],
            *([row["how"], str(row["parts"]), f"{row['cut']:.1%}", f"{1 - 1 / row['parts']:.1%}",
               f"{row['balance']:.2f}", f"{row['seconds']:.1f}"] for row in _last("partition")["rows"])]
