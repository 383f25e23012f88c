"""Reports: result rows in, tables and pictures out."""

from sgcl.report.pictures import draw_curve, draw_map, draw_smoothing
from sgcl.report.table import mean_and_deviation, print_table

__all__ = ["draw_curve", "draw_map", "draw_smoothing", "mean_and_deviation", "print_table"]
