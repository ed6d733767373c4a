"""Arrays of the namespace: the standard's operators and indices; beside ordinary tensors, PyTorch's."""

import copy
import io
import operator
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp
from mindtorch_core.array_api.arrays import Array

np = pytest.importorskip("numpy")

from against_numpy import INTEGERS, REAL, assert_same  # noqa: E402

INF = float("inf")
ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITWISE = ["and", "or", "xor", "lshift", "rshift"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def array(values, dtype=None):
    return xp.asarray(values, dtype=dtype and getattr(xp, dtype))


def named(name):
    return getattr(operator, f"__{name}__")


def same_kind(a, b):
    if a.startswith("float") or b.startswith("float"):
        return a.startswith("float") and b.startswith("float")
    return "uint64" not in (a, b) or (a.startswith("u") and b.startswith("u"))


PAIRS = [(a, b) for a in REAL for b in REAL if a != b and same_kind(a, b)]


CASES = [
    (name, a, b)
    for name in ARITHMETIC
    for a, b in PAIRS
    if name != "truediv" or a.startswith("float")  # of integers, the standard leaves it open
]


@pytest.mark.parametrize(("name", "a", "b"), CASES)
def test_an_operand_without_dimensions_decides_the_dtype_too(name, a, b):
    apply = named(name)
    for x, y in (([5, 3], 2), (5, [1, 2])):
        got = apply(array(x, a), array(y, b))
        assert type(got) is Array
        assert_same(got, apply(np.asarray(x, a), np.asarray(y, b)))


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b in PAIRS if a in INTEGERS])
@pytest.mark.parametrize("name", BITWISE + COMPARISONS)
def test_of_bits_and_comparisons_it_does_as_well(a, b, name):
    apply = named(name)
    x, y = ([100, 3], a), (2, b)
    got = apply(array(*x), array(*y))
    assert type(got) is Array
    assert_same(got, apply(np.asarray(*x), np.asarray(*y)))


def test_a_comparison_does_not_wrap_round():
    """300 has no place in int8, where it would be 44."""
    small, large = array([44], "int8"), array(300, "int16")
    assert not (small == large).item()
    assert (small < large).item()


@pytest.mark.parametrize("name", ARITHMETIC + BITWISE)
def test_numbers_take_the_dtype_of_an_array_on_both_sides(name):
    x, apply = array([1, 2, 3], "uint8"), named(name)
    expected = torch.tensor([1, 2, 3], dtype=torch.uint8)
    for got, wanted in ((apply(x, 2), apply(expected, 2)), (apply(2, x), apply(2, expected))):
        assert type(got) is Array
        assert got.dtype is wanted.dtype
        assert got.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
def test_operators_of_one_give_arrays(name):
    got = named(name)(array([1, -2], "int32"))
    assert type(got) is Array
    assert_same(got, named(name)(np.asarray([1, -2], "int32")))


@pytest.mark.parametrize("place", ["floordiv", "ifloordiv"])
@pytest.mark.parametrize(
    ("x", "y", "quotient"),
    [(INF, 2.0, INF), (INF, -2.0, -INF), (-INF, 2.0, -INF), (-3.0, INF, -0.0), (3.0, -INF, -0.0)],
)
def test_quotients_of_infinities_are_those_of_the_function(place, x, y, quotient):
    a = array([x])
    got = named(place)(a, array([y]))
    assert (got is a) == (place == "ifloordiv")
    assert got.tolist() == [quotient]
    assert bool(xp.signbit(got)) == (str(quotient)[0] == "-")


@pytest.mark.parametrize("place", ["mod", "imod"])
def test_the_sign_of_a_remainder_is_the_divisors(place):
    for x, y, negative in ((0.0, -2.0, True), (-0.0, 2.0, False)):
        assert bool(xp.signbit(named(place)(array([x]), y))) is negative


@pytest.mark.parametrize("name", ARITHMETIC + BITWISE)
def test_in_place_an_array_keeps_its_dtype_and_identity(name):
    x = held = array([7, 9], "uint32")
    if name == "truediv":
        x = held = array([7, 9], "float64")
    values = x.tolist()
    x = named(f"i{name}")(x, array(2, "float32" if name == "truediv" else "uint8"))
    assert x is held
    assert x.tolist() == [named(name)(value, 2) for value in values]


