import math
import re
import xml.etree.ElementTree as xml
from importlib.resources import files

import pytest

from sgcl.report.heat import STEPS, step
from sgcl.report.page import Plot, Series
from sgcl.report.svg import COLOURS, HATCHES, draw

NASTY = "<b>\"x\" & 'y'</b>"


def drawn(plot: Plot) -> xml.Element:
    """The markup of a plot as a tree: what does not parse is not well-formed."""
    return xml.fromstring(f"<div>{draw(plot)}</div>")


def drawing(plot: Plot) -> xml.Element:
    [found] = drawn(plot).findall("svg")
    return found


def of_class(tree: xml.Element, *names: str) -> list[xml.Element]:
    return [node for node in tree.iter() if set(names) <= set(node.get("class", "").split())]


def attributes(node: xml.Element, *names: str) -> tuple[float, ...]:
    return tuple(float(node.attrib[name]) for name in names)


def tooltips(tree: xml.Element) -> list[str]:
    return [node.text for node in tree.iter("title")]


def lines(*series: Series, **more) -> Plot:
    return Plot("lines", "a plot", "x", "y", series, **more)


def bars(*series: Series, **more) -> Plot:
    return Plot("bars", "a plot", "x", "y", series, **more)


def heat(*values: tuple[float | None, ...], **more) -> Plot:
    return Plot("heat", "a map", "mu", "tau", columns=tuple("abcdefghij"[:len(values[0])]),
                rows=tuple("ABCDEFGHIJ"[:len(values)]), values=values, **more)


# The y axis is 230 high and begins 34 below the upper edge.

def test_a_bar_stands_on_zero_and_its_error_bar_ends_where_it_should():
    tree = drawing(bars(Series("ours", ("Cora",), (50.0,), (20.0,))))      # an axis from 0 to 80
    [bar] = of_class(tree, "bar")
    assert attributes(bar, "y", "height") == pytest.approx((34 + 230 * 3 / 8, 230 * 5 / 8), abs=0.06)
    [whisker] = of_class(tree, "whisker")
    top, bottom = re.fullmatch(r"M[\d.]+,([\d.]+)h6m-3,0V([\d.]+)m-3,0h6", whisker.attrib["d"]).groups()
    assert (float(top), float(bottom)) == pytest.approx((34 + 230 / 8, 34 + 230 * 5 / 8), abs=0.06)


def test_negative_bars_hang_from_zero():
    tree = drawing(bars(Series("ours", ("a", "b"), (-4.0, 6.0))))          # an axis from -4 to 6
    (y_below, below), (y_above, above) = (attributes(bar, "y", "height") for bar in of_class(tree, "bar"))
    assert y_below == pytest.approx(y_above + above, abs=0.11)
    assert (below, above) == pytest.approx((230 * 0.4, 230 * 0.6), abs=0.06)


def test_an_axis_of_bars_that_does_not_begin_at_zero_says_so():
    tree = drawing(bars(Series("ours", ("a", "b"), (80.0, 90.0))))
    assert of_class(tree, "label")[0].text == "y (axis from 75)"           # 80 less a quarter of 10, to a step of 5
    assert min(attributes(bar, "height") for bar in of_class(tree, "bar")) > (20,)
    assert of_class(drawing(bars(Series("ours", ("a", "b"), (8.0, 90.0)))), "label")[0].text == "y"
    below = drawing(bars(Series("ours", ("a", "b"), (-80.0, -90.0))))
    assert of_class(below, "label")[0].text == "y (axis from −75)"
    assert [attributes(bar, "y") for bar in of_class(below, "bar")] == [(34,), (34,)]


def test_bars_of_a_group_stand_side_by_side_in_the_order_of_the_series():
    names = ("Cora", "CiteSeer")
    tree = drawing(bars(Series("T", names, (1.0, 2.0)), Series("T", names, (1.5, 2.5), paper=True),
                        Series("B", ("CiteSeer",), (3.0,))))
    places = [attributes(bar, "x", "width") for bar in of_class(tree, "bar")]
    first, second, width = places[0][0], places[2][0], places[0][1]
    assert all(other == width for _, other in places)
    assert second == pytest.approx(first + width / 0.88, abs=0.2)
    assert places[4][0] == pytest.approx(places[3][0] + width / 0.88, abs=0.2)


