import pytest

from sgcl.report import print_scores


def cells(out: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]


def test_rows_of_one_name_share_a_line_and_a_task_has_a_table(capsys):
    probe = {"task": "probe", "dataset": "toy", "protocol": "random", "probe": "converged", "metric": "accuracy"}
    print_scores([
        {**probe, "name": "A", "test": 0.5, "val": 0.25, "disparity": -0.5},
        {**probe, "name": "B", "test": 0.25, "val": None, "disparity": None},
        {**probe, "name": "A", "test": 0.7, "val": 0.25, "disparity": 0.25},
        {"task": "collapse", "dataset": "toy", "protocol": "random", "name": "A", "effective_rank": 3.04,
         "mean_cosine": -0.06, "width": 8}])
    out = capsys.readouterr().out
    assert out.startswith("toy, protocol random, probe converged\n")
    assert "\ntoy, protocol random, signs of collapse\n" in out
    assert "test accuracy %" in out
    assert cells(out) == [["A", "60.00 ± 14.14", "25.00 ± 0.00", "2", "-0.125"], ["B", "25.00", "-", "1", "undefined"],
                          ["A", "3.0", "8", "-0.060", "1"]]


def test_labels_of_ones_own_are_named(capsys):
    print_scores([{"task": "clustering", "dataset": "toy", "protocol": "random", "labels": "/somewhere/y.csv",
                   "name": "A", "nmi": 1.0, "ari": 0.5, "clusters": 3}])
    out = capsys.readouterr().out
    assert out.startswith("toy, labels y.csv, protocol random, 3 clusters beside the classes\n")
    assert cells(out) == [["A", "100.00", "50.00", "1"]]


@pytest.mark.parametrize(("other", "title"), [
    ({"protocol": "grace"}, "toy, protocol grace, probe converged"),
    ({"probe": "published"}, "toy, protocol random, probe published"),
    ({"metric": "roc-auc"}, "toy, protocol random, probe converged"),
    ({"labels": "/y.csv"}, "toy, labels y.csv, protocol random, probe converged"),
    ({"labels": "/y.csv", "label_column": "camp"}, "toy, labels y.csv (camp), protocol random, probe converged"),
])
def test_what_was_asked_otherwise_is_not_averaged_with_the_rest(capsys, other, title):
    row = {"task": "probe", "dataset": "toy", "protocol": "random", "probe": "converged", "metric": "accuracy",
           "name": "A", "test": 0.5, "val": 0.5, "disparity": 0.0}
    print_scores([row, {**row, **other, "test": 0.7}])
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("toy")] == [
        "toy, protocol random, probe converged", title]
    assert [line[:2] for line in cells(out)] == [["A", "50.00"], ["A", "70.00"]]
    assert f"test {other.get('metric', 'accuracy')} %" in out


def test_why_the_disparity_is_undefined_is_told_once(capsys):
    row = {"task": "probe", "dataset": "toy", "protocol": "random", "probe": "converged", "metric": "accuracy",
           "test": 0.5, "val": 0.5, "disparity": None, "disparity_reason": "the graph has no inter-class edges"}
    print_scores([{**row, "name": "A"}, {**row, "name": "B"}])
    assert capsys.readouterr().out.endswith("┘\ndisparity is undefined: the graph has no inter-class edges\n")
