"""Write docs/performance.md, which is made of the lines in results/epoch.jsonl: no figure of ours is typed.

    python benchmarks/render.py [--check]

With --check nothing is written; exit code 1 if the page is not what the lines say. `sgcl bench render` makes the pages
in docs/results.
"""

import sys
from pathlib import Path

import performance

DOCS = Path(__file__).parent.parent / "docs"


def main() -> int:
    page = DOCS / "performance.md"
    if "--check" in sys.argv:
        return int(page.read_text() != performance.render())
    page.write_text(performance.render())
    performance.draw(DOCS / "growth.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
