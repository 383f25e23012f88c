"""``sgcl evaluate``: run folders to scores, beside their floors."""

from __future__ import annotations

import argparse
import json

from sgcl import workflow
from sgcl.commands import arguments
from sgcl.errors import InputError
from sgcl.evaluation import TASKS
from sgcl.options import Parser
from sgcl.report import print_scores


def command(words: list[str]) -> None:
    """Run the command with these words."""
    parser = Parser(prog="sgcl evaluate", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                    description="Score embeddings beside raw and propagated features and the untrained encoder.\n"
                                "Several runs that differ in their seed alone are put together. Rows join their run's\n"
                                "results.jsonl.",
                    epilog="tasks:\n" + "\n".join(f"  {name:<12}{task.about}" for name, task in TASKS.items()) +
                           "\n\nAll but links judge the embedding that the run left. It was made with all links in "
                           "sight, so\nfor links the run's method is trained anew for each split, with its settings, "
                           "on 90 % of the\nlinks; the rest is told from as many pairs without a link by the cosine. "
                           "It takes as long as\nthe trainings.")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--task", metavar="NAMES", type=lambda names: names.split(","), default=["probe"],
                        help="one or more of " + ",".join(TASKS) + ", set apart by commas (default probe)")
    parser.add_argument("--protocol", metavar="NAME", help="how nodes are split; the run's own unless given")
    parser.add_argument("--seeds", type=int, metavar="N", help="splits 0 to N-1 for each run; the split of the run's "
                        "own seed unless given")
    parser.add_argument("--probe", choices=("converged", "published"), default="converged",
                        help="logistic regression run to convergence, its regularisation chosen on validation nodes, "
                        "or the probe of the protocol's paper")
    parser.add_argument("--labels", metavar="FILE", help="a table with an id and a label column, instead of the "
                        "graph's own labels; nodes may be left out")
    arguments.add_columns(parser)
    parser.add_argument("--graph", metavar="STORE", help="for runs that were trained from parts, the store these were "
                        "cut from; it is embedded into the run first")
    parser.add_argument("--floors", action=argparse.BooleanOptionalAction, default=True,
                        help="also score raw features, the untrained encoder and propagated features")
    arguments.add_common(parser)
    parser.add_argument("--threads", type=int, metavar="N", default=None, help="CPU threads; all cores unless given")
    given = parser.parse_args(words)
    arguments.set_threads(given.threads)
    if given.seeds is not None and given.seeds < 1:
        raise InputError(f"--seeds is {given.seeds}, expected at least 1")
    rows = workflow.evaluate_runs(given.runs, tasks=given.task, protocol=given.protocol, seeds=given.seeds,
                                  probe=given.probe, labels=given.labels, floors=given.floors, whole_store=given.graph,
                                  columns=arguments.only_given(given, "id_column", "label_column"),
                                  **arguments.fetching(given), quiet=getattr(given, "quiet", False))
    if getattr(given, "json", False):
        print(json.dumps({"results": rows}))
    else:
        print_scores(rows)
