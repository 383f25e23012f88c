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
