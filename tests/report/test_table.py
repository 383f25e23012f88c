import pytest

from sgcl.report import mean_and_deviation, print_table


@pytest.mark.parametrize(("values", "text"), [
    ([0.5, 0.7], "60.00 ± 14.14"),          # the sample deviation: 20 / sqrt(2)
    ([0.8431], "84.31"),
    ([0.5, 0.5, 0.5], "50.00 ± 0.00"),
    ([None, 0.25], "25.00"),
    ([None], "-"),
    ([], "-"),
])
def test_mean_and_deviation_in_per_cent(values, text):
    assert mean_and_deviation(values) == text


def test_a_table_goes_to_standard_output_with_its_rows_in_order(capsys):
    print_table("two rows", ["", "score", "state"], [["first", "1.0", "cut"], ["second", "20.0", "complete"]])
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "two rows"
    assert [line.split("│")[1:4] for line in lines if "│" in line] == [
        [" first  ", "   1.0 ", " cut      "], [" second ", "  20.0 ", " complete "]]


def test_a_table_wider_than_a_pipe_is_not_cut(capsys):
    cells = [f"{'x' * 30}{number}" for number in range(6)]
    print_table("t" * 200, cells, [cells])
    out = capsys.readouterr().out
    assert "t" * 200 in out.splitlines()[0]
    assert all(out.count(cell) == 2 for cell in cells)
    assert "…" not in out


def test_brackets_in_a_cell_are_text(capsys):
    print_table("a [bold]title[/bold]", ["[red]"], [["view1=[drop]"], ["[/]"]])
    out = capsys.readouterr().out
    for text in ("a [bold]title[/bold]", "[red]", "view1=[drop]", "[/]"):
        assert text in out
