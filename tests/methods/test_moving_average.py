import torch
from torch import nn

from sgcl.methods.moving_average import follow


def test_parameters_move_by_their_share_and_buffers_stay():
    slow, fast = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    with torch.no_grad():
        fast.weight.fill_(5.0)
        fast.running_mean.fill_(7.0)
    follow(slow, fast, 0.25)
    assert slow.weight.tolist() == [2.0, 2.0, 2.0]
    assert slow.bias.tolist() == [0.0, 0.0, 0.0]
    assert slow.running_mean.tolist() == [0.0, 0.0, 0.0]
    assert fast.weight.tolist() == [5.0, 5.0, 5.0]
