"""Factories and random numbers: against PyTorch where values are fixed, by their laws where not."""

import copy
import math
import pickle

import pytest

import mindtorch_core as torch
from both import both
from mindtorch_core.testing.comparison import assert_close, from_pytorch

pt = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128",
]  # fmt: skip


@pytest.mark.parametrize("name", ["zeros", "ones"])
@pytest.mark.parametrize("dtype", [None, *DTYPES])
def test_filled(name, dtype):
    for size in ((2, 3), ((2, 3),), ([2, 3],), (0,), ((),), (3,), (1, 0, 2)):
        both(lambda lib, size=size: getattr(lib, name)(*size, dtype=dtype and getattr(lib, dtype)))


def test_sizes_by_keyword():
    assert torch.zeros(size=(2, 1)).shape == (2, 1)
    assert torch.ones(6).view(size=(2, 3)).shape == (2, 3)
    assert torch.ones(2, 3).permute(dims=(1, 0)).shape == (3, 2)


@pytest.mark.parametrize("dtype", [None, *DTYPES])
def test_full(dtype):
    for value in (0, 3, 1.5, True, -2, 1 + 2j, math.inf, math.nan, 300, -200, 1e10, 10**30):
        if isinstance(value, int) and abs(value) > 2**63:
            continue
        both(
            lambda lib, value=value: lib.full((2, 2), value, dtype=dtype and getattr(lib, dtype)),
            equal_nan=True,
            msg=str(value),
        )
    both(lambda lib: lib.full((), 3))
    both(lambda lib: lib.full([2], fill_value=3.0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_like_and_new(dtype):
    theirs = pt.ones(2, 3).to(getattr(pt, dtype))
    ours = from_pytorch(theirs)
    for name in ("zeros_like", "ones_like"):
        assert_close(getattr(torch, name)(ours), getattr(pt, name)(theirs))
        assert_close(
            getattr(torch, name)(ours.t()), getattr(pt, name)(theirs.t()), check_stride=True
        )
        assert_close(
            getattr(torch, name)(ours, dtype=torch.float64),
            getattr(pt, name)(theirs, dtype=pt.float64),
        )
    assert_close(torch.full_like(ours, 1), pt.full_like(theirs, 1))
    assert_close(torch.full_like(ours.t(), 1), pt.full_like(theirs.t(), 1), check_stride=True)
    assert torch.empty_like(ours).shape == (2, 3)
    assert torch.empty_like(ours).dtype is ours.dtype
    assert torch.empty_like(ours.t()).stride() == (1, 3)
    for name, arguments in (("new_zeros", (2, 2)), ("new_ones", ((3,),)), ("new_full", ((2,), 1))):
        assert_close(getattr(ours, name)(*arguments), getattr(theirs, name)(*arguments))
    assert ours.new_empty(4, 1).shape == (4, 1)
    assert_close(ours.new_tensor([1, 0]), theirs.new_tensor([1, 0]))


def test_empty():
    for size in ((2, 3), (0,), ()):
        made = torch.empty(size)
        assert made.shape == size
        assert made.dtype is torch.float32
        assert made.is_contiguous()
    made = torch.empty_strided((2, 3), (1, 2), dtype=torch.int64)
    assert made.stride() == (1, 2)
    made.fill_(4)
    assert made.tolist() == [[4] * 3] * 2


def test_arange():
    cases = [
        (5,), (2.5,), (0,), (2, 8), (2, 8, 3), (8, 2, -2), (0, 1, 0.25), (1, 1), (0, 10, 3), (0.5, 3),
        (-3, 3), (1, 2, 0.1), (5, 0), (0, 5, -1), (0, 5, 0), (0, 1, 1 / 3), (2**40, 2**40 + 3),
        (0, math.inf), (3, 3.5), (True,), (-5,),
    ]  # fmt: skip
    for case in cases:
        both(lambda lib, case=case: lib.arange(*case), msg=str(case))
    for dtype in ("int32", "uint8", "float64", "float16", "bfloat16", "int64"):
        both(lambda lib, dtype=dtype: lib.arange(1, 7, 2, dtype=getattr(lib, dtype)))
        both(lambda lib, dtype=dtype: lib.arange(0.5, 4, dtype=getattr(lib, dtype)))
    both(lambda lib: lib.arange(start=1, end=4))
    both(lambda lib: lib.arange(1, 4, step=2))
    both(lambda lib: lib.arange(0, 1_000_000, 7).sum())


def test_linspace_and_eye():
    for case in ((0, 1, 5), (1, 0, 4), (2, 3, 1), (0, 1, 0), (-1, 1, 100), (3, 3, 3), (0, 10, -1)):
        both(lambda lib, case=case: lib.linspace(*case), msg=str(case))
    both(lambda lib: lib.linspace(0, 10, 5, dtype=lib.int64))
    assert torch.linspace(0, 0.3, 7)[-1].item() == np.float32(0.3)
    for case in ((3,), (2, 4), (4, 2), (0,)):
        both(lambda lib, case=case: lib.eye(*case))
    both(lambda lib: lib.eye(2, dtype=lib.int64))


# ---- tensor() -----------------------------------------------------------------------------------

DATA = [
    1, 1.5, True, 1j, [], [[]], [[], []], [1, 2], [1, 2.5], [True, False], [True, 2], [1, 2j], [[1, 2], [3, 4]],
    (1, (2)), [(1, 2), [3, 4]], [[[1]], [[2]]], [math.inf, -math.inf, math.nan], range(4), [range(2), [5, 6]],
    [1, None], "abc", None, [[1, 2], [3]], [[1], 2], [1, [2]], [[1, 2], [3, [4]]], [[[1, 2]], [[3]]],
    {"a": 1}, {1, 2}, object(), [1, "a"], [1e400], [10**18], [2**63], [-(2**63)], [-(2**63) - 1],
]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    DATA,
    ids=lambda d: str(d)[:30] if not isinstance(d, object) or d is None else type(d).__name__,
)
def test_tensor_of_python_data(data):
    both(lambda lib: lib.tensor(data), equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_with_a_dtype(dtype):
    for data in (
        [1, 2, 3],
        [1.7, -1.7],
        [True, False],
        3,
        [[0.1, 0.2]],
        [],
        [1e6],
        [-1],
        [127, 128],
        [255, 256],
        [3e38, 1e39],
        [70000],
        [65504.0, 65520.0],
        [1 + 2j],
        [math.nan],
        [math.inf],
    ):
        both(
            lambda lib, data=data: lib.tensor(data, dtype=getattr(lib, dtype)),
            equal_nan=True,
            msg=str(data),
        )


@pytest.mark.parametrize(
    "dtype",
    [
        "float32",
        "float64",
        "float16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "bool",
        "complex64",
        "complex128",
    ],
)
def test_tensor_of_numpy_arrays(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    for view in (
        array,
        array.T,
        array[::2, 1:],
        array[0, 0],
        array[:0],
        np.array(3, dtype),
        array[::-1],
    ):
        if view.ndim < 2 or view.strides[0] >= 0:  # PyTorch refuses to copy backwards
            both(lambda lib, view=view: lib.tensor(view))
        both(lambda lib, view=view: lib.as_tensor(view))
    assert_close(torch.tensor([array[0], array[1]]), pt.tensor(array[:2]))
    if not dtype.startswith("complex"):
        both(lambda lib: lib.tensor(array, dtype=lib.float32))
    both(lambda lib: lib.from_numpy(array.copy()))
    copied = torch.tensor(array)
    array[0, 0] = 1
    assert copied[0, 0].item() == 0
    assert_close(torch.tensor(np.array(2.5)), pt.tensor(np.array(2.5)))
    assert_close(torch.tensor(np.float32(2.5)), pt.tensor(np.float32(2.5)))
    assert_close(torch.tensor([np.float32(2.5), 1]), pt.tensor([np.float32(2.5), 1]))
    assert_close(torch.tensor([np.int32(2), np.int32(1)]), pt.tensor([np.int32(2), np.int32(1)]))


def test_arrays_that_cannot_be_shared():
    for array in (
        np.array(["a"]),
        np.array([None]),
        np.arange(3)[::-1],
        np.arange(3).astype(">i8"),
    ):
        both(lambda lib, array=array: lib.from_numpy(array))
    both(lambda lib: lib.from_numpy([1, 2]))


def test_tensor_of_tensors():
    ours = torch.tensor([1.0, 2.0])
    made = torch.as_tensor(ours)
    assert made is ours
    assert torch.as_tensor(ours, dtype=torch.int64).tolist() == [1, 2]
    stacked = torch.tensor([torch.tensor(1.5), torch.tensor(2.5)])
    assert stacked.tolist() == [1.5, 2.5]
    leaf = torch.tensor([1.0], requires_grad=True)
    assert leaf.requires_grad
    assert leaf.is_leaf
    with pytest.raises(RuntimeError, match="floating point and complex"):
        torch.tensor([1], requires_grad=True)


def test_ragged_data_names_place_and_lengths():
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        torch.tensor([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 2 \(got 3\)"):
        torch.tensor([[[1, 2]], [[1, 2, 3]]])
    with pytest.raises(TypeError, match="str"):
        torch.tensor("abc")
    for lib in (torch, pt):
        with pytest.raises(TypeError, match="not a sequence"):
            lib.tensor([[1, 2], 3])


def test_requires_grad_of_factories():
    for made in (
        torch.ones(2, requires_grad=True),
        torch.randn(2, requires_grad=True),
        torch.full((2,), 1.0, requires_grad=True),
    ):
        assert made.requires_grad
        assert made.is_leaf
    both(lambda lib: lib.ones(2, dtype=lib.int64, requires_grad=True))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.zeros(-1),
        lambda lib: lib.zeros(2, -3),
        lambda lib: lib.zeros(1.5),
        lambda lib: lib.zeros("a"),
        lambda lib: lib.zeros(2, colour="red"),
        lambda lib: lib.zeros(2, device="nowhere"),
        lambda lib: lib.full((2,)),
        lambda lib: lib.randint(5, 5, (2,)),
        lambda lib: lib.randint(3),
        lambda lib: lib.randperm(-1),
        lambda lib: lib.eye(-1),
        lambda lib: lib.rand(2, dtype=lib.int64),
        lambda lib: lib.randn(2, dtype=lib.int64),
        lambda lib: lib.ones(2, dtype=lib.int64).normal_(),
        lambda lib: lib.ones(2).normal_(0, -1),
        lambda lib: lib.ones(2).uniform_(2, 1),
        lambda lib: lib.ones(2).bernoulli_(1.5),
        lambda lib: lib.ones(2).random_(3, 3),
        lambda lib: lib.Generator().set_state(lib.zeros(3, dtype=lib.uint8)),
        lambda lib: lib.tensor([1, 2], dtype=lib.int8, device="cpu:3x"),
    ],
)
def test_bad_arguments(call):
    both(call)


def test_a_dtype_is_no_string():
    both(lambda lib: lib.zeros(2, dtype="float32"))


# ---- random numbers -----------------------------------------------------------------------------

DRAWS = {
    "rand": lambda g=None: torch.rand(50, generator=g),
    "randn": lambda g=None: torch.randn(50, generator=g),
    "randint": lambda g=None: torch.randint(0, 1000, (50,), generator=g),
    "randperm": lambda g=None: torch.randperm(50, generator=g),
    "uniform_": lambda g=None: torch.empty(50).uniform_(generator=g),
    "normal_": lambda g=None: torch.empty(50).normal_(generator=g),
    "random_": lambda g=None: torch.empty(50).random_(generator=g),
    "bernoulli_": lambda g=None: torch.empty(50).bernoulli_(0.5, generator=g),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_a_seed_decides_the_numbers(draw):
    with torch.fork_rng():
        torch.manual_seed(5)
        first, second = draw().tolist(), draw().tolist()
        torch.manual_seed(5)
        assert draw().tolist() == first
        state = torch.get_rng_state()
        assert draw().tolist() == second
        torch.set_rng_state(state)
        assert draw().tolist() == second
        torch.manual_seed(6)
        assert draw().tolist() != first
        assert first != second


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_generators_are_independent(draw):
    a, b = torch.Generator(), torch.Generator()
    assert a.manual_seed(3) is a
    b.manual_seed(3)
    with torch.fork_rng():
        torch.manual_seed(0)
        before = torch.get_rng_state().tolist()
        assert draw(a).tolist() == draw(b).tolist()
        assert torch.get_rng_state().tolist() == before
    state = a.get_state()
    assert state.dtype is torch.uint8
    next_numbers = draw(a).tolist()
    assert b.set_state(state) is b
    assert draw(b).tolist() == next_numbers
    assert a.initial_seed() == 3


def test_fork_restores_the_stream():
    torch.manual_seed(1)
    expected = torch.rand(3).tolist()
    torch.manual_seed(1)
    with torch.fork_rng():
        torch.rand(100)
        torch.manual_seed(99)
    assert torch.rand(3).tolist() == expected


def test_seeds():
    assert isinstance(torch.seed(), int)
    with torch.fork_rng():
        torch.manual_seed(-1)
        negative = torch.rand(3).tolist()
        torch.manual_seed(2**64 - 1)
        assert torch.rand(3).tolist() == negative
        assert torch.initial_seed() == 2**64 - 1
    both(lambda lib: lib.manual_seed(2**64) and None)
    both(lambda lib: lib.manual_seed("a") and None)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_ranges_and_moments(dtype):
    d = getattr(torch, dtype)
    g = torch.Generator().manual_seed(0)
    n = 20_000
    for values, mean, deviation, low, high in (
        (torch.rand(n, generator=g, dtype=d), 0.5, math.sqrt(1 / 12), 0, 1),
        (torch.empty(n, dtype=d).uniform_(-2, 4, generator=g), 1, math.sqrt(3), -2, 4),
        (torch.randn(n, generator=g, dtype=d), 0, 1, -8, 8),
        (torch.empty(n, dtype=d).normal_(3, 2, generator=g), 3, 2, -13, 19),
        (torch.empty(n, dtype=d).bernoulli_(0.3, generator=g), 0.3, math.sqrt(0.21), 0, 1.01),
    ):
        numbers = np.array(values.tolist())
        assert values.dtype is d
        assert abs(numbers.mean() - mean) < 6 * deviation / math.sqrt(n) + 5e-3
        assert abs(numbers.std() - deviation) < 0.05
        assert numbers.min() >= low
        assert numbers.max() < high or dtype in ("float16", "bfloat16")
        assert numbers.max() <= high


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "float32"])
def test_integers_are_uniform(dtype):
    g = torch.Generator().manual_seed(0)
    d = getattr(torch, dtype)
    values = np.array(
        torch.randint(-3 if dtype != "uint8" else 0, 5, (20_000,), generator=g, dtype=d).tolist()
    )
    low = 0 if dtype == "uint8" else -3
    assert sorted(set(values.tolist())) == list(range(low, 5))
    counts = np.bincount((values - low).astype(int))
    assert counts.min() > 0.9 * counts.mean()
    order = torch.randperm(100, generator=g, dtype=d if dtype != "float32" else None)
    assert sorted(order.tolist()) == list(range(100))


@pytest.mark.parametrize(
    "dtype",
    ["int64", "int32", "int8", "uint8", "bool", "float32", "float64", "float16", "bfloat16"],
)
def test_random_fills_the_dtype(dtype):
    g = torch.Generator().manual_seed(0)
    values = torch.empty(2000, dtype=getattr(torch, dtype)).random_(generator=g).tolist()
    tops = {
        "int64": 2**63 - 1,
        "int32": 2**31 - 1,
        "int8": 127,
        "uint8": 255,
        "bool": 1,
        "float32": 2**24,
        "float64": 2**53,
        "float16": 2**11,
        "bfloat16": 2**8,
    }
    assert min(values) >= 0
    assert tops[dtype] / 2 < max(values) <= tops[dtype]


def test_draws_leave_other_layouts_alone():
    base = torch.zeros(4, 4)
    base[::2, ::2].uniform_(1, 2)
    assert (base == 0).sum().item() == 12
    assert torch.rand(3, 0).shape == (3, 0)
    assert torch.randn(()).shape == ()
    assert torch.randint(0, 2, ()).shape == ()
    assert torch.randint(10, (2, 3)).max().item() < 10
    assert torch.rand_like(torch.ones(2, 3).t()).shape == (3, 2)
    assert torch.randn_like(torch.ones(2, 3, dtype=torch.float64)).dtype is torch.float64
    assert torch.randperm(0).tolist() == []


# ---- conversions --------------------------------------------------------------------------------


@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("second", DTYPES)
def test_conversion(first, second):
    values = [0, 1, 2, 3] if first in ("uint8", "bool") else [0, 1, -2, 3]
    theirs = pt.tensor(values).to(getattr(pt, first))
    if theirs.is_floating_point():
        theirs = theirs + 0.75
    ours = from_pytorch(theirs)
    target = getattr(torch, second)
    if theirs.is_complex() and second not in ("complex64", "complex128"):
        theirs = theirs.real
    expected = theirs.to(getattr(pt, second))
    if second != "uint8" or min(values) >= 0:
        assert_close(ours.to(target), expected)
        assert_close(ours.type(target), expected)
        assert_close(torch.empty(4, dtype=target).copy_(ours), expected)
    assert (ours.to(target) is ours) == (first == second)
    assert ours.to(target, copy=True) is not ours


def test_named_conversions():
    ours, theirs = torch.tensor([0.0, 1.9, -1.9]), pt.tensor([0.0, 1.9, -1.9])
    for name in ("float", "double", "half", "bfloat16", "int", "long", "short", "bool"):
        assert_close(getattr(ours, name)(), getattr(theirs, name)())
    assert_close(ours.type_as(torch.tensor(1)), theirs.type_as(pt.tensor(1)))
    assert_close(ours.to(torch.tensor(1)), theirs.to(pt.tensor(1)))
    assert ours.to("cpu") is ours
    assert ours.cpu() is ours
    assert ours.to("cpu", torch.int64).dtype is torch.int64
    assert ours.to(device="cpu", dtype=torch.int64, non_blocking=True).dtype is torch.int64


def test_leaving_the_framework():
    for dtype in DTYPES:
        theirs = pt.tensor([[0, 1], [2, 1]]).to(getattr(pt, dtype))
        ours = from_pytorch(theirs)
        assert ours.tolist() == theirs.tolist()
        assert [type(v) for v in ours[0].tolist()] == [type(v) for v in theirs[0].tolist()]
        assert ours[1, 1].item() == theirs[1, 1].item()
        if dtype != "bfloat16":
            assert ours.numpy().dtype == theirs.numpy().dtype
            assert ours.numpy().tolist() == theirs.tolist()
    assert np.asarray(torch.ones(2)).dtype == np.float32
    assert np.add(torch.ones(2).numpy(), 1).tolist() == [2, 2]
    assert np.from_dlpack(torch.ones(2)).tolist() == [1, 1]
    both(lambda lib: lib.zeros(2, 0, 3).tolist())
    both(lambda lib: lib.tensor(5).tolist())


def test_copies_and_pickles():
    ours = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for copied in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert copied.tolist() == ours.tolist()
        assert copied.requires_grad
        assert copied.data_ptr() != ours.data_ptr()
    strided = torch.arange(6.0).reshape(2, 3).t()
    assert pickle.loads(pickle.dumps(strided)).tolist() == strided.tolist()
    assert copy.copy(strided).tolist() == strided.tolist()
    assert copy.deepcopy(torch.float32) is torch.float32
    assert pickle.loads(pickle.dumps(torch.bool)) is torch.bool


def test_randint_like():
    x = torch.ones(2, 3).t()
    assert torch.randint_like(x, 5).shape == (3, 2)
    assert set(torch.randint_like(torch.ones(500), 2, 4).tolist()) == {2.0, 3.0}
    assert torch.randint_like(x, 1, 2, dtype=torch.int64).tolist() == [[1, 1]] * 3
    assert torch.bernoulli(torch.tensor([0.0, 1.0])).tolist() == [0, 1]
