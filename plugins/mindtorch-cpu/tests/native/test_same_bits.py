"""Powers and reductions have the same bits: eager and in pipelines, in tiles and by kernels, however operands lie."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.program import Graph, Node, Program
from mindtorch_cpu.native.reference import probes, same

LAYOUTS = {
    "whole": lambda x: x,
    "turned": lambda x: x.mT.contiguous().mT,
    "steps": lambda x: x.repeat_interleave(2, -1)[..., ::2],
    "a row": lambda x: x[..., :1, :].expand(x.shape),
    "a column": lambda x: x[..., :1].expand(x.shape),
    "a number": lambda x: x[..., :1, :1].expand(x.shape),
}


@pytest.fixture
def ways(monkeypatch):
    """Computes a function in each way, and compares with the eager call without kernels."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)

    def compare(function):
        KERNELS.mode = "off"
        wanted = function()
        with torch.pipeline():
            in_tiles = function()
        KERNELS.mode = "now"
        eager, bound = function(), function()
        with torch.pipeline():
            compiled = function()
        for how, found in {
            "in tiles": in_tiles, "eager": eager, "again": bound, "compiled": compiled,
        }.items():  # fmt: skip
            assert found.stride() == wanted.stride(), how
            assert same(found.numpy(), wanted.numpy()), how
        assert KERNELS.broken is None
        return wanted

    return compare


def drawn(d, *shape, seed=1):
    code = {torch.float32: "f4", torch.float64: "f8", torch.int32: "i4"}[d]
    return torch.from_numpy(probes(code, seed, int(np.prod(shape))).reshape(shape))


@pytest.mark.parametrize("d", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("exponent", [0.5, -0.5, 2, 3, 4, 7, -1, -2, -3, 2.5])
def test_powers_by_a_number(exponent, d, ways):
    x = drawn(d, 50_000)
    ways(lambda: x**exponent)
    x = drawn(d, 300, 500)
    ways(lambda: (x**exponent).abs() - x)
    assert same((x[:7, :9] ** exponent).numpy(), (x**exponent)[:7, :9].numpy())


@pytest.mark.parametrize("d", [torch.float32, torch.float64, torch.int32], ids=str)
@pytest.mark.parametrize("base", ["whole", "turned"])
@pytest.mark.parametrize("exponent", LAYOUTS)
def test_powers_by_tensors_of_exponents(base, exponent, d, ways):
    some = torch.tensor([2.0, 0.5, -1.0, 3.0, 1.0, 0.0, 2.0])
    x = LAYOUTS[base](drawn(d, 300, 490))
    y = some.repeat(2100).reshape(30, 490).repeat(10, 1)
    y = LAYOUTS[exponent](y.mT.reshape(300, 490) if exponent == "a column" else y)
    ways(lambda: torch.float_power(x, y).abs() - 1)
    if d != torch.int32:
        y = y.to(d)
        ways(lambda: (x**y).abs() - 1)
        ways(lambda: x ** (y * 1) * 2)
        # An element's power does not depend on its neighbours.
        found = x**y
        for i, j in ((0, 0), (3, 1), (299, 489)):
            alone = x[i].contiguous()[j : j + 2] ** y[i].contiguous()[j : j + 2]
            assert same(alone.numpy(), found[i, j : j + 2].numpy())


REDUCED = {
    "rows": lambda z: z.sum(-1),
    "means": lambda z: z.mean(-1),
    "parts of rows": lambda z: z / z.sum(-1, keepdim=True),
    "below maxima": lambda z: z - z.amax(-1, keepdim=True),
    "all": lambda z: z.sum(),
    "mean of all": lambda z: z.mean(),
    "maximum": lambda z: z.amax(),
    "rows and all": lambda z: (z.sum(-1, keepdim=True) + z).sum(),
    "all, then rows": lambda z: z.sum() + (z * 2).amax(-1),
    "in double": lambda z: z.sum(dtype=torch.float64),
}
SHAPES = [(7, 30000), (3, 140_000), (64, 3, 1000), (2500, 60)]


@pytest.mark.parametrize("reduced", REDUCED)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_of_all_layouts(shape, reduced, ways):
    torch.manual_seed(0)
    for first, second in (("whole", "a column"), ("turned", "turned"), ("turned", "whole")):
        x = LAYOUTS[first](torch.randn(shape))
        y = LAYOUTS[second](torch.randn(shape))
        ways(lambda x=x, y=y: REDUCED[reduced]((x - y).square() * 1.5 + 1e-3))


@pytest.mark.parametrize("d", [torch.float16, torch.bfloat16], ids=str)
def test_sums_of_halves_are_rounded_once(d):
    x = torch.full((4, 100_000), 0.1).to(d)  # a tile's sum would be rounded to 8 or 11 bits
    with torch.pipeline():
        found = (x * 1).sum(), (x * 1).mean(), (x * 1).sum(dtype=torch.float32)
    wanted = (x * 1).sum(), (x * 1).mean(), (x * 1).sum(dtype=torch.float32)
    assert [t.item() for t in found] == [t.item() for t in wanted]


@pytest.mark.parametrize("code", ["i1", "i8", "u1", "b1", "f4", "bf"])
def test_a_kernel_of_one_number_for_a_row_is_checked_and_used(code):
    from mindtorch_cpu.native.kernels import made_from

    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    op = "logical_and" if code == "b1" else "add"
    graph = Graph((code, code), (), (Node(op, code, (0, 1)),), ((2, 2),))
    assert made_from(Program(graph, ("dense", "single", "dense"), 0)) is not None


def test_what_is_one_number_for_a_row_fills_a_row(ways):
    x = torch.randn(2000, 200)
    left, right = torch.randn(2000, 1).expand(x.shape), torch.randn(2000, 1).expand(x.shape)
    KERNELS.mode = "now"
    with torch.pipeline() as pipe:
        quotients, sums = left / right, x.sum(-1, keepdim=True)
    assert pipe.stats()["group_notes"] == {"compiled": 1}
    assert KERNELS.broken is None
    assert torch.equal(quotients, left / right)
    assert torch.equal(sums, x.sum(-1, keepdim=True))


@pytest.mark.parametrize("d", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("sizes", [(8, 13, 40, 48), (3, 5, 4, 33), (300, 3, 8, 128)], ids=str)
@pytest.mark.parametrize(("kind", "bias"), [("LSTM", True), ("GRU", True), ("GRU", False)])
def test_steps_of_recurrent_layers(kind, bias, sizes, d, monkeypatch):
    """Kernels do all of a step but its product."""
    pytest.importorskip("mindtorch_nn")
    batch, steps, width, hidden = sizes
    torch.manual_seed(0)
    options = {"bias": bias, "batch_first": True, "bidirectional": True, "dtype": d}
    layer = getattr(torch.nn, kind)(width, hidden, 2, **options)
    x = torch.randn(batch, steps, width, dtype=d).requires_grad_()

    def bits():
        out, states = layer(x)
        h, *cells = states if kind == "LSTM" else (states,)
        loss = out.sin().sum() + sum(c.sum() for c in cells) + h.square().sum()
        grads = torch.autograd.grad(loss, [x, *layer.parameters()])
        with torch.no_grad():
            untracked = layer(x)[0]
        return [t.detach().numpy().tobytes() for t in (out, h, *cells, untracked, *grads)]

    monkeypatch.setattr(KERNELS, "mode", "off")
    wanted = bits()
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    assert bits() == bits() == wanted
    assert KERNELS.broken is None
    keys = {str(key[0]) for key in CALLS}
    assert sum(f"{kind.lower()} step" in key for key in keys) == 3, keys
