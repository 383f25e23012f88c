"""What docs/collections.md shows is so: its commands and its Python run."""

import re
import shlex
from pathlib import Path

import pytest

from sgcl.cli import main

PAGE = (Path(__file__).parent.parent / "docs" / "collections.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.filterwarnings("ignore:.*the embedding has collapsed")  # a few small graphs


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("molecules").mkdir()
    (text,) = re.findall(r"```\n(source,target\n.*?)```", PAGE, flags=re.DOTALL)
    for number in range(1, 7):
        Path(f"molecules/m{number}.csv").write_text(text + ("c,a\n" if number % 2 else "c,d\n"))
    Path("labels.csv").write_text("id,label\n" + "".join(f"m{number},{number % 2}\n" for number in range(1, 7)))
    commands = [line for line in re.findall(r"^sgcl .*", PAGE, flags=re.MULTILINE) if "mutag" not in line]
    assert len(commands) == 3
    for command in commands:
        assert main([*shlex.split(command)[1:], "-q"]) == 0, capsys.readouterr().err
    assert "new.parquet: 6 graphs, width 96" in capsys.readouterr().out


def test_the_python_runs():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict = {}
    exec(block, names)
    assert names["embedding"].shape == (20, 96)
