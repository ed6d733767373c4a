from typing import Any, NamedTuple

import pytest
from calling import InOut, Out, close, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes

functional = torch.nn.functional
aten = torch.ops.aten


class Row(NamedTuple):
    """An activation: numbers after the tensor, PyTorch's function of tensor and numbers, dtypes."""

    name: str
    oracle: Any
    numbers: tuple[Any, ...] = ()
    dtypes: str = "FLT3"
    inplace: str = ""  # dtypes of aclnnInplace<name>


ROWS = [
    Row("Relu", torch.relu, (), "FLT3 i8 i32 i64", "FLT3 i8 i32 i64 u8"),
    Row("LeakyRelu", functional.leaky_relu, (0.1,), "FLT3", "FLT4"),
    Row("Sigmoid", torch.sigmoid, (), "FLT3", "FLTC6"),
    Row("LogSigmoid", functional.logsigmoid),
    Row("Silu", functional.silu),
    Row("Gelu", functional.gelu),
    Row("FastGelu", lambda x: x * torch.sigmoid(1.702 * x)),
    Row("Swish", lambda x, beta: x * torch.sigmoid(beta * x), (0.7,)),
    Row("Swish", lambda x, _: functional.silu(x), (None,)),
    Row("Mish", functional.mish, (), "FLT3", "FLT3"),
    Row("Softplus", functional.softplus, (1.0, 20.0)),
    Row("Softplus", functional.softplus, (2.0, 1.5)),
    Row("Elu", lambda x, a, s, i: aten.elu(x, a, s, i), (0.7, 1.5, 2.0), "FLT3", "FLT4"),
    Row("Celu", functional.celu, (0.7,), "FLT3", "FLT3"),
    Row("Selu", functional.selu, (), "FLT3", "FLT3"),
    Row("Hardsigmoid", functional.hardsigmoid, (), "FLT3", "FLT3"),
    Row("Hardswish", functional.hardswish, (), "FLT3", "FLT3"),
    Row("Hardshrink", functional.hardshrink, (0.5,)),
    Row("Softshrink", functional.softshrink, (0.5,)),
    Row("GeluV2", lambda x, _: functional.gelu(x), (0,)),
    Row("GeluV2", lambda x, _: functional.gelu(x, approximate="tanh"), (1,)),
]


def finite(x: Any) -> Any:
    """Without infinities: x * sigmoid(x) of them is NaN here and not everywhere."""
    return torch.where(torch.isinf(x), 5.0 * torch.sign(x), x) if x.dtype.is_floating_point else x


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}{row.numbers}")
def test_forward(row: Row) -> None:
    for dtype in dtypes(row.dtypes):
        for shape in [(3, 7), (), (0, 3)]:
            x = finite(sample(dtype, shape))
            expected = row.oracle(widened(x), *row.numbers)
            with case(dtype, shape):
                check(row.name, [x, *row.numbers, Out(dtype, shape)], expected, factor=8.0)
    for dtype in dtypes(row.inplace):
        x = finite(sample(dtype))
        with case(dtype):
            expected = row.oracle(widened(x), *row.numbers)
            check("Inplace" + row.name, [InOut(x), *row.numbers], expected, factor=8.0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}{row.numbers}")
def test_forward_refusals(row: Row) -> None:
    allowed = dtypes(row.dtypes) + {"Selu": ["i8", "i32"], "Hardsigmoid": ["i32"]}.get(row.name, [])
    check_refusals(row.name, [sample("f32"), *row.numbers, Out("f32", (3, 7))], [allowed] * 2)
    assert refused(row.name, sample("f32"), *row.numbers, Out("f32", (7, 3))) == CODES.INVALID


def test_values_far_out_do_not_overflow() -> None:
    x = torch.tensor([-1e4, -100.0, 100.0, 1e4])
    out = Out("f32", (4,))
    assert run("Sigmoid", x, out).tolist() == [0.0, pytest.approx(0, abs=1e-40), 1.0, 1.0]
    assert run("LogSigmoid", x, out).tolist() == pytest.approx([-1e4, -100.0, 0.0, 0.0])
    assert run("Softplus", x, 1.0, 2e4, out).tolist() == pytest.approx([0.0, 0.0, 100.0, 1e4])
    assert run("Relu", torch.tensor([float("nan"), -float("inf")]), Out("f32", (2,)))[1] == 0