def test_in_place_what_does_not_fit_is_refused_as_by_tensors():
    x = array([1, 2], "int32")
    with pytest.raises(RuntimeError, match="can't be cast"):
        x += array([0.5, 0.5])
    assert x.tolist() == [1, 2]


def test_matrices_are_multiplied_in_the_dtype_that_they_meet_in():
    x, y = array([[1, 2]], "int8"), array([[3], [4]], "uint16")
    assert_same(x @ y, np.asarray([[11]], "int32"))
    assert type(x @ y) is Array


# ---- beside ordinary tensors --------------------------------------------------------------------


@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_beside_a_tensor_operators_are_pytorchs(name):
    apply, ordinary = named(name), torch.tensor([1, 2], dtype=torch.int8)
    wide = torch.tensor(3, dtype=torch.int16)
    expected = apply(ordinary, wide), apply(wide, ordinary)
    small, large = ordinary.as_subclass(Array), wide.as_subclass(Array)
    for got in (
        (apply(small, wide), apply(large, ordinary)),
        (apply(ordinary, large), apply(wide, small)),
    ):
        for one, wanted in zip(got, expected, strict=True):
            assert type(one) is torch.Tensor
            assert one.dtype is wanted.dtype
            assert one.tolist() == wanted.tolist()


def test_parameters_stay_pytorchs():
    nn = pytest.importorskip("mindtorch_nn")
    weight = nn.Parameter(torch.ones(2))
    for got in (weight * array(2.0, "float64"), array(2.0, "float64") * weight):
        assert type(got) is torch.Tensor
        assert got.dtype is torch.float32


@pytest.mark.parametrize(
    "call",
    [
        xp.exp,
        lambda x: xp.add(x, x),
        lambda x: xp.where(x > 0, x, 0.0),
        lambda x: xp.concat([x, x]),
        lambda x: xp.stack((x, x)),
        lambda x: xp.sum(x, axis=0),
        lambda x: xp.zeros_like(x),
        lambda x: xp.asarray(x),
        lambda x: xp.asarray([x[0, 0], 2.0]),
        lambda x: xp.linalg.inv(x),
        lambda x: xp.fft.fft(x),
        lambda x: xp.linalg.svd(x).S,
        lambda x: xp.unstack(x)[0],
        lambda x: xp.meshgrid(x[0], x[1])[1],
        lambda x: xp.unique_all(x).counts,
        lambda x: xp.tile(x, (2, 1)),
        lambda x: xp.broadcast_arrays(x, x[0])[1],
    ],
)
def test_functions_give_what_they_get(call):
    x = xp.asarray([[3.0, 1.0], [1.0, 2.0]])
    assert type(call(x)) is Array
    assert type(call(x.as_subclass(torch.Tensor))) is torch.Tensor


def test_one_tensor_among_arrays_makes_the_result_ordinary():
    x, t = xp.ones(2), torch.ones(2)
    for got in (xp.add(x, t), xp.concat([x, t]), xp.clip(x, min=t), xp.where(x > 0, x, t)):
        assert type(got) is torch.Tensor
    assert xp.asarray(t) is t


def test_what_is_made_of_numbers_and_of_others_memory_is_an_array():
    for made in (
        xp.zeros(2), xp.arange(3), xp.eye(2), xp.linspace(0, 1, 3), xp.full((2,), 1), xp.asarray(1),
        xp.asarray(np.ones(2)), xp.from_dlpack(np.ones(2)), xp.fft.fftfreq(4),
    ):  # fmt: skip
        assert type(made) is Array


def test_methods_and_functions_of_pytorch_give_ordinary_tensors():
    x = xp.ones((2, 2))
    for made in (x.sum(), x.reshape(4), torch.exp(x), x.clone(), x.detach(), x.to(xp.float64)):
        assert type(made) is torch.Tensor
    assert torch.is_tensor(x)
    assert x.size() == (2, 2)


