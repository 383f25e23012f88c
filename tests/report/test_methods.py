from sgcl.report import About, methods_page

TEXT = """A method.

With ``k`` and <u, v>, and so by
:func:`~sgcl.losses.info_nce`, the loss is

.. math:: a + b

or

.. math::
    c
    d

Args:
    in_channels: F.
    first, second: how
        each is made.
    other: a number, ``"x"`` < 3.

Departures from the paper: none."""


def test_a_docstring_becomes_a_section():
    page = methods_page([About("one", "nodes", "an idea.", "Somebody, *A Paper*.", TEXT,
                               {"first": "1", "second": "none", "other": "0.5"})])
    head, _, section = page.partition("## one\n\n")
    assert "| [one](#one) | nodes | an idea. |" in head
    assert section.splitlines() == [
        "A method. Somebody, *A Paper*.", "",
        "With `k` and \\<u, v>, and so by `info_nce`, the loss is", "",
        "```math", "a + b", "```", "", "or", "", "```math", "c", "d", "```", "",
        "- `first` (1), `second` (none): how each is made.",
        "- `other` (0.5): a number, `\"x\"` \\< 3.", "",
        "Departures from the paper: none."]
