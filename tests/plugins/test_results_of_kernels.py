"""A backend's kernel that gives something else than the op promises is refused in its first call."""

import inspect
from functools import partial

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback

LATER = {
    "shape": (lambda t: t.new_zeros((*t.shape, 2)), r"returned \[2, 3, 2\] torch.float32"),
    "dtype": (lambda t: t.double(), r"returned \[2, 3\] torch.float64"),
    "device": (lambda t: t.cpu(), "returned a tensor on cpu"),
    "another device": (lambda t: t.to("toy:1"), "returned a tensor on toy:1"),
    "a number": (lambda t: 3.0, "returned one float"),
    "None": (lambda t: None, "returned None"),
}
PARTS = {
    "too many": (lambda r: (*r, r[0]), r"returned a tuple of \d where the schema says \d values"),
    "too few": (lambda r: r[:-1], r"returned a tuple of \d where the schema says \d values"),
    "nothing": (lambda r: None, r"returned None where the schema says \d values"),
}
ONE = {
    "two": (lambda t: (t, t), "returned a tuple of 2 where the schema says one value"),
    "no tensor of none": (lambda t: (), "returned a tuple of 0 where the schema says a Tensor"),
}


@pytest.fixture
def wrong(toy):
    """Registers a kernel whose results somebody changes, where the CPU computes all others."""
    with registry.scope():
        registry.register_fallback("toy", cpu_fallback)

        def register(op, change):
            def kernel(*args, **kwargs):
                return change(cpu_fallback(f"aten::{op}", *args, **kwargs))

            registry.register_kernel(op, "toy", kernel)
            forward = op.removesuffix("_backward")
            if forward != op and op in SEVERAL:
                registry.register_kernel(forward, "toy", partial(cpu_fallback, f"aten::{forward}"))

        yield register


def leaf(*shape):
    return (
        torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape).to("toy").requires_grad_()
    )


def rms_norm():
    return F.rms_norm(leaf(2, 3), (3,), leaf(3))


CALLS = {
    "tanh": lambda: leaf(2, 3).tanh(),
    "gelu": lambda: F.gelu(leaf(2, 3)),
    "linear": lambda: F.linear(leaf(2, 4), leaf(3, 4), leaf(3)),
    "_fused_rms_norm": rms_norm,
    "layer_norm": lambda: F.layer_norm(leaf(2, 3), (3,), leaf(3)),
}
BACKWARD = {
    "tanh_backward": lambda: (leaf(2, 3) * 1).tanh(),
    "gelu_backward": lambda: F.gelu(leaf(2, 3)),
    "linear_backward": lambda: F.linear(leaf(2, 3), leaf(4, 3), leaf(4)),
    "_fused_rms_norm_backward": rms_norm,
    "native_layer_norm_backward": lambda: F.layer_norm(leaf(2, 3), (3,), leaf(3)),
}
SEVERAL = {
    "linear_backward",
    "_fused_rms_norm",
    "_fused_rms_norm_backward",
    "native_layer_norm_backward",
}
CASES = [
    (op, name)
    for op in (*CALLS, *BACKWARD)
    for name in (*LATER, *(PARTS if op in SEVERAL else ONE))
]


@pytest.mark.parametrize(("op", "name"), CASES)
def test_a_wrong_result_is_named(wrong, op, name):
    several = op in SEVERAL
    change, told = {**LATER, **PARTS, **ONE}[name]
    of_first = several and name in LATER
    wrong(op, (lambda r: (change(r[0]), *r[1:])) if of_first else change)
    call = CALLS.get(op)
    if call is None:
        result = BACKWARD[op]().sum()
        call = result.backward
    for _ in range(2):  # nothing is kept of a call that failed
        with pytest.raises(RuntimeError, match=told) as caught:
            call()
        text = str(caught.value)
        assert f"the kernel of aten::{op} " in text, text
        assert "backend: toy" in text, text
        assert f"called at: {__file__}:" in text, text


def test_the_line_is_that_of_the_call(wrong):
    wrong("tanh", lambda t: t.double())
    x = leaf(2)
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(RuntimeError) as caught:
        x.tanh()
    assert f"called at: {__file__}:{line}\n" in str(caught.value)


def test_an_op_in_place_returns_what_it_changed(wrong):
    wrong("relu_", lambda t: t.clone())
    with pytest.raises(RuntimeError, match="returned another tensor than the one that it was to"):
        torch.ones(2, device="toy").relu_()


def test_results_that_are_not_wanted_may_be_none(wrong):
    wrong("linear_backward", lambda r: (None, *r[1:]))
    weight, bias = leaf(4, 3), leaf(4)
    F.linear(torch.ones(2, 3, device="toy"), weight, bias).sum().backward()
    assert weight.grad.tolist() == [[2.0] * 3] * 4
    assert bias.grad.tolist() == [2.0] * 4


def test_what_is_right_is_looked_at_once(wrong):
    """Later calls reach the kernel as they would without the look."""
    depths = []

    def change(t):
        depths.append(len(inspect.stack(0)))
        return t

    wrong("tanh", change)
    x = leaf(2)
    for _ in range(3):
        x.tanh()
    assert depths[0] > depths[1] == depths[2]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda t: t[:1],
            r"got \[1, 3\] torch.float32 but expected shape compatible with \[2, 3\]",
        ),
        (lambda t: t.double(), r"got \[2, 3\] torch.float64 .*\[2, 3\], of torch.float32"),
    ],
)
def test_no_leaf_gets_a_gradient_of_another_kind_from_a_later_call(wrong, change, told):
    calls = []

    def later(t):
        calls.append(t)
        return t if len(calls) == 1 else change(t)

    wrong("tanh_backward", later)
    x = leaf(2, 3)
    x.tanh().sum().backward()
    first, x.grad = x.grad, None
    assert first.shape == x.shape
    with pytest.raises(RuntimeError, match=told):
        x.tanh().sum().backward()
    assert x.grad is None
