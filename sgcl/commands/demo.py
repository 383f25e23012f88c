"""``sgcl demo``: everything once, on data that comes along."""

from __future__ import annotations

from sgcl import demo
from sgcl.options import Parser


def command(words: list[str]) -> None:
    """Run the command with these words."""
    parser = Parser(prog="sgcl demo", allow_abbrev=False,
                    description="Train SGCL with each smoothing on the nearest-neighbour graph of scikit-learn's "
                                "digits, print one table and leave a run folder. Needs no download.")
    parser.add_argument("--out", metavar="RUN", default="runs/demo", help="the run folder (default runs/demo)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="encoders, and splits, for a row (default 3)")
    parser.add_argument("--epochs", type=int, default=None, metavar="N", help="of each training")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    given = parser.parse_args(words)
    demo.run(given.out, seeds=given.seeds, epochs=given.epochs, as_json=given.json, quiet=given.quiet)
