"""The rows of the tables: methods as tables call them, with what sets them apart from their recipes."""

from __future__ import annotations

from dataclasses import replace

from sgcl.bench.cells import Row
from sgcl.workflow import FLOORS

SMOOTHINGS = {"taubin": "T", "bilateral": "B", "diffusion": "D", "identity": "Identity"}

SGCL = tuple(Row(f"SGCL-{letter}", "sgcl", {"smoothing": name}) for name, letter in SMOOTHINGS.items())
OUTPUT = tuple(replace(row, settings={**row.settings, "embedding": "first"}) for row in SGCL)    # no features beside it
SMOOTHED = OUTPUT[:3]   # the paper's
FLOOR_ROWS = tuple(Row(name, "sgcl", {"smoothing": "taubin"}) for name in FLOORS)
GCL = Row("GCL (GRACE)", "grace", like="sgcl")     # the conventional loss on SGCL's encoder, views and epochs

BASELINES = (  # cheap ones first
    Row("CCA-SSG", "cca-ssg"), Row("G-BT", "g-bt"), Row("BGRL", "bgrl"), Row("DGI", "dgi"), Row("MVGRL", "mvgrl"),
    Row("GRLC", "grlc"), Row("GSCL", "gscl"), Row("GRACE", "grace"),
    Row("ProGCL-weight", "progcl", {"scheme": "weight"}), Row("ProGCL-mix", "progcl", {"scheme": "mix"}),
    Row("AUGCL", "augcl"), Row("GREET", "greet"),
    Row("GraphMAE2", "graphmae2"), Row("CGRA", "cgra"),
)

GRAPH_FLOORS = tuple(Row(name, "sgcl-graphs", {"smoothing": "taubin"}) for name in FLOORS[:2])
GRAPH_ROWS = (
    Row("InfoGraph", "infograph"), Row("GraphCL", "graphcl"), Row("MVGRL", "mvgrl-graphs"), Row("AD-GCL", "ad-gcl"),
    Row("BGRL", "bgrl-graphs"), Row("LaGraph", "lagraph"), Row("ProGCL-weight", "progcl-graphs", {"scheme": "weight"}),
    Row("ProGCL-mix", "progcl-graphs", {"scheme": "mix"}), Row("CGRA", "cgra-graphs"), Row("AUGCL", "augcl-graphs"),
    *(Row(row.name, "sgcl-graphs", row.settings) for row in SGCL),
)


def named(*names: str) -> tuple[Row, ...]:
    """Baselines by their names, in that order."""
    known = {row.name: row for row in BASELINES}
    return tuple(known[name] for name in names)
