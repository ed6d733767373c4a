"""What an argument that is a number, or several, takes: ints by ``__index__``, floats of Python and NumPy, and no others."""

import array
import collections
import decimal
import enum
import fractions

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


class Index:
    def __index__(self):
        return 2


class Whole:
    def __int__(self):
        return 2


class Real:
    def __float__(self):
        return 2.0


class Listed(list):
    pass


Two = enum.IntEnum("Two", {"TWO": 2})
ONES = {
    "int8": lambda lib: np.int8(2),
    "uint64": lambda lib: np.uint64(2),
    "float32": lambda lib: np.float32(2),
    "complex64": lambda lib: np.complex64(2),
    "an array": lambda lib: np.array(2),
    "an array of one": lambda lib: np.array([2]),
    "a span": lambda lib: np.timedelta64(2, "s"),
    "an index": lambda lib: Index(),
    "by int()": lambda lib: Whole(),
    "by float()": lambda lib: Real(),
    "a member": lambda lib: Two.TWO,
    "a fraction": lambda lib: fractions.Fraction(2),
    "a decimal": lambda lib: decimal.Decimal(2),
    "bytes": lambda lib: b"\2",
    "a text": lambda lib: "2",
    "a set": lambda lib: {2},
    "a dict": lambda lib: {2: 2},
    "an int tensor": lambda lib: lib.tensor(2),
    "bytes in a tensor": lambda lib: lib.tensor(2, dtype=lib.uint8),
    "a float tensor": lambda lib: lib.tensor(2.0),
    "a bool tensor": lambda lib: lib.tensor(True),
    "a leaf": lambda lib: lib.tensor(2.0, requires_grad=True),
}


def x(lib):
    return lib.arange(48.0).view(2, 4, 6)


TAKING_ONE = {
    "topk": lambda lib, n: x(lib).topk(n).values,
    "narrow": lambda lib, n: x(lib).narrow(1, n, n),
    "eye": lambda lib, n: lib.eye(n),
    "randperm": lambda lib, n: lib.randperm(n) * 0,
    "tril": lambda lib, n: x(lib).tril(n),
    "select": lambda lib, n: x(lib).select(1, n),
    "diagonal": lambda lib, n: x(lib).diagonal(offset=n, dim1=1, dim2=2),
    "expand": lambda lib, n: lib.ones(1).expand(n),
    "view": lambda lib, n: lib.ones(2).view(n),
    "zeros": lambda lib, n: lib.zeros(n),
    "repeat": lambda lib, n: lib.ones(3).repeat(n),
    "roll": lambda lib, n: x(lib).roll(n),
    "avg_pool1d": lambda lib, n: lib.nn.functional.avg_pool1d(x(lib), n),
}
# PyTorch takes them for sizes and places, not for dimensions, offsets and what stands for a list of ints.
TAKEN_HERE = {("diagonal", "an array"), ("diagonal", "an index"), ("roll", "an array"),
              ("roll", "an index"), ("avg_pool1d", "an array"), ("avg_pool1d", "an index")}  # fmt: skip
TAKING_A_NUMBER = {
    "full": lambda lib, n: lib.full((2,), n),
    "arange": lambda lib, n: lib.arange(n),
    "add's alpha": lambda lib, n: lib.add(x(lib), x(lib), alpha=n),
    "add": lambda lib, n: x(lib).add(n),
    "+": lambda lib, n: x(lib) + n,
    "fill_": lambda lib, n: x(lib).fill_(n),
    "addmm's beta": lambda lib, n: lib.addmm(
        lib.ones(2, 2), lib.ones(2, 2), lib.ones(2, 2), beta=n
    ),
    "clamp": lambda lib, n: x(lib).clamp(n),
    "allclose's rtol": lambda lib, n: lib.tensor(lib.allclose(x(lib), x(lib), rtol=n)),
    "elu": lambda lib, n: lib.nn.functional.elu(x(lib), n),
    "var's correction": lambda lib, n: x(lib).var(correction=n).round(decimals=3),
    "cdist's p": lambda lib, n: lib.cdist(x(lib)[0], x(lib)[1], p=n),
}
# PyTorch takes some for their real part, or a tensor of one flag for a whole number and not for a real one.
TAKEN_THERE_ALONE = {"complex64", "a bool tensor"}


