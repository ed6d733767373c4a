"""What is refused although PyTorch computes something, fails by chance, or reads memory that is not its own."""

import pytest

import mindtorch_core as torch

F = torch.nn.functional
aten = torch.ops.aten
ones = torch.ones


def ints(*values):
    return torch.tensor(values)


CALLS = {
    "torch.bilinear(ones(2, 3), ones(2, 3), ones(3, 3), None)": (
        RuntimeError,
        "bilinear(): weight must be (out, in1, in2), got [3, 3]",
    ),
    "torch._int_mm(ones(2, 2).to(torch.int8), ones(2).to(torch.int8))": (
        RuntimeError,
        "int_mm: Expected mat2 to be of dimension 2 but got 1",
    ),
    "aten._adaptive_avg_pool2d_backward(ones(2, 2, 2), ones(1, 4, 4))": (
        RuntimeError,
        "adaptive_avg_pool2d_backward: the gradient's batch and channels must be the input's, but got shapes [2, 2, 2] and [1, 4, 4]",
    ),
    "aten._adaptive_avg_pool3d_backward(ones(2, 2), ones(2, 2))": (
        RuntimeError,
        "adaptive_avg_pool3d_backward: Expected 4D or 5D tensor, but got [2, 2]",
    ),
    "F.fractional_max_pool3d(ones(1, 4, 4, 4), 2, output_ratio=(0.5, 0.5, 0.5, 0.5))": (
        ValueError,
        "fractional_max_pool3d requires output_ratio to either be a single float or 3",
    ),
    "aten._thnn_fused_lstm_cell(ones(1, 4), ones(1, 4), ones(1, 1).double())": (
        RuntimeError,
        "expected gates and cell state of one dtype, got torch.float32, torch.float32 and torch.float64",
    ),
    "torch.grid_sampler_2d(ones(1, 1, 2, 2), ones(1, 2, 2, 2), 5, 0, False)": (
        RuntimeError,
        "grid_sampler(): unknown interpolation mode 5 or padding mode 0; both are 0, 1 or 2",
    ),
    "torch.grid_sampler(ones(1, 1, 2, 2), ones(1, 2, 2, 2), 0, 5, False)": (
        RuntimeError,
        "grid_sampler(): unknown interpolation mode 0 or padding mode 5; both are 0, 1 or 2",
    ),
    "torch._pack_padded_sequence(ones(2, 2), ints(3, 2), False)": (
        RuntimeError,
        "Expected lengths of at most 2 steps, which the input has, but got 3",
    ),
    "torch.lstm(ones(2, 1, 2), (ones(1, 2), ones(1, 2)), [ones(8, 2), ones(8, 2)], False, 1, 0.0, False, False, False)": (
        RuntimeError,
        "lstm: a hidden state should have 3 dimensions, got [1, 2]",
    ),
    "torch.lstm_cell(ones(2), (ones(1, 2), ones(1, 2)), ones(8, 2), ones(8, 2))": (
        RuntimeError,
        "input, hidden states and weights of a cell are 2D, got [2]",
    ),
    'torch.segment_reduce(ones(2, 2), "sum", lengths=ints(1, 1).reshape(1, 2), axis=1)': (
        RuntimeError,
        "segment_reduce(): Expected the dimensions of data [2, 2] before axis 1 to be those of [1, 2]",
    ),
}


@pytest.mark.parametrize(
    ("call", "kind", "words"), [(c, *of) for c, of in CALLS.items()], ids=[*CALLS]
)
def test_words(call, kind, words):
    with pytest.raises(kind) as caught:
        eval(call)
    assert str(caught.value) == words
