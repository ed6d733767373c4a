"""`fake_quantize_per_tensor_affine` and `..._per_channel_affine` against PyTorch's."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

VALUES = [
    -1.0, -0.26, -0.25, -0.05, 0.0, 0.049, 0.05, 0.15, 0.25, 0.75, 1.0, 30.0,
    float("nan"), float("inf"), -float("inf"), 0.35,
]  # fmt: skip
FLOATS = ["float16", "bfloat16", "float32", "float64"]
BOUNDS = [(0, -2, 7), (3, 0, 7), (0, -128, 127), (128, 0, 255)]


def outcome(made):
    return (made.double().tolist(), str(made.dtype), tuple(made.stride()))


def walked(lib, kind, x, *args):
    leaf = x.clone().requires_grad_()
    made = getattr(lib, f"fake_quantize_per_{kind}_affine")(leaf, *args)
    made.backward(lib.arange(1.0, 17.0, dtype=x.dtype).reshape(x.shape))
    return (*outcome(made.detach()), leaf.grad.double().tolist(), made.grad_fn.name())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("scale", [0.1, 0.25, 1 / 3])
def test_with_one_scale(dtype, bounds, scale):
    for tensors in (False, True):
        found = []
        for lib in (torch, pt):
            point, low, high = bounds
            given = (lib.tensor(scale), lib.tensor(point)) if tensors else (scale, point)
            x = lib.tensor(VALUES, dtype=getattr(lib, dtype)).reshape(4, 4).t()
            found.append(walked(lib, "tensor", x, *given, low, high))
        assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("points", "of"),
    [([0, 1, 2, 7], "int32"), ([0.5, 1, 2.25, -1], "float32"), ([0.5, 1, 2, 3], "float16")],
)
def test_with_a_scale_for_each_channel(dtype, axis, points, of):
    found = []
    for lib in (torch, pt):
        scale = lib.tensor([0.1, 0.13, 0.3, 1 / 7])
        point = lib.tensor(points, dtype=getattr(lib, of))
        x = lib.tensor(VALUES, dtype=getattr(lib, dtype)).reshape(4, 4)
        x = x.where(
            ~x.isposinf(), 9.0
        )  # an infinity becomes whatever integer PyTorch's compiler makes
        found.append(walked(lib, "channel", x, scale, point, axis, 0, 7))
    assert repr(found[0]) == repr(found[1])


CALLS = [
    ("tensor", lambda lib, x: (x, 0.1, 3, 5, 2), "should be less than or         equal to"),
    ("tensor", lambda lib, x: (x, 0.1, 9, 0, 7), "`zero_point` must be between"),
    ("tensor", lambda lib, x: (x.int(), 0.1, 3, 0, 7), "not implemented for 'Int'"),
    (
        "tensor",
        lambda lib, x: (x, lib.ones(2), lib.zeros(2), 0, 7),
        "with 2 elements cannot be converted",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3), lib.zeros(3).int(), 1, 7, 0),
        "should be less than or   ",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3), lib.zeros(3).int() + 9, 1, 0, 7),
        "`zero_point` must be",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3), lib.zeros(3).long(), 1, 0, 7),
        "Zero-point must be Int32",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3).double(), lib.zeros(3), 1, 0, 7),
        "Scale must be Float",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(1, 3), lib.zeros(3), 1, 0, 7),
        "scale should be a 1-D tensor",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3), lib.zeros(2), 1, 0, 7),
        "need to have the same dimensions",
    ),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3), lib.zeros(3), -1, 0, 7),
        "`axis` must be between 0 and",
    ),
    ("channel", lambda lib, x: (x, lib.ones(3), lib.zeros(3), 5, 0, 7), "Dimension out of range"),
    (
        "channel",
        lambda lib, x: (x, lib.ones(3), lib.zeros(3), 0, 0, 7),
        "are not consistent with input",
    ),
]


@pytest.mark.parametrize(("kind", "arguments", "words"), CALLS, ids=[c[2] for c in CALLS])
def test_what_is_refused(kind, arguments, words):
    kinds = []
    for lib in (torch, pt):
        call = getattr(lib, f"fake_quantize_per_{kind}_affine")
        with pytest.raises((RuntimeError, IndexError), match=words) as caught:
            call(*arguments(lib, lib.ones(2, 3)))
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


def test_a_scale_has_no_gradient():
    for lib in (torch, pt):
        scale = lib.tensor(0.1, requires_grad=True)
        with pytest.raises(RuntimeError, match="not differentiable with respect to"):
            lib.fake_quantize_per_tensor_affine(
                lib.ones(2), scale, lib.tensor(0), 0, 7
            ).sum().backward()
