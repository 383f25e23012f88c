from sgcl.report import print_scores


def cells(out: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]


def test_rows_of_one_name_share_a_line_and_a_task_has_a_table(capsys):
    probe = {"task": "probe", "dataset": "toy", "protocol": "random", "probe": "converged", "metric": "accuracy"}
    print_scores([
        {**probe, "name": "A", "test": 0.5, "val": 0.25, "disparity": -0.5},
        {**probe, "name": "B", "test": 0.25, "val": None, "disparity": None},
        {**probe, "name": "A", "test": 0.7, "val": 0.25, "disparity": 0.25},
        {"task": "collapse", "dataset": "toy", "name": "A", "effective_rank": 3.04, "mean_cosine": -0.06, "width": 8}])
    out = capsys.readouterr().out
    assert out.startswith("toy, protocol random, probe converged\n")
    assert "\ntoy, signs of collapse\n" in out
    assert "test accuracy %" in out
    assert cells(out) == [["A", "60.00 ± 14.14", "25.00 ± 0.00", "2", "-0.125"], ["B", "25.00", "-", "1", "undefined"],
                          ["A", "3.0", "8", "-0.060", "1"]]


def test_labels_of_ones_own_are_named(capsys):
    print_scores([{"task": "clustering", "dataset": "toy", "labels": "/somewhere/y.csv", "name": "A", "nmi": 1.0,
                   "ari": 0.5, "clusters": 3}])
    out = capsys.readouterr().out
    assert out.startswith("toy, labels y.csv, 3 clusters beside the classes\n")
    assert cells(out) == [["A", "100.00", "50.00", "1"]]
