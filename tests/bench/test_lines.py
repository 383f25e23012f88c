"""Lines of results: whole, found again by their cells, and one more when there is one."""

import json

import pytest

from sgcl.bench import Cell, Lines
from sgcl.errors import InputError

ONE = Cell("SGCL-T", "sgcl", "cora", 0, "random", "converged", settings={"epochs": 3})
TWO = Cell("SGCL-T", "sgcl", "cora", 1, "random", "converged", settings={"epochs": 3})


def line(cell, **more):
    return cell.line(settings={"epochs": 3}, **more)


def test_lines_are_found_by_their_cells_the_last_of_each(tmp_path):
    lines = Lines(tmp_path, ["a.jsonl", "b.jsonl"])
    assert lines.get(ONE) is None
    lines.add("a.jsonl", line(ONE, test=0.1))
    lines.add("b.jsonl", line(ONE, test=0.2))
    for found in (lines, Lines(tmp_path, ["a.jsonl", "b.jsonl"])):
        assert found.get(ONE)["test"] == 0.2
        assert found.get(TWO) is None
        assert [one["test"] for one in found.of([ONE, TWO])] == [0.2]
    assert Lines(tmp_path, ["a.jsonl"]).get(ONE)["test"] == 0.1


def test_what_others_write_meanwhile_is_seen(tmp_path):
    mine, theirs = Lines(tmp_path, ["a.jsonl"]), Lines(tmp_path, ["a.jsonl"])
    theirs.add("a.jsonl", line(ONE, test=0.1))
    assert mine.get(ONE) is None
    mine.refresh()
    assert mine.get(ONE)["test"] == 0.1


def test_a_single_file_is_read_and_written_alone(tmp_path):
    file = tmp_path / "mine.jsonl"
    lines = Lines(file, ["a.jsonl"])
    lines.add("a.jsonl", line(ONE, test=0.1))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]
    assert Lines(file, []).get(ONE)["test"] == 0.1
    assert lines.beside("search.jsonl") == []


def test_a_line_that_was_cut_short_is_taken_away_by_the_next(tmp_path):
    lines = Lines(tmp_path, ["a.jsonl"])
    lines.add("a.jsonl", line(ONE, test=0.1))
    file = tmp_path / "a.jsonl"
    file.write_text(file.read_text() + '{"name": "SGC')
    lines = Lines(tmp_path, ["a.jsonl"])
    assert lines.get(ONE)["test"] == 0.1
    lines.add("a.jsonl", line(TWO, test=0.2))
    assert [json.loads(text)["seed"] for text in file.read_text().splitlines()] == [0, 1]


def test_a_failure_is_a_line_but_no_result(tmp_path):
    lines = Lines(tmp_path, ["a.jsonl"])
    lines.add("a.jsonl", line(ONE, failed="the loss is nan"))
    assert lines.get(ONE)["failed"] == "the loss is nan"
    assert lines.of([ONE]) == []


def test_data_that_is_not_there_is_noted_once(tmp_path):
    lines = Lines(tmp_path, [])
    lines.note_absent("ogbn-arxiv")
    lines.note_absent("ogbn-arxiv")
    assert len((tmp_path / "absent.jsonl").read_text().splitlines()) == 1
    assert Lines(tmp_path, []).absent == {"ogbn-arxiv"}


def test_lines_of_settings_that_are_no_more_are_passed_over(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({**line(ONE, test=0.5), "settings": {"gone": 1}}) + "\n")
    assert Lines(tmp_path, ["a.jsonl"]).all() == []


def test_what_is_no_json_is_told(tmp_path):
    (tmp_path / "a.jsonl").write_text("nonsense\n")
    with pytest.raises(InputError, match=r"a\.jsonl is damaged"):
        Lines(tmp_path, ["a.jsonl"])
