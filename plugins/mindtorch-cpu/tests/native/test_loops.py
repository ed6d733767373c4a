"""What NumPy's loops make of an element depends on nothing but the element: kernels call them on any strips."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.loops import UFUNCS, loop_of
from mindtorch_cpu.native.program import CODES, DTYPES
from mindtorch_cpu.native.reference import same

FLOATS = (
    0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, -1e-310, 1e-40, -1e-40, 6e-8, -6e-8, 0.5, -0.5, 1.0, -1.0,
    2.5, -2.5, 3.0, -3.0, 65504.0, -65504.0, 1e30, -1e30,
)  # fmt: skip
INTEGERS = (0, 1, 2, 3, 7, 63, 127, -1, -2, -3, -128)
CODES_HERE = ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1")
# A shift by more bits than there are, or fewer than none, is C's, and left_shift's and right_shift's own.
SHIFTS = ("left_shift", "right_shift")
# One exponent again and again has formulas of its own, from which `mindtorch_cpu.powers` keeps kernels.
REPEATED_ARE_OTHERS = ("power", "float_power")
# NumPy 2.4 leaves out elements of spread results. Kernels have instructions for these.
SKIPPING = ("negative", "isnan", "isinf", "isfinite", "signbit")
WIDE = 150  # more than two vectors of the smallest elements


def values(name, code):
    with np.errstate(all="ignore"):
        if code[0] == "f":
            return np.array(FLOATS).astype(DTYPES[code])
        made = np.unique(np.array(INTEGERS).astype(DTYPES[code]))
        return made[(made >= 0) & (made < 8)] if name in SHIFTS else made


def called(name, code):
    """Whether kernels may call a loop on elements of a dtype."""
    given = (code,) * UFUNCS[name].nin
    return any(loop_of(name, (*given, made)) for made in CODES.values())


CASES = [
    (name, code)
    for name, ufunc in UFUNCS.items()
    for code in CODES_HERE
    if ufunc.signature is None and called(name, code)
]


def one_by_one(ufunc, operands):
    parts = [ufunc(*[o[i : i + 1] for o in operands]) for i in range(len(operands[0]))]
    return np.concatenate(parts)


def spread(array, step, before):
    """The same elements some steps apart, after some others."""
    room = np.ones(step * len(array) + before, array.dtype)
    view = room[before::step][: len(array)]
    view[:] = array
    return view


def laid_out(name, operands, dtype):
    """Results of operands that lie in different ways, with what lies how."""
    ufunc = UFUNCS[name]
    size = len(operands[0])
    for before in range(4):
        # Tensors have no negative strides; with them NumPy's loops leave AVX-512 for the C library.
        for step, out_step in ((1, 1), (2, 1), (3, 2), (1, 3)):
            out = spread(np.ones(size, dtype), out_step, before)
            given = [spread(o, step, before + n) for n, o in enumerate(operands)]
            if out_step == 1 or name not in SKIPPING:
                yield (before, step, out_step), ufunc(*given, out=out)
    for n, each in enumerate(operands):  # into an operand
        if each.dtype == dtype:
            given = [o.copy() for o in operands]
            yield f"into {n}", ufunc(*given, out=given[n])


@pytest.mark.parametrize(("name", "code"), CASES)
def test_place_length_and_steps_change_nothing(name, code):
    ufunc = UFUNCS[name]
    hard = values(name, code)
    tuples = list(itertools.product(hard, repeat=ufunc.nin))
    operands = [np.array(column, hard.dtype) for column in zip(*tuples, strict=True)]
    with np.errstate(all="ignore"):
        good = one_by_one(ufunc, operands)
        for how, found in laid_out(name, operands, good.dtype):
            assert same(found, good), how
        for i in range(len(tuples)):  # the whole of a vector, and what is left after it
            again = [np.full(WIDE, o[i]) for o in operands]
            assert same(ufunc(*again), np.full(WIDE, good[i])), tuples[i]


@pytest.mark.parametrize(("name", "code"), [case for case in CASES if UFUNCS[case[0]].nin == 2])
def test_an_operand_may_be_one_element_again_and_again(name, code):
    ufunc = UFUNCS[name]
    hard = values(name, code)
    line = np.resize(hard, WIDE)
    with np.errstate(all="ignore"):
        for n, x in itertools.product(range(2), hard):
            if n == 1 and name in REPEATED_ARE_OTHERS:
                continue
            one, full = np.broadcast_to(np.array([x]), WIDE), np.full(WIDE, x)
            given, plain = ([line, one], [line, full]) if n else ([one, line], [full, line])
            assert same(ufunc(*given), ufunc(*plain)), x


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_of_two_zeros_it_is_the_same_one_everywhere(both, name, dtype):
    """The first, but of bfloat16 the second; NaN is nowhere but in two of it."""
    hard = torch.tensor([0.0, -0.0, torch.nan, torch.inf, -torch.inf, 1e-38, -2.0, 1.0]).to(dtype)
    x, y = hard.repeat(8 * 700), hard.repeat_interleave(8).repeat(700)
    x, y = (torch.cat([t, t[:5]]) for t in (x, y))
    kept, other = (y, x) if dtype is torch.bfloat16 else (x, y)
    holds = kept >= other if name == "fmax" else kept <= other
    good = torch.where(holds | torch.isnan(other), kept, other).double().numpy()
    function = getattr(torch, name)
    found, wanted, notes = both(lambda: (function(x, y), function(x, y) * 1))
    assert set(notes) == {"compiled"}
    pieces = torch.cat([function(x[i : i + n], y[i : i + n]) for i, n in ((0, 9), (9, len(x) - 9))])
    apart = function(x.repeat_interleave(2)[::2], y.repeat_interleave(3)[::3])
    single = torch.stack([function(x[i], y[i]) for i in range(64)])
    for made in (*found, *wanted, function(x, y), pieces, apart):
        assert same(made.double().numpy(), good)
    assert same(single.double().numpy(), good[:64])


@pytest.mark.parametrize("exponent", [0.5, 2.0, 3.0, -1.0, -2.0, -0.5])
def test_exponents_are_the_same_however_they_lie(both, exponent):
    """NumPy takes roots and products where one exponent comes again and again."""
    x = torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan, 1e-45, 0.3, -1.7]).repeat(40, 20)
    each = torch.full((40, 160), exponent)
    good = (x**each).numpy()
    for exponents in (each[:1, :1].expand(40, 160), each[:, :1], each[0]):
        found, wanted, _ = both(lambda e=exponents: (x * 1) ** e)
        for made in (found, wanted, x**exponents):
            assert same(made.numpy(), good)
