"""Losses: embeddings of two views and sparse positives in, one number out. Nothing (N, N) is ever held."""

from sgcl.losses.smoothed import smoothed_contrastive_loss

__all__ = ["smoothed_contrastive_loss"]
