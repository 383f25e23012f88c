"""Kills a rank at a random moment of a training, ten times over, and resumes.

    python benchmarks/faults.py [--quick] [--json] [--check]

Each run trains BGRL on the bundled digits with two ranks that share six batches a step, real processes started by
`sgcl train --ranks 2`. A rank drawn at random gets SIGKILL after a number of batches drawn at random, and a moment
later. The job must end by itself with exit code 1 and one line that names the rank. It is then resumed with 1, 2 or 3
ranks, and must end with the loss of a run that was left alone. The figures join results/faults.jsonl. Quick: two runs,
nothing written, no bars.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import Bar, finish, options, table

from sgcl import runs

RESULTS = Path(__file__).parent.parent / "results" / "faults.jsonl"
DRAWS, EPOCHS, BATCHES = 10, 12, 6
WORDS = ["bgrl", "--dataset", "digits", "--no-recipe", "--hidden-channels", "32", "--out-channels", "16", "--epochs",
         str(EPOCHS), "--sampler", "walk", "--walk-batch-size", "300", "--walk-batches", str(BATCHES), "--accumulate",
         "3", "--checkpoint-every", "0", "--quiet"]


def sgcl(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "sgcl", "train", *words], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


def rank_process(launcher: int, rank: int) -> int:
    """The number of the process that is this rank."""
    for child in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        if f"\0RANK={rank}\0" in "\0" + Path(f"/proc/{child}/environ").read_text() + "\0":
            return int(child)
    raise RuntimeError(f"no rank {rank}")


def batches_done(folder: Path) -> int:
    places = [file.stem.split("-") for file in folder.glob("checkpoints/epoch-*.safetensors")]
    return max((int(epoch) * BATCHES + int(batch) for _, epoch, _, batch in places), default=0)


def last_loss(folder: Path) -> float:
    lines = runs.read_lines(folder / "metrics.jsonl")
    assert len(lines) == EPOCHS, f"{folder} has {len(lines)} epochs"
    return float(lines[-1]["loss"])


def one(draw: int, folder: Path, whole: float) -> dict[str, Any]:
    chance = random.Random(draw)
    rank, target, again = chance.randrange(2), chance.randrange(1, (EPOCHS - 2) * BATCHES), chance.choice([1, 2, 3])
    job = sgcl(*WORDS, "--out", str(folder), "--ranks", "2")
    while batches_done(folder) < target:
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.002)
    time.sleep(chance.uniform(0, 0.02))
    os.kill(rank_process(job.pid, rank), signal.SIGKILL)
    killed = time.monotonic()
    told = job.communicate()[1]
    seconds = time.monotonic() - killed
    resumed = sgcl("--resume", str(folder), "--quiet", "--ranks", str(again))
    why = resumed.communicate()[1]
    assert resumed.returncode == 0, why
    return {"draw": draw, "rank": rank, "batches": target, "code": job.returncode, "told": told.strip().replace(
        str(folder), "RUN"), "seconds_to_end": round(seconds, 2), "ranks_after": again,
        "named": job.returncode == 1 and told.count("\n") == 1 and f"rank {rank} was killed" in told,
        "difference": abs(last_loss(folder) / whole - 1)}


def main() -> int:
    given = options(__doc__)
    with tempfile.TemporaryDirectory() as room:
        alone = sgcl(*WORDS, "--out", f"{room}/whole")
        why = alone.communicate()[1]
        assert alone.returncode == 0, why
        whole = last_loss(Path(room, "whole"))
        found = [one(draw, Path(room, str(draw)), whole) for draw in range(2 if given.quick else DRAWS)]
    figures = {"runs": found, "loss": whole, **runs.environment()}
    if not given.quick:
        with RESULTS.open("a") as file:
            file.write(json.dumps(figures) + "\n")
    text = table(["run", "rank", "after batches", "ended in s", "named", "resumed with", "loss differs by"],
                 [[str(run["draw"]), str(run["rank"]), str(run["batches"]), f"{run['seconds_to_end']:.2f}",
                   "yes" if run["named"] else "no", str(run["ranks_after"]), f"{run['difference']:.1e}"]
                  for run in found])
    bars = [] if given.quick else [
        Bar("runs whose error names the rank", sum(run["named"] for run in found), ">=", DRAWS),
        Bar("largest difference of the final loss", max(run["difference"] for run in found), "<=", 1e-6),
        Bar("seconds from the kill to the end", max(run["seconds_to_end"] for run in found), "<=", 30)]
    return finish(given, figures, bars, text)


if __name__ == "__main__":
    sys.exit(main())
