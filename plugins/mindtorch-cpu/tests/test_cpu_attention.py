"""Attention by blocks of rows: agrees with PyTorch, in memory that grows with the length alone."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn.functional import scaled_dot_product_attention as attention
from mindtorch_cpu.native.kernels import KERNELS

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


def test_rows_that_may_see_nothing_are_zeros():
    q, k, v = (torch.randn(1, 2, 5, 8, dtype=torch.bfloat16).requires_grad_() for _ in range(3))
    mask = torch.ones(5, 5, dtype=torch.bool)
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
    operands = [torch.randn(9, 4, 64, 32).requires_grad_() for _ in range(3)]
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


def test_half_of_what_a_causal_mask_hides_is_not_computed(monkeypatch):
    computed = []
    exp = np.exp
    monkeypatch.setattr(np, "exp", lambda a, *out: computed.append(a.size) or exp(a, *out))
    for length, share in ((64, 0.75), (512, 0.57)):
        computed.clear()
        attention(*[torch.randn(6, 2, length, 8) for _ in range(3)], is_causal=True)
        assert sum(computed) <= share * 6 * 2 * length * length
