"""What Python and NumPy have for dtypes, sizes and numbers, in the places of tensors' own: as PyTorch."""

import array
import collections
import enum
import re

import pytest

import mindtorch_core as torch
from both import both
from mindtorch_core.testing.comparison import assert_close

pt = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


# ---- dtypes -------------------------------------------------------------------------------------

OF_DTYPE = [
    lambda lib, d: lib.zeros(2, dtype=d),
    lambda lib, d: lib.tensor([0, 2], dtype=d),
    lambda lib, d: lib.as_tensor([0, 2], dtype=d),
    lambda lib, d: lib.asarray([0, 2], dtype=d),
    lambda lib, d: lib.asarray(lib.tensor([0, 2]), dtype=d),
    lambda lib, d: lib.full((2,), 1, dtype=d),
    lambda lib, d: lib.ones(2, 3).new_zeros(2, dtype=d),
    lambda lib, d: lib.zeros_like(lib.ones(2), dtype=d),
    lambda lib, d: lib.ones(2).to(d),
    lambda lib, d: lib.ones(2).to(dtype=d),
    lambda lib, d: lib.ones(2).to("cpu", d),
    lambda lib, d: lib.ones(2).sum(dtype=d),
    lambda lib, d: lib.sum(lib.ones(2, 2), 0, dtype=d),
    lambda lib, d: lib.prod(lib.ones(2), dtype=d),
    lambda lib, d: lib.cumsum(lib.ones(2), 0, dtype=d),
    lambda lib, d: lib.ones(2, dtype=lib.float64).view(d),
    lambda lib, d: lib.arange(3, dtype=d),
    lambda lib, d: lib.zeros(1, dtype=lib.promote_types(d, lib.int8)),
    lambda lib, d: lib.can_cast(lib.float32, d),
]


@pytest.mark.parametrize("call", OF_DTYPE)
@pytest.mark.parametrize("d", [float, int])
def test_types_of_python_are_dtypes(call, d):
    both(lambda lib: call(lib, d))


@pytest.mark.parametrize("d", [bool, complex])
def test_bool_and_complex_are_dtypes(d):
    both(lambda lib: lib.tensor([0, 2]).to(d))
    both(lambda lib: lib.ones(2, dtype=d))


@pytest.mark.parametrize("call", OF_DTYPE)
@pytest.mark.parametrize("wrong", [np.float32, "float32", 3, str])
def test_what_is_no_dtype_is_refused(call, wrong):
    with pytest.raises((TypeError, RuntimeError)) as found:
        call(torch, wrong)
    assert isinstance(found.value, TypeError) or wrong in ("float32", 3)  # a device, or a shape


def test_finfo_of_float():
    assert torch.finfo(float).eps == pt.finfo(float).eps
    with pytest.raises(TypeError, match=r"argument 'type' \(position 1\) must be torch.dtype"):
        torch.finfo("float")


@pytest.mark.parametrize("name", ["torch.DoubleTensor", "torch.LongTensor", "torch.FloatTensor"])
def test_type_by_name(name):
    both(lambda lib: lib.ones(2).type(name))
    both(lambda lib: lib.ones(2).type(lib.zeros(1).type(name).type()))
    x = torch.ones(2)
    assert x.type("torch.FloatTensor") is x


@pytest.mark.parametrize("wrong", ["foo", "torch.FooTensor", "cpu", object])
def test_type_of_no_name(wrong):
    with pytest.raises(ValueError, match="invalid type"):
        torch.ones(2).type(wrong)


def test_promotion_is_asked_by_name_and_of_tensors_or_numbers():
    both(lambda lib: lib.ones(1, dtype=lib.promote_types(type1=lib.int32, type2=lib.half)))
    both(lambda lib: lib.can_cast(from_=lib.int32, to=lib.bool))
    both(lambda lib: lib.ones(1, dtype=lib.result_type(tensor=lib.ones(2), other=lib.tensor(1))))
    for wrong in ("a", None, [1]):
        both(lambda lib, wrong=wrong: lib.result_type(lib.ones(2), wrong))
        both(lambda lib, wrong=wrong: lib.result_type(wrong, lib.ones(2)))
    for wrong in ("float32", None):
        both(lambda lib, wrong=wrong: lib.promote_types(lib.int32, wrong))
        both(lambda lib, wrong=wrong: lib.can_cast(wrong, lib.int32))


