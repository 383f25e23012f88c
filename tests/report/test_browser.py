"""The page of results in a browser: headless Chromium, driven by Playwright, without a network."""

import shutil

import pytest

from sgcl.report.html import document
from sgcl.report.page import Page, Plot, Series, Table, Value

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LONG = "a_method_with_a_very_long_name_that_has_no_place_to_break_" * 3

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: chromium, chromium-browser or google-chrome")

SCORES = Table(("method", "Cora", "note"), (
    ("beta", Value(9.5, "9.50 ± 0.10", 0.1), "item 10"),
    ("alpha", Value(None, f"not run here: sgcl bench node-small --methods {LONG}"), "–"),
    ("delta", Value(84.0, "84.00"), "item 9"),
    ("gamma", Value(-3.0, "-3.00"), "Item 1"),
    ("epsilon", Value(9.5, "9.50"), "item 2")), "Accuracy, per cent")
WIDE = Table(tuple(f"column {number}" for number in range(20)), ((LONG, *(Value(number, "1,234.5 ± 6.7", 6.7)
                                                                           for number in range(19))),), LONG)
NAMES = ("Cora", "CiteSeer", "PubMed", LONG)
PLOTS = (
    Plot("bars", "Accuracy", "dataset", "%", (Series("SGCL", NAMES, (84.1, 72.3, 85.0, 93.1), (0.5, 0.4, 0.3, 0.2)),
                                              Series("SGCL", NAMES, (84.8, 75.7, 85.1, 93.7), paper=True))),
    Plot("lines", "Time", "nodes", "seconds", tuple(
        Series(f"{name} {LONG}", (1e3, 1e4, 1e5), (0.1 * factor, factor, 20.0 * factor)) for factor, name in
        enumerate(("SGCL", "GRACE", "BGRL"), 1)), log_x=True, log_y=True),
    Plot("scatter", "Gain", "homophily", "points", (Series("Taubin", (0.1, 0.5, 0.9), (-0.5, 0.1, 0.8)),)),
    Plot("heat", LONG, "mu", "tau", columns=("0.1", "0.2", "0.3"), rows=("1", LONG),
         values=((80.0, 81.0, 82.0), (None, 83.0, 84.0))))
