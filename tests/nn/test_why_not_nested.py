"""What `TransformerEncoder` says of layers that cannot leave padded places out, beside PyTorch's."""

import warnings

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")

LAYERS = {f"{heads} heads": (lambda nn, h=heads: nn.TransformerEncoderLayer(12, h, 8, batch_first=True)) for heads in (1, 2, 3, 4, 6)} | {
    "norm first": lambda nn: nn.TransformerEncoderLayer(12, 2, 8, batch_first=True, norm_first=True),
    "length first": lambda nn: nn.TransformerEncoderLayer(12, 2, 8),
    "no bias": lambda nn: nn.TransformerEncoderLayer(12, 2, 8, batch_first=True, bias=False),
    "gelu": lambda nn: nn.TransformerEncoderLayer(12, 2, 8, batch_first=True, activation="gelu"),
    "silu": lambda nn: nn.TransformerEncoderLayer(12, 2, 8, batch_first=True, activation=nn.functional.silu),
    "another eps": lambda nn: _with_eps(nn.TransformerEncoderLayer(12, 2, 8, batch_first=True)),
    "another class": lambda nn: nn.Linear(2, 2),
}  # fmt: skip


def _with_eps(layer):
    layer.norm1.eps = 0.1
    return layer


def said(lib, layer, **options):
    """What is warned of while the layers are put together, and whether places are left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = lib.nn.TransformerEncoder(layer(lib.nn), 1, **options)
    return [str(w.message) for w in caught], made.use_nested_tensor


@pytest.mark.parametrize(
    "options", [{}, {"enable_nested_tensor": False}, {"mask_check": False}], ids=str
)
@pytest.mark.parametrize("name", LAYERS)
def test_as_in_pytorch(name, options):
    assert said(torch, LAYERS[name], **options) == said(oracle, LAYERS[name], **options)
