"""Sizes that NumPy's ints, tensors and objects with ``__index__`` stand for: a shape holds ints, wherever it was made."""

import contextlib

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


class Index:
    def __index__(self):
        return 200


SIZES = {
    "uint8": lambda lib: np.uint8(200),
    "int64": lambda lib: np.int64(200),
    "bytes in a tensor": lambda lib: lib.tensor(200, dtype=lib.uint8),
    "a tensor": lambda lib: lib.tensor(200),
    "an index": lambda lib: Index(),
}
# The number is never the first of several: that one is looked at anyway. Sizes are those of no other test.
CALLS = {
    "view": lambda lib, n: lib.ones(40_600).view(203, n),
    "reshape": lambda lib, n: lib.ones(40_600).reshape(203, n),
    "expand": lambda lib, n: lib.ones(1, 1).expand(204, n),
    "expand, of a number": lambda lib, n: lib.ones(()).expand(204, n),
    "broadcast_to": lambda lib, n: lib.ones(1, 1).broadcast_to((205, n)),
    "repeat": lambda lib, n: lib.ones(1, 1).repeat(206, n),
    "tile": lambda lib, n: lib.ones(1, 1).tile((207, n)),
    "zeros": lambda lib, n: lib.zeros(208, n),
    "full": lambda lib, n: lib.full((209, n), 1.0),
    "new_ones": lambda lib, n: lib.ones(1).new_ones((210, n)),
    "as_strided": lambda lib, n: lib.ones(60_000).as_strided((211, n), (1, n)),
    "unflatten": lambda lib, n: lib.ones(42_400).unflatten(0, (212, n)),
    "split": lambda lib, n: lib.ones(413).split([213, n])[1],
    "empty_strided": lambda lib, n: lib.empty_strided((214, n), (n, 1)),
    "pad": lambda lib, n: lib.nn.functional.pad(lib.ones(100), (15, n)),
    "layer_norm": lambda lib, n: lib.nn.functional.layer_norm(lib.ones(216, 200), (216, n)),
}
MODES = {
    "eager": lambda lib: contextlib.nullcontext(),
    "pipeline": lambda lib: torch.pipeline() if lib is torch else contextlib.nullcontext(),
    "meta": lambda lib: lib.device("meta"),
}


def seen(lib, call, size, mode):
    """The layout of a result, and of one that is computed from it; all of them are plain ints."""
    number = SIZES[size](lib)
    with MODES[mode](lib):
        made = CALLS[call](lib, number)
        after = made.contiguous() + 1
        found = [
            *made.shape,
            *made.stride(),
            made.numel(),
            *after.shape,
            *after.stride(),
            after.numel(),
        ]
    assert {type(n) for n in found} == {int}
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", CALLS)
def test_a_shape_holds_ints(call, size, mode):
    assert seen(torch, call, size, mode) == seen(pt, call, size, mode)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_others_of_that_shape_are_none_the_wiser(device):
    """What is kept for a shape was found by the next tensor that has it: 40,200 elements were 8."""
    x = torch.empty(1, 1, device=device)
    with torch.pipeline():
        x.expand(201, np.uint8(200)).contiguous() + 1
    y = torch.empty(201, 200, device=device) + 1
    assert (y.numel(), y.stride()) == (40_200, (200, 1))


@pytest.mark.parametrize("base", [(), (1,), (2, 1), (0, 1), (3, 1, 2)])
@pytest.mark.parametrize(
    "size",
    [(0,), (1,), (0, 2), (2, 0), (2, 3), (3, 0, 2), (0, 3, 2), (3, -1, -1), (-1,), (-1, 2), (-2,)],
)
def test_strides_of_what_is_expanded(base, size):
    def layout(lib):
        try:
            made = lib.zeros(base).expand(size)
        except RuntimeError:
            return "refused"
        return made.shape, made.stride(), made.contiguous().stride()

    assert layout(torch) == layout(pt)
