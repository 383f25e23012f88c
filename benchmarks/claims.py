"""The rows of the comparison: methods, how each is scored, and what was published of it. Not a benchmark itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import Tensor
from torch_geometric.data import Data

from sgcl.evaluation import PROTOCOLS, ProbeResult, cross_validated_probe

SHARED = ("random", "converged")  # protocol and probe of the table in which all methods meet
SMOOTHINGS = {"taubin": "T", "bilateral": "B", "diffusion": "D"}
PAPER, RERUN, QUOTED = "paper", "re-run by others", "quoted in the SGCL paper"


class Figure(NamedTuple):
    """Per cent, its deviation where one was given, and whose it is."""

    mean: float
    deviation: float | None
    source: str


@dataclass(frozen=True)
class Claim:
    """Figures made under one protocol with one probe, by dataset; ``None`` where the card has none."""

    protocol: str
    probe: str
    figures: Mapping[str, Figure | None]


@dataclass(frozen=True)
class Row:
    """A method as the tables name it."""

    name: str
    method: str
    claims: tuple[Claim, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)  # over the recipe

    def scored(self, dataset: str) -> list[tuple[str, str]]:
        """Protocol and probe of each of its figures on a dataset, and those that all methods share."""
        own = [(claim.protocol, claim.probe) for claim in self.claims if dataset in claim.figures]
        return list(dict.fromkeys([*own, SHARED]))


def probed(embedding: Tensor, data: Data, protocol: str, probe: str, seed: int) -> ProbeResult:
    """An embedding by one of ``PROBES`` on the split of the seed."""
    split = PROTOCOLS[protocol].split(data, seed)
    return PROBES[probe](protocol)(embedding, data.y, split, seed=seed)


PROBES: dict[str, Callable[[str], Callable[..., ProbeResult]]] = {
    "converged": lambda protocol: PROTOCOLS[protocol].probe,
    "published": lambda protocol: PROTOCOLS[protocol].published_probe,
    "cross-validated": lambda protocol: cross_validated_probe,
}


def _figures(source: str, **given: float | tuple[float, float] | None) -> dict[str, Figure | None]:
    return {name.replace("_", "-"): None if value is None else Figure(*(value if isinstance(value, tuple) else (
        value, None)), source) for name, value in given.items()}


# Cheap ones first. Public: the split shipped with the data; its published probe is DGI's 100 steps.
ROWS = (
    Row("CCA-SSG", "cca-ssg", (Claim("public", "converged", _figures(PAPER, cora=84.2, citeseer=73.1, pubmed=81.6)),)),
    *(Row(f"SGCL-{letter}", "sgcl", settings={"smoothing": name}) for name, letter in SMOOTHINGS.items()),
    Row("G-BT", "g-bt", (
        Claim("public", "converged", _figures(RERUN, cora=(81.5, 0.4), citeseer=(71.9, 0.5), pubmed=(80.4, 0.6))),
        Claim("random", "cross-validated", _figures(PAPER, computers=(88.14, 0.33), photo=(92.63, 0.44),
                                                    coauthor_cs=(92.95, 0.17))))),
    Row("BGRL", "bgrl", (
        Claim("public", "converged", _figures(RERUN, cora=(82.7, 0.6), citeseer=(71.1, 0.8), pubmed=(79.6, 0.5))),
        Claim("grace", "converged", _figures(PAPER, cora=83.83, citeseer=72.32, pubmed=86.03, computers=(90.34, 0.19),
                                             photo=(93.17, 0.30), coauthor_cs=(93.31, 0.13))))),
    Row("DGI", "dgi", (
        Claim("public", "published", _figures(PAPER, cora=(82.3, 0.6), citeseer=(71.8, 0.7), pubmed=(76.8, 0.6))),
        Claim("random", "published", _figures(RERUN, computers=(83.95, 0.47), photo=(91.61, 0.22),
                                              coauthor_cs=(92.15, 0.63))))),
    Row("MVGRL", "mvgrl", (
        Claim("public", "converged", {**_figures(RERUN, cora=83.5), **_figures(PAPER, citeseer=(73.3, 0.5),
                                                                                 pubmed=(80.1, 0.7))}),
        Claim("random", "published", _figures(RERUN, computers=(87.52, 0.11), photo=(91.74, 0.07),
                                              coauthor_cs=(92.11, 0.12))))),
    Row("GRLC", "grlc", (
        Claim("public", "converged", {**_figures(QUOTED, cora=(83.5, 0.5)), "citeseer": None, "pubmed": None}),
        Claim("random", "published", _figures(QUOTED, computers=(88.54, 0.23), photo=(92.3, 0.5),
                                              coauthor_cs=(90.36, 0.27))))),
    Row("GSCL", "gscl", (
        Claim("public", "converged", _figures(PAPER, cora=(84.4, 0.2), citeseer=(73.7, 0.4), pubmed=(82.2, 0.3))),
        Claim("random", "converged", _figures(PAPER, computers=(90.14, 0.35), photo=(93.42, 0.44),
                                              coauthor_cs=(93.53, 0.12))))),
    Row("GRACE", "grace", (Claim("grace", "converged", {
        **_figures(PAPER, cora=(83.3, 0.4), citeseer=(72.1, 0.5), pubmed=(86.7, 0.1)),
        **_figures(RERUN, computers=(89.53, 0.35), photo=(92.78, 0.45), coauthor_cs=(91.12, 0.20))}),)),
    Row("ProGCL-weight", "progcl", (Claim("random", "published", {
        **_figures(QUOTED, cora=(81.91, 0.12)), "citeseer": None, "pubmed": None,
        **_figures(PAPER, computers=(89.28, 0.15), photo=(93.30, 0.09), coauthor_cs=(93.51, 0.06))}),),
        {"scheme": "weight"}),
    Row("ProGCL-mix", "progcl", (Claim("random", "published", {
        **_figures(QUOTED, cora=(83.71, 0.04)), "citeseer": None, "pubmed": None,
        **_figures(PAPER, computers=(89.55, 0.16), photo=(93.64, 0.13), coauthor_cs=(93.67, 0.12))}),),
        {"scheme": "mix"}),
    Row("AUGCL", "augcl", (Claim("random", "published", {
        "cora": None, "citeseer": None, "pubmed": None,
        **_figures(QUOTED, computers=(88.94, 0.44), photo=(93.43, 0.32)), "coauthor-cs": None}),)),
    Row("GREET", "greet", (
        Claim("public", "cross-validated", _figures(PAPER, cora=(83.81, 0.87), citeseer=(73.08, 0.84),
                                                    pubmed=(80.29, 1.00))),
        Claim("random", "cross-validated", _figures(PAPER, computers=(87.94, 0.35), photo=(92.85, 0.31),
                                                    coauthor_cs=(94.65, 0.18))))),
    Row("GraphMAE2", "graphmae2", (
        Claim("public", "converged", _figures(PAPER, cora=(84.5, 0.6), citeseer=(73.4, 0.3), pubmed=(81.4, 0.5))),
        Claim("random", "converged", _figures(RERUN, computers=89.9, photo=93.2, coauthor_cs=93.1)))),
    Row("CGRA", "cgra", (
        Claim("public", "cross-validated", _figures("log of the official code", cora=83.8, citeseer=72.8, pubmed=82.8)),
        Claim("grace", "converged", _figures("log of the official code", computers=90.45, photo=93.52,
                                             coauthor_cs=92.79)))),
)

COLLECTIONS = ("imdb-binary", "ptc-mr", "mutag", "proteins", "enzymes")  # in the order of the paper's table


def _graph_figures(imdb: Any, ptc: Any, mutag: Any, proteins: Any, enzymes: Any) -> dict[str, Figure | None]:
    """The paper's table of graph classification; what the methods' own papers have is the same or stands beside."""
    given = dict(zip(COLLECTIONS, (imdb, ptc, mutag, proteins, enzymes), strict=True))
    return {name: None if value is None else Figure(*value, QUOTED) for name, value in given.items()}


def _graph_row(name: str, method: str, *figures: Any, **settings: Any) -> Row:
    return Row(name, method, (Claim("tu", "svc", _graph_figures(*figures)),) if figures else (), settings)


GRAPH_ROWS = (
    _graph_row("InfoGraph", "infograph", (73.0, 0.9), (61.7, 1.4), (89.0, 1.1), (74.4, 0.3), (50.2, 1.4)),
    _graph_row("GraphCL", "graphcl", (71.1, 0.4), (63.6, 1.8), (86.8, 1.3), (74.4, 0.5), (55.1, 1.6)),
    _graph_row("MVGRL", "mvgrl-graphs", (74.2, 0.7), (62.5, 1.7), (89.7, 1.1), (71.5, 0.3), (48.3, 1.2)),
    _graph_row("AD-GCL", "ad-gcl", (71.5, 1.0), (61.2, 1.4), (86.8, 1.3), (75.0, 0.5), (42.6, 1.1)),
    _graph_row("BGRL", "bgrl-graphs", (72.8, 0.5), (57.4, 0.9), (86.0, 1.8), (77.4, 2.4), (50.7, 9.0)),
    _graph_row("LaGraph", "lagraph", (73.7, 0.9), (60.8, 1.1), (90.2, 1.1), (75.2, 0.4), (40.9, 1.7)),
    _graph_row("ProGCL-weight", "progcl-graphs", scheme="weight"),
    _graph_row("ProGCL-mix", "progcl-graphs", (71.6, 0.6), None, (88.7, 1.4), (74.5, 0.4), None, scheme="mix"),
    _graph_row("CGRA", "cgra-graphs", (75.6, 0.5), (65.7, 1.8), (91.1, 2.5), (76.2, 0.6), (61.1, 0.9)),
    _graph_row("AUGCL", "augcl-graphs", (72.4, 0.8), None, (89.2, 1.0), (75.7, 0.4), None),
    _graph_row("SGCL-T", "sgcl-graphs", (75.2, 2.8), (64.0, 1.6), (89.0, 2.3), (79.4, 1.9), (65.3, 3.6),
               smoothing="taubin"),
    _graph_row("SGCL-B", "sgcl-graphs", (73.2, 3.7), (62.5, 1.8), (87.0, 2.8), (81.6, 2.3), (63.7, 1.6),
               smoothing="bilateral"),
    _graph_row("SGCL-D", "sgcl-graphs", (75.8, 1.9), (62.6, 1.4), (86.0, 2.6), (81.5, 2.3), (64.3, 2.2),
               smoothing="diffusion"),
    _graph_row("SGCL-Identity", "sgcl-graphs", smoothing="identity"),
)
