"""Zeros at bounds of zero keep their sign whichever zeros NumPy's extremes take on a processor."""

import math

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu import zeros

VALUES = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
OPS = {
    "relu": torch.relu,
    "relu_": lambda x: x.clone().relu_(),
    "clamp": lambda x: x.clamp(0.0, -0.0),
    "clamp from below": lambda x: x.clamp(min=-0.0),
    "clamp by a tensor": lambda x: x.clamp(torch.full_like(x, -0.0), torch.zeros_like(x)),
    "clamp by nan": lambda x: x.clamp(max=math.nan),
    "hardtanh": lambda x: torch.nn.functional.hardtanh(x, -0.0, 1),
    "elu": torch.nn.functional.elu,
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("many", [1, 30, 6000])
def test_where_numpy_takes_now_the_one_zero_and_then_the_other(dtype, many):
    x = torch.tensor(VALUES, dtype=dtype).repeat(many)
    here = {name: op(x) for name, op in OPS.items()}
    odd, first = set(zeros.ODD), set(zeros.FIRST)
    zeros.ODD.update(DTYPES)
    zeros.FIRST.clear()
    try:
        for name, op in OPS.items():
            assert repr(op(x).tolist()) == repr(here[name].tolist()), name
    finally:
        zeros.ODD.intersection_update(odd)
        zeros.FIRST.update(first)


@pytest.mark.parametrize("takes", [{False}, {True}, {False, True}])
def test_what_a_ufunc_takes_is_found_out(takes):
    def larger(a, b):
        a, b = np.broadcast_arrays(a, b)
        found = np.maximum(a, b)
        for at in np.flatnonzero((a == 0) & (b == 0)):
            found[at] = (a, b)[sorted(takes)[(at > 127) * (len(takes) - 1)]][at]
        return found

    assert zeros.taken(larger, np.float32) == takes


def test_here():
    """What kernels are told of this processor is so."""
    for d in DTYPES:
        a = torch.tensor(VALUES[:4], dtype=d).raw_data
        ufunc, *given = zeros.bounded(np.maximum, a, a.dtype.type(0))
        assert np.signbit(ufunc(*given)[:2]).tolist() == [False, True]


@pytest.mark.parametrize("zeros", [(0.0, -0.0), (-0.0, 0.0)])
def test_numbers_that_are_remembered_keep_the_signs_of_zeros(zeros):
    for zero in zeros:
        wanted = np.signbit(zero)
        assert torch.full((2,), zero).signbit().tolist() == [wanted] * 2
        made = torch.full((), complex(zero, 2.5))
        assert made.real.signbit().item() == wanted
        assert (torch.zeros(1, dtype=torch.complex64) * 0 + made).imag.item() == 2.5
        filled = torch.ones(2, dtype=torch.complex128).index_fill_(
            0, torch.tensor([0]), made.item()
        )
        assert filled.real.signbit().tolist() == [wanted, False]
