"""Indices that are lists, arrays and flags, and assignments of parts to wholes, against PyTorch."""

import contextlib
import itertools
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome, outcome
from mindtorch_core.utils._python_dispatch import TorchDispatchMode

pt = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


def both(call):
    """Compare what a function of a library and its tensor gives."""

    def run(lib):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(lib, lib.arange(24.0).reshape(2, 3, 4))

    assert_same_outcome(lambda: run(torch), lambda: run(pt))


# A list that holds more than numbers stands for a tuple, as in PyTorch.
LISTS = [
    lambda lib, x: x[[[0, 1]]],
    lambda lib, x: x[[[0, 1], [1, 0]]],
    lambda lib, x: x[[[0, 1], [1]]],
    lambda lib, x: x[[(0, 1), (2, 0)]],
    lambda lib, x: x[[None]],
    lambda lib, x: x[[...]],
    lambda lib, x: x[[0, None]],
    lambda lib, x: x[[slice(0, 1), 0]],
    lambda lib, x: x[[range(2), range(2)]],
    lambda lib, x: x[[lib.tensor(1), 0]],
    lambda lib, x: x[[lib.tensor([1, 0]), lib.tensor([2, 1])]],
    lambda lib, x: x[[np.array([1, 0]), np.array([2, 1])]],
    lambda lib, x: x[[[], []]],
    lambda lib, x: x[[[True, False]]],
    lambda lib, x: x[[np.int64(0), 1]],
    lambda lib, x: x[[np.int64(0), True]],
    lambda lib, x: x[[True, False]],
    lambda lib, x: x[[[0]] * 31],
    lambda lib, x: x[[[0]] * 32],
    lambda lib, x: x[[]],
    lambda lib, x: x[([[]],)],
]


@pytest.mark.parametrize("call", LISTS)
def test_lists(call):
    both(call)


OF_DTYPES = {
    "tensors": lambda lib, x, d: x[lib.tensor([1, 0, 1]).to(getattr(lib, d))],
    "written tensors": lambda lib, x, d: x.index_put(
        (lib.tensor([1, 0]).to(getattr(lib, d)),), x[:2]
    ),
    "arrays": lambda lib, x, d: x[np.array([1, 0]).astype(d)],
    "written arrays": lambda lib, x, d: (x.__setitem__(np.array([1, 0]).astype(d), x[:1]), x),
    "lists": lambda lib, x, d: x[np.array([1, 0]).astype(d).tolist()],
}


@pytest.mark.parametrize("d", ["int8", "int16", "int32", "int64", "uint16", "float32", "bool"])
@pytest.mark.parametrize("call", OF_DTYPES)
def test_positions_of_dtypes(call, d):
    """Tensors must be of few dtypes; of arrays and lists all numbers are positions."""
    both(lambda lib, x: OF_DTYPES[call](lib, x, d))


@pytest.mark.parametrize("index", [[[0, 1], [1, 0]], [torch.tensor(1), 0], [slice(0, 1)], [None]])
def test_a_list_that_stands_for_a_tuple_warns(index):
    x = torch.zeros(2, 3)
    with pytest.warns(
        UserWarning, match="non-tuple sequence for multidimensional indexing"
    ) as seen:
        x[index]
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        x[index] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x[tuple(index)]
        x[[0, 1]]


ARRAYS = [
    lambda lib, x: x[np.array(1)],
    lambda lib, x: x[np.array(True)],
    lambda lib, x: x[np.array(False)],
    lambda lib, x: x[0, np.array(True)],
    lambda lib, x: x[np.array([])],
    lambda lib, x: x[np.array([], dtype=int)],
    lambda lib, x: x[0, np.array([True, False, True])],
    lambda lib, x: x[np.array(5)],
]


@pytest.mark.parametrize("call", ARRAYS)
def test_arrays(call):
    both(call)


def assigned(lib, x, index, value):
    x[index] = value
    return x


