"""Ties, infinities, empty dimensions and rare options against PyTorch: results, gradients, errors.

PyTorch's database of samples draws none of these.
"""

import math
import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_close, from_pytorch, outcome

pt = pytest.importorskip("torch")


def tensor(values, dtype="float64"):
    return pt.tensor(values, dtype=getattr(pt, dtype))


def draw(*shape, dtype="float64"):
    generator = pt.Generator().manual_seed(len(shape))
    kind = pt.complex128 if dtype.startswith("complex") else pt.float64
    return pt.randn(shape, generator=generator, dtype=kind).to(getattr(pt, dtype))


def run(lib, code, operands):
    """The value of an expression of operands ``a``, ``b``, ``c``."""
    names = dict(zip("abc", operands, strict=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(code, {"torch": lib, "F": lib.nn.functional, "inf": math.inf, **names})


def results_and_gradients(lib, code, operands):
    """Results, and gradients of all operands that can have one, for fixed weights of the results."""
    leaves = [t.requires_grad_() for t in operands if t.is_floating_point() or t.is_complex()]
    found = run(lib, code, operands)
    results = list(found) if isinstance(found, tuple) else [found]
    loss = 0
    for t in results:
        if t.requires_grad:
            weights = lib.linspace(-1, 2, max(t.numel(), 1), dtype=lib.float64)[: t.numel()]
            weighted = t.reshape(-1) * weights.to(t.dtype)
            loss = loss + (weighted.real if t.is_complex() else weighted).sum()
    if isinstance(loss, int):
        return results
    return results + list(lib.autograd.grad(loss, leaves, allow_unused=True))


def loose(*tensors):
    names = {str(t.dtype) for t in tensors}
    if names & {"torch.float16", "torch.bfloat16"}:
        return {"rtol": 1e-2, "atol": 1e-2}
    return (
        {"rtol": 1e-5, "atol": 1e-6} if "torch.float32" in names else {"rtol": 1e-9, "atol": 1e-9}
    )


def check(code, *operands):
    ours = [from_pytorch(t) for t in operands]
    expected = results_and_gradients(pt, code, [t.clone() for t in operands])
    found = results_and_gradients(torch, code, ours)
    for mine, other in zip(found, expected, strict=True):
        if mine is not None or other is not None:
            assert_close(mine, other.detach(), equal_nan=True, **loose(*operands))


def check_refused(code, *operands):
    """An error of PyTorch's type."""
    expected = outcome(run, pt, code, operands)
    found = outcome(run, torch, code, [from_pytorch(t) for t in operands])
    assert isinstance(expected, Exception), expected
    assert type(found) is type(expected), f"{found!r} where PyTorch raises {expected!r}"


# ---- reductions ---------------------------------------------------------------------------------

TIES = [[1.0, 3.0, 3.0, 3.0], [2.0, 2.0, 2.0, 0.0]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "code",
    [
        "a.amax(1)",
        "a.amin((0, 1))",
        "a.max()",
        "a.min()",
        "torch.aminmax(a, dim=1)",
        "a.median()",
        "a.nanmedian()",
    ],
)
def test_ties_share_gradients_of_the_inputs_dtype(code, dtype):
    check(code, tensor(TIES, dtype))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_median_of_all_with_nan(name):
    check(f"a.{name}()", tensor([math.nan, 1.0, 2.0, math.nan, 1.0]))


@pytest.mark.parametrize(
    "code",
    [
        "torch.nanmean(a, dtype=torch.int64)",
        "torch.logcumsumexp(a.long(), 0)",
        "torch.linalg.norm(a.reshape(1, 2, 4), dim=(0, 1, 2))",
        "torch.linalg.vecdot(a.int(), a.int())",
        "torch.linalg.vecdot(a, a.float())",
        "torch.median(torch.ones(3, dtype=torch.complex64))",
    ],
)
def test_reductions_refuse(code):
    check_refused(code, tensor(TIES))


@pytest.mark.parametrize("range", ["None", "(0.0, 0.0)", "(1.0, 1.0)"])
def test_histograms_over_one_point(range):
    check(f"torch.histogram(a.detach(), 3, range={range})", tensor([1.0, 0.2, 0.9, 4.0]))


# ---- products -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "shapes"),
    [
        ("F.linear(a, b, c)", [(3,), (3,), ()]),
        ("F.linear(a, b, c)", [(2, 4, 3), (3,), ()]),
        ("F.linear(a, b, c)", [(2, 3, 0), (4, 0), (4,)]),
        ("F.linear(a, b)", [(2, 0, 3), (4, 3)]),
        ("torch.addbmm(a, b, c)", [(2, 0), (2, 2, 1), (2, 1, 0)]),
        ("torch.addbmm(a, b, c)", [(3,), (2, 0, 4), (2, 4, 3)]),
        ("torch.pdist(a.detach())", [(0, 3)]),
        ("torch.pdist(a.detach())", [(1, 3)]),
    ],
)
def test_empty_and_one_dimensional_operands(code, shapes):
    check(code, *(draw(*shape) for shape in shapes))


@pytest.mark.parametrize("name", ["alpha", "beta"])
@pytest.mark.parametrize("op", ["addmm(a, a, a", "addmv(a[0], a, a[0]"])
def test_factors_of_whole_numbers(op, name):
    for dtype in ("uint8", "int32"):
        bytes_ = tensor([[1, 2], [3, 4]], dtype)
        check(f"torch.{op}, {name}=-1)", bytes_)
        check(f"torch.{op}, {name}=2.5)", bytes_)
        check_refused(f"torch.{op}, {name}=2**40)", bytes_)


def test_nothing_is_left_by_padding():
    check("F.pad(a, [0, -5], mode='circular')", draw(2, 5))
    check("F.max_unpool1d(*F.max_pool1d(a.detach(), 1, 1, return_indices=True), 1)", draw(0, 3, 7))


def test_blocks_meet_as_tensors_with_dimensions_do():
    check("torch.block_diag(a, b)", tensor(2.0), draw(2, 2, dtype="float32"))
    check("torch.block_diag(a, b)", draw(2, 0), draw(3))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients_for_hermitian_matrices_are_hermitian(dtype):
    m = draw(3, 3, dtype=dtype)
    check("torch.linalg.eigh(a)[1].abs()", m + m.mH)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_of_no_points_are_refused(name):
    for n in (0, -1, -2):
        check_refused(f"torch.fft.{name}(a, n={n})", draw(4))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name):
    for arguments in ("0", "4, d=0", "5, d=0.5, dtype=torch.float64"):
        check(f"torch.fft.{name}({arguments})")
    check_refused(f"torch.fft.{name}(4, dtype=torch.int64)")


