"""Functions of neural networks against PyTorch: values and gradients, with all their options."""

import itertools
import math

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome, from_pytorch

pt = pytest.importorskip("torch")
PF = pt.nn.functional

FLOATS = ["float32", "float64", "float16", "bfloat16"]


def sample(shape, dtype="float64", seed=0, scale=2.0):
    generator = pt.Generator().manual_seed(seed)
    return (pt.randn(shape, generator=generator, dtype=pt.float64) * scale).to(getattr(pt, dtype))


def loose(dtype):
    rtol = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    atol = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-12}[dtype]
    return {"rtol": rtol, "atol": atol, "equal_nan": True}


def compare_with_gradients(ours_call, theirs_call, *inputs, options=None):
    """Compare results and, weighted by fixed numbers, the gradients of all inputs."""
    options = options or loose("float64")
    theirs = [t.clone().requires_grad_(t.is_floating_point()) for t in inputs]
    ours = [from_pytorch(t) for t in theirs]
    expected, found = theirs_call(*theirs), ours_call(*ours)
    assert_close(found.detach(), expected.detach(), **options)
    weights = pt.linspace(-1, 2, max(expected.numel(), 1), dtype=expected.dtype)
    weights = weights[: expected.numel()].reshape(expected.shape)
    expected.backward(weights)
    found.backward(from_pytorch(weights))
    for mine, other in zip(ours, theirs, strict=True):
        if other.grad is not None:
            assert_close(mine.grad, other.grad, **options)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(name, dtype):
    for shape, dim in (
        ((5,), 0),
        ((3, 4), 1),
        ((3, 4), 0),
        ((2, 3, 4), -2),
        ((), 0),
        ((0, 3), 1),
        ((2, 1), 1),
        ((3, 0), 1),
    ):
        compare_with_gradients(
            lambda t, dim=dim: getattr(F, name)(t, dim=dim),
            lambda t, dim=dim: getattr(PF, name)(t, dim=dim),
            sample(shape, dtype),
            options=loose(dtype),
        )
    theirs = sample((3, 4), dtype).t()
    ours = from_pytorch(theirs)
    assert_close(getattr(torch, name)(ours, 1), getattr(pt, name)(theirs, 1), **loose(dtype))
    assert_close(getattr(ours, name)(0), getattr(theirs, name)(0), **loose(dtype))
    assert_close(
        getattr(torch, name)(ours, 1, dtype=torch.float64),
        getattr(pt, name)(theirs, 1, dtype=pt.float64),
        **loose(dtype),
    )


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_extreme_values(name):
    rows = [
        [1000.0, 999.0, -1000.0],
        [-math.inf, 0.0, 1.0],
        [math.nan, 0.0, 1.0],
        [3e38, -3e38, 0.0],
        [math.inf, 0.0, 1.0],
        [-math.inf] * 3,
    ]
    theirs = pt.tensor(rows)
    assert_close(
        getattr(torch, name)(from_pytorch(theirs), 1), getattr(pt, name)(theirs, 1), equal_nan=True
    )


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_bad_softmax(name):
    for call in (
        lambda lib: getattr(lib, name)(lib.ones(2, 3), 2),
        lambda lib: getattr(lib, name)(lib.ones(2, 3, dtype=lib.int64), 0),
        lambda lib: getattr(lib, name)(lib.ones(2, dtype=lib.bool), 0),
    ):
        assert_same_outcome(lambda call=call: call(torch), lambda call=call: call(pt))
    assert_close(
        getattr(torch, name)(torch.tensor([1, 2]), 0, dtype=torch.float32),
        getattr(pt, name)(pt.tensor([1, 2]), 0, dtype=pt.float32),
    )


SHAPES = [
    ((4, 3), (4,)),
    ((3,), ()),
    ((2, 3, 5), (2, 5)),
    ((2, 3, 2, 2), (2, 2, 2)),
    ((1, 3), (1,)),
]


def targets(shape, classes=3, ignored=()):
    made = pt.randint(0, classes, shape, generator=pt.Generator().manual_seed(3))
    if ignored and made.numel() > 1:
        made.view(-1)[0] = ignored[0]
    return made


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [(), (-100,), (1,)])
def test_nll_loss(reduction, weighted, ignored):
    for shape, target_shape in SHAPES:
        target = targets(target_shape, ignored=ignored)
        weight = sample((3,), seed=9).abs() if weighted else None
        options = {"reduction": reduction, **({"ignore_index": ignored[0]} if ignored else {})}
        compare_with_gradients(
            lambda t, target=target, weight=weight, options=options: F.nll_loss(
                t, from_pytorch(target), maybe(weight), **options
            ),
            lambda t, target=target, weight=weight, options=options: PF.nll_loss(
                t, target, weight, **options
            ),
            sample(shape),
        )


