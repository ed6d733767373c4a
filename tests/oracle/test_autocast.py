"""Autocast against PyTorch: gradients, the mode itself, and what it refuses."""

import contextlib
import threading

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import assert_close, from_pytorch

pt = pytest.importorskip("torch")

# ---- gradients ----------------------------------------------------------------------------------

A, B = pt.linspace(-1, 1, 12).reshape(3, 4), pt.linspace(2, -1, 20).reshape(4, 5)
V, LABELS = pt.linspace(-2, 1, 4), pt.tensor([0, 4, 2])

DIFFERENTIATED = {
    "mm": lambda t, f, a, b: t.mm(a, b),
    "matmul": lambda t, f, a, b: a @ b,
    "bmm": lambda t, f, a, b: t.bmm(a.unsqueeze(0), b.unsqueeze(0)),
    "linear": lambda t, f, a, b: f.linear(a, b.t()),
    "addmm": lambda t, f, a, b: t.addmm(b[0], a, b),
    "twice the weight": lambda t, f, a, b: t.mm(a, b) + t.mm(a * 2, b),
    "mixed with float64": lambda t, f, a, b: t.mm(a.double(), b.double()),
    "layers": lambda t, f, a, b: f.linear(f.relu(a @ b), b).sum(0),
    "loss": lambda t, f, a, b: f.cross_entropy(a @ b, t.tensor([0, 4, 2])),
    "smoothed": lambda t, f, a, b: f.cross_entropy(a @ b, t.tensor([0, 4, 2]), label_smoothing=0.1),
    "mse": lambda t, f, a, b: f.mse_loss(a @ b, t.ones(3, 5)),
    "cat": lambda t, f, a, b: t.cat([a @ b, b]),
    "stack": lambda t, f, a, b: t.stack([a @ b, (a * 2) @ b]),
    "prod": lambda t, f, a, b: t.prod(a @ b, 0),
    "mv": lambda t, f, a, b: t.mv(a, b[:, 0]),
    "dot": lambda t, f, a, b: t.dot(a[0], b[:, 0]),
    "var": lambda t, f, a, b: (a @ b).var(0),
    "softmax": lambda t, f, a, b: f.softmax(a @ b, -1),
    "without gradients for one": lambda t, f, a, b: a.detach() @ b,
}


@pytest.mark.parametrize("inside", [False, True], ids=["backward outside", "backward inside"])
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients(name, inside):
    fn = DIFFERENTIATED[name]

    def grads(t, f, a, b):
        a.requires_grad_()
        b.requires_grad_()
        with t.autocast("cpu"):
            made = fn(t, f, a, b)
            loss = made.float().sum()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        return made.detach(), a.grad, b.grad

    found = grads(torch, F, from_pytorch(A), from_pytorch(B))
    expected = grads(pt, pt.nn.functional, A.clone(), B.clone())
    assert_close(found, expected, rtol=2e-2, atol=5e-2)


# ---- the mode -----------------------------------------------------------------------------------


def dtypes_of_nested_blocks(t):
    x, seen = t.ones(2, 2), []
    with t.autocast("cpu"):
        seen.append((x @ x).dtype)
        with t.autocast("cpu", dtype=t.float16):
            seen += [(x @ x).dtype, t.get_autocast_dtype("cpu")]
            with t.autocast("cpu", enabled=False):
                seen += [(x @ x).dtype, t.is_autocast_enabled("cpu")]
                with t.autocast("cpu", t.bfloat16):
                    seen.append((x @ x).dtype)
            seen.append((x @ x).dtype)
        seen += [(x @ x).dtype, t.get_autocast_dtype("cpu")]
    return [*seen, (x @ x).dtype, t.is_autocast_enabled("cpu")]


def state_after_an_exception(t):
    with contextlib.suppress(ZeroDivisionError), t.autocast("cpu", t.float16, cache_enabled=False):
        1 / 0
    return [
        t.is_autocast_enabled("cpu"),
        t.get_autocast_dtype("cpu"),
        t.is_autocast_cache_enabled(),
    ]


def state_after_an_error_in_an_op(t):
    with t.autocast("cpu"):
        with contextlib.suppress(RuntimeError):
            t.mm(t.ones(2, 2), t.ones(3, 3))
        return [t.is_autocast_enabled("cpu"), t.mm(t.ones(2, 2), t.ones(2, 2)).dtype]


