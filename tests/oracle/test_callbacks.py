"""`apply_`, `map_` and `map2_`: results and refusals as in PyTorch."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close, assert_same_outcome

pt = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "int32", "int64", "uint8", "bool", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("made", [lambda x: x, lambda x: x.t(), lambda x: x[1:, ::2]])
def test_every_element_is_replaced(dtype, made):
    def run(lib):
        x = lib.arange(12).reshape(3, 4).to(getattr(lib, dtype))
        part = made(x)
        assert part.apply_(lambda v: v * 2 + 1) is part
        assert part.map_(part.clone()[:1], lambda a, b: a + b) is part
        assert part.map2_(part.clone(), part.clone()[0], lambda a, b, c: a - b + c) is part
        return x

    assert_close(run(torch), run(pt))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.ones(2, requires_grad=True).apply_(abs),
        lambda lib: lib.ones(2, requires_grad=True).map_(lib.ones(2), max),
        lambda lib: lib.ones(2).map_(lib.ones(2, requires_grad=True), max),
        lambda lib: lib.ones(2).map2_(lib.ones(2, requires_grad=True), lib.ones(2), max),
        lambda lib: lib.ones(2).map_(lib.ones(3), max),
        lambda lib: lib.ones(2).map_(lib.ones(2, dtype=lib.float64), max),
        lambda lib: lib.ones(2).apply_(3),
        lambda lib: lib.ones(2).apply_(lambda v: "1"),
        lambda lib: lib.ones(2, dtype=lib.int64).apply_(lambda v: 1.5),
        lambda lib: lib.ones(2, dtype=lib.bool).apply_(lambda v: 2),
        lambda lib: lib.ones(2).apply_(lambda v: lib.tensor(3.0)),
        lambda lib: lib.ones(0).apply_(lambda v: 1 / 0),
        lambda lib: lib.ones(2).apply_(lambda v: 1 / 0),
    ],
)
def test_refusals(call):
    assert_same_outcome(lambda: call(torch), lambda: call(pt))
