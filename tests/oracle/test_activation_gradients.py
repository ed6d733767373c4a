"""Gradients of activations, which are ops of their own: values, derivatives and refusals beside PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

# Numbers behind the gradient and the other tensor; in elu's they stand between these.
NUMBERS = {
    "leaky_relu": (0.1, False),
    "hardtanh": (-1.0, 1.5),
    "hardshrink": (0.5,),
    "softshrink": (0.5,),
    "elu": (1.3, 1.1, 0.7, False),
    "softplus": (2.0, 3.0),
    "log_sigmoid": (),
    "mish": (),
    "silu": (),
    "gelu": (),
    "hardswish": (),
    "hardsigmoid": (),
}
BOUNDS = {
    "float64": 3e-8,
    "float32": 2e-6,
    "bfloat16": 2e-2,
    "float16": 2e-3,
}  # 1/6 is a float there
SIZES = [(4, 5), (3, 1000), (70_000,)]  # few, many, a compiled kernel


def slope(lib, name, g, x, numbers=None):
    """The op that gives a gradient, of either library."""
    numbers = NUMBERS[name] if numbers is None else numbers
    call = getattr(lib.ops.aten, f"{name}_backward")
    if name == "elu":
        return call(g, *numbers, x)
    if name == "log_sigmoid":
        return call(g, x, lib.exp(-x.abs()))
    return call(g, x, *numbers)


def pair(lib, dtype, shape, special=()):
    """Gradient and input, the same in either library."""
    rng = np.random.default_rng(len(shape))
    found = []
    for scale in (1, 4):
        a = rng.normal(0, scale, shape).astype("float32")
        if scale == 4:
            a.reshape(-1)[: len(special)] = special
        found.append(lib.from_numpy(a).to(getattr(lib, dtype)))
    return found


def close(ours, theirs, dtype):
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.shape == theirs.shape
    found, wanted = (t.detach().double().numpy() for t in (ours, theirs))
    np.testing.assert_allclose(found, wanted, rtol=BOUNDS[dtype], atol=BOUNDS[dtype])


@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("name", NUMBERS)
def test_values(name, dtype, shape):
    special = (0.0, -0.0, 3.0, -3.0, 0.5, -0.5, 1.5, -1.0, 100.0, -100.0)
    close(*(slope(lib, name, *pair(lib, dtype, shape, special)) for lib in (torch, pt)), dtype)


@pytest.mark.parametrize("size", [64, 8192])  # PyTorch's last elements are computed otherwise
@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan")])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_none(name, value, size):
    def run(lib):
        x = lib.full((size,), value)
        return [slope(lib, name, lib.full((size,), g), x) for g in (1.0, -0.0, float("inf"))]

    for ours, theirs in zip(run(torch), run(pt), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("name", ["elu", "leaky_relu"])
def test_slopes_from_results(name):
    numbers = (0.5, 1.5, 2.0, True) if name == "elu" else (0.5, True)
    close(
        *(slope(lib, name, *pair(lib, "float32", (9,)), numbers) for lib in (torch, pt)), "float32"
    )
    negative = (-0.5, 1.5, 2.0, True) if name == "elu" else (-0.5, True)
    texts = []
    for lib in (torch, pt):
        with pytest.raises(RuntimeError, match="negative slope which is not supported") as caught:
            slope(lib, name, *pair(lib, "float32", (9,)), negative)
        texts.append(str(caught.value))
    assert texts[1].startswith(texts[0])  # PyTorch's goes on


@pytest.mark.parametrize("name", sorted({*NUMBERS} - {"gelu", "log_sigmoid"}))
def test_dtypes_shapes_and_layouts(name):
    """Of operands that differ; PyTorch's own gelu cannot broadcast, and log_sigmoid wants a buffer to fit."""

    def run(lib):
        a, b = pair(lib, "float32", (3, 4))
        turned = lib.empty_strided((3, 4), (1, 3)).copy_(b)
        found = [
            slope(lib, name, *operands)
            for operands in (
                (a, b.double()), (a.bfloat16(), b), (a, b[0]), (a[0], b), (a, turned), (turned, a),
                (turned, turned), (a[:, ::2], b[:, ::2]), (a[:0], b[:0]), (a[0, 0], b[0, 0]),
            )
        ]  # fmt: skip
        return [
            (str(t.dtype), tuple(t.shape), t.stride(), t.double().numpy().tolist()) for t in found
        ]

    for ours, theirs in zip(run(torch), run(pt), strict=True):
        assert ours[:3] == theirs[:3]
        np.testing.assert_allclose(ours[3], theirs[3], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", ["int64", "bool", "complex64"])
@pytest.mark.parametrize("name", sorted({*NUMBERS} - {"gelu", "log_sigmoid", "silu"}))
def test_refused_dtypes(name, dtype):
    texts = []
    for lib in (torch, pt):
        x = lib.ones(3, dtype=getattr(lib, dtype))
        with pytest.raises(NotImplementedError) as caught:
            slope(lib, name, x, x)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


# Where it is smooth: away from the bounds.
SMOOTH = (-3.5, -2.5, -1.7, -0.8, -0.2, 0.3, 0.9, 1.8, 2.6, 3.4)


@pytest.mark.parametrize("name", NUMBERS)
def test_first_and_second_derivatives(name):
    x = torch.tensor(SMOOTH, dtype=torch.float64, requires_grad=True)
    g = torch.linspace(0.5, 1.5, len(SMOOTH), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda g, x: slope(torch, name, g, x), (g, x), check_forward_ad=True
    )
    assert torch.autograd.gradgradcheck(lambda g, x: slope(torch, name, g, x), (g, x))


FORWARD = {"log_sigmoid": "logsigmoid"}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_gradient_is_one_op(name):
    """Backward calls the op itself, in a block as outside, with the same bits; of vmap's rows too."""
    function = getattr(torch.nn.functional, FORWARD.get(name, name))
    x = torch.linspace(-4, 4, 40).reshape(4, 10).requires_grad_()
    with torch.profiler.profile() as profile:
        (eager,) = torch.autograd.grad(function(x).sum(), x)
    assert f"aten::{name}_backward" in {event.name for event in profile.events()}
    with torch.pipeline():
        (deferred,) = torch.autograd.grad(function(x).sum(), x)
    assert eager.tolist() == deferred.tolist()
    rows = torch.func.vmap(torch.func.grad(lambda row: function(row).sum()))(x.detach())
    assert torch.allclose(rows, eager)
    on_meta = x.detach().to("meta").requires_grad_()
    assert torch.autograd.grad(function(on_meta).sum(), on_meta)[0].shape == (4, 10)


def test_exponentials_do_not_spoil_what_is_beyond_them():
    x = torch.tensor([1000.0], dtype=torch.float64, requires_grad=True)
    for function in (torch.nn.functional.elu, torch.nn.functional.softplus):
        (first,) = torch.autograd.grad(function(x), x, create_graph=True)
        assert [first.item(), torch.autograd.grad(first, x)[0].item()] == [1, 0]
