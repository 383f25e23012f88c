"""The committed results and the pages that show them belong together."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_pages_of_results_are_what_the_lines_say():
    assert subprocess.run([sys.executable, ROOT / "benchmarks" / "render.py", "--check"]).returncode == 0