# ---- numbers of NumPy ---------------------------------------------------------------------------

NUMBERS = [np.int64(3), np.int8(3), np.uint8(3), np.float64(2.5), np.float32(2.5)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: type(n).__name__)
def test_numbers_of_numpy_count_as_pythons(number):
    for call in (
        lambda lib: lib.arange(number),
        lambda lib: lib.arange(0, number, np.int64(1)),
        lambda lib: lib.full((2,), number),
        lambda lib: lib.linspace(0, number, 3),
        lambda lib: lib.ones(2).new_full((2,), number),
        lambda lib: lib.tensor(3) + number,
    ):
        both(call)


def test_sizes_of_numpy():
    two = np.int64(2)
    for call in (
        lambda lib: lib.zeros(two),
        lambda lib: lib.zeros((two, 3)),
        lambda lib: lib.zeros(lib.tensor(2)),
        lambda lib: lib.ones(4).view(two, -1),
        lambda lib: lib.ones(2).expand(two, two),
        lambda lib: lib.ones(1).repeat(two),
        lambda lib: lib.zeros(np.float64(2)),
    ):
        both(call)
    assert all(type(n) is int for n in torch.zeros(two, two).shape)


def test_arange_of_what_no_element_holds():
    both(lambda lib: lib.arange(2**63))
    both(lambda lib: lib.arange(1j))
    both(lambda lib: lib.linspace(True, False, 3))
    both(lambda lib: lib.linspace(0, 1, 3, dtype=lib.bool))


class Color(enum.IntEnum):
    RED = 7


class Pair:
    """A sequence that is no list."""

    def __len__(self):
        return 2

    def __getitem__(self, at):
        if at > 1:
            raise IndexError(at)
        return at + 4


OF_NUMPY = [
    [np.float64(1)],
    [np.float32(1), np.float64(2)],
    [np.float32(1), 2.5],
    [np.float16(1), 2],
    [np.uint8(5), 300],
    [np.int8(1), np.int8(2)],
    [np.int8(1), True],
    [np.bool_(True), False],
    [np.complex64(1j), 2.0],
    [np.ones(2), np.zeros(2, dtype=np.float32)],
    [np.ones(2, dtype=np.int16), [3, 4]],
    np.arange(6).reshape(2, 3).T,
    np.arange(24.0).reshape(2, 3, 4).T,
    np.arange(6).reshape(2, 3)[:, ::2],
    np.arange(3, dtype=">i4"),
    np.array([1, None]),
    np.array(5),
    [np.array([2**24 + 1, 2**53 + 1], dtype=">i8")],
    [np.array([0.1, 1e300], dtype=">f8"), np.array([1, 2], dtype=">i2")],
    [[np.array([7], dtype=">u2")], [np.array([8], dtype=">u2")]],
    [np.array([0.1 + 2j], dtype=">c16")],
    [np.array([3, 4], dtype=">f4")[0], 2],
    np.array([2**24 + 1], dtype=">i4")[0],
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "D"),
    [np.datetime64("2020-01-01", "ns")],
    [np.timedelta64(3)],
    [np.array(["2020"], dtype="datetime64[D]")],
    np.array([3], dtype="timedelta64[s]"),
    np.longdouble(1.5),
    [np.longdouble(1.5)],
    [np.array([1.5], dtype=np.longdouble)],
    [np.array([1, 2], dtype=object)],
    np.str_("a"),
    np.bytes_(b"a"),
    np.void(b"abc"),
    array.array("d", [1, 2]),
    bytearray(b"ab"),
    memoryview(b"ab"),
    collections.deque([1, 2.5]),
    Pair(),
    [Pair(), Pair()],
    [Color.RED],
    ["a"],
    [["a"]],
    [1, "a"],
    "a",
    b"ab",
    {0: 1},
    {1, 2},
]


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")
@pytest.mark.parametrize("data", OF_NUMPY, ids=lambda v: re.sub(r"\n| at 0x\w+", "", str(v)))
def test_tensors_of_odd_data(data):
    both(lambda lib: lib.tensor(data), check_stride=True)
    if not isinstance(data, np.ndarray):
        both(lambda lib: lib.as_tensor(data))


