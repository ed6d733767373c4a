"""Attention by blocks of rows: agrees with PyTorch, in memory that grows with the length alone."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn.functional import scaled_dot_product_attention as attention
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.ops import attention_kernels

pt = pytest.importorskip("torch")

# What results may differ by, measured by the largest number.
CLOSE = {pt.float32: 2e-5, pt.float64: 1e-13, pt.float16: 2e-3, pt.bfloat16: 2e-2}
MASKS = {
    "none": lambda shape, rows, columns, d: None,
    "causal": lambda shape, rows, columns, d: None,
    "bool": lambda shape, rows, columns, d: pt.rand(rows, columns) > 0.3,
    "bool of each": lambda shape, rows, columns, d: pt.rand(*shape, rows, columns) > 0.3,
    "row": lambda shape, rows, columns, d: pt.rand(1, columns) > 0.3,
    "float": lambda shape, rows, columns, d: pt.randn(rows, columns).to(d),
}


def here(t):
    d = getattr(torch, str(t.dtype).removeprefix("torch."))
    numbers = t.detach() if t.dtype is pt.bool else t.detach().double()
    return torch.from_numpy(numbers.numpy()).to(d).requires_grad_(t.requires_grad)


def compared(operands, mask, **options):
    pt_attention = pt.nn.functional.scaled_dot_product_attention
    wanted = pt_attention(*operands, mask, **options)
    g = pt.randn_like(wanted)
    theirs = [wanted, *pt.autograd.grad(wanted, operands, g)]
    mine = [here(t) for t in operands]
    found = attention(*mine, None if mask is None else here(mask), **options)
    ours = [found, *torch.autograd.grad(found, mine, here(g))]
    for a, b in zip(ours, theirs, strict=True):
        assert str(a.dtype).removeprefix("torch.") == str(b.dtype).removeprefix("torch.")
        a, b = a.detach().double().numpy(), b.detach().double().numpy()
        assert np.abs(a - b).max() <= CLOSE[operands[0].dtype] * max(np.abs(b).max(), 1)
    return found


@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("sizes", [(1, 12, 8), (3, 5, 4), (2, 200, 3)], ids=str)
@pytest.mark.parametrize("d", CLOSE, ids=str)
def test_few_rows(d, sizes, scale):
    pt.manual_seed(0)
    rows, columns, width = sizes
    made = [pt.randn(2, 3, n, width).to(d).requires_grad_() for n in (rows, columns, columns)]
    compared(made, None, scale=scale)


@pytest.mark.parametrize(
    "scores",
    [(1e4, -1e4, 3), (math.inf, 0, 1), (math.nan, 0, 1), (-math.inf, 0, 1), (200, 100, -300)],
)
def test_extreme_scores_of_few_rows(scores):
    query, keys = pt.ones(1, 1, 1, 1), pt.tensor(scores, dtype=pt.float32).reshape(1, 1, 3, 1)
    values = pt.arange(3.0).reshape(1, 1, 3, 1)
    wanted = pt.nn.functional.scaled_dot_product_attention(query, keys, values)
    found = attention(here(query), here(keys), here(values))
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("d", CLOSE, ids=str)
@pytest.mark.parametrize("single", [False, True], ids=["four", "three"])
def test_masks_dtypes_and_dimensions(d, mask, single):
    for seed, (shared, scale) in enumerate(itertools.product((False, True), (None, 0.3))):
        if shared and single:
            continue
        pt.manual_seed(seed)
        shape = (4,) if single else (2, 4)
        keys = (2, 2) if shared else shape
        sizes = (*shape, 37, 16), (*keys, 51, 16), (*keys, 51, 16)
        operands = [pt.randn(*s).to(d).requires_grad_() for s in sizes]
        made = compared(
            operands, MASKS[mask](shape, 37, 51, d), is_causal=mask == "causal", scale=scale,
            enable_gqa=shared,
        )  # fmt: skip
        assert "Flash" in made.grad_fn.name() or single
        assert made.is_contiguous() or not single


@pytest.mark.parametrize(("d", "shape"), [(torch.bfloat16, (1, 2, 5, 8)), (torch.float32, (2, 3, 44, 24))],
                         ids=["bfloat16", "by a kernel"])  # fmt: skip
def test_rows_that_may_see_nothing_are_zeros(d, shape):
    q, k, v = (torch.randn(shape, dtype=d).requires_grad_() for _ in range(3))
    mask = torch.ones(shape[2], shape[2], dtype=torch.bool)
    mask[3] = False
    made = attention(q, k, v, mask)
    assert (made[:, :, 3] == 0).all()
    made.float().sum().backward()
    assert (q.grad[:, :, 3] == 0).all()
    assert k.grad.isfinite().all()


@pytest.mark.parametrize("d", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"enable_gqa": True}], ids=str)
def test_memory_grows_with_the_length_alone(d, options):
    """A whole matrix of scores is 256 MiB here."""
    length = 4096
    heads = 2 if options.get("enable_gqa") else 4
    q = torch.randn(1, 4, length, 16).to(d).requires_grad_()
    k, v = (torch.randn(1, heads, length, 16).to(d).requires_grad_() for _ in range(2))
    tracemalloc.start()
    try:
        attention(q, k, v, **options).sum().backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_sums_over_long_rows_stay_accurate():
    length = 20_000
    q, k, v = (torch.randn(1, 1, n, 8) for n in (3, length, length))
    made = attention(q, k, v).double().numpy()
    a, b, c = (t.double().numpy()[0, 0] for t in (q, k, v))
    scores = np.exp(a @ b.T / math.sqrt(8))
    wanted = scores @ c / scores.sum(1, keepdims=True)
    assert np.abs(made[0, 0] - wanted).max() < 2e-6


def test_dropout_draws_pytorchs_numbers():
    operands = [pt.randn(2, 2, 9, 8).requires_grad_() for _ in range(3)]
    mine = [here(t) for t in operands]
    pt.manual_seed(3)
    wanted = pt.nn.functional.scaled_dot_product_attention(*operands, dropout_p=0.4)
    torch.manual_seed(3)
    found = attention(*mine, dropout_p=0.4)
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), atol=1e-5)


def test_second_gradients():
    q, k, v = (torch.randn(1, 2, 4, 3, dtype=torch.float64).requires_grad_() for _ in range(3))
    assert torch.autograd.gradgradcheck(lambda *t: attention(*t, is_causal=True), (q, k, v))


@pytest.mark.parametrize("causal", [False, True])
def test_compiled_kernels_give_the_same_bits(causal, monkeypatch):
    torch.manual_seed(0)
    operands = [torch.randn(9, 4, 64, 32).double().requires_grad_() for _ in range(3)]
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    found = []
    for mode in ("now", "off"):
        monkeypatch.setattr(KERNELS, "mode", mode)
        made = attention(*operands, is_causal=causal)
        grads = torch.autograd.grad(made.square().sum(), operands)
        found.append([t.detach().numpy().tobytes() for t in (made, *grads)])
    assert found[0] == found[1]


KERNEL_SHAPES = {
    "whole vectors": (3, 4, 64, 64, 32), "one more of all": (2, 3, 49, 65, 33), "few features": (9, 4, 40, 80, 3),
    "few columns": (9, 4, 230, 2, 17), "long": (1, 2, 131, 700, 64),
}  # fmt: skip


@pytest.fixture
def kernels(monkeypatch):
    if KERNELS.mode == "off" or not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    served = []
    run = attention_kernels._run
    monkeypatch.setattr(attention_kernels, "_run", lambda *args: served.append(run(*args)))
    return served


@pytest.mark.parametrize("mask", [*MASKS, "column"])
@pytest.mark.parametrize("sizes", KERNEL_SHAPES)
def test_compiled_kernels_agree_with_pytorch(sizes, mask, kernels):
    batch, heads, rows, columns, width = KERNEL_SHAPES[sizes]
    pt.manual_seed(1)
    laid = [pt.randn(batch, n, heads, width).transpose(1, 2) for n in (rows, columns, columns)]
    given = pt.randn(rows, 1) if mask == "column" else MASKS[mask](
        (batch, heads), rows, columns, pt.float32
    )  # fmt: skip
    compared([t.requires_grad_() for t in laid], given, is_causal=mask == "causal")
    assert len(kernels) == 2


def test_extreme_scores_by_kernels_are_pytorchs(kernels):
    pt.manual_seed(2)
    q, k, v = (pt.randn(2, 2, 48, 32) for _ in range(3))
    q[0, 0] *= 12
    q[0, 1] *= -1e-30
    compared([t.requires_grad_() for t in (q, k, v)], None)
    with pt.no_grad():
        q[1, 0, 3, 3] = k[1, 1, 5, 5] = math.nan
    wanted = pt.nn.functional.scaled_dot_product_attention(q, k, v)
    found = attention(here(q), here(k), here(v))
    assert np.array_equal(np.isnan(found.detach().numpy()), np.isnan(wanted.detach().numpy()))
    assert len(kernels) == 3


@pytest.mark.parametrize("causal", [False, True])
def test_kernels_give_the_same_bits_in_blocks_and_by_threads(causal, kernels):
    torch.manual_seed(0)
    operands = [torch.randn(5, 4, 50, 20).requires_grad_() for _ in range(3)]

    def bits():
        made = attention(*operands, is_causal=causal)
        grads = torch.autograd.grad(made.square().sum(), operands)
        return [t.detach().clone() for t in (made, *grads)]

    eager = bits()
    with torch.pipeline(through_backward=True):
        in_block = bits()
    before = torch.get_num_threads()
    torch.set_num_threads(3 if before == 1 else 1)
    try:
        otherwise = bits()
    finally:
        torch.set_num_threads(before)
    for found in (in_block, otherwise):
        assert all(
            a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(found, eager, strict=True)
        )
    assert len(kernels) == 6


def test_half_of_what_a_causal_mask_hides_is_not_computed(monkeypatch):
    computed = []
    exp = np.exp
    monkeypatch.setattr(KERNELS, "mode", "off")
    monkeypatch.setattr(np, "exp", lambda a, *out: computed.append(a.size) or exp(a, *out))
    for length, share in ((64, 0.75), (512, 0.57)):
        computed.clear()
        attention(*[torch.randn(6, 2, length, 8) for _ in range(3)], is_causal=True)
        assert sum(computed) <= share * 6 * 2 * length * length
