"""How figures of ours are shown beside the paper's."""

import math

import pytest

from sgcl.bench import BENCHES, Lines
from sgcl.bench.pages import absent, compared, cost_cell, mean, noise
from sgcl.bench.published import Figure
from sgcl.bench.tables.baselines import EQUAL_BUDGET, RATES, SEARCH_SEED
from sgcl.bench.tables.costs import exponent
from sgcl.bench.tables.nodes import headline
from sgcl.bench.tables.study import half_interval, paired
from sgcl.report.page import Value

SMALL = BENCHES["node-small"]


def row(bench, name):
    return next(row for row in bench.rows if row.name == name)


def fill(lines, bench, name, dataset, way, *tests, **more):
    """A line a seed."""
    for cell, test in zip(bench.of(row(bench, name), dataset, way, seeds=len(tests)), tests, strict=True):
        lines.add("a.jsonl", cell.line(test=test, settings=dict(cell.settings), **more))


@pytest.fixture
def lines(tmp_path):
    return Lines(tmp_path, ["a.jsonl"])


def test_a_mean_has_its_deviation_over_seeds():
    assert mean([{"test": 0.80}, {"test": 0.82}], "test", 100) == Value(81.0, "81.00 ± 1.41", pytest.approx(2 ** 0.5))
    assert mean([{"test": 0.8}, {"other": 1}], "test", 100) == Value(80.0, "80.00")
    assert mean([], "test", 100) == Value(None, "")


def test_noise_is_a_point_or_two_standard_errors():
    assert noise([80.0], Figure(80.0)) == 1.0
    assert noise([80.0, 84.0], Figure(80.0, 1.5)) == pytest.approx(2 * math.sqrt(8 / 2 + 1.5 ** 2))
    assert compared([{"test": 0.81}], Figure(80.0))[1:] == (Value(pytest.approx(1.0), "+1.00"), "yes")
    assert compared([{"test": 0.7}], Figure(80.0, 0.5))[1:] == (Value(pytest.approx(-10.0), "-10.00"), "no")
    assert compared([], Figure(80.0, 0.5)) == (Value(80.0, "80.00 ± 0.50", 0.5), "", "")
    assert compared([{"test": 0.7}], None) == ("", "", "")


def test_what_is_not_there_says_why(lines):
    cells = list(SMALL.of(row(SMALL, "DGI"), "cora", ("development", "converged")))
    assert absent(SMALL, lines, row(SMALL, "DGI"), "cora", cells).text == (
        "not run here: `sgcl bench node-small --datasets cora --methods DGI`")
    lines.note_absent("cora")
    assert absent(SMALL, lines, row(SMALL, "DGI"), "cora", cells).text == (
        "its data was not on the machine: `sgcl bench node-small --datasets cora --methods DGI`")
    lines.add("a.jsonl", cells[0].line(failed="the loss is nan", settings=dict(cells[0].settings)))
    assert absent(SMALL, lines, row(SMALL, "DGI"), "cora", cells).text == "failed: the loss is nan"


@pytest.mark.parametrize(("name", "dataset", "seconds", "told"), [
    ("GRACE", "photo", 1.5, ", 5 minutes"), ("GRACE", "pubmed", 21.0, ", 9 hours"),     # 200 and 1,500 epochs
    ("MVGRL", "photo", 1.5, ", 5 minutes"), ("MVGRL", "pubmed", 1.2, ", at most 60 minutes")])
def test_what_is_not_run_says_how_long_it_would_take(name, dataset, seconds, told, lines):
    bench = BENCHES["baselines"]
    cell = cost_cell(row(bench, name), dataset)
    full = {**cell.settings, "epochs": cell.epochs, "patience": cell.settings.get("patience")}
    lines.add("a.jsonl", cell.line(cpu_epoch=seconds, settings=full))
    assert absent(bench, lines, row(bench, name), dataset, []).text == (
        f"not run here{told}: `sgcl bench baselines --datasets {dataset} --methods {name}`")


def test_the_cost_of_a_training_is_that_of_all_its_epochs(lines):
    bench = BENCHES["cost"]
    cell = cost_cell(row(bench, "GRACE"), "pubmed")
    lines.add("a.jsonl", cell.line(cpu_epoch=21.0, settings={**cell.settings, "epochs": cell.epochs}))
    table = next(part for part in bench.page(bench, lines).parts if part.caption == "pubmed")
    shown = {found[0]: [getattr(one, "text", one) for one in found[1:]] for found in table.rows}
    assert shown["GRACE"] == ["21.00", "1,500", "525", "no", "recipe"]
    assert shown["DGI"] == ["not run here: `sgcl bench cost --datasets pubmed --methods DGI`", "", "", "", "recipe"]


