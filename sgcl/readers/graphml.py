"""GraphML by a streaming parser that refuses entities, so that a hostile file can neither grow nor reach out."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from sgcl.errors import InputError
from sgcl.readers.edges import EdgeList
from sgcl.readers.ids import LONGEST, Ids, Texts, as_integers
from sgcl.readers.lines import opened
from sgcl.readers.table import not_used, readable


def read_graphml(path: str | Path, weight: str | bool | None) -> EdgeList:
    """The nodes and edges of a GraphML file; ids that are all integers in their plain form are integers.

    Args:
        path: a ``.graphml`` or ``.graphml.gz`` file with one graph, not nested.
        weight: the edge attribute that holds the weights; ``None`` for ``"weight"`` where there is one, ``False`` for
            no weights.
    """
    reader = _Reader(str(path), weight)
    with opened(readable(Path(path))) as file:
        try:
            reader.parser.ParseFile(file)
        except expat.ExpatError as error:
            raise InputError(f"{path}, line {error.lineno}: not well-formed XML ({expat.ErrorString(error.code)}); "
                             "write it again") from None
    return reader.edges()


class _Reader:
    """Handlers for the parser, and what they have seen."""

    def __init__(self, name: str, weight: str | bool | None) -> None:
        self.name, self.weight = name, weight
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = lambda *_: self._refuse("a DOCTYPE is not accepted; remove it")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.texts, self.declared = Texts(), set[str]()
        self.nodes, self.source, self.target, self.lines = (array("q") for _ in range(4))
        self.weights = array("d")
        self.directed: bool | None = None          # unknown before <graph>
        self.key: str | None = None                # the key of the weights
        self.unused: dict[str, list[str]] = {"node": [], "edge": []}  # attributes besides
        self.in_key = False                        # inside the element that declares it
        self.default: str | None = None            # the weight of an edge without one
        self.given: str | None = None              # the weight of the edge at hand
        self.text: list[str] | None = None         # what an element of interest holds so far
        self.open: list[str] = []                  # tags around the place at hand

    def edges(self) -> EdgeList:
        if self.directed is None:
            raise InputError(f"{self.name} holds no <graph>")
        if isinstance(self.weight, str) and self.key is None:
            raise InputError(f"{self.name} has no edge attribute {self.weight!r}: name it with weight= (--edge-weight)")
        texts = self.texts.list()
        whole = as_integers(texts)
        nodes, source, target = (Ids(np.array(codes, np.int64), texts) if whole is None else
                                 Ids(whole[np.array(codes, np.int64)])
                                 for codes in (self.nodes, self.source, self.target))
        weight = None if self.key is None else np.array(self.weights, np.float32)
        notes = [note for kind, names in self.unused.items()
                 for note in not_used(self.name, f"{kind} attribute", names)]
        return EdgeList(self.name, source, target, weight, nodes=nodes, directed=self.directed,
                        where=lambda row: f"line {self.lines[row]}", notes=notes)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        around = self.open[-1] if self.open else ""
        self.open.append(tag)
        if not around and tag != "graphml":
            self._refuse(f"the outermost element is <{tag}>, expected <graphml>")
        elif tag == "graph" and (around != "graphml" or self.directed is not None):
            self._refuse("a second or nested <graph>; give a file with one")
        elif tag == "hyperedge":
            self._refuse("hyperedges are not supported; write an edge for each pair")
        elif tag == "graph":
            self.directed = self._attribute(attributes, "edgedefault") != "undirected"
        elif tag == "key" and self._holds_weights(attributes):
            self.key, self.in_key = self._attribute(attributes, "id"), True
        elif tag == "key":
            for kind in self.unused:
                if attributes.get("for") in (kind, "all") and "attr.name" in attributes:
                    self.unused[kind].append(attributes["attr.name"])
        elif tag == "node":
            self._add_node(self._attribute(attributes, "id"))
        elif tag == "edge":
            self._add_edge(attributes)
        elif self.key is not None and ((around == "edge" and attributes.get("key") == self.key)
                                       or (tag == "default" and self.in_key)):
            self.text = []

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(" ")[2]
        self.open.pop()
        if tag == "edge" and self.key is not None:
            self.weights.append(self._number(self.default if self.given is None else self.given))
        elif tag == "default" and self.text is not None:
            self.default = "".join(self.text)
        elif tag == "data" and self.text is not None:
            self.given = "".join(self.text)
        elif tag == "key":
            self.in_key = False
        self.text = None

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _holds_weights(self, attributes: Mapping[str, str]) -> bool:
        return (self.weight is not False and attributes.get("for") in ("edge", "all")
                and attributes.get("attr.name") == (self.weight or "weight"))

    def _add_node(self, name: str) -> None:
        if name in self.declared:
            self._refuse(f"node {name!r} is given twice; give it once")
        self.declared.add(name)
        self.nodes.extend(self.texts.encode([name]).tolist())

    def _add_edge(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("directed", str(self.directed).lower()) != str(self.directed).lower():
            self._refuse("the edge is directed otherwise than the graph; write all edges alike")
        ends = self.texts.encode([self._attribute(attributes, "source"), self._attribute(attributes, "target")])
        self.source.append(int(ends[0]))
        self.target.append(int(ends[1]))
        self.lines.append(self.parser.CurrentLineNumber)
        self.given = None

    def _number(self, text: str | None) -> float:
        if text is None:
            self._refuse("the edge has no weight; give one to every edge, or weight=False (--no-edge-weight) for none")
        try:
            return float(text)
        except ValueError:
            self._refuse(f"the weight {text!r} is no number; write a number")

    def _attribute(self, attributes: Mapping[str, str], name: str) -> str:
        value = attributes.get(name, "")
        if not value or len(value) > LONGEST:
            self._refuse(f"<{self.open[-1]}> " + (f"without {name!r}; add it" if not value else
                                                  f"with {name!r} of more than {LONGEST} characters; shorten it"))
        return value

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(f"{self.name}, line {self.parser.CurrentLineNumber}: {what}")