def test_ours_is_filled_and_the_papers_hatched_in_the_same_colour():
    tree = drawn(bars(Series("T", ("a",), (1.0,)), Series("B", ("a",), (2.0,)),
                      Series("B", ("a",), (2.0,), paper=True)))
    assert [(bar.get("class"), bar.get("fill")) for bar in of_class(tree.find("svg"), "bar")] == [
        ("bar ours c0", None), ("bar ours c1", None), ("bar theirs c1", "url(#hatch-1)")]
    assert [item[0].tail for item in tree.find("ul")] == ["T", "B", "B, paper"]


def test_one_of_ours_and_one_of_the_papers_have_one_colour():
    tree = drawn(bars(Series("ours", ("a",), (1.0,)), Series("paper", ("a",), (2.0,), paper=True)))
    assert [bar.get("class") for bar in of_class(tree.find("svg"), "bar")] == ["bar ours c0", "bar theirs c0"]
    assert [item[0].tail for item in tree.find("ul")] == ["ours", "paper"]


def test_every_hatch_that_is_asked_for_is_there():
    series = tuple(Series(f"method {number}", ("a",), (1.0,), paper=True) for number in range(2 * COLOURS))
    asked = set(re.findall(r"url\(#(.*?)\)", draw(bars(*series))))
    assert asked == set(re.findall(r'id="(.*?)"', HATCHES))


def test_a_logarithmic_axis_places_by_powers_of_ten():
    series = Series("SGCL", (10.0, 100.0, 1000.0), (1.0, 10.0, 10000.0))
    tree = drawing(lines(series, log_x=True, log_y=True))
    [line] = of_class(tree, "line")
    places = [tuple(map(float, place.split(","))) for place in line.attrib["points"].split()]
    left = places[0][0]
    assert [x for x, _ in places] == pytest.approx([left, left + 200, left + 400], abs=0.1)
    assert [y for _, y in places] == pytest.approx([264, 264 - 230 / 4, 34], abs=0.06)


def test_the_lower_end_of_an_error_bar_that_has_no_logarithm_is_the_end_of_the_axis():
    tree = drawing(lines(Series("SGCL", (1.0, 2.0), (10.0, 100.0), (20.0, 0.0)), log_y=True))
    [whisker] = of_class(tree, "whisker")
    assert "V264.0" in whisker.attrib["d"]


@pytest.mark.parametrize("gap", [math.nan, math.inf, None])
def test_a_missing_value_is_a_gap_in_the_line(gap):
    series = Series("SGCL", (1.0, 2.0, 3.0, 4.0, 5.0), (1.0, 2.0, gap, 4.0, 5.0), (0.1, gap, 0.1, 0.1, 0.1))
    tree = drawing(lines(series))
    assert [len(line.attrib["points"].split()) for line in of_class(tree, "line")] == [2, 2]
    assert len(of_class(tree, "mark")) == 4
    assert len(of_class(tree, "whisker")) == 3


def test_what_has_no_logarithm_is_a_gap_too():
    tree = drawing(lines(Series("SGCL", (0.0, 1.0, 2.0), (5.0, 0.0, 7.0)), log_x=True, log_y=True))
    assert len(of_class(tree, "mark")) == 1


def test_points_have_no_line_and_series_differ_in_shape_and_colour():
    series = tuple(Series(f"method {number}", (1.0, 2.0), (1.0, 2.0)) for number in range(40))
    tree = drawing(Plot("scatter", "a plot", "x", "y", series))
    assert not of_class(tree, "line")
    looks = {(mark.tag, mark.get("class"), _shape(mark)) for mark in of_class(tree, "mark")[::2]}
    assert len(looks) == 40


