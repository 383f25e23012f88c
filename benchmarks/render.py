"""Write docs/performance.md and the figures of docs/scale.md, made of lines in results/: no figure of ours is typed.

    python benchmarks/render.py [--check]

With --check nothing is written; exit code 1 if a page is not what the lines say. `sgcl bench render` makes the pages
in docs/results.
"""

import sys
from pathlib import Path

import performance
import rank_page
import store_page

DOCS = Path(__file__).parent.parent / "docs"


def main() -> int:
    pages = {DOCS / "performance.md": performance.render(),
             DOCS / "scale.md": rank_page.render(store_page.render((DOCS / "scale.md").read_text()))}
    if "--check" in sys.argv:
        return int(any(file.read_text() != page for file, page in pages.items()))
    for file, page in pages.items():
        file.write_text(page)
    performance.draw(DOCS / "growth.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
