"""Indexing against PyTorch: random index tuples, reading and writing, and the ops behind them."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from mindtorch_core.testing.comparison import (
    assert_close,
    assert_same_outcome,
    from_pytorch,
    outcome,
)

pt = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

SHAPES = st.lists(st.sampled_from([1, 2, 3, 4, 2, 3, 0]), max_size=4).map(tuple)
EXAMPLES = settings(max_examples=400, deadline=None, derandomize=True)


@st.composite
def slices(draw):
    bound = st.none() | st.integers(-5, 5)
    return slice(draw(bound), draw(bound), draw(st.none() | st.integers(1, 3)))


@st.composite
def positions(draw, size, shape):
    """A nested list of positions in a dimension, rarely one too far."""
    low, high = (-size, size - 1) if size else (0, 0)
    if draw(st.integers(0, 30)) == 0:
        high += 1
    if not shape:
        return draw(st.integers(low, high))
    return [draw(positions(size, shape[1:])) for _ in range(shape[0])]


@st.composite
def item(draw, shape, dim, common):
    """One element of an index, as (PyTorch's, ours, dimensions it uses)."""
    size = shape[dim] if dim < len(shape) else 2
    kind = draw(
        st.sampled_from(
            [
                "int",
                "int",
                "slice",
                "slice",
                "slice",
                "none",
                "ellipsis",
                "tensor",
                "tensor",
                "list",
                "mask",
                "mask_list",
                "bool",
                "int32",
                "scalar",
                "array",
                "uint8",
                "range",
                "float",
            ]
        )
    )
    if kind == "int":
        i = draw(positions(size, ()))
        return i, i, 1
    if kind == "slice":
        s = draw(slices())
        return s, s, 1
    if kind == "none":
        return None, None, 0
    if kind == "ellipsis":
        return Ellipsis, Ellipsis, 0
    if kind == "bool":
        b = draw(st.booleans())
        return b, b, 0
    if kind == "float":
        if draw(st.integers(0, 5)):
            s = draw(slices())
            return s, s, 1
        return 1.5, 1.5, 1
    if kind in ("mask", "uint8", "mask_list"):
        covered = 1 if kind == "mask_list" or len(shape) - dim < 2 else draw(st.integers(1, 2))
        sizes = shape[dim : dim + covered] or (2,)
        if draw(st.integers(0, 15)) == 0:
            sizes = (*sizes[:-1], sizes[-1] + 1)
        bits = draw(
            st.lists(
                st.booleans(), min_size=pt.Size(sizes).numel(), max_size=pt.Size(sizes).numel()
            )
        )
        if kind == "mask_list":
            return bits, bits, 1
        mask = pt.tensor(bits, dtype=pt.bool if kind == "mask" else pt.uint8).reshape(sizes)
        return mask, from_pytorch(mask), covered
    if kind == "scalar":
        t = pt.tensor(draw(positions(size, ())))
        return t, from_pytorch(t), 1
    values = draw(positions(size, common if draw(st.booleans()) else common[-1:]))
    if kind == "list":
        return values, values, 1
    if kind == "range":
        return range(size), range(size), 1
    if kind == "array":
        array = np.array(values, dtype=np.int64)
        return array, array, 1
    t = pt.tensor(values, dtype=pt.int32 if kind == "int32" else pt.int64)
    return t, from_pytorch(t), 1


@st.composite
def cases(draw):
    """A tensor's shape and an index for it, in both libraries' terms."""
    shape = draw(SHAPES)
    common = draw(st.sampled_from([(2,), (3,), (1,), (2, 2), (0,), ()]))
    theirs, ours, dim = [], [], 0
    for _ in range(draw(st.integers(0, len(shape) + 1))):
        a, b, used = draw(item(shape, dim, common))
        if a is Ellipsis and any(x is Ellipsis for x in theirs):
            continue  # see `test_several_ellipses`
        theirs.append(a)
        ours.append(b)
        dim += used
    if len(theirs) == 1 and draw(st.booleans()):
        return shape, theirs[0], ours[0]
    return shape, tuple(theirs), tuple(ours)


def ignoring_warnings(call, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(call, *args)


def special(index):
    """Whether PyTorch takes a nested list for a tuple, where NumPy and we take it for an array."""
    return isinstance(index, list) and any(isinstance(i, list) for i in index)


@EXAMPLES
@given(cases())
def test_getitem(case):
    shape, theirs_at, ours_at = case
    if special(theirs_at):
        return
    theirs = pt.arange(float(pt.Size(shape).numel())).reshape(shape)
    ours = from_pytorch(theirs)
    expected = ignoring_warnings(lambda: theirs[theirs_at])
    found = ignoring_warnings(lambda: ours[ours_at])
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), (case, expected, found)
        return
    if isinstance(found, IndexError) and not expected.numel():
        return  # PyTorch does not check positions where there is nothing to read
    assert not isinstance(found, Exception), (case, expected, found)
    assert tuple(found.shape) == tuple(expected.shape), case
    assert found.tolist() == expected.tolist(), case
    if expected.numel():
        shares = expected.untyped_storage().data_ptr() == theirs.untyped_storage().data_ptr()
        assert (found.untyped_storage().data_ptr() == ours.untyped_storage().data_ptr()) == shares


@st.composite
def values_for(draw, shape):
    """A value to assign where an index gives ``shape``, in both libraries' terms."""
    kind = draw(
        st.sampled_from(
            ["number", "same", "row", "lead", "wrong", "dtype", "scalar", "list", "array"]
        )
    )
    if kind == "number":
        v = draw(st.sampled_from([7, 2.5, True]))
        return v, v
    if kind == "scalar":
        t = pt.tensor(draw(st.sampled_from([7, 2.5])))
        return t, from_pytorch(t)
    if kind == "same":
        t = pt.arange(float(pt.Size(shape).numel())).reshape(shape) + 100
    elif kind == "row":
        t = pt.arange(float(shape[-1] if shape else 1)) + 100
        t = t if shape else t.reshape(())
    elif kind == "lead":
        t = pt.full((1, *shape), 9.0)
    elif kind == "wrong":
        t = pt.full((*shape, 5), 9.0)
    elif kind == "dtype":
        t = pt.full(shape, 9, dtype=pt.int64)
    else:
        t = pt.full((shape[-1] if shape else 1,), 9.0)
        if kind == "list":
            return t.tolist(), t.tolist()
        return t.numpy().astype(np.float32), t.numpy().astype(np.float32)
    return t, from_pytorch(t)


@EXAMPLES
@given(cases(), st.data())
def test_setitem(case, data):
    shape, theirs_at, ours_at = case
    if special(theirs_at) or isinstance(theirs_at, bool):
        return
    theirs = pt.arange(float(pt.Size(shape).numel())).reshape(shape)
    ours = from_pytorch(theirs)
    read = ignoring_warnings(lambda: theirs[theirs_at])
    wanted = () if isinstance(read, Exception) else tuple(read.shape)
    a, b = data.draw(values_for(wanted))
    expected = ignoring_warnings(theirs.__setitem__, theirs_at, a)
    found = ignoring_warnings(ours.__setitem__, ours_at, b)
    if isinstance(expected, Exception):
        either = {type(found), type(expected)} <= {
            IndexError,
            RuntimeError,
        }  # index or value at fault
        assert either or isinstance(found, type(expected)), (case, a, expected, found)
        return
    if isinstance(found, IndexError) and not read.numel():
        return
    assert not isinstance(found, Exception), (case, a, expected, found)
    if distinct(theirs_at):
        assert ours.tolist() == theirs.tolist(), (case, a)


def distinct(index):
    """Whether an index names no element twice, as far as one sees; else the winner is open."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(
        isinstance(i, list | np.ndarray | range)
        or (isinstance(i, pt.Tensor) and i.dtype in (pt.int64, pt.int32) and i.dim())
        for i in parts
    )


@pytest.mark.parametrize(
    "index",
    [
        (..., ...), (..., 0, ...), (0, ..., ...), (..., None, ...), ([1], ..., ...), (..., slice(1), ...),
        (..., ..., 0), (0, 1, ..., 2, ...), (0, ..., 1, ..., 2),
    ],
)  # fmt: skip
def test_several_ellipses(index):
    """PyTorch takes those that stand for nothing; what would be past the last dimension is refused."""
    theirs = sample((2, 3, 4))
    assert_same_outcome(lambda: from_pytorch(theirs)[index], lambda: theirs[index])


@EXAMPLES
@given(SHAPES, st.data())
def test_repeated_positions_accumulate(shape, data):
    if not shape or not shape[0]:
        return
    at = data.draw(st.lists(st.integers(-shape[0], shape[0] - 1), min_size=1, max_size=5))
    theirs, index = pt.zeros(shape), pt.tensor(at)
    values = pt.randn((len(at), *shape[1:]), generator=pt.Generator().manual_seed(0))
    ours = from_pytorch(theirs)
    theirs.index_put_((index,), values, accumulate=True)
    ours.index_put_((from_pytorch(index),), from_pytorch(values), accumulate=True)
    assert_close(ours, theirs)


# ---- ops along a dimension ----------------------------------------------------------------------

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "uint8",
    "bool",
    "complex64",
]


def sample(shape, dtype="float32", seed=0):
    t = pt.randn(shape, generator=pt.Generator().manual_seed(seed)) * 3
    return (
        (t > 0)
        if dtype == "bool"
        else t.abs().to(pt.uint8)
        if dtype == "uint8"
        else t.to(getattr(pt, dtype))
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_and_scatter(dtype):
    theirs = sample((3, 4), dtype)
    ours = from_pytorch(theirs)
    for dim, rows in ((0, (2, 4)), (1, (3, 2)), (-1, (1, 1)), (0, (0, 4))):
        index = pt.randint(0, theirs.shape[dim], rows, generator=pt.Generator().manual_seed(1))
        at = from_pytorch(index)
        assert_close(ours.gather(dim, at), theirs.gather(dim, index))
        source = sample((3, 4), dtype, 5)
        src = from_pytorch(source)
        close = {"rtol": 1e-2, "atol": 1e-2} if dtype in ("float16", "bfloat16") else {}
        assert_close(
            ours.scatter_add(dim, at, src), theirs.scatter_add(dim, index, source), **close
        )
        assert_close(ours.scatter(dim, at, 1), theirs.scatter(dim, index, 1))
        assert_close(torch.scatter(ours, dim, at, value=1), pt.scatter(theirs, dim, index, value=1))
        assert_close(ours.clone().scatter_(dim, at, 1), theirs.clone().scatter_(dim, index, 1))
    unique = pt.tensor([[2, 0, 1, 2], [1, 2, 0, 0]])
    assert_close(
        ours.scatter(0, from_pytorch(unique), from_pytorch(sample((3, 4), dtype, 5))),
        theirs.scatter(0, unique, sample((3, 4), dtype, 5)),
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_index_select_and_index_add(dtype):
    theirs = sample((3, 4, 2), dtype)
    ours = from_pytorch(theirs)
    for dim in (0, 1, -1):
        for kind in (pt.int64, pt.int32):
            index = pt.tensor([1, 0, 1], dtype=kind)
            at = from_pytorch(index)
            assert_close(ours.index_select(dim, at), theirs.index_select(dim, index))
            assert_close(torch.index_select(ours, dim, at), pt.index_select(theirs, dim, index))
            source = theirs.index_select(dim, index).flip(dim)
            assert_same_outcome(
                lambda dim=dim, at=at, source=source: ours.index_add(dim, at, from_pytorch(source)),
                lambda dim=dim, index=index, source=source: theirs.index_add(dim, index, source),
            )
    assert_close(ours.index_select(0, torch.tensor(1)), theirs.index_select(0, pt.tensor(1)))


@pytest.mark.parametrize(
    "call",
    [
        lambda t, lib: t.gather(0, lib.tensor([[9]])),
        lambda t, lib: t.gather(0, lib.tensor([[-1]])),
        lambda t, lib: t.gather(0, lib.tensor([0])),
        lambda t, lib: t.gather(5, lib.tensor([[0]])),
        lambda t, lib: t.gather(0, lib.tensor([[0.0]])),
        lambda t, lib: t.gather(0, lib.zeros(2, 9, dtype=lib.int64)),
        lambda t, lib: t.index_select(0, lib.tensor([9])),
        lambda t, lib: t.index_select(0, lib.tensor([-1])),
        lambda t, lib: t.index_select(0, lib.tensor([[0]])),
        lambda t, lib: t.index_select(0, lib.tensor([0.0])),
        lambda t, lib: lib.tensor(1.0).index_select(0, lib.tensor([0, 0])),
        lambda t, lib: t.scatter(0, lib.tensor([[7]]), 1),
        lambda t, lib: t.scatter_add(0, lib.tensor([[0]]), lib.tensor([[1]])),
        lambda t, lib: t.index_add(0, lib.tensor([0]), lib.ones(1, 7)),
        lambda t, lib: lib.nn.functional.embedding(lib.tensor([9]), t),
        lambda t, lib: lib.cat([t, lib.ones(2, 9), lib.ones(1, 2)]),
        lambda t, lib: lib.cat([lib.tensor(1.0), lib.tensor(2.0)]),
        lambda t, lib: lib.stack([t, lib.ones(1)]),
        lambda t, lib: lib.cat([t, t], 5),
        lambda t, lib: t.masked_select(lib.tensor([1, 0])),
        lambda t, lib: t[lib.tensor([0.5])],
        lambda t, lib: t[0, 0, 0],
        lambda t, lib: t["a"],
        lambda t, lib: t[1.5],
        lambda t, lib: t[lib.tensor([0, 1]), lib.tensor([0, 1, 0])],
        lambda t, lib: t.nonzero(5),
        lambda t, lib: t[::-1],
        lambda t, lib: t[::0],
        lambda t, lib: t["a":],
        lambda t, lib: t[lib.tensor([0]), lib.tensor([True, False])],
        lambda t, lib: t[lib.zeros(3, 3, dtype=lib.bool)],
        lambda t, lib: lib.tensor(1.0)[0],
        lambda t, lib: lib.tensor(1.0)[:],
        lambda t, lib: t.__setitem__(0, "a"),
        lambda t, lib: t.__setitem__(0, [1, 2, 3, 4]),
        lambda t, lib: t.__setitem__(5, 1),
        lambda t, lib: t.__setitem__(0, lib.ones(3)),
        lambda t, lib: t.__setitem__(lib.tensor([0, 1]), lib.ones(3)),
        lambda t, lib: t.__setitem__(lib.tensor([0, 1]), lib.ones(2, 4, dtype=lib.int64)),
        lambda t, lib: t.__setitem__(t > 0, lib.ones(50)),
    ],
)
def test_bad_indices(call):
    theirs = sample((3, 4))
    assert_same_outcome(lambda: call(from_pytorch(theirs), torch), lambda: call(theirs, pt))


@pytest.mark.parametrize("dtype", DTYPES)
def test_joining(dtype):
    a, b = sample((2, 3), dtype, 1), sample((4, 3), dtype, 2)
    x, y = from_pytorch(a), from_pytorch(b)
    assert_close(torch.cat([x, y]), pt.cat([a, b]))
    assert_close(torch.cat((x, x.clone()), dim=-1), pt.cat((a, a), dim=-1))
    assert_close(torch.cat([x.t(), y.t()], 1), pt.cat([a.t(), b.t()], 1))
    assert_close(torch.concat([x, y]), pt.concat([a, b]))
    assert_close(torch.stack([x, x], 2), pt.stack([a, a], 2))
    assert_close(torch.stack([x[0], y[1]]), pt.stack([a[0], b[1]]))
    assert_close(
        torch.cat([torch.empty(0, dtype=x.dtype), x]), pt.cat([pt.empty(0, dtype=a.dtype), a])
    )
    assert_close(torch.cat([x, torch.ones(1, 3)]), pt.cat([a, pt.ones(1, 3)]))
    assert_close(
        torch.cat([x, torch.ones(1, 3, dtype=torch.int64)]),
        pt.cat([a, pt.ones(1, 3, dtype=pt.int64)]),
    )
    out = torch.empty(6, 3, dtype=x.dtype)
    assert torch.cat([x, y], out=out) is out
    assert_close(out, pt.cat([a, b]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_searching(dtype):
    theirs = sample((3, 4), dtype)
    theirs = pt.where(sample((3, 4), "bool", 3), theirs, pt.zeros_like(theirs))
    ours = from_pytorch(theirs)
    assert_close(ours.nonzero(), theirs.nonzero(), check_stride=True)
    assert_close(torch.nonzero(ours.t()), pt.nonzero(theirs.t()))
    assert [i.tolist() for i in torch.nonzero(ours, as_tuple=True)] == [
        i.tolist() for i in pt.nonzero(theirs, as_tuple=True)
    ]
    assert_close(torch.tensor(3).nonzero(), pt.tensor(3).nonzero())
    assert_close(torch.tensor(0).nonzero(), pt.tensor(0).nonzero())
    mask = sample((3, 4), "bool", 8)
    assert_close(ours.masked_select(from_pytorch(mask)), theirs.masked_select(mask))
    assert_close(ours.masked_select(from_pytorch(mask[0])), theirs.masked_select(mask[0]))


def test_splitting():
    theirs = sample((5, 6))
    ours = from_pytorch(theirs)
    for call in (
        lambda t: t.split(2),
        lambda t: t.split(4, dim=1),
        lambda t: t.split([1, 4]),
        lambda t: t.split([0, 6], -1),
        lambda t: t.chunk(3),
        lambda t: t.chunk(4, dim=1),
        lambda t: t.chunk(9),
        lambda t: t.unbind(),
        lambda t: t.unbind(1),
    ):
        assert_close(call(ours), call(theirs), check_stride=True)
    assert_close(torch.split(ours, 2, 1), pt.split(theirs, 2, 1))
    assert_close(torch.chunk(ours, 2), pt.chunk(theirs, 2))


def test_numpy_agrees_on_basic_and_advanced_indices():
    array = np.arange(60.0).reshape(3, 4, 5)
    ours = torch.tensor(array)
    for at in (
        np.s_[1], np.s_[-1, ..., 2], np.s_[:, 1:3], np.s_[None, 0], np.s_[::2, ::3, 1],
        np.s_[[0, 2]], np.s_[:, [1, 2], 0], np.s_[[0, 1], :, [2, 3]], np.s_[array[0, :, 0] > 5, 0]
        if False else np.s_[..., [0, 0, 1]],
    ):  # fmt: skip
        assert ours[at].tolist() == array[at].tolist()


TAKEN = [
    lambda lib, x: lib.take(x, lib.tensor([[0, -1], [5, 2]])),
    lambda lib, x: lib.take(x, lib.tensor([[0, -1], [5, 2]]).t()),
    lambda lib, x: x.t().take(lib.tensor(3)),
    lambda lib, x: x.take(lib.zeros(0, 2, dtype=lib.int64)),
    lambda lib, x: lib.take(lib.tensor(5.0), lib.tensor([0, 0])),
    lambda lib, x: lib.take(lib.empty(0), lib.zeros(0, dtype=lib.int64)),
    lambda lib, x: lib.take(x, lib.tensor([[1]]), out=lib.empty(0)),
    lambda lib, x: lib.take(x, lib.tensor([0, 6])),
    lambda lib, x: lib.take(x, lib.tensor(-7)),
    lambda lib, x: lib.take(lib.empty(0), lib.tensor([0])),
    lambda lib, x: lib.take(x, lib.tensor([0], dtype=lib.int32)),
    lambda lib, x: lib.take(x, lib.tensor([0.0])),
    lambda lib, x: lib.take(x, 0),
    lambda lib, x: lib.gather(x, 0, lib.zeros(1, 2, dtype=lib.int32)),
    lambda lib, x: x.scatter(1, lib.tensor([[2], [0]], dtype=lib.int32), 9.0),
    lambda lib, x: x.scatter_add(0, lib.ones(2, 3, dtype=lib.int32), lib.ones(2, 3)),
    lambda lib, x: lib.gather(x, 0, lib.zeros(1, 2)),
    lambda lib, x: x.scatter(0, lib.zeros(1, 2, dtype=lib.uint8), 1.0),
]


@pytest.mark.parametrize("call", TAKEN)
def test_take_and_the_dtypes_of_positions(call):
    x = pt.arange(6.0).view(2, 3)
    assert_same_outcome(lambda: call(torch, from_pytorch(x)), lambda: call(pt, x))


@pytest.mark.parametrize(
    "index",
    [(0, 7), (..., 9), (None, 0, 5), (slice(None), 3), (1, 2, 4), (np.int64(0), -4), (True, 2)],
)
def test_the_error_names_the_dimension(index):
    """Counted in the tensor itself; PyTorch counts the entries of the index instead."""
    x = torch.ones(2, 3, 4)
    with pytest.raises(IndexError) as found:
        x[index]
    at = -1 if Ellipsis in index else sum(i is not None and i is not True for i in index) - 1
    number, dim = index[-1], range(3)[at]
    assert f"index {number} is out of bounds for dimension {dim} with size {x.shape[dim]}" in str(
        found.value
    )