def _shape(mark: xml.Element) -> str:
    places = [tuple(map(float, place.split(","))) for place in mark.get("points", "").split()]
    return str([(round(x - places[0][0]), round(y - places[0][1])) for x, y in places])


def test_names_may_stand_on_the_axis_of_lines():
    tree = drawing(lines(Series("SGCL", ("one", "two"), (1.0, 2.0))))
    assert [node.text for node in of_class(tree, "tick", "middle")] == ["one", "two"]


def test_tooltips_say_the_values():
    plot = bars(Series("SGCL", ("Cora",), (84.31,), (0.5,)), Series("SGCL", ("Cora",), (84.78,), paper=True))
    assert tooltips(drawing(plot)) == ["SGCL, Cora: 84.31 ± 0.5", "SGCL (paper), Cora: 84.78"]
    assert tooltips(drawing(lines(Series("SGCL", (10000.0,), (-0.25,))))) == ["SGCL, 10,000: −0.25"]


def test_a_single_series_needs_no_legend():
    assert drawn(lines(Series("SGCL", (1.0,), (1.0,)))).find("ul") is None
    assert drawn(lines(Series("SGCL", (1.0,), (1.0,), paper=True))).find("ul") is not None


@pytest.mark.parametrize("plot", [
    bars(), lines(), lines(Series("none", (), ())), bars(Series("unknown", ("a",), (math.nan,))), heat((None, None)),
    lines(Series("no logarithm", (1.0,), (-1.0,)), log_y=True), Plot("heat", "a map", "", "")])
def test_nothing_to_draw_is_said(plot):
    assert draw(plot) == '<p class="none">No values yet.</p>'


@pytest.mark.parametrize("kind", ["bars", "lines", "scatter"])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("y", [(1.0,), (2.0, 2.0), (0.0, 0.0, 1.0), (-1.0, -1.0, 3.0), (1e-12, 1e12)])
def test_no_place_is_beyond_the_drawing(kind, log, y):
    x = tuple(float(place + 1) for place in range(len(y)))
    tree = drawing(Plot(kind, "a plot", "x", "y", (Series("SGCL", x, y, (0.5,) * len(y)),), log, log))
    wide, high = attributes(tree, "width", "height")
    assert "nan" not in xml.tostring(tree, encoding="unicode")
    for node in tree.iter():
        for name, most in (("x", wide), ("cx", wide), ("y", high), ("cy", high)):
            assert 0 <= float(node.get(name, 0)) <= most


def test_a_cell_has_the_colour_of_its_step_and_its_value_in_it():
    tree = drawing(heat((0.0, 4.0, 9.0), (None, 8.9, math.nan)))
    cells = of_class(tree, "cell")
    assert [cell.get("class").split()[1] for cell in cells] == ["h0", "h4", "h8", "hnone", "h8", "hnone"]
    assert [cell.find("text").text for cell in cells] == ["0.00", "4.00", "9.00", "–", "8.90", "–"]
    assert tooltips(tree)[1] == "tau A, mu b: 4.00"
    assert tooltips(tree)[3] == "tau B, mu a: no value"


def test_the_first_row_is_above_the_second_beside_its_name():
    tree = drawing(heat((1.0, 2.0), (3.0, 4.0)))
    tops = {cell.find("text").text: float(cell.find("text").get("y")) for cell in of_class(tree, "cell")}
    names = {node.text: float(node.get("y")) for node in of_class(tree, "tick", "end")}
    assert names["A"] == pytest.approx(tops["1.00"], abs=1)
    assert names["B"] == pytest.approx(tops["3.00"], abs=1)


def test_rows_of_one_name_have_places_of_their_own():
    tree = drawing(Plot("heat", "a map", "", "", columns=("a", "a"), rows=("A", "A"), values=((1.0, 2.0), (3.0, 4.0))))
    assert len({node.get("y") for node in of_class(tree, "tick", "end")}) == 2
    assert len({node.get("x") for node in of_class(tree, "tick", "middle")}) == 2