def test_log_sigmoid_with_its_buffer() -> None:
    x, grad = finite(sample("f16")), sample("f16", seed=1)
    out, buffer = run("LogSigmoidForward", x, Out("f16", x.shape), Out("f16", (0,)))
    close(out, functional.logsigmoid(widened(x)))
    gradient = Out("f16", x.shape)
    expected = widened(grad) * torch.sigmoid(-widened(x))
    close(run("LogSigmoidBackward", grad, x, buffer, gradient), expected)


# ---- gradients -----------------------------------------------------------------------------------


class Gradient(NamedTuple):
    """A gradient: PyTorch's function of (gradOutput, other tensor), and the rest of the arguments."""

    name: str
    oracle: Any
    numbers: tuple[Any, ...] = ()
    dtypes: str = "FLT3"
    positive: bool = False  # whether the other tensor is a result in (0, 1)


def slope(function: Any) -> Any:
    """The gradient of a function, by PyTorch's autograd."""

    def gradient(grad: Any, x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf, grad)[0]

    return gradient


GRADIENTS = [
    Gradient("SigmoidBackward", aten.sigmoid_backward, (), "FLT4", positive=True),
    Gradient("TanhBackward", aten.tanh_backward, (), "FLT4", positive=True),
    Gradient("SiluBackward", aten.silu_backward),
    Gradient("GeluBackward", aten.gelu_backward),
    Gradient("FastGeluBackward", slope(lambda x: x * torch.sigmoid(1.702 * x))),
    Gradient("MishBackward", aten.mish_backward),
    Gradient(
        "SeluBackward",
        lambda g, y: aten.elu_backward(g, 1.6732632423543772, 1.0507009873554805, 1.0, True, y),
    ),
    Gradient("HardsigmoidBackward", aten.hardsigmoid_backward),
    Gradient("HardswishBackward", aten.hardswish_backward),
    Gradient("HardswishBackwardV2", aten.hardswish_backward),
    Gradient("SwishBackward", slope(lambda x: x * torch.sigmoid(0.7 * x)), (0.7,)),
    Gradient("SwishBackward", aten.silu_backward, (None,)),
    Gradient("GeluBackwardV2", aten.gelu_backward, ("none",)),
    Gradient(
        "GeluBackwardV2", lambda g, x: aten.gelu_backward(g, x, approximate="tanh"), ("tanh",)
    ),
    Gradient(
        "LeakyReluBackward",
        lambda g, x: aten.leaky_relu_backward(g, x, 0.1, False),
        (0.1, False),
        "FLT4",
    ),
    Gradient("SoftplusBackward", lambda g, x: aten.softplus_backward(g, x, 2, 1), (2.0, 1), "FLT4"),
    Gradient("HardtanhBackward", lambda g, x: aten.hardtanh_backward(g, x, -1, 2), (-1.0, 2.0)),
    Gradient("HardshrinkBackward", lambda g, x: aten.hardshrink_backward(g, x, 0.5), (0.5,)),
    Gradient("SoftshrinkBackward", lambda g, x: aten.softshrink_backward(g, x, 0.5), (0.5,)),
    Gradient(
        "ThresholdBackward",
        lambda g, x: aten.threshold_backward(g, x, 0),
        (0,),
        "FLT3 i8 i32 i64 u8",
    ),
]


@pytest.mark.parametrize("row", GRADIENTS, ids=lambda row: f"{row.name}{row.numbers}")
def test_backward(row: Gradient) -> None:
    for dtype in dtypes(row.dtypes):
        grad, x = sample(dtype, seed=1, special=False), finite(sample(dtype))
        if row.positive:
            x = torch.sigmoid(sample(dtype, special=False).float()).to(x.dtype)
        with case(dtype):
            expected = row.oracle(widened(grad), widened(x))
            arguments = [grad, x, *row.numbers, Out(dtype, x.shape)]
            check(row.name, arguments, expected, factor=8.0)
    empty = torch.zeros(0, 2)
    assert run(row.name, empty, empty, *row.numbers, Out("f32", (0, 2))).numel() == 0


@pytest.mark.parametrize("row", GRADIENTS, ids=lambda row: f"{row.name}{row.numbers}")
def test_backward_refusals(row: Gradient) -> None:
    f = sample("f32")
    sets: list[list[str] | None] = [dtypes(row.dtypes)] * 3
    if row.name == "SigmoidBackward":
        sets = [dtypes("FLTC6"), dtypes("FLTC6"), dtypes("FLTC6")]
    if row.name == "SeluBackward":
        sets = [dtypes("FLT3 i8 i32")] * 3
    if row.name == "SoftplusBackward":
        sets = [dtypes("FLT4"), dtypes("REAL10"), dtypes("FLT4")]
    check_refusals(row.name, [f, f, *row.numbers, Out("f32", f.shape)], sets)


