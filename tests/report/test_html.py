import re
from html.parser import HTMLParser

import pytest

from sgcl.report.html import document
from sgcl.report.page import Page, Plot, Series, Table, Value

NASTY = "<script>alert(\"1\")</script> & 'two'"
VOID = {"meta"}
LINES = Plot("lines", "Time", "nodes", "seconds", (Series("SGCL", (1.0, 2.0), (1.0, 2.0)),), log_x=True, log_y=True)
SCORES = Table(("method", "Cora", "note"), (
    ("SGCL-T", Value(84.31, "84.31 ± 0.52", 0.52), "ten seeds"),
    ("GRACE", Value(83.3, "83.30", 0.4), ""),
    ("DGI", Value(None, "not run here: sgcl bench node-small --methods DGI"), "–")), "Accuracy")


class Reader(HTMLParser):
    """Elements as (name, attributes) and the text between them; an element that is not closed in turn is an error."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [data for name, data in self.texts if name == tag]


def page(text: str = "", *parts: Table | Plot, name: str = "node-small", title: str = "Small graphs") -> Page:
    return Page(name, title, text, parts)


def main(text: str = "", *parts: Table | Plot) -> str:
    """What a page becomes below its title."""
    whole = document([page(text, *parts)], "Results")
    return re.search(r'</h2>\n(.*?)<div class="parts">(.*)</div></section>', whole, re.DOTALL).expand(r"\1\2").strip()


def test_a_document_is_one_well_formed_file_with_contents():
    pages = [page("Text.", SCORES, LINES), page("More.", name="taubin grid", title="Taubin")]
    read = Reader(document(pages, "Results"))
    assert read.text("title")[0] == "Results"
    assert read.text("h1") == ["Results"]
    ids = [attributes["id"] for attributes in read.all("section")]
    assert ids == ["node-small", "taubin-grid"]
    assert [link["href"] for link in read.all("a")][:2] == ["#node-small", "#taubin-grid"]
    assert read.all("html") == [{"lang": "en"}]


def test_the_file_asks_for_nothing():
    whole = document([page("[web](https://example.org)", SCORES, LINES)], "Results")
    read = Reader(whole)
    assert not {name for name, _ in read.elements} & {"link", "img", "iframe", "object", "embed", "base", "image"}
    assert not [attributes for _, attributes in read.elements if "src" in attributes]
    assert "@import" not in whole
    assert set(re.findall(r"url\((.{6})", whole)) <= {"#hatch"}
    assert "default-src 'none'" in whole


def test_the_same_pages_give_the_same_text():
    pages = [page("Text.", SCORES, LINES)]
    assert document(pages, "Results") == document(pages, "Results")


def test_pages_of_one_name_have_ids_of_their_own():
    names = ["a b", "a-b", "a/b", "…", ""]
    read = Reader(document([page(name=name) for name in names], "Results"))
    assert [attributes["id"] for attributes in read.all("section")] == ["a-b", "a-b~2", "a-b~3", "page", "page~2"]


def test_no_pages_are_a_page_too():
    assert Reader(document([], "Nothing yet")).text("h1") == ["Nothing yet"]


@pytest.mark.parametrize(("text", "html"), [
    ("One.\n\nTwo\nlines.", "<p>One.</p>\n<p>Two\nlines.</p>"),
    ("Run `sgcl bench *a*`.", "<p>Run <code>sgcl bench *a*</code>.</p>"),
    ("*soft* and **hard** and **both *of* them**",
     "<p><em>soft</em> and <strong>hard</strong> and <strong>both <em>of</em> them</strong></p>"),
    ("2 * 3 * 4, a_b_c, 5*", "<p>2 * 3 * 4, a_b_c, 5*</p>"),
    ("**two\nlines**", "<p><strong>two\nlines</strong></p>"),
    ("- one\n- two\n  goes on", "<ul><li>one</li><li>two\n  goes on</li></ul>"),
    ("These:\n* one\n* `two`", "<p>These:</p>\n<ul><li>one</li><li><code>two</code></li></ul>"),
    ("[the *paper*](https://example.org/?a=1&b=2)",
     '<p><a href="https://example.org/?a=1&amp;b=2">the <em>paper</em></a></p>'),
    ("[above](node-small.md)", '<p><a href="#node-small">above</a></p>'),
    ("[a page](../method.md#loss)", '<p><a href="../method.md#loss">a page</a></p>'),
    ("[bad](javascript:alert`1`)", "<p>bad</p>"),
    ("[bad](data:text/html,x)", "<p>bad</p>"),
    ("a < b & c > \"d\"", "<p>a &lt; b &amp; c &gt; &quot;d&quot;</p>"),
    ("", ""),
])
def test_text_is_a_little_markdown(text, html):
    assert main(text) == html


def test_everything_is_escaped_wherever_it_stands():
    table = Table((NASTY, "number"), ((NASTY, Value(1.0, NASTY)), ("b", Value(None, f"{NASTY}: {NASTY}"))), NASTY)
    series = (Series(NASTY, (NASTY,), (1.0,)), Series("b", (NASTY,), (1.0,)))
    plots = [Plot(kind, NASTY, NASTY, NASTY, series) for kind in ("bars", "lines", "scatter")]
    grid = Plot("heat", NASTY, NASTY, NASTY, columns=(NASTY,), rows=(NASTY,), values=((1.0,),))
    whole = document([Page(NASTY, NASTY, f"{NASTY} `{NASTY}` **{NASTY}**", (table, *plots, grid))], NASTY)
    assert whole.count("<script>") == 1
    assert NASTY not in whole
    read = Reader(whole)
    for tag in ("h1", "title", "figcaption", "th", "code", "strong", "summary", "li"):
        assert NASTY in "".join(read.text(tag))


def test_a_table_has_heads_names_of_rows_and_numbers_to_sort_by():
    read = Reader(main("", SCORES))
    heads, names = read.all("th")[:3], read.all("th")[3:]
    assert heads == [{"scope": "col"}, {"scope": "col", "class": "number"}, {"scope": "col"}]
    assert names == [{"scope": "row"}] * 3
    assert [cell.get("data-number") for cell in read.all("td")] == ["84.31", None, "83.3", None, None, None]
    assert read.text("span") == [" ± 0.52"]
    assert read.all("td")[2]["title"] == "± 0.4"                           # not in the text of the cell
    assert read.all("div") == [{"class": "box", "tabindex": "0", "role": "region", "aria-label": "Accuracy"}]


def test_a_long_reason_for_no_number_is_folded_and_a_short_one_is_not():
    read = Reader(main("", SCORES))
    assert read.text("summary") == ["not run here"]
    assert read.text("details") == ["sgcl bench node-small --methods DGI"]
    assert not Reader(main("", Table(("", "a"), (("x", Value(None, "failed: memory")),)))).all("details")


@pytest.mark.parametrize("number", [None, float("nan"), float("inf")])
def test_what_is_no_number_is_not_sorted_by(number):
    assert "data-number" not in main("", Table(("", "a"), (("x", Value(number, "–")),)))


def test_cells_may_hold_code_and_links():
    html = main("", Table(("a",), (("[Cora](node-small.md) `x`",),)))
    assert '<a href="#node-small">Cora</a> <code>x</code>' in html


@pytest.mark.parametrize("table", [Table(("a", "b"), ()), Table(("a", "b"), (), "Empty")])
def test_a_table_without_rows_says_so(table):
    html = main("", table)
    assert '<td colspan="2" class="none">No rows yet.</td>' in html
    assert Reader(html).text("th") == ["a", "b"]


def test_a_plot_stands_under_its_title():
    read = Reader(main("", LINES))
    assert read.text("figcaption") == ["Time"]
    assert [svg["aria-label"] for svg in read.all("svg")] == ["Time"]
