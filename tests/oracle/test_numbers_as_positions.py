"""Numbers of NumPy as positions and sizes: whole ones are taken, others refused and not cut off, as in PyTorch."""

import array
import collections

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

WHOLE = [np.int8(2), np.uint8(1), np.int64(-1), np.uint64(2), np.array(1), np.array([2, 0])]
OTHERS = [np.float16(2), np.float32(1.5), np.float64(1), np.complex64(1), np.datetime64("2020"),
          np.timedelta64(1), np.timedelta64(1, "s"), np.str_("a")]  # fmt: skip
WAYS = {
    "read": lambda lib, x, at: x[at],
    "read behind others": lambda lib, x, at: x.view(3, 3)[..., at],
    "read in a row": lambda lib, x, at: x.view(3, 3)[0, at],
    "written": lambda lib, x, at: (x.__setitem__(at, 5), x)[1],
    "written in a row": lambda lib, x, at: (x.view(3, 3).__setitem__((0, at), 5), x)[1],
}


def outcome(lib, way, at):
    """The elements, or that it was refused."""
    try:
        return WAYS[way](lib, lib.arange(9), at).tolist()
    except (IndexError, TypeError, ValueError):
        return "refused"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at", [*WHOLE, *OTHERS], ids=repr)
def test_positions(at, way):
    wanted = outcome(pt, way, at)
    assert outcome(torch, way, at) == wanted
    assert (wanted == "refused") is any(at is other for other in OTHERS)


@pytest.mark.parametrize("number", OTHERS[:3], ids=repr)
def test_what_was_refused_is_named(number):
    with pytest.raises(IndexError, match=f"valid indices .got {type(number).__name__}"):
        torch.arange(3)[number]


def test_spans_of_time_are_no_numbers():
    for lib in (pt, torch):
        with pytest.raises(TypeError):
            lib.full((2,), np.timedelta64(3, "s"))
        with pytest.raises(TypeError):
            lib.ones(2).fill_(np.timedelta64(3, "s"))


@pytest.mark.parametrize("size", [b"ab", {2}, range(2), "ab"], ids=repr)
@pytest.mark.parametrize("name", ["ones", "zeros", "empty", "rand", "randn"])
def test_sizes_are_lists_or_tuples(name, size):
    for lib in (pt, torch):
        with pytest.raises(TypeError):
            getattr(lib, name)(size)


class Column:
    """Elements by position, as a table's column has them; it is no list."""

    shape = (3,)

    def __init__(self, *elements):
        self.elements = elements

    def __len__(self):
        return len(self.elements)

    def __getitem__(self, at):
        return self.elements[at]


LISTED = {
    "a column": Column(2, 0, 1),
    "a column of flags": Column(True, False, True, True, False, True, False, False, True),
    "a column of numbers of NumPy": Column(np.int64(2), np.int8(-1)),
    "an array of Python's": array.array("i", [2, 1]),
    "bytes": bytearray(b"\2\1"),
    "a deque": collections.deque([1, -1]),
    "an empty column": Column(),
    "a column of texts": Column("a"),
    "a set": {1},
    "an iterator": iter([1]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at", LISTED)
def test_positions_in_what_is_no_list(at, way):
    assert outcome(torch, way, LISTED[at]) == outcome(pt, way, LISTED[at])