ASSIGNED = [
    lambda lib, x: assigned(lib, x, ..., x[0]),
    lambda lib, x: assigned(lib, x, slice(None), x[1]),
    lambda lib, x: assigned(lib, x, (None, None), x[0]),
    lambda lib, x: assigned(lib, x, 0, x[1, 0]),
    lambda lib, x: assigned(lib, x, slice(None), x[:, :1]),
    lambda lib, x: assigned(lib, x, 0, lib.zeros(1, 1, 1, 3, 4)),
    lambda lib, x: assigned(lib, x, 0, lib.zeros(2, 3, 4)),
    lambda lib, x: assigned(lib, x, 0, lib.zeros(5)),
    lambda lib, x: assigned(lib, x[:, :1].expand(2, 3, 4), 0, 1.0),
    lambda lib, x: assigned(lib, x[:, :1].expand(2, 3, 4), (0, 0), 1.0),
    lambda lib, x: assigned(lib, x[:, :1].expand(2, 3, 4), (0, slice(0, 1)), 1.0),
    lambda lib, x: assigned(lib, x[:, :1].expand(2, 3, 4), (0, slice(0, 0)), 1.0),
    lambda lib, x: assigned(lib, x[:, :1].expand(2, 3, 4), 0, lib.ones(3, 4)),
]


@pytest.mark.parametrize("call", ASSIGNED)
def test_assignment_of_parts_to_wholes(call):
    """A value that broadcasts may lie in what is written; elements shown twice are refused."""
    both(call)


@pytest.mark.parametrize("value", ["a", None, b"a", {}], ids=repr)
@pytest.mark.parametrize("index", [0, (0, 1), slice(None), ..., [0, 1]], ids=repr)
def test_what_cannot_be_assigned(index, value):
    """Refused in PyTorch's words, which name the type and the tensor's."""
    for name in ("float32", "int64", "bool"):
        told = []
        for lib in (torch, pt):
            with pytest.raises(TypeError) as raised:
                lib.zeros(2, 3, dtype=getattr(lib, name))[index] = value
            told.append(str(raised.value))
        assert told[0].startswith(told[1])


@pytest.mark.parametrize("index", [
    (..., ...), (..., 0, ...), (0, ..., 0, ...), (..., 0, ..., 0), (..., 0, 0, 0, ...), (..., None, ...), (..., ..., 0),
    (..., slice(1), ...), (..., ..., ...), (0, ..., ..., 0, 0), (..., 0, ..., ...),
], ids=str)  # fmt: skip
def test_several_ellipses(index):
    both(lambda lib, x: x[index])


def test_a_second_ellipsis_that_would_stand_for_something_is_named():
    with pytest.raises(IndexError, match=r"can only have a single ellipsis"):
        torch.ones(2, 3, 4)[..., 0, ..., 0]


@pytest.mark.parametrize("of_value", ["bool", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "float32", "complex64"])
def test_a_tensor_of_one_number_and_another_dtype(dtype, of_value):
    """One mask alone converts it; other indices do not."""

    def put(lib, number, index):
        x = lib.zeros(2, 2, dtype=getattr(lib, dtype))
        x[index(lib)] = lib.tensor(number, dtype=getattr(lib, of_value))
        return x.tolist()

    numbers = (1, 1.5, 1 + 2j) if of_value == "complex64" else (1, 1.5)
    for number, index in itertools.product(numbers, (
        lambda lib: lib.tensor([True, False]),
        lambda lib: (slice(None), lib.tensor([True, False])),
        lambda lib: lib.tensor([1]),
        lambda lib: (slice(None), lib.tensor([1])),
        lambda lib: (lib.tensor([True, False]), lib.tensor([1])),
    )):  # fmt: skip
        found, expected = (outcome(put, lib, number, index) for lib in (torch, pt))
        if isinstance(expected, Exception):
            assert isinstance(found, type(expected)), (found, expected)
        else:
            assert found == expected


class Calling(TorchDispatchMode):
    """A mode that sees each call."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("looked_at", ["by nobody", "in a pipeline", "by a mode", "recorded"])
@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
def test_a_mask_writes_a_number_into_elements_that_share_memory(rows, looked_at):
    def written(lib):
        weight = lib.tensor([[-1.0], [0.25], [2.0]], requires_grad=looked_at == "recorded")
        x = (weight * 2).expand(3, 4)
        if lib is torch and looked_at == "in a pipeline":
            around = torch.pipeline()
        elif lib is torch and looked_at == "by a mode":
            around = Calling()
        else:
            around = contextlib.nullcontext()
        with around:
            x[x[:, 0] > 0.5 if rows else x > 0.3] = 7
        if looked_at == "recorded":
            with pytest.raises(RuntimeError, match="single memory location"):
                x.sum().backward()
        return x.tolist(), x.stride()

    assert written(torch) == written(pt)
