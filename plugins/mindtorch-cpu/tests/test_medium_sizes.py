"""Ops of a few thousand elements, which go to kernels and loops that fewer and more do not, beside PyTorch."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-30, 1e30]
DTYPES = ["float32", "float64", "float16", "bfloat16"]
EXACT = {"float32": 1e-6, "float64": 1e-12, "float16": 2e-3, "bfloat16": 2e-2}


pytestmark = pytest.mark.usefixtures("by_kernels")


def pair(shape, dtype, seed=0, special=False):
    a = np.random.default_rng(seed).normal(0, 2, shape).astype("f4")
    if special:
        a.reshape(-1)[:: 7 - seed] = np.resize(SPECIAL, a.reshape(-1)[:: 7 - seed].shape)
    a = torch.from_numpy(a).to(getattr(torch, dtype))
    return a, pt.from_numpy(a.float().numpy().copy()).to(getattr(pt, dtype))


def same(call, *pairs, tolerance):
    for _ in range(3):  # the later ones by kernels
        found = call(torch, *[ours for ours, _ in pairs])
    wanted = call(pt, *[theirs for _, theirs in pairs])
    assert str(found.dtype) == str(wanted.dtype)
    assert found.stride() == wanted.stride()
    np.testing.assert_allclose(
        found.double().numpy(), wanted.double().numpy(), tolerance, tolerance, equal_nan=True
    )


ELEMENTWISE = {
    "add": lambda lib, x, y: x + y,
    "number": lambda lib, x, y: 2 - x,
    "divide": lambda lib, x, y: x / y,
    "relu": lambda lib, x, y: x.relu(),
    "clamp": lambda lib, x, y: x.clamp(-1, 0.5),
    "bounds that cross": lambda lib, x, y: x.clamp(2, -1),
    "low": lambda lib, x, y: x.clamp(min=0),
    "tanh": lambda lib, x, y: x.tanh(),
    "less": lambda lib, x, y: x < y,
    "in place": lambda lib, x, y: x.clone().mul_(y),
    "lerp": lambda lib, x, y: x.lerp(y, 0.25),
    "addcmul": lambda lib, x, y: lib.addcmul(x.abs(), y.abs(), y.abs(), value=0.5),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, dtype):
    x, y = pair((70, 75), dtype, 0, True), pair((70, 75), dtype, 1, True)
    same(ELEMENTWISE[name], x, y, tolerance=EXACT[dtype])


def slopes(lib, name, x):
    """The slope of results that stand for those of the op: what is given is the same in both libraries."""
    return getattr(lib.ops.aten, name)(x.flip(-1), -x.abs() / 64, -1, x.dtype)


ROWS = {
    "softmax": lambda lib, x: x.softmax(-1),
    "log_softmax": lambda lib, x: x.log_softmax(-1),
    "slopes of softmax": lambda lib, x: slopes(lib, "_softmax_backward_data", x),
    "slopes of log_softmax": lambda lib, x: slopes(lib, "_log_softmax_backward_data", x),
    "amax": lambda lib, x: x.amax(-1),
    "max": lambda lib, x: x.max(0)[0],
    "norm": lambda lib, x: x.norm(),
    "norms": lambda lib, x: x.norm(dim=-1, keepdim=True),
    "norms of columns": lambda lib, x: lib.linalg.vector_norm(x, dim=0),
    "norms of both": lambda lib, x: lib.linalg.vector_norm(x, dim=(0, 1)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(70, 75), (400, 90), (9000, 5)], ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_rows(name, shape, dtype):
    tolerance = 1e-5 if dtype == "float32" else EXACT[dtype]
    same(ROWS[name], pair(shape, dtype), tolerance=tolerance)
    if "soft" not in name:
        x = pair(shape, dtype, 0, True)
        same(ROWS[name], (x[0].t(), x[1].t()), tolerance=tolerance)


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("loss", "options"),
    [("mse_loss", {}), ("smooth_l1_loss", {}), ("smooth_l1_loss", {"beta": 0.3}),
     ("smooth_l1_loss", {"beta": 0.0}), ("huber_loss", {"delta": 2}), ("l1_loss", {})],
)  # fmt: skip
def test_losses_and_their_gradients(loss, options, reduction, dtype):
    def run(lib, x, y):
        x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
        found = getattr(lib.nn.functional, loss)(x, y, reduction=reduction, **options)
        found.sum().backward()
        return lib.cat([found.detach().reshape(-1), x.grad.reshape(-1), y.grad.reshape(-1)])

    special = reduction == "none"
    x, y = pair((70, 75), dtype, 0, special), pair((70, 75), dtype, 1, special)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    same(run, x, y, tolerance=tolerance)
    turned = [(ours.t(), theirs.t()) for ours, theirs in (x, y)]
    call = {"reduction": reduction, **options}
    mixed = [turned[0], tuple(t.contiguous() for t in turned[1])]
    for given in (turned, mixed, mixed[::-1]):
        same(
            lambda lib, x, y: getattr(lib.nn.functional, loss)(x, y, **call),
            *given,
            tolerance=tolerance,
        )


@pytest.mark.parametrize(("loss", "option"), [("smooth_l1_loss", "beta"), ("huber_loss", "delta")])
def test_options_of_losses_are_refused_at_their_line(loss, option):
    x, y = pair((70, 75), "float32")
    with pytest.raises(RuntimeError) as theirs:
        getattr(pt.nn.functional, loss)(y, y, **{option: -1.0})
    for given in (x, x.to("meta")):
        with torch.pipeline(), pytest.raises(RuntimeError) as ours:
            getattr(torch.nn.functional, loss)(given, given, **{option: -1.0})
        assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("at", [0, 1, -1])
def test_slices_that_are_gathered(at):
    x = pair((30, 40, 50), "float32")
    line = np.random.default_rng(0).integers(0, 30, 9)
    shape = [1, 1, 1]
    shape[at] = 9
    for sizes in ((30, 40, 50), (30, 20, 50), (7, 8, 9)):
        wanted = list(sizes)
        wanted[at] = 9

        def run(lib, t, wanted=wanted):
            return t.gather(at, lib.from_numpy(line).view(shape).expand(wanted))

        same(run, x, tolerance=0)
        same(run, (x[0].transpose(0, 2).contiguous().transpose(0, 2), x[1]), tolerance=0)
    with pytest.raises(RuntimeError, match="out of bounds"):
        x[0].gather(at, torch.full(shape, 77).expand(wanted))


@pytest.mark.parametrize("repeated", [(8, 1, 40, 50), (8, 30, 40, 1)])
def test_repeated_positions(repeated):
    x = pair((8, 30, 40, 50), "float32")
    at = np.random.default_rng(0).integers(0, 40, repeated)

    def gathered(lib, t):
        return t.gather(2, lib.from_numpy(at).expand(8, 30, 40, 50))

    def added(lib, t):
        return t.scatter_add(2, lib.from_numpy(at).expand(8, 30, 40, 50), t)

    same(gathered, x, tolerance=0)
    same(added, x, tolerance=1e-5)
    with pytest.raises(RuntimeError, match="out of bounds"):
        x[0].gather(2, torch.full(repeated, 77).expand(8, 30, 40, 50))