def test_ordinary_tensors_are_as_they_were():
    assert (
        torch.tensor([1], dtype=torch.int8) + torch.tensor(1, dtype=torch.int16)
    ).dtype is torch.int8
    assert torch.tensor(INF) // 2 != torch.tensor(INF) // 2  # NaN
    with pytest.raises(ValueError, match="step must be greater than zero"):
        torch.ones(2)[::-1]
    assert type(torch.ones(2)[0]) is torch.Tensor


# ---- indices ------------------------------------------------------------------------------------

BACKWARDS = [
    np.s_[::-1], np.s_[..., ::-2], np.s_[::-1, ::2, ::-1], np.s_[1, ::-1], np.s_[None, ::-1, ..., 0],
    np.s_[:, 2:0:-1, None], np.s_[0:1:-1], np.s_[-1:-9:-1, ..., 3:1:-1], np.s_[..., ::-1, 1],
]  # fmt: skip


@pytest.mark.parametrize("key", BACKWARDS, ids=str)
def test_slices_may_run_backwards(key):
    values = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(values)
    assert type(x[key]) is Array
    assert_same(x[key], values[key])
    written, expected = xp.asarray(x, copy=True), values.copy()
    new = np.arange(expected[key].size).reshape(expected[key].shape) + 100
    written[key], expected[key] = xp.asarray(new), new
    assert_same(written, expected)
    written[key] = expected[key] = 7
    assert_same(written, expected)


def test_what_is_written_backwards_broadcasts():
    x, expected = xp.zeros((2, 3)), np.zeros((2, 3))
    x[:, ::-1] = xp.asarray([1.0, 2.0, 3.0])
    expected[:, ::-1] = [1.0, 2.0, 3.0]
    assert x.tolist() == expected.tolist()


def test_indices_that_fit_nowhere_are_refused_as_by_tensors():
    x = xp.ones((2, 3))
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1, xp.asarray([0])]
    with pytest.raises((IndexError, ValueError)):
        x[::-1, 0, 0]
    with pytest.raises(IndexError):
        x[xp.ones((3, 3), dtype=xp.bool)]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (0, 0)])
def test_a_mask_without_elements_names_none(shape):
    x, mask = xp.ones((2, 3)), xp.zeros(shape, dtype=xp.bool)
    assert x[mask].shape == (0, *x.shape[len(shape) :])
    x[mask] = 5.0
    assert x.tolist() == np.ones((2, 3)).tolist()


def test_parts_of_arrays_are_arrays():
    x = xp.asarray([[1, 2], [3, 4]])
    for part in (*x, x[0], x[0, 1], x[x > 1], x.T, x.mT, x.to_device("cpu")):
        assert type(part) is Array
    assert x.T.tolist() == [[1, 3], [2, 4]]


# ---- as tensors ---------------------------------------------------------------------------------


def test_gradients_flow_through_operators_and_indices():
    x = xp.asarray([1.0, 2.0, 3.0]).requires_grad_()
    (x[::-1] * xp.asarray([1.0, 10.0, 100.0]) // 1 + x**2 / 2).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_operators_are_deferred():
    with torch.pipeline():
        made = xp.ones(2) + xp.asarray(1.0, dtype=xp.float64)
        assert made._pending
        assert type(made) is Array
    assert made.tolist() == [2.0, 2.0]


def test_copies_stay_arrays():
    x = xp.asarray([1, 2])
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(made) is Array
        assert made.tolist() == [1, 2]


def test_files_hold_ordinary_tensors():
    """So that PyTorch can read them, and nobody has to declare a class safe."""
    x = xp.asarray([1, 2])
    x.note = "kept"
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    read = torch.load(file, weights_only=True)["x"]
    assert type(read) is torch.Tensor
    assert (read.tolist(), read.note) == ([1, 2], "kept")


def test_a_parameter_of_an_array_is_an_ordinary_one():
    nn = pytest.importorskip("mindtorch_nn")
    made = nn.Parameter(xp.ones(2))
    assert type(made) is nn.Parameter
    assert made.requires_grad