def test_the_top_of_the_page_counts_where_our_best_is_at_or_above_the_papers(lines):
    assert "on 0 of 6 datasets with" in headline(SMALL, lines)
    fill(lines, SMALL, "SGCL-T", "photo", ("random", "converged"), 0.9372)
    fill(lines, SMALL, "DGI", "cora", ("sgcl", "converged"), 0.84)
    fill(lines, SMALL, "SGCL-B", "cora", ("development", "converged"), 0.86)
    told = headline(SMALL, lines)
    assert "on 1 of 6 datasets (photo) with the paper's own split of the citation graphs, 2 of which" in told
    assert "on 2 of 6 datasets (cora, photo) with that which others share (`development`), 2 of which have been" in told
    assert "best of its own rows in the paper on 2 of 6: cora (development), photo (random)." in told


def test_differences_are_paired_over_common_seeds():
    mine = {0: {"test": 0.80}, 1: {"test": 0.90}, 2: {"test": 0.5}}
    other = {0: {"test": 0.79}, 1: {"test": 0.87}}
    found = paired(mine, other, "test", 100, ".2f")
    assert found.number == pytest.approx(2.0)
    assert found.deviation == pytest.approx(12.7062 * math.sqrt(2) / math.sqrt(2), rel=1e-4)  # t of one degree
    assert paired(mine, {}, "test", 100, ".2f") == Value(None, "")
    assert half_interval([1.0, 1.0, 1.0]) == 0.0


def test_the_exponent_is_that_of_a_power_law():
    assert exponent([{"nodes": n, "peak": 7 * n ** 1.5} for n in (10, 100, 1000)]) == pytest.approx(1.5)
    assert exponent([{"nodes": 10, "peak": 1}]) is None


def test_the_best_of_an_equal_budget_goes_on_when_all_have_been_tried(lines):
    dgi = row(EQUAL_BUDGET, "DGI")
    tries = EQUAL_BUDGET.tries(dgi, "cora")
    assert len({cell.key for cell in tries}) == len(RATES)
    assert {cell.seed for cell in tries} == {SEARCH_SEED}
    base = dgi.chosen("cora")
    assert [cell.settings["lr"] / base["lr"] for cell in tries] == list(RATES)
    assert {cell.epochs for cell in tries} == {round(base["epochs"] / 4)}
    for number, cell in enumerate(tries):
        assert EQUAL_BUDGET.best(dgi, "cora", lines) == []
        lines.add("a.jsonl", cell.line(val=0.9 if number == 2 else 0.5, settings=dict(cell.settings)))
    best = EQUAL_BUDGET.best(dgi, "cora", lines)
    assert [(cell.seed, cell.protocol, cell.probe, cell.measure) for cell in best] == [
        (seed, "random", "converged", "probe") for seed in range(3)]
    assert all(cell.settings == {**base, "lr": RATES[2] * base["lr"]} for cell in best)
    assert len(list(EQUAL_BUDGET.cells(lines, names=["cora"], methods=["DGI"]))) == len(RATES) + 3


def test_what_is_not_trained_stands_beside_an_equal_budget_without_tries(lines):
    floor = EQUAL_BUDGET.rows[0]
    assert EQUAL_BUDGET.tries(floor, "cora") == []
    assert [(cell.name, cell.seed) for cell in EQUAL_BUDGET.best(floor, "cora", lines)] == [
        ("raw features", seed) for seed in range(3)]


def test_the_intervals_of_a_study_say_which_way_a_difference_goes(lines):
    study = BENCHES["smoothing"]
    for name, tests, disparity in (("SGCL-Identity", (0.80, 0.82), -0.1), ("SGCL-T", (0.90, 0.92), -0.2)):
        fill(lines, study, name, "cora", ("development", "converged"), *tests, disparity=disparity)
    told = study.page(study, lines).parts[0].rows
    assert told[0] == ("SGCL-T", "accuracy, Identity", "cora", "", "")
    assert ("SGCL-T", "disparity, Identity", "", "cora", "") in told
    assert ("SGCL-T", "disparity, GCL", "", "", "") in told


def test_the_conventional_loss_and_smoothings_share_their_seeds_in_the_study(lines):
    study = BENCHES["smoothing"]
    for name, tests in (("SGCL-Identity", (0.80, 0.82)), ("SGCL-T", (0.81, 0.84))):
        fill(lines, study, name, "cora", ("development", "converged"), *tests, disparity=-0.1)
    page = study.page(study, lines)
    assert page.parts[0].rows[0] == ("SGCL-T", "accuracy, Identity", "", "", "cora")
    assert page.parts[1].rows[0][1] == Value(pytest.approx(1.5), "+1.50 ± 6.35", pytest.approx(6.3531, rel=1e-4))