def decorated(t):
    @t.autocast("cpu")
    def product(x, *, y):
        """Doc."""
        return x @ y

    @t.autocast(device_type="cpu", enabled=False)
    def exact(x):
        return x @ x

    x = t.ones(2, 2)
    with t.autocast("cpu"):
        inner = exact(x).dtype
    return [product(x, y=x).dtype, product.__name__, product.__doc__, inner]


def seen_by_another_thread(t):
    seen, x = [], t.ones(2, 2)

    def work():
        seen.extend([(x @ x).dtype, t.is_autocast_enabled("cpu"), t.get_autocast_dtype("cpu")])
        with t.autocast("cpu"):
            seen.append((x @ x).dtype)

    with t.autocast("cpu", t.float16):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return [*seen, (x @ x).dtype]


def switched_by_hand(t):
    x, seen = t.ones(2, 2), []
    t.set_autocast_enabled("cpu", True)
    t.set_autocast_dtype("cpu", t.float16)
    try:
        seen += [t.is_autocast_enabled("cpu"), (x @ x).dtype, t.autocast_increment_nesting()]
    finally:
        seen.append(t.autocast_decrement_nesting())
        t.clear_autocast_cache()
        t.set_autocast_enabled("cpu", False)
        t.set_autocast_dtype("cpu", t.bfloat16)
    return [*seen, (x @ x).dtype, t.is_autocast_enabled()]


def cache_switch(t):
    seen = [t.is_autocast_cache_enabled()]
    with t.autocast("cpu", cache_enabled=False):
        seen.append(t.is_autocast_cache_enabled())
        with t.autocast("cpu"):
            seen.append(t.is_autocast_cache_enabled())
    t.set_autocast_cache_enabled(False)
    with t.autocast("cpu"):
        seen.append(t.is_autocast_cache_enabled())
    t.set_autocast_cache_enabled(True)
    return [*seen, t.is_autocast_cache_enabled()]


def outputs_and_in_place(t):
    x, out = t.full((2, 2), 1.001), t.empty(2, 2)
    with t.autocast("cpu"):
        t.mm(x, x, out=out)
        made = t.zeros(2, 2, dtype=t.bfloat16)
        made += x
        return [out.dtype, out.tolist(), made.dtype, t.matmul(x, x, out=t.empty(2, 2)).tolist()]


def other_devices(t):
    m = t.ones(2, 2, device="meta")
    with t.autocast("cpu"):
        return [(m @ m).dtype, t.stack([m.bfloat16(), m]).dtype, t.prod(m.half()).dtype]


def dtypes_that_are_left_alone(t):
    x = t.ones(2, 2)
    with t.autocast("cpu"):
        return [
            t.mm(x.double(), x.double()).dtype,
            t.mm(x.int(), x.int()).dtype,
            t.mm(x.to(t.complex64), x.to(t.complex64)).dtype,
            t.cat([x.int(), x.int()]).dtype,
            t.cat([x.bfloat16(), x.double()]).dtype,
            t.prod(x.bfloat16(), dtype=t.bfloat16).dtype,
            t.prod(x.int()).dtype,
        ]


def shared_casts(t):
    w, x = t.ones(2, 2, requires_grad=True), t.ones(2, 2)

    def cast(made):
        return made.grad_fn.next_functions[1][0]

    with t.autocast("cpu"):
        first, second = t.mm(x, w), t.mm(x, w)
        kept = cast(first) is cast(second)
        first.sum().backward()
        second.sum().backward()
        third = t.mm(x, w)
        t.clear_autocast_cache()
        cleared = cast(third) is cast(t.mm(x, w))
        with t.autocast("cpu", cache_enabled=False):
            uncached = cast(t.mm(x, w)) is cast(t.mm(x, w))
        view = w.t()
        of_view = cast(t.mm(x, view)) is cast(t.mm(x, view))
        part = t.ones(4, 2)[:2].requires_grad_()
        of_leaf_view = cast(t.mm(x, part)) is cast(t.mm(x, part))
    with t.autocast("cpu"):
        later = cast(t.mm(x, w)) is cast(third)
    return [kept, cleared, uncached, of_view, of_leaf_view, later, w.grad.tolist(), w.grad.dtype]


def gradients_after_a_block_without(t):
    w, x = t.ones(2, 2, requires_grad=True), t.ones(2, 2)
    with t.autocast("cpu"):
        with t.no_grad():
            seen = [t.mm(x, w).requires_grad]
        seen.append(t.mm(x, w).requires_grad)
        t.mm(x, w).sum().backward()
    return [*seen, w.grad.tolist()]


