"""Reports: result rows in, tables and pictures out."""

from sgcl.report.methods import About, methods_page
from sgcl.report.pictures import draw_curve, draw_map, draw_smoothing
from sgcl.report.runs import print_run, print_runs, print_sweep
from sgcl.report.scores import print_scores, question
from sgcl.report.table import mean_and_deviation, print_table

__all__ = ["About", "draw_curve", "draw_map", "draw_smoothing", "mean_and_deviation", "methods_page", "print_run",
           "print_runs", "print_scores", "print_sweep", "print_table", "question"]