LARGE = [2**63, 2**64 - 1, -(2**63), 2**40, 300, -1, 1e300, 3.5]


@pytest.mark.parametrize("number", LARGE)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float32", "float16", "bfloat16"])
def test_a_number_that_is_chosen_must_fit(dtype, number):
    def chosen(lib):
        return lib.where(lib.tensor([False, True]), lib.ones(2, dtype=getattr(lib, dtype)), number)

    if dtype != "float16" or type(number) is float:
        both(chosen)
    both(lambda lib: lib.where(lib.tensor([True, False]), number, 0))
    if dtype.startswith(("int", "uint")) and type(number) is int:
        both(lambda lib: lib.ones(2, dtype=getattr(lib, dtype)).add(1, alpha=number))


def test_an_array_without_dimensions_is_shared():
    a = np.array(1.0)
    torch.as_tensor(a).fill_(2.0)
    assert a == 2.0
    assert torch.as_tensor(np.float64(1.0)).dtype is torch.float64


# ---- a number before a tensor -------------------------------------------------------------------

NUMBER_FIRST = [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "bitwise_and", "bitwise_or",
    "bitwise_xor", "multiply", "subtract", "divide", "true_divide",
]  # fmt: skip


@pytest.mark.parametrize("name", NUMBER_FIRST)
@pytest.mark.parametrize("number", [7, 2.5, np.float32(2.5)])
def test_a_number_is_the_first_operand(name, number):
    for make in (
        lambda lib: lib.tensor([1, 2, 3]),
        lambda lib: lib.tensor([1.5, -2.0, 3.0], dtype=lib.half),
        lambda lib: lib.tensor(3.0, dtype=lib.half),
    ):
        both(lambda lib, make=make: getattr(lib, name)(number, make(lib)))


def test_a_number_is_the_first_operand_with_options():
    both(lambda lib: lib.add(2, lib.tensor([1, 2]), alpha=3))
    both(lambda lib: lib.div(7, lib.tensor([2, 3]), rounding_mode="floor"))
    both(lambda lib: lib.mul(2, lib.tensor([1.0]), out=lib.empty(1)))
    both(lambda lib: lib.add(2, 3))
    both(lambda lib: lib.floor_divide(7, 2))
    both(lambda lib: lib.remainder(2, 3))
    both(lambda lib: lib.bitwise_and(2, 3))
    both(lambda lib: lib.mul("a", lib.ones(2)))
    both(lambda lib: lib.eq(2, lib.ones(2)))
    both(lambda lib: lib.Tensor.add_(2, lib.ones(2)))


# ---- names of NumPy ----------------------------------------------------------------------------

