"""Activations in place, in pipelines and on unusual layouts; what wrong arguments raise."""

import subprocess
import sys

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F

pt = pytest.importorskip("torch")

INPLACE = """
    relu relu6 leaky_relu hardtanh elu celu selu silu mish hardswish hardsigmoid
"""
OTHERS = "gelu softplus logsigmoid softsign tanhshrink softshrink hardshrink glu"


def values(shape=(30, 40)):
    return pt.randn(shape, generator=pt.Generator().manual_seed(1)) * 3


def both(run, x):
    """Result and gradient here, and in PyTorch."""
    found = []
    ours = torch.from_numpy(x.numpy().copy()).requires_grad_()
    theirs = x.clone().requires_grad_()
    for lib, leaf in ((torch, ours), (pt, theirs)):
        y = run(lib.nn.functional, leaf)
        (y * y).sum().backward()
        found.append((y.detach().numpy(), leaf.grad.numpy()))
    return found


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", INPLACE.split())
def test_gradients(name, inplace):
    (y, g), (want_y, want_g) = both(
        lambda lib, x: getattr(lib, name)(x * 1.5 + 0.1, inplace=inplace), values()
    )
    pt.testing.assert_close(pt.tensor(y), pt.tensor(want_y), rtol=2e-5, atol=1e-6)
    pt.testing.assert_close(pt.tensor(g), pt.tensor(want_g), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", INPLACE.split() + OTHERS.split())
@pytest.mark.parametrize("shape", [(0, 4), (2,), (300, 400)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_layouts_and_sizes(name, shape, dtype):
    x = values(shape).to(getattr(pt, dtype))
    ours = torch.from_numpy(x.float().numpy()).to(getattr(torch, dtype))
    if len(shape) > 1:
        x, ours = x.t(), ours.t()
    if name == "glu":
        x, ours = x.t(), ours.t()
    expected = getattr(pt.nn.functional, name)(x)
    actual = getattr(F, name)(ours)
    if actual.numel() and name != "logsigmoid":  # PyTorch's is row-major in any case
        assert actual.stride() == expected.stride()
    assert str(actual.dtype) == str(expected.dtype)
    pt.testing.assert_close(pt.from_numpy(actual.float().numpy()).to(expected.dtype), expected)


def test_a_pipeline_gives_what_eager_calls_give():
    x = torch.from_numpy(values((200, 300)).numpy())

    def program(a):
        h = F.silu(a) * torch.special.expit(a) + F.gelu(a)
        h = torch.addcmul(h, a, a, value=0.1)
        return F.leaky_relu_(torch.lgamma(torch.hypot(h, a) + 1) - 1)

    with torch.pipeline():
        deferred = program(x)
    torch.testing.assert_close(deferred, program(x), rtol=1e-6, atol=1e-6)


def test_shifts_are_operators_before_any_other_op_is_used():
    program = (
        "import mindtorch_core as t; x = t.tensor([5, 6]); x <<= 1; "
        "print(x.tolist(), (x >> 2).tolist(), (3 << t.tensor([1])).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[10, 12] [2, 3] [6]", "")


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: torch.hypot(torch.tensor([1]), torch.tensor([2])), NotImplementedError, "'Long'"),
        (lambda: torch.tensor([1]) << 1.5, NotImplementedError, "'Float'"),
        (
            lambda: torch.heaviside(torch.ones(1), torch.tensor([1])),
            RuntimeError,
            r"x\.to\(dtype\)",
        ),
        (lambda: torch.polygamma(-1, torch.ones(1)), RuntimeError, "got -1"),
        (lambda: torch.mvlgamma(torch.ones(1), 0), RuntimeError, "got 0"),
        (lambda: torch.complex(torch.ones(1), torch.ones(1).double()), RuntimeError, "Double"),
        (lambda: torch.frexp(torch.tensor([1])), RuntimeError, r"x\.float\(\)"),
        (lambda: torch.ones(1).float_power_(2), RuntimeError, "requires dtype Double"),
        (lambda: torch.lerp(torch.ones(1), torch.ones(1).double(), 0.5), RuntimeError, "`end`"),
        (
            lambda: torch.addcdiv(*[torch.tensor([1])] * 3),
            RuntimeError,
            "does not divide integers by integers",
        ),
        (lambda: F.glu(torch.ones(3)), RuntimeError, "must be even"),
        (lambda: F.prelu(torch.ones(2, 4), torch.ones(3)), RuntimeError, "channel size = 4"),
        (lambda: F.hardtanh(torch.ones(1), 1, -1), ValueError, "got 1 and -1"),
        (lambda: F.softshrink(torch.ones(1), -1.0), RuntimeError, "found to be -1.0"),
        (lambda: F.gelu(torch.ones(1), approximate="x"), RuntimeError, "got 'x'"),
    ],
)
def test_wrong_arguments(run, error, text):
    with pytest.raises(error, match=text):
        run()
