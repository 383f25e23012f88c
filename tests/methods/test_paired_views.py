"""Views that leave out nodes: refused by every method that pairs the nodes of two views."""

import inspect

import pytest

from sgcl import InputError
from sgcl.methods import METHODS
from sgcl.views import Compose, DropEdges, DropNodes, Subgraph

PAIRED = [name for name in METHODS if "view1" in inspect.signature(METHODS[name]).parameters
          and (METHODS[name].level == "node" or name == "sgcl-graphs")]


@pytest.mark.parametrize("name", PAIRED)
def test_views_that_leave_out_nodes_are_refused(name):
    owner = METHODS[name].__name__
    with pytest.raises(InputError, match=rf"^{owner}: DropNodes\(p=0.1\) leaves out nodes, but both views need the "
                                         "same ones; take views that keep them, such as DropEdges or MaskFeatures$"):
        METHODS[name](4, view1=Compose([DropEdges(), DropNodes()]))
    with pytest.raises(InputError, match=rf"^{owner}: Subgraph\(share=0.2\) leaves out nodes"):
        METHODS[name](4, view2=Subgraph())


def test_there_are_such_methods():
    assert {"sgcl", "grace", "bgrl", "sgcl-graphs"} <= set(PAIRED)
