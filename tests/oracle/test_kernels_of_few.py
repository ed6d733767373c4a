"""Ops whose kernels on the CPU are not their compositions: medians, histograms, lines, whether all is equal."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mindtorch_core as mt  # noqa: E402

SHAPES = [(), (1,), (8,), (7, 9), (70,), (3, 0, 2), (3, 200), (5, 2, 6)]
DTYPES = ["float16", "bfloat16", "float32", "float64", "uint8", "int64"]


def drawn(shape, dtype, share=0.0):
    """The same numbers in both libraries, a share of them NaN."""
    random = np.random.default_rng(3)
    a = np.where(random.random(shape) < share, np.nan, random.normal(0, 9, shape))
    a = np.abs(np.nan_to_num(a)) if dtype in ("uint8", "int64") else a
    return [each.tensor(a).to(getattr(each, dtype)) for each in (mt, torch)]


def same(ours, theirs):
    """Whether values, shape and strides are the same."""
    assert (ours.shape, ours.stride()) == (tuple(theirs.shape), theirs.stride())
    np.testing.assert_array_equal(ours.tolist(), theirs.tolist())


@pytest.mark.parametrize("share", [0.0, 0.2, 0.95])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians(name, shape, dtype, share):
    ours, theirs = drawn(shape, dtype, share)
    same(getattr(ours, name)(), getattr(theirs, name)())
    for dim in range(len(shape)):
        if not shape[dim]:
            continue
        for keepdim in (False, True):
            values, places = getattr(ours, name)(dim, keepdim)
            wanted = getattr(theirs, name)(dim, keepdim)
            same(values, wanted.values)
            assert places.stride() == wanted.indices.stride()
            picked = ours.gather(dim, places if keepdim else places.unsqueeze(dim))
            same(picked if keepdim else picked.squeeze(dim), wanted.values)


def test_the_median_along_a_dimension_that_is_not_the_last_in_memory():
    ours, theirs = (t.mT for t in drawn((7, 9), "float32", 0.2))
    for dim in (0, 1):
        same(ours.median(dim)[0], theirs.median(dim)[0])


@pytest.mark.parametrize("args", [(), (10,), (10, -1, 1), (7, 2, 2), (3, 10, 20), (1, -50, 50)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (8, 8), (5000,)])
def test_histograms(shape, dtype, args):
    ours, theirs = drawn(shape, dtype)
    same(mt.histc(ours, *args), torch.histc(theirs, *args))


def test_histograms_leave_out_nan_where_a_range_is_given_and_refuse_it_where_none_is():
    ours, theirs = drawn((64,), "float32", 0.3)
    same(mt.histc(ours, 5, -3, 3), torch.histc(theirs, 5, -3, 3))
    for each, t in ((mt, ours), (torch, theirs)):
        with pytest.raises(RuntimeError, match="is not finite"):
            each.histc(t)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 8, 100, 4097])
@pytest.mark.parametrize(
    "ends", [(0, 1), (-1.5, 0.3), (1e30, -1e38), (5, 5), (-0.0, 0.0), (True, False)]
)
def test_lines(ends, steps):
    ours, theirs = mt.linspace(*ends, steps), torch.linspace(*ends, steps)
    assert ours.numpy().tobytes() == theirs.numpy().tobytes()


@pytest.mark.parametrize("dtype", [None, "bool", "int64", "bfloat16", "complex64"])
@pytest.mark.parametrize("sizes", [(3,), (3, 5), (5, 3), (0,), (0, 3), (3, 0), (1, 1)])
def test_ones_on_a_diagonal(sizes, dtype):
    ours, theirs = (each.eye(*sizes, dtype=dtype and getattr(each, dtype)) for each in (mt, torch))
    assert str(ours.dtype) == str(theirs.dtype)
    same(ours, theirs)
    with mt.pipeline():
        later = mt.eye(*sizes, dtype=ours.dtype)
    same(later, theirs)


EQUAL = {
    "same": lambda each: (each.ones(3), each.ones(3)),
    "other shape": lambda each: (each.ones(()), each.ones(1)),
    "one differs": lambda each: (each.arange(9), each.arange(9).clamp(max=7)),
    "nan": lambda each: (each.ones(3) * float("nan"),) * 2,
    "nothing": lambda each: (each.ones(0), each.ones(0)),
    "bfloat16": lambda each: (each.ones(3).bfloat16(), each.ones(3).bfloat16()),
    "dtypes": lambda each: (each.ones(3), each.ones(3, dtype=each.int64)),
    "strides": lambda each: (
        each.arange(6).view(2, 3).t(),
        each.arange(6).view(2, 3).t().contiguous(),
    ),
    "many": lambda each: (each.ones(1 << 16), each.ones(1 << 16)),
}


@pytest.mark.parametrize("name", EQUAL)
def test_whether_all_is_equal(name):
    found = mt.equal(*EQUAL[name](mt))
    assert type(found) is bool
    assert found == torch.equal(*EQUAL[name](torch))


@pytest.mark.parametrize(
    "size", [{"scale_factor": 2}, {"scale_factor": (2.0, 3.0)}, {"size": (7, 9)}, {"size": (6, 10)}]
)
@pytest.mark.parametrize("dtype", ["float32", "uint8", "bfloat16"])
@pytest.mark.parametrize("shape", [(2, 3, 8, 8), (1, 1, 3, 5), (2, 3, 1, 4), (0, 2, 4, 4)])
def test_nearest_elements_whether_they_are_repeated_or_picked(shape, dtype, size):
    ours, theirs = drawn(shape, dtype)
    for lies in ("contiguous_format", "channels_last"):
        same(
            mt.nn.functional.interpolate(ours.to(memory_format=getattr(mt, lies)), **size),
            torch.nn.functional.interpolate(theirs.to(memory_format=getattr(torch, lies)), **size),
        )


@pytest.mark.parametrize("classes", [-1, 6])
@pytest.mark.parametrize("labels", [[0, 1, 2], [[1], [5]], 5])
def test_ones_at_classes(labels, classes):
    same(*(each.nn.functional.one_hot(each.tensor(labels), classes) for each in (mt, torch)))


@pytest.mark.parametrize("asked", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_different_elements(shape, dtype, share, asked):
    found = []
    for each, t in zip((mt, torch), drawn(shape, "uint8"), strict=True):
        t = (t % 5).to(getattr(each, dtype))
        # NaN are each different, in an order of PyTorch's own.
        if share and not asked[0] and dtype.startswith(("float", "bfloat")):
            t = each.where(t == 3, float("nan"), t).to(getattr(each, dtype))
        made = each.unique(t, return_inverse=asked[0], return_counts=asked[1])
        found.append(made if any(asked) else (made,))
    for ours, theirs in zip(*found, strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        same(ours, theirs)


DIFFERENTIABLE = {
    "median": lambda t, x: x.median(),
    "nanmedian along": lambda t, x: x.nanmedian(0)[0],
    "unique": lambda t, x: x.unique(),
    "unique with counts": lambda t, x: t.unique(x, return_counts=True)[0],
    "topk": lambda t, x: x.topk(2)[0],
    "stack": lambda t, x: t.stack([x, x]),
    "roll": lambda t, x: x.roll(1, 0),
    "pad": lambda t, x: t.nn.functional.pad(x, (1, -1)),
    "t": lambda t, x: x.t(),
    "clamp_": lambda t, x: x.clone().clamp_(0, 1),
    "masked_fill": lambda t, x: x.masked_fill(x > 0, 1.0),
    "masked_fill_": lambda t, x: x.clone().masked_fill_(x > 0, x[0, 0]),
    "index_fill_": lambda t, x: x.clone().index_fill_(0, t.tensor([1]), 2.0),
    "nan_to_num": lambda t, x: x.nan_to_num(),
    "histc": lambda t, x: x.histc(3),
}


@pytest.mark.parametrize("call", DIFFERENTIABLE.values(), ids=DIFFERENTIABLE)
def test_gradients_go_through_them(call):
    """A kernel of an op without a gradient formula would end the graph without a word."""
    given = np.random.default_rng(3).normal(0, 1, (3, 5))
    found = []
    for lib in (mt, torch):
        x = lib.tensor(given).requires_grad_()
        y = call(lib, x)
        found.append([y.requires_grad, y.is_leaf])
        if y.requires_grad and call not in (
            DIFFERENTIABLE["unique"],
            DIFFERENTIABLE["unique with counts"],  # of which PyTorch has no derivative
        ):
            found[-1].append(lib.autograd.grad(y.sum(), x)[0].tolist())
    assert found[0] == found[1]


LAYOUTS = {
    "stack": lambda t, x: t.stack([x, x]),
    "stack behind": lambda t, x: t.stack([x, x * 2], -1),
    "masked_fill": lambda t, x: x.masked_fill(x > 0, 1.0),
    "index_fill": lambda t, x: x.index_fill(1, t.tensor(0), 1.0),
    "index_fill_": lambda t, x: x.index_fill_(1, t.tensor([0, 1]), 1.0),
    "roll": lambda t, x: x.roll((1, -2), (0, 1)),
    "pad": lambda t, x: t.nn.functional.pad(x, (1, -1, 0, 2)),
    "nan_to_num": lambda t, x: x.nan_to_num(),
}
LIES = {
    "row by row": lambda x: x,
    "channels last": lambda x: x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    "turned": lambda x: x.transpose(0, 3),
    "each second": lambda x: x[:, :, ::2],
}


@pytest.mark.parametrize("lies", LIES.values(), ids=LIES)
@pytest.mark.parametrize("call", LAYOUTS.values(), ids=LAYOUTS)
def test_results_lie_as_in_pytorch(call, lies):
    given = np.random.default_rng(3).normal(0, 1, (2, 3, 4, 5)).astype("f4")
    same(*(call(lib, lies(lib.tensor(given))) for lib in (mt, torch)))


def test_masks_that_do_not_fit_are_refused():
    for shape in ((2, 3), (4,)):
        for lib in (mt, torch):
            with pytest.raises(RuntimeError, match=r"size|shape"):
                lib.ones(3).masked_fill_(lib.ones(*shape) > 0, 1)
    small = [lib.ones(2, 3).masked_fill_(lib.tensor([True, False, True]), 5) for lib in (mt, torch)]
    same(*small)


def put(lib, x, mask, value):
    x[mask] = value
    return x.tolist()


PLACES = {
    "rows": lambda t: put(t, t.zeros(2, 3), t.tensor([True, False]), 1.5),
    "elements": lambda t: put(t, t.zeros(2, 2), t.eye(2) > 0, 1.5),
    "a mask for columns": lambda t: put(t, t.zeros(2, 3), t.tensor([True, False, True]), 1),
    "complex": lambda t: put(t, t.zeros(2, dtype=t.complex64), t.tensor([True, False]), 2j),
    "complex in real": lambda t: put(t, t.zeros(2), t.tensor([True, False]), 2j),
    "fractions in whole": lambda t: put(t, t.zeros(2, dtype=t.int64), t.tensor([True, False]), 2.7),
    "too large": lambda t: put(t, t.zeros(2, dtype=t.int8), t.tensor([True, False]), 300),
    "no dimensions": lambda t: put(t, t.zeros(()), t.tensor(True), 3),
}


@pytest.mark.parametrize("call", PLACES.values(), ids=PLACES)
def test_numbers_are_put_where_masks_hold(call):
    found = []
    for lib in (mt, torch):
        try:
            found.append(call(lib))
        except (IndexError, RuntimeError) as error:
            found.append(type(error))
    assert found[0] == found[1]


def test_an_output_of_the_same_shape_may_not_lie_where_an_input_does():
    for lib in (mt, torch):
        x = lib.ones(4)
        with pytest.raises(RuntimeError, match="memory location"):
            lib.cat([x[:2], x[2:]], out=x)


@pytest.mark.parametrize("rows", [2, 300])
def test_slopes_of_outputs_that_log_softmax_never_gives(rows):
    """Whoever calls the op itself may give numbers above 0."""

    def slope(t):
        output = t.linspace(-90, 80, rows * 128).reshape(rows, 128)
        grad = t.linspace(-1, 2, rows * 128).reshape(rows, 128)
        return t.ops.aten._log_softmax_backward_data(grad, output, 1, t.float32)

    for _ in range(4):
        np.testing.assert_allclose(slope(mt).numpy(), slope(torch).numpy(), 1e-5, 1e-4)