@pytest.mark.parametrize(("value", "expected"), [(10, 0), (10.99, 0), (11, 1), (14.5, 4), (18.99, 8), (19, 8)])
def test_nine_equal_steps(value, expected):
    assert step(value, 10, 19) == expected


def test_equal_values_are_in_the_middle_and_have_no_scale():
    tree = drawn(heat((5.0, 5.0)))
    assert [cell.get("class") for cell in of_class(tree, "cell")] == ["cell h4", "cell h4"]
    assert not of_class(tree, "scale")


def test_the_scale_has_all_steps_between_the_lowest_and_the_highest():
    [scale] = of_class(drawn(heat((79.1, 84.3))), "scale")
    assert [node.text for node in scale.iter("span")] == ["79.10", "84.30"]
    assert len(list(scale.iter("rect"))) == STEPS


def test_names_that_are_too_long_are_slanted_and_cut_with_a_tooltip():
    long = "a method with a name that does not end where it should"
    for plot in (bars(*(Series("ours", (long, *"abcdefg"), (1.0,) * 8),)),
                 Plot("heat", long, long, long, columns=(long, "b"), rows=(long, "B"), values=((1, 2), (3, 4)))):
        tree = drawing(plot)
        slanted = [node for node in tree.iter("text") if "rotate" in node.get("transform", "")]
        assert slanted[0].text == "a method with a name…"
        assert slanted[0].find("title").text == long
        across = float(slanted[0].get("transform").split("(")[1].split()[0])
        assert across > 0.8 * 6 * 22


@pytest.mark.parametrize("plot", [
    Plot("bars", NASTY, NASTY, NASTY, (Series(NASTY, (NASTY,), (1.0,)), Series(NASTY, (NASTY,), (1.0,), paper=True))),
    Plot("lines", NASTY, NASTY, NASTY, (Series(NASTY, (NASTY,), (1.0,)), Series("b", (NASTY,), (1.0,)))),
    Plot("heat", NASTY, NASTY, NASTY, columns=(NASTY,), rows=(NASTY,), values=((1.0,),))])
def test_all_names_are_escaped(plot):
    assert "<b>" not in draw(plot)
    assert drawing(plot).get("aria-label") == NASTY
    assert any(NASTY in tooltip for tooltip in tooltips(drawing(plot)))


def test_the_same_plot_gives_the_same_text():
    series = Series("SGCL", (0.1, 0.2, 0.3), (1 / 3, 2 / 3, 1.0), (0.01, 0.02, 0.03))
    assert draw(lines(series)) == draw(lines(series))
    assert not re.search(r'="[\d.]*\.\d\d', draw(lines(series)))           # no more than a tenth of a pixel


# The colours, which are in the style sheet.

def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it."""
    shares = [int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def style() -> str:
    return (files("sgcl.report") / "page.css").read_text(encoding="utf-8")


def schemes() -> dict[str, dict[str, str]]:
    """The named colours of the light page and of the dark one."""
    light, dark = (dict(re.findall(r"--([\w]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style(),
                                                                                          re.DOTALL)[:2])
    return {"light": light, "dark": dark}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_have_the_contrast_that_wcag_asks_for(scheme):
    colours = schemes()[scheme]
    for text in ("ink", "muted", "link"):
        for ground in ("paper", "faint"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for slot in range(COLOURS):
        assert contrast(colours[f"c{slot}"], colours["paper"]) >= 3.0, slot


def test_steps_of_heat_grow_darker_and_their_text_is_readable():
    steps = dict(re.findall(r"\.h(\d) \{ fill: (#\w{6}); \}", style()))
    assert sorted(steps, key=lambda place: -luminance(steps[place])) == [str(place) for place in range(STEPS)]
    [light] = re.findall(r"([^\n]*) text \{ fill: #ffffff; \}", style())
    for place, colour in steps.items():
        assert contrast(colour, "#ffffff" if f".h{place}" in light else "#14171a") >= 4.5, place