def maybe(t):
    return None if t is None else from_pytorch(t)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [(), (-100,), (2,)])
def test_cross_entropy_of_classes(reduction, smoothing, weighted, ignored):
    for shape, target_shape in SHAPES:
        target = targets(target_shape, ignored=ignored)
        weight = sample((3,), seed=9).abs() if weighted else None
        options = {"reduction": reduction, "label_smoothing": smoothing}
        if ignored:
            options["ignore_index"] = ignored[0]
        compare_with_gradients(
            lambda t, target=target, weight=weight, options=options: F.cross_entropy(
                t, from_pytorch(target), maybe(weight), **options
            ),
            lambda t, target=target, weight=weight, options=options: PF.cross_entropy(
                t, target, weight, **options
            ),
            sample(shape),
        )


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_of_probabilities(reduction, smoothing, weighted):
    for shape in ((4, 3), (3,), (2, 3, 5)):
        weight = sample((3,), seed=9).abs() if weighted else None
        options = {"reduction": reduction, "label_smoothing": smoothing}
        target = sample(shape, seed=5).softmax(0 if len(shape) == 1 else 1)
        compare_with_gradients(
            lambda t, p, weight=weight, options=options: F.cross_entropy(
                t, p, maybe(weight), **options
            ),
            lambda t, p, weight=weight, options=options: PF.cross_entropy(t, p, weight, **options),
            sample(shape),
            target,
        )


def test_cross_entropy_where_nothing_counts():
    logits, target = sample((2, 3)), pt.full((2,), -100)
    ours = F.cross_entropy(from_pytorch(logits), from_pytorch(target))
    assert_close(ours, PF.cross_entropy(logits, target), equal_nan=True)
    empty, none = sample((0, 3)), pt.zeros(0, dtype=pt.int64)
    for reduction in ("mean", "sum", "none"):
        assert_close(
            F.cross_entropy(from_pytorch(empty), from_pytorch(none), reduction=reduction),
            PF.cross_entropy(empty, none, reduction=reduction),
            equal_nan=True,
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_cross_entropy_of_every_dtype(dtype):
    compare_with_gradients(
        lambda t: F.cross_entropy(t, from_pytorch(targets((8,)))),
        lambda t: PF.cross_entropy(t, targets((8,))),
        sample((8, 3), dtype),
        options=loose(dtype),
    )


def test_cross_entropy_does_not_overflow():
    logits = pt.tensor([[1000.0, 0.0], [0.0, 1000.0]])
    target = pt.tensor([0, 0])
    assert_close(
        F.cross_entropy(from_pytorch(logits), from_pytorch(target), reduction="none"),
        PF.cross_entropy(logits, target, reduction="none"),
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.tensor([0])),
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.tensor([0, 3])),
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.tensor([0, -1])),
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.ones(2, 4)),
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.tensor([0, 1]), lib.ones(4)),
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.tensor([0, 1]), reduction="avg"),
        lambda lib, f: f.cross_entropy(lib.ones(2, 3), lib.tensor([0, 1]), label_smoothing=2.0),
        lambda lib, f: f.nll_loss(lib.ones(2, 3), lib.tensor([0.0, 1.0])),
        lambda lib, f: f.nll_loss(lib.ones(2, 3, 4), lib.zeros(2, 5, dtype=lib.int64)),
        lambda lib, f: f.nll_loss(lib.ones(2, 3), lib.tensor([0, 7])),
        lambda lib, f: f.mse_loss(lib.ones(2), lib.ones(2), reduction="x"),
        lambda lib, f: f.dropout(lib.ones(2), 1.5),
        lambda lib, f: f.dropout(lib.ones(2), -0.1),
        lambda lib, f: f.gelu(lib.ones(2), approximate="x"),
        lambda lib, f: f.gelu(lib.ones(2, dtype=lib.int64)),
        lambda lib, f: f.embedding(lib.tensor([[5]]), lib.ones(3, 2)),
        lambda lib, f: f.embedding(lib.tensor([-1]), lib.ones(3, 2)),
        lambda lib, f: f.embedding(lib.tensor([0.0]), lib.ones(3, 2)),
        lambda lib, f: f.embedding(lib.tensor([0]), lib.ones(3)),
        lambda lib, f: f.embedding(lib.tensor([0]), lib.ones(3, 2), padding_idx=5),
    ],
)
def test_bad_arguments(call):
    assert_same_outcome(lambda: call(torch, F), lambda: call(pt, PF))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_and_its_gradient(approximate):
    points = pt.tensor([-50.0, -5, -1, -0.1, 0, 1e-8, 0.1, 1, 5, 50], dtype=pt.float64)
    compare_with_gradients(
        lambda t: F.gelu(t, approximate=approximate),
        lambda t: PF.gelu(t, approximate=approximate),
        points,
    )