def outcome(call, lib, made):
    """The elements and their dtype, or that it was refused."""
    try:
        found = call(lib, made(lib))
    except (TypeError, ValueError, RuntimeError):
        return "refused"
    return str(found.dtype).rpartition(".")[2], found.tolist()


@pytest.mark.parametrize("name", TAKING_ONE)
@pytest.mark.parametrize("one", [n for n in ONES if n not in TAKEN_THERE_ALONE])
def test_an_int(one, name):
    call = TAKING_ONE[name]
    found, wanted = outcome(call, torch, ONES[one]), outcome(call, pt, ONES[one])
    if (name, one) in TAKEN_HERE:
        assert (found, wanted) == (outcome(call, pt, lambda lib: 2), "refused")
    else:
        assert found == wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TAKING_A_NUMBER)
@pytest.mark.parametrize("one", [n for n in ONES if n not in TAKEN_THERE_ALONE])
def test_a_number(one, name):
    call = TAKING_A_NUMBER[name]
    assert outcome(call, torch, ONES[one]) == outcome(call, pt, ONES[one])


SEVERAL = {
    "a list": lambda lib: [0, 1],
    "its subclass": lambda lib: Listed([0, 1]),
    "a size": lambda lib: lib.Size([0, 1]),
    "a set": lambda lib: {0, 1},
    "a dict": lambda lib: {0: 0, 1: 1},
    "its keys": lambda lib: {0: 0, 1: 1}.keys(),
    "a range": lambda lib: range(2),
    "an array": lambda lib: np.array([0, 1]),
    "a generator": lambda lib: (n for n in (0, 1)),
    "a deque": lambda lib: collections.deque([0, 1]),
    "a list of a user's": lambda lib: collections.UserList([0, 1]),
    "bytes": lambda lib: b"\0\1",
    "numbers of C": lambda lib: array.array("q", [0, 1]),
    "floats": lambda lib: [0.0, 1.0],
    "a float behind": lambda lib: [0, 1.0],
    "a fraction behind": lambda lib: (0, fractions.Fraction(1)),
    "a text behind": lambda lib: (0, "1"),
    "a list in it": lambda lib: [[0, 1]],
    "None in it": lambda lib: [0, None],
    "a tensor behind": lambda lib: [0, lib.tensor(1, dtype=lib.uint8)],
    "a float tensor behind": lambda lib: [0, lib.tensor(1.0)],
    "of NumPy": lambda lib: (np.int8(0), np.uint8(1)),
    "one of NumPy behind": lambda lib: (0, np.int8(-2)),
}
TAKING_SEVERAL = {
    "sum": lambda lib, dims: x(lib).sum(dims),
    "amax": lambda lib, dims: x(lib).amax(dims),
    "mean by name": lambda lib, dims: x(lib).mean(dim=dims),
    "flip": lambda lib, dims: x(lib).flip(dims),
    "movedim": lambda lib, dims: x(lib).movedim((0, 1), dims),
    "roll": lambda lib, dims: x(lib).roll((1, 2), dims),
    "std": lambda lib, dims: x(lib).std(dims),
    "pad": lambda lib, dims: lib.constant_pad_nd(x(lib), dims),
    "fftn": lambda lib, dims: lib.fft.fftn(x(lib), dim=dims),
}


@pytest.mark.parametrize("name", TAKING_SEVERAL)
@pytest.mark.parametrize("several", SEVERAL)
def test_several_ints(several, name):
    call = TAKING_SEVERAL[name]
    assert outcome(call, torch, SEVERAL[several]) == outcome(call, pt, SEVERAL[several])


def test_what_was_refused_is_named():
    with pytest.raises(TypeError, match=r"sum\(\): argument 'dim' .* tuple of ints, not set"):
        x(torch).sum({1})
    with pytest.raises(TypeError, match=r"repeat\(\): argument 'repeats' .* ints, not bytes"):
        torch.ones(2).repeat(b"a")
    with pytest.raises(TypeError, match=r"found element of type str at pos 1"):
        torch.ones(2).expand([Index(), "a"])