@pytest.mark.parametrize("is_result", [False, True])
def test_elu_backward(is_result: bool) -> None:
    for dtype in dtypes("FLT3"):
        grad, x = sample(dtype, seed=1, special=False), finite(sample(dtype))
        expected = aten.elu_backward(widened(grad), 0.7, 1.5, 2.0, is_result, widened(x))
        arguments = [grad, 0.7, 1.5, 2.0, is_result, x, Out(dtype, x.shape)]
        check("EluBackward", arguments, expected, factor=4.0)
    arguments[1] = -0.7
    assert refused("EluBackward", *arguments) == (CODES.INVALID if is_result else 0)


def test_parameters_are_checked() -> None:
    x, out = sample("f32"), Out("f32", (3, 7))
    assert refused("GeluV2", x, 2, out) == CODES.INVALID
    assert refused("GeluBackwardV2", x, x, "exact", out) == CODES.INVALID
    assert refused("GeluBackwardV2", x, x, None, out) == CODES.NULLPTR
    assert refused("Celu", x, 0.0, out) == CODES.INVALID
    assert refused("Softplus", x, 0.0, 20.0, out) == CODES.INVALID
    assert refused("Softshrink", x, -1.0, out) == CODES.INVALID
    assert refused("LeakyRelu", x, None, out) == CODES.NULLPTR
    assert refused("LeakyReluBackward", x, x, -0.1, True, out) == CODES.INVALID
    assert refused("LeakyReluBackward", x, x, -0.1, False, out) == 0


# ---- slopes that are learnt, and gates -----------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (3,), ()])
def test_prelu(shape: tuple[int, ...]) -> None:
    for dtype in dtypes("FLT3"):
        for weight in [torch.tensor([0.25]), torch.tensor([0.5, -1.0, 2.0])]:
            if len(weight) == 3 and len(shape) < 2:
                continue
            x, w = finite(sample(dtype, shape, special=False)), weight.to(sample(dtype).dtype)
            grad = sample(dtype, shape, 1, special=False)
            leaf, slopes = widened(x).requires_grad_(), widened(w).requires_grad_()
            y = torch.prelu(leaf, slopes)
            check("Prelu", [x, w, Out(dtype, shape)], y.detach(), factor=4.0)
            gradients = torch.autograd.grad(y, (leaf, slopes), widened(grad))
            arguments = [grad, x, w, Out(dtype, shape), Out(dtype, w.shape)]
            check("PreluBackward", arguments, *gradients, factor=16.0)
    wrong = torch.zeros(7, dtype=w.dtype)
    assert refused("Prelu", x, wrong, Out(dtype, shape)) == CODES.INVALID


@pytest.mark.parametrize(
    ("name", "oracle", "allowed"),
    [
        ("Glu", functional.glu, "FLT4"),
        ("SwiGlu", lambda x, d: functional.silu(x.chunk(2, d)[0]) * x.chunk(2, d)[1], "FLT3"),
    ],
)
@pytest.mark.parametrize("dim", [0, -1])
def test_gates(name: str, oracle: Any, allowed: str, dim: int) -> None:
    for dtype in dtypes(allowed):
        x = sample(dtype, (4, 6), special=False)
        leaf = widened(x).requires_grad_()
        y = oracle(leaf, dim)
        grad = sample(dtype, y.shape, 1, special=False)
        gradient = torch.autograd.grad(y, leaf, widened(grad))[0]
        forward, backward = [x, dim, Out(dtype, y.shape)], [grad, x, dim, Out(dtype, x.shape)]
        if name == "Glu":
            check(name, forward, y.detach(), factor=4.0)
            check("GluBackward", backward, gradient, factor=4.0)
        else:  # these take and give contiguous tensors
            close(run(name, *forward), y.detach(), 4.0)
            close(run("SwiGluGrad", *backward), gradient, 4.0)
            assert refused(name, x, dim, Out(dtype, y.shape, strided=True)) == CODES.INVALID
    odd = torch.zeros(3, 5)
    assert refused(name, odd, dim, Out("f32", (3, 5))) == CODES.INVALID