PAGES = [Page("node-small", "Small graphs", f"About `{LONG}` and [the grid](taubin.md).", (SCORES, WIDE)),
         Page("taubin", f"The grid & {LONG}", "Some *text*.", PLOTS), Page("μ <&>", "Nothing", "", (Table(("",), ()),))]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the file; on the way out there must have been no error and no request but for the file."""
    file = tmp_path / "results.html"
    file.write_text(document(PAGES, "Results"), encoding="utf-8")
    contexts, requests, errors = [], [], []

    def open_it(**settings):
        contexts.append(browser.new_context(offline=True, **settings))
        page = contexts[-1].new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert errors == []
    assert requests == [file.as_uri()] * len(contexts)


def column(page, place: int) -> list[str]:
    cells = page.locator(f"table >> nth=0 >> tbody tr > :nth-child({place + 1})")
    return [text.split("±")[0].split("\n")[0].strip() for text in cells.all_inner_texts()]


def head(page, name: str):
    return page.locator("th", has=page.get_by_role("button", name=name, exact=True))


def test_a_click_sorts_by_number_up_and_down_and_back_to_the_order_given(opened):
    page = opened()
    assert column(page, 1) == ["9.50", "not run here", "84.00", "-3.00", "9.50"]
    page.get_by_role("button", name="Cora", exact=True).click()
    assert column(page, 1) == ["-3.00", "9.50", "9.50", "84.00", "not run here"]
    assert column(page, 0) == ["gamma", "beta", "epsilon", "delta", "alpha"]            # equals keep their order
    assert head(page, "Cora").get_attribute("aria-sort") == "ascending"
    page.get_by_role("button", name="Cora", exact=True).click()
    assert column(page, 0) == ["delta", "beta", "epsilon", "gamma", "alpha"]            # and what is missing stays last
    assert head(page, "Cora").get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Cora", exact=True).click()
    assert column(page, 0) == ["beta", "alpha", "delta", "gamma", "epsilon"]
    assert head(page, "Cora").get_attribute("aria-sort") is None


def test_keys_sort_too(opened):
    page = opened()
    page.get_by_role("button", name="method", exact=True).focus()
    page.keyboard.press("Enter")
    assert column(page, 0) == ["alpha", "beta", "delta", "epsilon", "gamma"]
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert column(page, 2) == ["Item 1", "item 2", "item 9", "item 10", "–"]            # numbers in names count
    assert head(page, "note").get_attribute("aria-sort") == "ascending"
    assert head(page, "method").get_attribute("aria-sort") is None


def test_sorting_one_table_leaves_the_others(opened):
    page = opened()
    before = page.locator("table >> nth=1").inner_html()
    page.get_by_role("button", name="Cora", exact=True).click()
    assert page.locator("table >> nth=1").inner_html() == before


@pytest.mark.parametrize("width", [320, 375, 768, 1440])
def test_the_page_itself_never_scrolls_sideways(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.locator(".box").evaluate_all("boxes => boxes.map(box => box.getBoundingClientRect().right)")
    assert max(boxes) <= width
    assert page.locator(".box >> nth=1").evaluate("box => box.scrollWidth > box.clientWidth")    # twenty columns


def test_dark_is_dark_and_prints_light(opened):
    colours = "() => [document.body, document.querySelector('.bar')].map(node => Object.values([" \
              "getComputedStyle(node).backgroundColor, getComputedStyle(node).color, getComputedStyle(node).fill]))"
    light, dark = opened(color_scheme="light"), opened(color_scheme="dark")
    (ground, ink, _), (_, _, bar) = light.evaluate(colours)
    (dark_ground, dark_ink, _), (_, _, dark_bar) = dark.evaluate(colours)
    assert brightness(ground) > 240 > 60 > brightness(ink)
    assert brightness(dark_ground) < 40 < 200 < brightness(dark_ink)
    assert bar != dark_bar
    dark.emulate_media(media="print")
    assert brightness(dark.evaluate(colours)[0][0]) == 255


def brightness(colour: str) -> float:
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


@pytest.mark.parametrize("width", [375, 1440])
def test_every_plot_is_there_and_its_marks_have_a_size(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    plots = page.locator("figure.plot .box > svg")
    assert plots.count() == len(PLOTS)
    for place in range(len(PLOTS)):
        plot = plots.nth(place)
        assert plot.is_visible()
        box = plot.bounding_box()
        assert box["width"] > 150
        assert box["height"] > 100
        sizes = plot.locator(".bar, .mark, .cell rect").evaluate_all(
            "marks => marks.map(mark => mark.getBoundingClientRect()).map(box => Math.min(box.width, box.height))")
        assert len(sizes) >= 3
        assert min(sizes) > 1


def test_text_of_a_plot_is_readable_on_a_phone(opened):
    page = opened(viewport={"width": 375, "height": 800})
    heights = page.locator("figure.plot .box > svg text.tick.middle").evaluate_all(
        "texts => texts.map(text => text.getBoundingClientRect().height)")
    assert min(heights) > 10


def test_labels_stay_inside_their_drawing(opened):
    page = opened(viewport={"width": 1440, "height": 800})
    beyond = page.locator("figure.plot .box > svg").evaluate_all("""plots => plots.map(plot => {
        const all = plot.getBoundingClientRect();
        return Math.max(...[...plot.querySelectorAll("text")].map(text => text.getBoundingClientRect())
         .map(box => Math.max(all.left - box.left, box.right - all.right, all.top - box.top, box.bottom - all.bottom)));
    })""")
    assert max(beyond) <= 1


def test_contents_lead_to_the_pages_and_tell_where_one_is(opened):
    page = opened(viewport={"width": 1440, "height": 600})
    page.emulate_media(reduced_motion="reduce")
    page.locator("nav a >> nth=1").click()
    assert page.url.endswith("#taubin")
    page.wait_for_selector("nav a[aria-current][href='#taubin']")
    assert page.locator("nav a[aria-current]").count() == 1
    page.get_by_role("link", name="the grid", exact=True).click()
    assert page.url.endswith("#taubin")


def test_without_scripts_only_the_sorting_is_missing(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("th button").count() == 0
    assert page.locator("table >> nth=0").is_visible()
    assert page.locator("figure.plot .box > svg").count() == len(PLOTS)
    page.locator("summary").click()
    assert page.locator("details").inner_text().endswith(LONG)
