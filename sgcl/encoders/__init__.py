"""Encoders: node features and an adjacency in, (N, D) embeddings out."""

from sgcl.encoders.dense import DenseLayer, dropout
from sgcl.encoders.encoder import Encoder
from sgcl.encoders.layers import LAYERS, GATLayer, GCNLayer, GINLayer, SAGELayer
from sgcl.encoders.projector import Projector

__all__ = ["LAYERS", "DenseLayer", "Encoder", "GATLayer", "GCNLayer", "GINLayer", "Projector", "SAGELayer", "dropout"]
