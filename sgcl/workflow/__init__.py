"""Whole jobs: a dataset and settings to a run folder, run folders to result rows, a run and a graph to embeddings."""

from sgcl.workflow.embedding import embed
from sgcl.workflow.evaluating import evaluate_runs
from sgcl.workflow.graphs import labels_of, load_graph, node_ids, protocol_for, restricted_graph
from sgcl.workflow.names import BESIDE, flat_settings, label
from sgcl.workflow.records import finished, next_step, write_run_config
from sgcl.workflow.scoring import FLOORS, floor_rows, score, without_links
from sgcl.workflow.training import check_run, draw_if_possible, resume_run, train_run

__all__ = [
    "BESIDE",
    "FLOORS",
    "check_run",
    "draw_if_possible",
    "embed",
    "evaluate_runs",
    "finished",
    "flat_settings",
    "floor_rows",
    "label",
    "labels_of",
    "load_graph",
    "next_step",
    "node_ids",
    "protocol_for",
    "restricted_graph",
    "resume_run",
    "score",
    "train_run",
    "without_links",
    "write_run_config",
]