def test_activations():
    points = sample((3, 4))
    for name in ("relu", "sigmoid", "tanh"):
        compare_with_gradients(
            lambda t, name=name: getattr(F, name)(t),
            lambda t, name=name: getattr(PF, name)(t),
            points,
        )


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0)], ids=str)
@pytest.mark.parametrize("padding", [None, 1, -1])
def test_embedding(shape, padding):
    index = pt.randint(0, 5, shape, generator=pt.Generator().manual_seed(0))
    compare_with_gradients(
        lambda w: F.embedding(from_pytorch(index), w, padding_idx=padding),
        lambda w: PF.embedding(index, w, padding_idx=padding),
        sample((5, 2)),
    )
    small = index.to(pt.int32)
    weight = sample((5, 2))
    assert_close(
        F.embedding(from_pytorch(small), from_pytorch(weight)), PF.embedding(small, weight)
    )


def test_repeated_rows_of_an_embedding_add_up():
    weight = torch.zeros(3, 2, requires_grad=True)
    F.embedding(torch.tensor([1, 1, 2, 1]), weight).sum().backward()
    assert weight.grad.tolist() == [[0, 0], [3, 3], [1, 1]]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_mse_loss(reduction):
    compare_with_gradients(
        lambda a, b: F.mse_loss(a, b, reduction=reduction),
        lambda a, b: PF.mse_loss(a, b, reduction=reduction),
        sample((3, 4), seed=1),
        sample((3, 4), seed=2),
    )


def test_linear():
    for rows, bias in itertools.product(((5,), (2, 5), (), (2, 3, 1)), (True, False)):
        a, w, b = sample((*rows, 4), seed=1), sample((3, 4), seed=2), sample((3,), seed=3)
        inputs = (a, w, b) if bias else (a, w)
        compare_with_gradients(F.linear, PF.linear, *inputs)
    compare_with_gradients(F.linear, PF.linear, sample((2, 4)), sample((4,), seed=2))


def test_dropout():
    x = torch.ones(100, 100, requires_grad=True)
    with torch.fork_rng():
        torch.manual_seed(0)
        out = F.dropout(x, 0.25)
        assert abs((out == 0).sum().item() / 10_000 - 0.25) < 0.02
        assert set(out.detach().reshape(-1).tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
        out.sum().backward()
        assert x.grad.tolist() == out.tolist()
        torch.manual_seed(0)
        assert F.dropout(x, 0.25).tolist() == out.tolist()
        inplace = torch.ones(50)
        assert F.dropout(inplace, 0.5, inplace=True) is inplace
        assert (inplace == 0).any().item()
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 0.0).tolist() == x.tolist()
    assert F.dropout(x, 1.0).sum().item() == 0
    half = torch.ones(10, dtype=torch.float16)
    assert F.dropout(half, 0.5).dtype is torch.float16


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0, 2.5])
@pytest.mark.parametrize(
    "name", ["threshold", "hardshrink", "softshrink", "elu", "celu", "leaky_relu"]
)
def test_every_bound_of_an_activation(name, value, dtype):
    """Also those of which a kernel makes a case of its own, such as 0 and 1, met exactly."""
    if (name == "softshrink" and value < 0) or (name == "celu" and value == 0):
        pytest.skip("refused")
    x = pt.tensor([-2.5, -1, -0.5, 0, 0.5, 1, 1.5, 2.5, 3], dtype=getattr(pt, dtype))
    arguments = (value, 7.0) if name == "threshold" else (value,)

    def call(lib, functional, t):
        t.requires_grad_()
        y = getattr(functional, name)(t, *arguments)
        return [y.detach(), lib.autograd.grad(y.sum(), t)[0]]

    found = call(torch, F, from_pytorch(x))
    for mine, other in zip(found, call(pt, PF, x), strict=True):
        assert_close(mine, from_pytorch(other), **loose(dtype))


@pytest.mark.parametrize("value", [-1, 0, 1, 2.5])
def test_every_bound_of_a_gradient_of_threshold(value):
    g, x = sample((9,)), pt.tensor([-2.5, -1, -0.5, 0, 0.5, 1, 1.5, 2.5, 3], dtype=pt.float64)
    found = torch.ops.aten.threshold_backward(from_pytorch(g), from_pytorch(x), value)
    assert_close(found, from_pytorch(pt.ops.aten.threshold_backward(g, x, value)))
