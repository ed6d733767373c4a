"""Compiled loops over positions give NumPy's bits, and the errors that there are without them."""

import ast
import inspect
from collections import Counter

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.many_columns import sums_of_groups, tops
from mindtorch_cpu.native import compiler, walks
from mindtorch_cpu.native.kernels import KERNELS, made_from
from mindtorch_cpu.native.walks import WALKS, Walk

MODES = ("now", "off")
SHAPES = [(40_000,), (300, 130), (20, 30, 70), (7, 5001)]


@pytest.fixture
def both(monkeypatch):
    """Gives a function's results with compiled loops and without, as bytes."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)

    def run(function):
        found = []
        for mode in MODES:
            monkeypatch.setattr(KERNELS, "mode", mode)
            found.append([(t.dtype, t.shape, t.numpy().tobytes()) for t in function()])
        assert KERNELS.broken is None
        return found

    return run


def numbers(shape, code, seed=0):
    drawn = np.random.default_rng(seed).normal(0, 9, shape).astype(code)
    if code[0] == "f":
        drawn.reshape(-1)[::97] = -0.0
        drawn.reshape(-1)[5::1013] = np.inf
    return torch.from_numpy(drawn)


def positions(shape, size, seed=3):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, size, shape))


def test_a_kept_loop_is_told_from_those_of_other_versions():
    imported = {
        node.module
        for node in ast.walk(ast.parse(inspect.getsource(walks)))
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
    }
    assert imported <= {*compiler._WRITERS}


@pytest.mark.parametrize("name", WALKS)
def test_every_loop_is_compiled_and_agrees_with_numpy(name):
    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    for code in WALKS[name].codes:
        try:
            made = made_from(Walk(name, code))
        except RuntimeError as error:
            if WALKS[name].optional and "adds in another order" in str(error):
                pytest.skip(str(error))
            raise
        assert made.program == Walk(name, code)


@pytest.mark.parametrize("code", ["f4", "f8", "i8", "i4", "i2", "i1"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_picking_and_adding_along_each_dimension(both, shape, code):
    x, v = numbers(shape, code), numbers(shape, code, 1)
    for dim, size in enumerate(shape):
        i = positions(shape, size)
        found, wanted = both(lambda: [x.gather(dim, i), x.scatter_add(dim, i, v)])
        assert found == wanted
    few = positions((3, *shape[1:]), shape[0])
    found, wanted = both(lambda: [x.gather(0, few), x.gather(-1, i[..., ::2])])
    assert found == wanted


@pytest.mark.parametrize("d", ["float16", "bfloat16", "float32", "float64", "int64", "int32"])
def test_running_totals(both, d):
    for shape in (*SHAPES, (9, 4001), (33_000, 1), (1, 33_000), (5, 1, 9000), (30, 200, 3)):
        x = numbers(shape, "f4").to(getattr(torch, d))
        if x.is_floating_point():
            x.reshape(-1)[:300] = -0.0
        turned = x.movedim(0, -1)

        def run():
            y = x / 9
            sums = [t.cumsum(dim) for t in (x, turned) for dim in range(x.ndim)]
            return [*sums, *(y.cumprod(dim) for dim in range(x.ndim)), x[..., :0].cumsum(0)]

        found, wanted = both(run)
        assert found == wanted
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert {"cumsum_in_single" if "16" in d else "cumsum"} <= made


@pytest.mark.parametrize("count", [2, 4])
def test_running_totals_in_threads(both, count):
    threads, x = torch.get_num_threads(), numbers((700, 431), "f4")
    y = x.reshape(70, 10, 431)
    found = both(lambda: [x.cumsum(0), x.cumsum(1), y.cumsum(1)])[0]
    try:
        torch.set_num_threads(count)
        assert both(lambda: [x.cumsum(0), x.cumsum(1), y.cumsum(1)])[0] == found
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("code", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(900, 527), (3, 200_001), (40, 7, 2048), (290_000,)], ids=str)
def test_sums_of_rows_and_of_all(both, shape, code):
    x = numbers(shape, code)
    y = x.nan_to_num(0, 1, -1)

    def run():
        with torch.pipeline():
            deferred = [y.sum(), y.sum(-1)]
        part = y[..., 1:]
        return [x.sum(-1), y.sum(), y.mean(-1), part.sum(-1), part.sum(), y.var(-1), *deferred]

    compiled, plain = both(run)
    assert compiled == plain
    assert compiled[1] == compiled[-2]


@pytest.mark.parametrize("code", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(900, 527), (66, 1025), (70_001, 3), (5, 200, 130)], ids=str)
def test_sums_of_columns(both, shape, code):
    x = numbers(shape, code)

    def run():
        with torch.pipeline():
            deferred = x.sum(0)
        found = [
            deferred,
            x.sum(0),
            x.mean(0),
            x.sum(0, keepdim=True),
            x[1:].sum(0),
            x[:, 1:].sum(0),
        ]
        return [*found, x.sum(1), x.sum((0, 1)), x.nan_to_num(0, 1, -1).var(0)]

    compiled, plain = both(run)
    assert compiled == plain
    assert compiled[0] == compiled[1]
    assert Walk("group_sums", code) in [kernel.program for kernel in KERNELS.kernels()]


@pytest.mark.parametrize("code", ["f4", "f8"])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((4, 128, 256), 1), ((5, 200, 130), 1), ((100, 3000), 0), ((64, 20_000), 0), ((9, 4001, 3), 1)],
)  # fmt: skip
def test_softmax_along_dimensions_that_are_not_the_last(both, shape, dim, code):
    x, g = (
        torch.from_numpy(np.random.default_rng(s).normal(0, 3, shape).astype(code)) for s in (1, 2)
    )
    odd = x.clone()
    odd.select(dim, 3)[..., 2], odd.select(dim, 4)[..., 1] = np.nan, -np.inf

    def run():
        found = []
        for function in (F.softmax, F.log_softmax):
            w = x.clone().requires_grad_()
            y = function(w, dim)
            y.backward(g)
            found += [y.detach(), w.grad, function(odd, dim)]
        return found

    compiled, plain = both(run)
    assert compiled == plain
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert {"group_tops", "group_dots"} <= made
    wide = x.double()
    exact = torch.exp(wide - wide.logsumexp(dim, keepdim=True))
    slope = exact * (g - (g * exact).sum(dim, keepdim=True))
    y, grad = (torch.from_numpy(np.frombuffer(b, code).reshape(s)) for _, s, b in compiled[:2])
    torch.testing.assert_close(y.double(), exact, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(grad.double(), slope, rtol=1e-4, atol=1e-5)


def test_columns_of_arrays_that_lie_anyhow(monkeypatch):
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    given = np.random.default_rng(0).normal(0, 3, (3, 200, 130)).astype("f4")
    turned = np.ascontiguousarray(given.swapaxes(0, 1)).swapaxes(0, 1)
    for x, y in (
        (given, given[::-1].copy()),
        (given, turned),
        (given[:, ::2], given[:, 1::2]),
        (given[:, ::-1], given),
        (given[:, :, ::2], given[:, :, 1::2]),
        (given.swapaxes(1, 2), given.swapaxes(1, 2)),
        (given[:, :, :1], given[:, :, 1:2]),
        (given.reshape(3, -1, 1), given.reshape(3, -1, 1)),
        (given.astype("f2"), given.astype("f2")),
    ):
        n = x.shape[1]
        for other in (None, y):
            each = x if other is None else x * other
            found = sums_of_groups(x, 2, n // 2, other)
            wanted = np.add.reduce(each[:, : n // 2 * 2].reshape(3, 2, n // 2, -1), 2)
            assert found.shape == wanted.shape
            assert np.array_equal(found, wanted)
        assert np.array_equal(tops(x), x.max(1, keepdims=True))


def test_sums_whose_order_no_loop_knows_are_numpys(both, monkeypatch):
    row = WALKS["row_sums"]._replace(case=lambda d, random: another_order(d))
    monkeypatch.setitem(WALKS, "row_sums", row)
    monkeypatch.setattr(KERNELS, "_kernels", {})
    monkeypatch.setattr(KERNELS, "failures", Counter())
    x = numbers((900, 1000), "f4")
    compiled, plain = both(lambda: [x.sum(-1)])
    assert compiled == plain
    assert list(KERNELS.failures) == ["RuntimeError: row_sums of f4: NumPy adds in another order"]


def another_order(d):
    """A case in which sums are made from behind."""
    given = np.random.default_rng(0).normal(0, 9, (40, 300)).astype(d)
    out = np.zeros(40, d)
    return (out, given, 1, 40, 300, 0, 300), out, np.add.accumulate(given[:, ::-1], 1)[:, -1]


@pytest.mark.parametrize("code", ["f4", "f8"])
def test_rows_of_words_and_of_windows(both, code):
    table, g = numbers((500, 64), code), numbers((40, 50, 64), code, 1)
    i, images = positions((40, 50), 500), numbers((4, 8, 64, 64), code, 2)

    def run():
        x = images.clone().requires_grad_()
        y = F.max_pool2d(x, 3, 2, 1)
        y.backward(torch.full_like(y, 0.3))
        aten = torch.ops.aten
        return [
            aten.embedding_dense_backward(g, i, 500, 3, False), x.grad,
            table.index_add(0, i.reshape(-1), g.reshape(-1, 64)),
            table.index_put((i - 500,), g, accumulate=True),
        ]  # fmt: skip

    found, wanted = both(run)
    assert found == wanted


@pytest.mark.parametrize("bad", [200, -1, 1 << 40, -(1 << 63)])
@pytest.mark.parametrize("mode", MODES)
def test_positions_out_of_range_are_the_same_error_and_nothing_is_written(monkeypatch, mode, bad):
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", mode)
    x, g = numbers((300, 200), "f4"), torch.ones(300, 200)
    before = x.clone()
    i = torch.zeros(300, 200, dtype=torch.int64)
    i[299, 199] = bad
    text = f"index {bad} is out of bounds for dimension 1 with size 200"
    with pytest.raises(RuntimeError, match=rf"gather\(\): {text}"):
        x.gather(1, i)
    with pytest.raises(RuntimeError, match=rf"scatter_add\(\): {text}"):
        x.scatter_add_(1, i, g)
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
        torch.ops.aten.embedding_dense_backward(torch.ones(300, 200, 8), i, 200, -1, False)
    assert torch.equal(x, before)


def test_what_is_added_to_itself_is_read_before(both):
    def run():
        x = numbers((300, 200), "f4").nan_to_num(0, 1, -1)
        x.scatter_add_(1, positions((300, 200), 200), x)
        return [x]

    found, wanted = both(run)
    assert found == wanted


@pytest.mark.parametrize("code", ["f4", "f8"])
@pytest.mark.parametrize("before", [0, 1, 623, 624, 1300])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_ones_that_are_drawn_are_pytorchs_and_leave_its_position(both, code, before, p):
    pt = pytest.importorskip("torch")

    def draw(torch):
        d = torch.float32 if code == "f4" else torch.float64
        torch.manual_seed(7)
        if before:
            torch.rand(before)
        made = [torch.empty(n, dtype=d).bernoulli_(p) for n in (32_768, 40_001)]
        return *made, torch.get_rng_state(), torch.rand(9)

    compiled, plain = both(lambda: draw(torch))
    assert compiled == plain
    assert [data for _, _, data in compiled] == [t.numpy().tobytes() for t in draw(pt)]


def test_drawing_many_ones_is_compiled(both, monkeypatch):
    monkeypatch.setattr(KERNELS, "_kernels", {})
    both(lambda: [torch.nn.functional.dropout(torch.ones(1 << 15))])
    assert Walk("kept", "f4") in KERNELS._kernels
