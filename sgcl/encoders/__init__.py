"""Encoders: node features and an adjacency in, (N, D) embeddings out."""

from sgcl.encoders.encoder import Encoder
from sgcl.encoders.layers import LAYERS, GATLayer, GCNLayer, GINLayer, SAGELayer

__all__ = ["LAYERS", "Encoder", "GATLayer", "GCNLayer", "GINLayer", "SAGELayer"]
