"""Attention that one kernel computes, and its gradients, first and second, against PyTorch's."""

import itertools
import math

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

FUSED = "_scaled_dot_product_flash_attention_for_cpu"
# Batch, heads, queries, keys, features: small, several blocks of rows, several heads a block.
SHAPES = ((2, 3, 4, 5, 6), (1, 2, 300, 300, 4), (2, 5, 9, 3, 1))
MASKS = ("none", "causal", "bool", "float", "row")


def options(library, mask, shape, dtype):
    _, heads, rows, columns, _ = shape
    if mask in ("none", "causal"):
        return {"is_causal": mask == "causal"}
    count = library.arange(rows * columns).reshape(rows, columns)
    allowed = (count * 7 % 5 != 1) & (library.arange(rows) != 2).reshape(-1, 1)  # nothing in row 2
    if mask == "bool":
        return {"attn_mask": allowed}
    if mask == "row":
        return {"attn_mask": allowed[:1]}
    numbers = library.zeros(1, heads, rows, columns, dtype=dtype)
    return {"attn_mask": numbers.masked_fill(~allowed, -math.inf) + 0.25}


def operands(library, shape, dtype, size=1.0):
    batch, heads, rows, columns, width = shape
    draw = np.random.default_rng(3)
    for length in (rows, columns, columns):
        made = draw.standard_normal((batch, length, heads, width)) * size
        yield library.tensor(made, dtype=getattr(library, dtype)).transpose(1, 2).requires_grad_()


def same(ours, theirs, bound):
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=bound, atol=bound)


@pytest.mark.parametrize(("mask", "shape"), list(itertools.product(MASKS, SHAPES)))
@pytest.mark.parametrize(("dtype", "size", "bound"), [
    ("float32", 1.0, 1e-5), ("float64", 1.0, 1e-12), ("float64", 12.0, 1e-9),
])  # fmt: skip
def test_results_and_gradients(mask, shape, dtype, size, bound):
    def run(library):
        q, k, v = operands(library, shape, dtype, size)
        given = options(library, mask, shape, q.dtype)
        out = library.nn.functional.scaled_dot_product_attention(q, k, v, **given)
        g = library.linspace(-1, 1, out.numel(), dtype=out.dtype).reshape(out.shape)
        assert out.stride() == q.stride()
        return [out, *library.autograd.grad(out, (q, k, v), g)]

    same(run(torch), run(pt), bound)


@pytest.mark.parametrize("mask", ["none", "causal", "row"])
def test_second_gradients_are_those_of_the_formula(mask):
    """PyTorch's op has none, so its composition is asked."""
    shape = (2, 3, 4, 5, 6)

    def run(library, attend):
        q, k, v = operands(library, shape, "float64")
        given = options(library, mask, shape, q.dtype)
        if mask == "row":  # the composition takes numbers only
            numbers = library.zeros(1, shape[3], dtype=q.dtype)
            given = {"attn_mask": numbers.masked_fill(~given["attn_mask"], -math.inf)}
        out = attend(q, k, v, **given)
        first = library.autograd.grad(out.square().sum(), (q, k, v), create_graph=True)
        return [*first, *library.autograd.grad(sum(g.square().sum() for g in first), (q, k, v))]

    def composed(*args, **kwargs):
        return pt._scaled_dot_product_attention_math(*args, **kwargs)[0]

    ours = run(torch, torch.nn.functional.scaled_dot_product_attention)
    same(ours, run(pt, composed), 1e-9)


@pytest.mark.parametrize("scale", [None, 0.3, -0.5, 0.0])
def test_scales_of_the_formula(scale):
    def run(library):
        q, k, v = (t.detach() for t in operands(library, (2, 3, 4, 5, 6), "float64"))
        return library._scaled_dot_product_attention_math(q, k, v, scale=scale)

    same(run(torch), run(pt), 1e-12)


def test_what_the_op_returns():
    def run(library):
        return getattr(library, FUSED)(*operands(library, (2, 3, 4, 5, 6), "float64"), 0.0, True)

    (out, total), (other_out, other_total) = run(torch), run(pt)
    same([out, total], [other_out, other_total], 1e-12)
    assert (out.stride(), total.stride()) == (other_out.stride(), other_total.stride())
    assert out.requires_grad
    assert not total.requires_grad


def test_halves_are_rounded_once():
    q, k, v = (t.detach() for t in operands(torch, (1, 2, 5, 5, 4), "float32"))
    exact, _ = getattr(torch, FUSED)(*(t.bfloat16().float() for t in (q, k, v)))
    found, total = getattr(torch, FUSED)(*(t.bfloat16() for t in (q, k, v)))
    assert found.dtype is torch.bfloat16
    assert total.dtype is torch.float32
    assert torch.equal(found, exact.bfloat16())


def test_a_causal_mask_hides_what_is_no_number():
    q, k, v = (t.detach() for t in operands(torch, (1, 1, 4, 4, 2), "float32"))
    k[:, :, 3] = math.nan
    found = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert found[:, :, :3].isfinite().all()
    assert found[:, :, 3].isnan().all()


@pytest.mark.parametrize(
    ("shapes", "given", "text"),
    [
        (((2, 3, 4),) * 3, {}, "4 dims"),
        (((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 6, 4)), {}, "same length"),
        (((1, 2, 3, 4),) * 3, {"dropout_p": 0.5}, "dropout"),
        (((1, 2, 3, 4),) * 3, {"attn_mask": torch.ones(3, 4)}, "broadcast to"),
    ],
)
def test_what_does_not_fit_is_refused(shapes, given, text):
    with pytest.raises(RuntimeError, match=text):
        getattr(torch, FUSED)(*(torch.ones(s) for s in shapes), **given)


LAYOUTS = {
    "rows": lambda x: x,
    "heads inside": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "length first": lambda x: x.permute(2, 1, 0, 3).contiguous().permute(2, 1, 0, 3),
    "of three": lambda x: (
        x.transpose(1, 2).unsqueeze(2).repeat(1, 1, 3, 1, 1).transpose(1, 3)[:, :, 0]
    ),
    "one head for all": lambda x: x[:, :1].expand(x.shape),
    "gaps": lambda x: x.repeat(1, 1, 1, 2)[..., :8],
    "features outside": lambda x: x.transpose(2, 3).contiguous().transpose(2, 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_lie_as_queries_do(layout):
    def run(library):
        x = library.arange(192.0).reshape(2, 3, 4, 8)
        q, attend = LAYOUTS[layout](x), library.nn.functional.scaled_dot_product_attention
        results = attend(q, x, x), getattr(library, FUSED)(q, x, x)[0], attend(x, x, q)
        return q.stride(), *(made.stride() for made in results)

    assert run(torch) == run(pt)
