"""Encoders: node features and an adjacency in, (N, D) embeddings out."""

from sgcl.encoders.dense import DenseLayer
from sgcl.encoders.dropout import dropout
from sgcl.encoders.encoder import Encoder
from sgcl.encoders.graph_encoder import Encoded, GraphEncoder
from sgcl.encoders.layers import LAYERS, GATLayer, GCNLayer, GINLayer, SAGELayer
from sgcl.encoders.norm import BatchNorm
from sgcl.encoders.projector import Projector
from sgcl.encoders.readout import readout

__all__ = [
    "LAYERS",
    "BatchNorm",
    "DenseLayer",
    "Encoded",
    "Encoder",
    "GATLayer",
    "GCNLayer",
    "GINLayer",
    "GraphEncoder",
    "Projector",
    "SAGELayer",
    "dropout",
    "readout",
]
