"""Views against PyTorch: geometry, values, writes through views, on random chains of view ops."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from mindtorch_core.testing.comparison import (
    assert_close,
    assert_same_outcome,
    from_pytorch,
    outcome,
)
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")

SHAPES = st.lists(st.sampled_from([0, 1, 1, 2, 3, 4]), max_size=4).map(tuple)
EXAMPLES = settings(max_examples=300, deadline=None, derandomize=True)


def dims(rank):
    """Mostly valid dimensions, sometimes one too many."""
    return st.integers(-rank - 1, rank)


@st.composite
def new_shape(draw, t):
    """Sizes for view and reshape: a regrouping of the factors of the element count, or nonsense."""
    n = t.numel()
    if n == 0:
        return draw(
            st.sampled_from([tuple(t.shape), (0,), (0, 2), (3, 0, 1), (-1, 1), (2, -1, 0), (1,)])
        )
    sizes = []
    rest = n
    while rest > 1 and len(sizes) < 4:
        factor = draw(st.sampled_from([f for f in range(1, rest + 1) if rest % f == 0]))
        sizes.append(factor)
        rest //= factor
    sizes.append(rest)
    if draw(st.booleans()):
        sizes[draw(st.integers(0, len(sizes) - 1))] = -1
    if draw(st.integers(0, 9)) == 0:
        sizes.append(draw(st.sampled_from([-1, 2, 0, -2])))
    return tuple(sizes)


@st.composite
def step(draw, t):
    """One view op as (name, arguments) for a tensor."""
    rank = t.dim()
    name = draw(
        st.sampled_from(
            [
                "view",
                "reshape",
                "transpose",
                "permute",
                "t",
                "expand",
                "squeeze",
                "squeeze_dim",
                "squeeze_dims",
                "unsqueeze",
                "select",
                "slice",
                "narrow",
                "diagonal",
                "flatten",
                "unflatten",
                "movedim",
                "as_strided",
                "detach",
                "unbind",
                "split",
                "split_sizes",
                "chunk",
                "contiguous",
                "swapaxes",
                "swapdims",
            ]
        )
    )
    if name in ("view", "reshape"):
        return name, (draw(new_shape(t)),)
    if name in ("transpose", "movedim", "swapaxes", "swapdims"):
        return name, (draw(dims(rank)), draw(dims(rank)))
    if name == "permute":
        return name, (draw(st.permutations(range(rank))),)
    if name == "expand":
        wanted = [draw(st.sampled_from([n if n != 1 else 3, -1, n])) for n in t.shape]
        lead = draw(st.lists(st.sampled_from([1, 2, 0]), max_size=2))
        return name, (tuple(lead + wanted),)
    if name == "squeeze_dim":
        return "squeeze", (draw(dims(rank)),)
    if name == "squeeze_dims":
        return "squeeze", (tuple(draw(st.lists(dims(rank), max_size=2))),)
    if name == "unsqueeze":
        return name, (draw(dims(rank + 1)),)
    if name in ("select", "unbind"):
        dim = draw(dims(rank))
        size = t.shape[dim] if -rank <= dim < rank else 1
        return name, (dim, draw(st.integers(-size - 1, size))) if name == "select" else (dim,)
    if name == "slice":
        bound = st.none() | st.integers(-5, 5)
        at = draw(st.integers(0, max(rank - 1, 0)))
        part = slice(draw(bound), draw(bound), draw(st.none() | st.integers(1, 3)))
        return "__getitem__", ((slice(None),) * at + (part,),)
    if name == "narrow":
        return name, (draw(dims(rank)), draw(st.integers(-2, 3)), draw(st.integers(0, 3)))
    if name == "diagonal":
        return name, (draw(st.integers(-2, 2)), draw(dims(rank)), draw(dims(rank)))
    if name == "flatten":
        return name, (draw(dims(rank)), draw(dims(rank)))
    if name == "unflatten":
        dim = draw(dims(rank))
        size = t.shape[dim] if -rank <= dim < rank else 1
        sizes = draw(st.sampled_from([(size, 1), (-1, 1), (1, size), (2, -1), (size,)]))
        return name, (dim, sizes)
    if name == "as_strided":
        shape = tuple(draw(st.lists(st.integers(0, 2), max_size=3)))
        strides = tuple(draw(st.integers(0, 3)) for _ in shape)
        return name, (shape, strides, draw(st.none() | st.integers(0, 2)))
    if name == "split":
        return name, (draw(st.integers(0, 3)), draw(dims(rank)))
    if name == "split_sizes":
        dim = draw(dims(rank))
        size = t.shape[dim] if -rank <= dim < rank else 1
        return "split", ([size // 2, size - size // 2], dim)
    if name == "chunk":
        return name, (draw(st.integers(0, 4)), draw(dims(rank)))
    return name, ()


def pick(value, choice):
    """One tensor of a result that may be several."""
    if isinstance(value, tuple | list):
        return value[choice % len(value)] if value else None
    return value


def longer(t):
    """Dimensions whose stride matters."""
    return [i for i, n in enumerate(t.shape) if n > 1]


def same_view(ours, theirs, done):
    assert tuple(ours.shape) == tuple(theirs.shape), done
    if theirs.numel():  # without elements, strides and offset say nothing
        assert [ours.stride(i) for i in longer(theirs)] == [
            theirs.stride(i) for i in longer(theirs)
        ], done
        assert ours.storage_offset() == theirs.storage_offset(), done
    assert ours.is_contiguous() == theirs.is_contiguous(), done
    assert ours.tolist() == theirs.tolist(), done


@EXAMPLES
@given(st.data())
def test_chains_of_views(data):
    shape = data.draw(SHAPES)
    base = pt.arange(float(pt.Size(shape).numel())).reshape(shape)
    mine = from_pytorch(base)
    theirs, ours, done = base, mine, [shape]
    for _ in range(data.draw(st.integers(1, 5))):
        name, arguments = data.draw(step(theirs))
        done.append((name, arguments))
        choice = data.draw(st.integers(0, 3)) if name in ("unbind", "split", "chunk") else 0
        expected = outcome(getattr(theirs, name), *arguments)
        found = outcome(getattr(ours, name), *arguments)
        if isinstance(expected, Exception):
            assert isinstance(found, type(expected)), (done, expected, found)
            break
        assert not isinstance(found, Exception), (done, expected, found)
        if isinstance(expected, tuple | list):
            assert len(found) == len(expected), done
        expected, found = pick(expected, choice), pick(found, choice)
        if expected is None:
            break
        shares = expected.untyped_storage().data_ptr() == theirs.untyped_storage().data_ptr()
        same_view(found, expected, done)
        if theirs.numel() and expected.numel():
            assert (
                found.untyped_storage().data_ptr() == ours.untyped_storage().data_ptr()
            ) == shares
        theirs, ours = expected, found
    if len(set(theirs.flatten().tolist())) == theirs.numel():  # no two elements share memory
        theirs.detach().mul_(-1).sub_(1)
        ours.detach().mul_(-1).sub_(1)
        assert mine.tolist() == base.tolist(), done
        assert ours.tolist() == theirs.tolist(), done


@EXAMPLES
@given(SHAPES, st.data())
def test_copies_keep_or_drop_the_layout(shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    theirs = pt.arange(float(pt.Size(shape).numel())).reshape(shape).permute(order)
    if data.draw(st.booleans()) and theirs.dim():
        theirs = theirs[::2]
    ours = from_pytorch(theirs)
    for make in (
        lambda t, lib: t.clone(),
        lambda t, lib: t.contiguous(),
        lambda t, lib: t + 1,
        lambda t, lib: lib.empty_like(t).zero_(),
        lambda t, lib: lib.zeros_like(t),
        lambda t, lib: t.to(lib.float64),
        lambda t, lib: t.clone(memory_format=lib.contiguous_format),
    ):
        expected, found = make(theirs, pt), make(ours, torch)
        assert found.tolist() == expected.tolist()
        assert found.is_contiguous() == expected.is_contiguous(), (
            shape,
            order,
            make.__code__.co_names,
        )
        at = longer(expected) if expected.numel() else []
        assert [found.stride(i) for i in at] == [expected.stride(i) for i in at]


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1),
        lambda t: t.zero_(),
        lambda t: t.fill_(7),
        lambda t: t.__setitem__(0, -1),
        lambda t: t.copy_(t.clone() * 2),
        lambda t: t.transpose(0, 1).mul_(3),
        lambda t: t[1:, ::2].sub_(5),
        lambda t: t.diagonal().fill_(9),
        lambda t: t.view(-1)[2:5].neg_(),
        lambda t: t.reshape(3, 2).t().add_(2),
        lambda t: t.unsqueeze(1).squeeze(0).abs_(),
        lambda t: t.unbind(1)[0].fill_(4),
        lambda t: t.chunk(2, 1)[1].fill_(4),
        lambda t: t.flatten().add_(1),
        lambda t: t.narrow(1, 1, 2).mul_(0),
        lambda t: t.as_strided((2,), (2,), 1).fill_(8),
        lambda t: t.data.add_(1),
        lambda t: t.detach().add_(1),
        lambda t: t.masked_fill_(t > 2, 0),
    ],
)
def test_writes_through_views(write):
    theirs = pt.arange(6.0).reshape(2, 3)
    for base in (theirs, theirs.t().contiguous().t(), pt.arange(24.0).reshape(4, 6)[::2, ::2]):
        base = base.clone(memory_format=pt.preserve_format)
        ours = from_pytorch(base)
        whole = ours.view(-1) if ours.is_contiguous() else ours
        assert_same_outcome(lambda ours=ours: write(ours), lambda base=base: write(base))
        assert ours.tolist() == base.tolist()
        assert whole.reshape(2, 3).tolist() == base.tolist()


def test_overlapping_writes_are_refused():
    for write in (
        lambda t: t.add_(1),
        lambda t: t.fill_(1),
        lambda t: t.copy_(t),
        lambda t: t.exp_(),
    ):
        theirs = pt.ones(1, 3).expand(2, 3)
        assert_same_outcome(
            lambda write=write: write(torch.ones(1, 3).expand(2, 3)),
            lambda write=write, theirs=theirs: write(theirs),
        )


@example(pt.float32, pt.int32)
@given(
    st.sampled_from(
        [pt.float32, pt.int32, pt.int64, pt.float64, pt.int16, pt.float16, pt.uint8, pt.bool]
    ),
    st.sampled_from(
        [pt.float32, pt.int32, pt.int64, pt.float64, pt.int16, pt.float16, pt.uint8, pt.int8]
    ),
)
@EXAMPLES
def test_views_as_another_dtype(first, second):
    theirs = (pt.arange(8).reshape(2, 4) % 2).to(first)
    ours = from_pytorch(theirs)
    target = getattr(torch, str(second)[6:])
    assert_same_outcome(lambda: ours.view(target), lambda: theirs.view(second), equal_nan=True)


def test_flags_of_views():
    base = torch.arange(6).reshape(2, 3)
    assert base[0]._is_view()
    assert base[0]._base is base[0][1:]._base
    assert not base.clone()._is_view()
    before = base._version
    base[0].fill_(3)
    assert base._version == base[1]._version > before


def test_transposed_properties():
    theirs = pt.arange(24).reshape(2, 3, 4)
    ours = from_pytorch(theirs)
    assert_same_outcome(lambda: ours.mT, lambda: theirs.mT)
    assert_same_outcome(lambda: ours[0].T, lambda: theirs[0].T)
    assert_same_outcome(lambda: ours[0].H, lambda: theirs[0].H)


def test_numpy_shares_memory():
    np = pytest.importorskip("numpy")
    array = np.arange(6.0).reshape(2, 3)
    ours = torch.from_numpy(array)
    ours[0, 0] = 9
    assert array[0, 0] == 9
    array[1, 1] = -1
    assert ours[1, 1].item() == -1
    part = ours.t()[1:]
    part.numpy()[:] = 5
    assert array.tolist() == [[9, 5, 5], [3, 5, 5]]
    transposed = torch.from_numpy(array.T)
    assert transposed.stride() == (1, 3)
    assert torch.from_numpy(array[::2, 1:]).storage_offset() == 0


@pytest.mark.parametrize("shapes", [
    (), (3,), ((2,), 2), ((2, 1), (1, 3), ()), ([2, 1], 3), ((2, 0), (1, 1)), ((1, 3), (2, 1, 1)),
    ((2,), 3), ((2, 0), (1, 3)), ((2, 3), (4,), (3,)), ((2, 1), (3, 5)), ((2, -1), (1, 3)), ("a",), ((2.5,),),
    ((2, 3), (-1, 3)), ((3,), (-1,)), ((-2,), (-2,)),
])  # fmt: skip
def test_broadcast_shapes(shapes):
    found = outcome(torch.broadcast_shapes, *shapes)
    expected = outcome(pt.broadcast_shapes, *shapes)
    if not isinstance(expected, Exception):
        assert tuple(found) == tuple(expected)
        assert isinstance(found, torch.Size)
    elif isinstance(expected, RuntimeError):
        assert isinstance(found, RuntimeError)
        assert not missing(str(found), str(expected))
    else:
        assert isinstance(found, type(expected) | RuntimeError)


def test_broadcast_tensors():
    a, b, c = pt.arange(2.0).view(2, 1), pt.arange(3.0), pt.tensor(5)
    assert torch.broadcast_tensors() == ()
    for tensors in ([a], [a, b], [a, b, c], [b, pt.ones(1, 0, 1)]):
        found = torch.broadcast_tensors(*map(from_pytorch, tensors))
        expected = pt.broadcast_tensors(*tensors)
        assert isinstance(found, tuple)
        assert_close(found, tuple(expected), check_stride=bool(tensors[-1].numel()))
    x = torch.ones(2, 1, requires_grad=True)
    torch.broadcast_tensors(x, torch.ones(3))[0].sum().backward()
    assert x.grad.tolist() == [[3], [3]]
    for call in (
        lambda lib: lib.broadcast_tensors(lib.ones(2), lib.ones(3)),
        lambda lib: lib.broadcast_tensors([lib.ones(2), lib.ones(3)]),
        lambda lib: lib.broadcast_tensors(lib.ones(2), 3),
    ):
        assert_same_outcome(lambda: call(torch), lambda: call(pt))


OF_NOTHING = {
    "movedim": lambda x: x.movedim(0, -1), "permute": lambda x: x.permute(2, 0, 1), "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(0, 2), "select": lambda x: x.select(1, 2),
    "unbind": lambda x: x.unbind(1)[1],
    "indices": lambda x: x[:, 1, 1:], "a view of a view": lambda x: x.mT.permute(1, 0, 2),
    "strides": lambda x: x.as_strided((0, 2), (2, 1), 30).T, "beyond": lambda x: x.mT[..., 1:].mT,
}  # fmt: skip


@pytest.mark.parametrize("view", OF_NOTHING.values(), ids=OF_NOTHING)
def test_views_of_nothing_lie_where_they_lie(view):
    """What grows from one by out= is written beside what it is a view of."""
    results = []
    for lib in (torch, pt):
        whole = lib.arange(24.0).reshape(2, 3, 4)
        x = view(whole[2:])
        geometry = tuple(x.shape), x.stride(), x.storage_offset()
        x.resize_(1, 4).fill_(7)
        row = lib.zeros(2, 0, 3)[1]
        results.append(
            (geometry, whole.tolist(), row.stride(), row.storage_offset(), row.T.stride())
        )
    assert results[0] == results[1]
