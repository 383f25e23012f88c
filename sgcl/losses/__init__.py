"""Losses: embeddings of two views and sparse positives in, one number out. Nothing (N, N) is ever held."""

from sgcl.losses.correlation import barlow_twins_loss, cca_loss
from sgcl.losses.graph_nce import graph_nce
from sgcl.losses.infomax import infomax_loss
from sgcl.losses.infonce import info_nce
from sgcl.losses.jensen_shannon import jensen_shannon
from sgcl.losses.mixed_infonce import heaviest, mixed_info_nce
from sgcl.losses.smoothed import smoothed_contrastive_loss

__all__ = [
    "barlow_twins_loss",
    "cca_loss",
    "graph_nce",
    "heaviest",
    "info_nce",
    "infomax_loss",
    "jensen_shannon",
    "mixed_info_nce",
    "smoothed_contrastive_loss",
]