# ---- layers -------------------------------------------------------------------------------------


def test_slopes_at_zero():
    values = tensor([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, math.nan, math.inf])
    check("F.rrelu(a, 0.1, 0.3, training=False)", values)


@pytest.mark.parametrize("p", ["inf", "-inf", "2.0"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_power_pooling_of_any_order(n, p):
    check(f"F.lp_pool{n}d(a, {p}, 2, ceil_mode=True)", draw(1, 2, *(3,) * n))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("options", ["1, 1", "2, 1", "1, 1, 2"])
@pytest.mark.parametrize("n", [1, 2])
def test_maxima_of_windows_that_see_only_the_lowest_number(n, options, dtype):
    x = draw(2, 2, *(4,) * n, dtype=dtype)
    x[0, 1] = -math.inf
    x[1, 0, :2] = -math.inf
    check(f"F.max_pool{n}d(a, 3, {options}, return_indices=True)", x)
    for made in _with_indices(n, from_pytorch(x)):
        assert (made >= 0).all()
    lowest = pt.full((1, 1, *(4,) * n), pt.iinfo(pt.int32).min, dtype=pt.int32)
    check(f"F.max_pool{n}d(a, 3, {options}, return_indices=True)", lowest)


def _with_indices(n, x):
    """Positions by the CPU's kernel and by the composition that other devices run."""
    from mindtorch_core.dispatch.registry import registry

    name = f"max_pool{n}d_with_indices"
    yield getattr(torch, name)(x, 3, 1, 1)[1]
    yield registry.entry(name).definition.decomposition(x, (3,) * n, (1,) * n, (1,) * n)[1]


@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic", "trilinear"])
def test_factors_that_leave_a_size(mode):
    n = {"linear": 1, "trilinear": 3}.get(mode, 2)
    x = draw(1, 2, *(3,) * n)
    for factors in ((1.3,) * n, (1.2, 2.0, 0.7)[:n], (2.0, 1.1, 1.0)[:n]):
        options = f"scale_factor={factors}, mode={mode!r}"
        if mode != "bicubic":  # of which PyTorch's gradients are those of another resizing
            check(f"F.interpolate(a, {options})", x)
        check(f"F.interpolate(a.detach(), {options})", x)
        if n == 2:
            check(f"F.interpolate(a.detach(), {options}, antialias=True)", x)
            check(f"F.interpolate(a, {options})", (x * 40).clamp(0).to(pt.uint8))


def test_statistics_of_one_channel_of_several_samples():
    check(
        "F.instance_norm(a, b.detach().clone(), c.detach().clone())",
        draw(2, 1, 4),
        tensor([0.5]),
        tensor([2.0]),
    )
    mean, var = torch.zeros(1), torch.ones(1)
    theirs = pt.zeros(1), pt.ones(1)
    x = draw(3, 1, 4, dtype="float32")
    F = torch.nn.functional
    F.instance_norm(from_pytorch(x), mean, var)
    pt.nn.functional.instance_norm(x, *theirs)
    assert_close([mean, var], list(theirs))


def test_no_samples_leave_the_statistics_alone():
    mean, var = torch.zeros(2), torch.ones(2)
    out = torch.nn.functional.batch_norm(torch.zeros(0, 2, 3), mean, var, training=True)
    assert out.shape == (0, 2, 3)
    assert (mean.tolist(), var.tolist()) == ([0, 0], [1, 1])


# ---- losses -------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_labels_of_single_samples_and_of_none(reduction):
    options = f"reduction={reduction!r}"
    check(f"F.nll_loss(a.detach(), b, {options})", draw(5), tensor([2], "int64"))
    check(f"F.nll_loss(a, b, {options})", draw(2, 3, 0), tensor([[], []], "int64"))
    check(f"F.cross_entropy(a, b, {options})", draw(0, 3), tensor([], "int64"))
    check_refused(f"F.nll_loss(a, b, {options})", draw(5), tensor([2, 3], "int64"))
    check_refused(f"F.cross_entropy(a, a, ignore_index=0, {options})", draw(2, 3))


@pytest.mark.parametrize("label", ["int64", "uint8"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_labels_that_are_no_class(dtype, label):
    check_refused("F.nll_loss(a, b)", draw(2, 3, dtype=dtype), tensor([0, 3], label))


def test_margins_that_are_just_kept_have_no_gradient():
    scores = tensor([[0.0, 1.0, -1.0], [2.0, 1.0, 0.0]])
    check("F.multi_margin_loss(a, b)", scores, tensor([0, 0], "int64"))
    check("F.multilabel_margin_loss(a, b)", scores, tensor([[0, -1, 1], [0, 1, -1]], "int64"))


@pytest.mark.parametrize(
    "target",
    [[[1, 0, 0]], [[1, 0, 0], [0, 1, 0]], [[1.0, 0.0, 0.0]], [1.0, 0.0], [1, 2, 0], 1, [1]],
)
def test_targets_that_do_not_fit(target):
    check_refused("F.cross_entropy(a, b)", draw(2, 3), pt.tensor(target))


def test_probabilities_that_are_not_numbers():
    check_refused("F.binary_cross_entropy(a, a.clamp(0, 1))", tensor([0.5, math.nan]))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_probabilities_that_are_certain(reduction):
    x = tensor([0.0, 0.0, 1.0, 1.0, 0.25, 1e-30], "float32")
    t = tensor([0.0, 1.0, 1.0, 0.0, 0.5, 1.0], "float32")
    code = f"F.binary_cross_entropy(a, b.detach(), reduction={reduction!r})"
    check(code, x, t)
    weights = tensor([0.5, 2.0, -1.0, 1.0, 0.0, 3.0], "float32")
    check(code.replace("),", "), c.detach(),"), x, t, weights)
    w = from_pytorch(t).requires_grad_()
    torch.nn.functional.binary_cross_entropy(from_pytorch(x), from_pytorch(t), w).backward()
    plain = torch.nn.functional.binary_cross_entropy(
        from_pytorch(x), from_pytorch(t), reduction="none"
    )
    assert_close(w.grad, plain / 6)


def test_certain_halves_can_be_learned_from():
    x = torch.tensor([0.0, 1.0], dtype=torch.float16, requires_grad=True)
    torch.nn.functional.binary_cross_entropy(x, torch.tensor([0.0, 1.0]).half()).backward()
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float16, [0.0, 0.0])


def test_second_gradients_of_probabilities():
    x = torch.tensor([0.3, 0.8], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([0.4, 1.0], dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.binary_cross_entropy
    assert torch.autograd.gradcheck(loss, (x, t))
    assert torch.autograd.gradgradcheck(loss, (x, t))


# ---- functions and random numbers ---------------------------------------------------------------


def test_angles_at_the_origin_have_no_slope():
    check("torch.atan2(a, b)", tensor([0.0, 0.0, 1.0, -0.0]), tensor([0.0, 2.0, 0.0, -1.0]))


def test_powers_of_two_are_of_the_products_dtype():
    for left, right in (("float64", "uint8"), ("float32", "uint8"), ("int64", "uint8")):
        operands = tensor([1, -1, 0], left), tensor([255, 3, 2], right)
        check("torch.ldexp(a.detach(), b)", *operands)
        check("a.detach().double().ldexp_(b)", *operands)
    check("torch.ldexp(a, b.detach())", draw(3, dtype="complex128"), draw(3, dtype="float32"))


def test_integers_do_not_hold_polygamma():
    check_refused("a.clone().polygamma_(1)", tensor([1, 2], "int64"))
    check("torch.polygamma(1, a)", tensor([1, 2], "int64"))


@pytest.mark.parametrize(
    "code", ["torch.poisson(a)", "torch.binomial(a, b)", "torch.bernoulli(b)", "torch.normal(a, b)"]
)
def test_one_number_drawn(code):
    operands = tensor(7.0), tensor(0.5)
    expected = run(pt, code, operands)
    found = run(torch, code, [from_pytorch(t) for t in operands])
    assert (found.shape, str(found.dtype)) == (expected.shape, f"torch.{found.dtype.name}")
    assert found.item() == found.item()


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_nothing_to_draw_from(shape):
    check_refused("torch.multinomial(a, 2, True)", pt.zeros(shape))
    check("torch.multinomial(a, 2, True)", pt.zeros(0, 3).detach())


def nothing(*shape, dtype="int64"):
    return pt.zeros(shape, dtype=getattr(pt, dtype))


@pytest.mark.parametrize(
    "code",
    [
        "a % 0", "a // 0", "a.fmod(0)", "a.div(0, rounding_mode='floor')", "a % b", "a // b",
        "a.div(0, rounding_mode='trunc')", "a.clone().remainder_(0)", "a.clone().floor_divide_(b)",
        "a.clone().div_(b, rounding_mode='trunc')", "a.clone().fmod_(b)", "a.int() % b.int()",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_nothing_is_divided_by_zero(code, shape):
    check(code, nothing(*shape), nothing(1))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
@pytest.mark.parametrize("dim", [0, -1, None])
def test_nothing_is_taken_along_a_dimension(shape, dim):
    check(f"a.take_along_dim(b, {dim})", nothing(*shape, dtype="float64"), nothing(*shape))
    check(f"a.take_along_dim(a.argsort({dim or 0}), {dim})", nothing(*shape, dtype="float64"))
    check("a.take_along_dim(b[:0], 0)", pt.ones(2, 3, dtype=pt.float64), nothing(2, 3))
