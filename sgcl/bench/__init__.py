"""Benchmarks: the paper's tables and figures, cell by cell, each a line of JSON, and the pages that show them."""

from sgcl.bench.bench import Bench
from sgcl.bench.catalogue import BENCHES, pages, read_lines
from sgcl.bench.cells import Cell, Row
from sgcl.bench.lines import Lines
from sgcl.bench.runner import run

__all__ = ["BENCHES", "Bench", "Cell", "Lines", "Row", "pages", "read_lines", "run"]