BY_NUMPY_NAMES = [
    lambda lib, x: x.sum(axis=0),
    lambda lib, x: lib.sum(x, axis=(0, 1), keepdims=True),
    lambda lib, x: x.sum(0, keepdims=True),
    lambda lib, x: lib.sum(x, axis=0, out=lib.empty(3)),
    lambda lib, x: x.max(axis=1),
    lambda lib, x: lib.std(x, axis=0, keepdims=True, correction=0),
    lambda lib, x: x.argmax(axis=0),
    lambda lib, x: lib.cat([x, x], axis=1),
    lambda lib, x: lib.cat([x, x], axis=1, out=lib.empty(0)),
    lambda lib, x: lib.stack([x, x], axis=-1),
    lambda lib, x: lib.softmax(x, axis=0),
    lambda lib, x: x.select(axis=0, index=1),
    lambda lib, x: x.unsqueeze(axis=0),
    lambda lib, x: x.squeeze(axis=0),
    lambda lib, x: x.narrow(axis=1, start=0, length=2),
    lambda lib, x: x.gather(axis=0, index=lib.tensor([[0, 1]])),
    lambda lib, x: x.scatter(axis=0, index=lib.tensor([[0, 1]]), src=x),
    lambda lib, x: x.clone().cumsum_(axis=0),
    lambda lib, x: x.clone().index_fill_(axis=0, index=lib.tensor([0]), value=1),
    lambda lib, x: lib.linalg.vector_norm(x, axis=0, keepdims=True),
    lambda lib, x: lib.fft.fft(x, axis=0),
    lambda lib, x: x.sum(axis=None),
    # and what is wrong with them
    lambda lib, x: lib.softmax(x),
    lambda lib, x: lib.softmax(),
    lambda lib, x: lib.softmax(x, 0, axis=0),
    lambda lib, x: lib.softmax(x, dim=0, axis=0),
    lambda lib, x: lib.max(x, dim=0, axis=0),
    lambda lib, x: lib.softmax(x, axes=0),
    lambda lib, x: lib.exp(x, axis=0),
    lambda lib, x: lib.cumsum(x, 0, keepdims=True),
    lambda lib, x: x.cumsum(axis=0, keepdims=True),
    lambda lib, x: x.sum(0, False, axis=1),
    lambda lib, x: x.sum(keepdim=True, keepdims=True),
    lambda lib, x: x.sum(axis="a"),
    lambda lib, x: x.sum(axis=5),
    lambda lib, x: x.select(0),
    lambda lib, x: x.select(index=0),
    lambda lib, x: x.select(axis=0),
    lambda lib, x: x.select(0, axis=0),
    lambda lib, x: x.select(),
]


@pytest.mark.parametrize("call", BY_NUMPY_NAMES)
def test_names_of_numpy(call):
    """``axis`` stands for ``dim`` and ``keepdims`` for ``keepdim``."""
    both(lambda lib: call(lib, lib.arange(6.0).reshape(2, 3)))


def test_errors_about_names_are_pythons():
    x = torch.ones(2, 3)
    for call, text in (
        (lambda: x.softmax(), "softmax() missing 1 required positional argument: 'dim'"),
        (lambda: x.select(), "select() missing 2 required positional arguments: 'dim' and 'index'"),
        (lambda: x.softmax(axes=0), "softmax() got an unexpected keyword argument 'axes'"),
        (
            lambda: x.softmax(0, axis=1),
            "softmax() got multiple values for argument 'dim', also called 'axis'",
        ),
    ):
        with pytest.raises(TypeError) as found:
            call()
        assert re.split(r"\. (?:Did you mean|The arguments are)", str(found.value))[0] == text


# ---- classes and shapes -------------------------------------------------------------------------

CLASSES = [
    "Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor",
    "CharTensor", "ShortTensor", "IntTensor", "LongTensor", "BoolTensor",
]  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_tensors_from_their_classes(name):
    for call in (
        lambda made, lib: made([1, 0, 2]),
        lambda made, lib: made(((1, 2), (3, 4))),
        lambda made, lib: made(np.array([1, 0])),
        lambda made, lib: made(),
        lambda made, lib: made(0, 3),
        lambda made, lib: tuple(made(2, 3).shape),
        lambda made, lib: tuple(made(lib.Size([2, 3])).shape),
        lambda made, lib: made([1], device="cpu"),
        lambda made, lib: made(2.5),
        lambda made, lib: made("a"),
        lambda made, lib: made(None),
        lambda made, lib: made([1, 2], [3]),
        lambda made, lib: made(-1),
        lambda made, lib: made([[1, 2], [3]]),
        lambda made, lib: isinstance(made([1]), made),
        lambda made, lib: isinstance(lib.zeros(1, dtype=lib.int64), made),
        lambda made, lib: isinstance(3, made),
    ):
        both(lambda lib, call=call: call(getattr(lib, name), lib))


