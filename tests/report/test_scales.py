import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgcl.report.scales import Names, Numbers, decimals_of, number

NUMBERS = st.floats(-1e12, 1e12, allow_subnormal=False).filter(lambda value: value == 0 or abs(value) > 1e-9)


@pytest.mark.parametrize(("values", "low", "high", "labels"), [
    ([84, 90], 84, 90, ["84", "86", "88", "90"]),                          # less than half: not from zero
    ([0.1, 0.9], 0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ([-3, 7], -4, 8, ["−4", "−2", "0", "2", "4", "6", "8"]),
    ([-90, -84], -90, -84, ["−90", "−88", "−86", "−84"]),
    ([-8, -2], -8, 0, ["−8", "−6", "−4", "−2", "0"]),
    ([1200, 98000], 0, 100000, ["0", "20,000", "40,000", "60,000", "80,000", "100,000"]),
    ([1e-7, 3e-7], 0, 3e-7, ["0", "10⁻⁷", "2×10⁻⁷", "3×10⁻⁷"]),
    ([2e8, 3e9], 0, 3e9, ["0", "10⁹", "2×10⁹", "3×10⁹"]),
    ([1e6, 1e6 + 500], 1e6, 1e6 + 500, ["1,000,000", "1,000,100", "1,000,200", "1,000,300", "1,000,400", "1,000,500"]),
    ([1.00001, 1.00003], 1.00001, 1.00003, ["1.000010", "1.000015", "1.000020", "1.000025", "1.000030"]),
    ([5], 0, 5, ["0", "1", "2", "3", "4", "5"]),                           # a single value, and equal ones
    ([5, 5], 0, 5, ["0", "1", "2", "3", "4", "5"]),
    ([-5], -5, 0, ["−5", "−4", "−3", "−2", "−1", "0"]),
    ([0], 0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ([], 0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ([math.nan, 4, math.inf], 0, 4, ["0", "1", "2", "3", "4"]),
])
def test_an_even_axis_ends_at_round_numbers(values, low, high, labels):
    axis = Numbers.around(values)
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert [label for _, label in axis.ticks] == labels


@pytest.mark.parametrize(("values", "low", "high", "labels"), [
    ([1200, 98000], 1000, 100000, ["1,000", "10,000", "100,000"]),
    ([0.02, 7], 0.02, 10, ["0.1", "1", "10"]),
    ([3, 40], 2, 50, ["2", "5", "10", "20", "50"]),                        # few decades
    ([3], 2, 5, ["2", "5"]),
    ([1], 1, 10, ["1", "2", "5", "10"]),
    ([1e-7, 1e9], 1e-7, 1e9, ["10⁻⁷", "0.0001", "0.1", "100", "100,000", "10⁸"]),
    ([-1, 0, 20], 20, 200, ["20", "50", "100", "200"]),                    # what has no logarithm is not there
    ([], 1, 10, ["1", "2", "5", "10"]),
])
def test_a_logarithmic_axis_ends_at_one_two_or_five(values, low, high, labels):
    axis = Numbers.around(values, log=True)
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert [label for _, label in axis.ticks] == labels


def test_an_axis_may_stay_away_from_zero():
    assert Numbers.around([1, 5], zero=False).low == 1
    assert Numbers.around([1, 5]).low == 0


@pytest.mark.parametrize(("axis", "value", "share"), [
    (Numbers(60, 100), 70, 0.25),
    (Numbers(60, 100), 40, 0.0),                                           # beyond the end: at the end
    (Numbers(60, 100), 140, 1.0),
    (Numbers(1, 1000, log=True), 10, 1 / 3),
    (Numbers(1, 1000, log=True), -5, 0.0),
    (Names(("a", "b")), "b", 0.75),
    (Names(("1", "2", "3", "4")), 2, 0.375),
])
def test_where_a_value_stands(axis, value, share):
    assert axis.share(value) == pytest.approx(share)


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.booleans(), st.booleans())
def test_every_axis_holds_its_values_and_a_few_ticks(values, log, zero):
    axis = Numbers.around(values, log, zero)
    assert axis.low < axis.high
    for value in values:
        if value > 0 or not log:
            slack = 1e-6 * max(abs(axis.low), abs(axis.high))
            assert axis.low - slack <= value <= axis.high + slack
    shares = [share for share, _ in axis.ticks]
    assert 2 <= len(shares) <= 8
    assert shares == sorted(set(shares))
    labels = [label for _, label in axis.ticks]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(("value", "text"), [
    (84.312345, "84.312"), (12400, "12,400"), (-0.5, "−0.5"), (3e-7, "3×10⁻⁷"), (0, "0"), (1e6, "10⁶"), (-0.0, "0"),
    (123456.7, "123,457"), (-2e7, "−2×10⁷"), (0.00012345, "0.00012345")])
def test_a_number_is_written_as_it_is_read(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("value", "decimals", "text"), [
    (84.5, 2, "84.50"), (-0.001, 2, "0.00"), (0.00001, 2, "0.00"), (1234.5, 0, "1,234"), (-3.14, 1, "−3.1")])
def test_a_number_with_decimals(value, decimals, text):
    assert number(value, decimals) == text


@pytest.mark.parametrize(("values", "decimals"), [
    ([79.1, 84.3], 2), ([0.1, 0.7], 3), ([20, 198], 0), ([5, 48000], 0), ([83.38], 2), ([0.0], 2), ([0, 1e-9], 6)])
def test_decimals_tell_a_hundredth_of_the_span(values, decimals):
    assert decimals_of(values) == decimals