def available(t):
    names = ["cpu", "cuda", "xpu", "hpu", "ipu", "xla", "meta", "vulkan", "hip", "cpu:0"]
    return [t.amp.is_autocast_available(name) for name in names]


def default_dtypes(t):
    return [t.get_autocast_dtype(name) for name in ("cpu", "cuda", "xpu", "hpu", "ipu", "xla")]


def attributes(t):
    made = t.autocast("cpu", t.float16)
    return [made.device, made.fast_dtype, t.amp.autocast is t.autocast]


SITUATIONS = [
    dtypes_of_nested_blocks, state_after_an_exception, state_after_an_error_in_an_op, decorated,
    seen_by_another_thread, switched_by_hand, cache_switch, outputs_and_in_place, other_devices,
    dtypes_that_are_left_alone, shared_casts, gradients_after_a_block_without, available,
    default_dtypes, attributes,
]  # fmt: skip


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.__name__)
def test_situation(situation):
    assert list(map(str, situation(torch))) == list(map(str, situation(pt)))


REFUSED = {
    "no device type": lambda t: t.autocast(),
    "a device": lambda t: t.autocast(t.device("cpu")),
    "a number for a device": lambda t: t.autocast(3),
    "an unknown device": lambda t: t.autocast("nowhere"),
    "a device without autocast": lambda t: t.autocast("meta"),
    "the empty device": lambda t: t.autocast(""),
    "capitals": lambda t: t.autocast("CPU"),
    "a number that is no switch": lambda t: t.autocast("cpu", enabled=3).__enter__(),
    "decorating a number": lambda t: t.autocast("cpu")(3),
    "asking for a number": lambda t: t.is_autocast_enabled(3),
    "asking for a device": lambda t: t.is_autocast_enabled(t.device("cpu")),
    "asking for meta": lambda t: t.is_autocast_enabled("meta"),
    "asking for nowhere": lambda t: t.amp.is_autocast_available("nowhere"),
    "availability of a number": lambda t: t.amp.is_autocast_available(3),
    "dtype of meta": lambda t: t.get_autocast_dtype("meta"),
    "dtype of nothing": lambda t: t.get_autocast_dtype(),
    "a number as dtype": lambda t: t.set_autocast_dtype("cpu", 3),
    "no dtype": lambda t: t.set_autocast_dtype("cpu"),
    "no switch": lambda t: t.set_autocast_enabled("cpu"),
    "a number as switch": lambda t: t.set_autocast_enabled("cpu", 1),
    "switching meta": lambda t: t.set_autocast_enabled("meta", True),
    "a number as cache switch": lambda t: t.set_autocast_cache_enabled(1),
    "custom_fwd on a device": lambda t: t.amp.custom_fwd(device_type=t.device("cpu")),
    "custom_bwd on a device": lambda t: t.amp.custom_bwd(device_type=3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises(Exception) as expected:  # noqa: PT011
        REFUSED[name](pt)
    if name == "a number that is no switch":  # PyTorch raises half-way in
        pt.set_autocast_enabled("cpu", False)
    with pytest.raises(expected.type):
        REFUSED[name](torch)
    assert not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_a_dtype_that_is_not_supported_disables_autocast(dtype):
    for t in (pt, torch):
        with pytest.warns(UserWarning, match="In CPU autocast.*not supported.*(?s:.*)bfloat16"):
            block = t.autocast("cpu", dtype=getattr(t, dtype))
        with block:
            assert not t.is_autocast_enabled("cpu")
            assert t.get_autocast_dtype("cpu") == getattr(t, dtype)
            assert (t.ones(2, 2) @ t.ones(2, 2)).dtype == t.float32


def test_a_device_that_is_missing_disables_autocast():
    for t in (pt, torch):
        with pytest.warns(UserWarning, match="CUDA is not available"):
            block = t.autocast("cuda")
        with block:
            assert not t.is_autocast_enabled("cuda")


def test_a_third_dtype_among_promoted_tensors_is_refused():
    for t in (pt, torch):
        x = t.ones(2)
        with t.autocast("cpu"):
            with pytest.raises(RuntimeError, match="Unexpected floating"):
                t.cat([x.bfloat16(), x.half()])
            assert t.cat([x, x.half()]).dtype == t.float32