def test_a_class_takes_a_tensor_of_its_dtype():
    both(lambda lib: lib.Tensor(lib.arange(3)))
    both(lambda lib: lib.LongTensor(lib.arange(3)))
    both(lambda lib: lib.LongTensor(lib.ones(3)))
    x = torch.zeros(2)
    torch.Tensor(x)[0] = 1.0
    assert x.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_new_makes_what_the_class_makes(dtype):
    for call in (
        lambda x: x.new(),
        lambda x: x.new([1, 0]),
        lambda x: tuple(x.new(2, 3).shape),
        lambda x: x.new("a"),
    ):
        both(lambda lib, call=call: call(lib.zeros(2, dtype=getattr(lib, dtype))))


def test_the_default_dtype_is_that_of_the_class():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.Tensor([1]).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_subclasses_are_called_too():
    class Mine(torch.Tensor):
        pass

    made = Mine([1, 2])
    assert type(made) is Mine
    assert_close(torch.tensor([1.0, 2.0]), made + 0)
    assert type(made + 0) is Mine


SHAPES = [
    lambda lib: lib.Size([1, 2]) * 2,
    lambda lib: 2 * lib.Size([1, 2]),
    lambda lib: (3,) + lib.Size([1, 2]),  # noqa: RUF005
    lambda lib: lib.Size([1, 2]) + (3,),  # noqa: RUF005
    lambda lib: lib.Size([1]) + [2],  # noqa: RUF005
    lambda lib: lib.Size([lib.tensor(1), np.int64(2), True]),
    lambda lib: lib.Size([1, 2])[1:],
    lambda lib: lib.Size([1.5]),
    lambda lib: lib.Size("a"),
    lambda lib: lib.Size(5),
    lambda lib: lib.Size(),
]


@pytest.mark.parametrize("call", SHAPES)
def test_shapes(call):
    both(lambda lib: tuple(map(int, call(lib))))
    both(lambda lib: isinstance(call(lib), lib.Size))


# ---- lists that hold themselves -----------------------------------------------------------------


def endless_list():
    made = []
    made.append(made)
    return made


def endless_pair():
    one, other = [], []
    one += [other, 1.0]
    other.append(one)
    return one


def endless_tuple():
    inside = []
    made = (inside,)
    inside += [made, made]
    return made


@pytest.mark.parametrize("endless", [endless_list, endless_pair, endless_tuple])
@pytest.mark.parametrize(
    "call",
    [
        lambda lib, data: lib.tensor(data),
        lambda lib, data: lib.tensor([data]),
        lambda lib, data: lib.as_tensor(data, dtype=lib.float64),
        lambda lib, data: lib.ones(2).new_tensor(data),
        lambda lib, data: lib.Tensor(data),
    ],
)
def test_a_list_that_holds_itself_is_refused(call, endless):
    both(lambda lib: call(lib, endless()))


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("endless", [endless_list, endless_pair, endless_tuple])
def test_an_index_that_holds_itself_is_refused(endless):  # PyTorch overruns its stack
    x = torch.ones(2)
    for index in (endless(), [endless()], (endless(),)):
        with pytest.raises((ValueError, TypeError, IndexError)):
            x[index]
        with pytest.raises((ValueError, TypeError, IndexError)):
            x[index] = 1.0
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("depth", [64, 129, 3000])
def test_depth_of_nested_lists(depth):
    data = 1.0
    for _ in range(depth):
        data = [data]
    both(lambda lib: lib.tensor(data).dim())


# ---- dimensions and data ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "std", "logsumexp", "softmax", "argmax"])
@pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint8])
def test_integers_of_numpy_are_dimensions(name, kind):
    both(lambda lib: getattr(lib.arange(6.0).reshape(2, 3), name)(kind(1)))


@pytest.mark.parametrize("value", [np.ones(2), 1.0, None])
def test_data_is_a_tensor(value):
    both(lambda lib: setattr(lib.ones(2), "data", value))
