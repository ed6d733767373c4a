"""What parameters and buffers are before anything is learned: PyTorch's numbers, from the same seed."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

MODULES = """
    Linear(4, 3)
    Bilinear(3, 4, 2)
    Conv1d(4, 2, 3, groups=2)
    Conv2d(4, 2, (3, 2))
    Conv3d(1, 2, 2)
    ConvTranspose1d(4, 2, 3)
    ConvTranspose2d(2, 2, 3)
    ConvTranspose3d(2, 2, 2)
    Embedding(5, 3, padding_idx=1)
    EmbeddingBag(5, 3)
    RNN(3, 2, 2)
    LSTM(3, 2, bidirectional=True)
    LSTM(3, 4, proj_size=2)
    GRU(3, 2, bias=False)
    RNNCell(3, 2)
    LSTMCell(3, 2)
    GRUCell(3, 2)
    BatchNorm2d(3)
    InstanceNorm1d(3, affine=True, track_running_stats=True)
    LayerNorm((2, 3))
    GroupNorm(2, 4)
    RMSNorm(3)
    PReLU(2)
    MultiheadAttention(4, 2, add_bias_kv=True)
    MultiheadAttention(4, 2, kdim=3, vdim=2)
    TransformerEncoderLayer(4, 2, 3)
    TransformerDecoderLayer(4, 2, 3)
    Transformer(4, 2, 1, 1, 3, batch_first=True)
    AdaptiveLogSoftmaxWithLoss(4, 5, (2,))
"""


@pytest.mark.parametrize("module", [line.strip() for line in MODULES.strip().splitlines()])
def test_first_values_are_those_of_pytorch(module):
    found = []
    for lib in (torch, pt):
        lib.manual_seed(5)
        values = eval(f"nn.{module}", {"nn": lib.nn}).state_dict()
        found.append({name: value.reshape(-1).tolist() for name, value in values.items()})
    assert found[0].keys() == found[1].keys()
    for name, value in found[0].items():
        assert value == pytest.approx(found[1][name], rel=1e-5, abs=1e-6), name
