"""The committed results and the pages that show them belong together."""

import subprocess
import sys
from pathlib import Path

import pytest

from sgcl.bench import pages, read_lines
from sgcl.bench.catalogue import HTML, rendered

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def made():
    return rendered(pages(read_lines(ROOT / "results")))


def test_the_pages_of_results_are_what_the_lines_say(made):
    assert {file.name for file in FOLDER.glob("*.md")} == {name for name in made if name != HTML}
    for file in FOLDER.iterdir():
        assert file.read_text(encoding="utf-8") == made[file.name], f"{file.name}: run sgcl bench render"


def test_the_page_of_performance_is_what_the_lines_say():
    assert subprocess.run([sys.executable, ROOT / "benchmarks" / "render.py", "--check"]).returncode == 0
