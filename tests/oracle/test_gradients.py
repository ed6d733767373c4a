"""Gradients of every differentiable op: against PyTorch's, and first and second order against
finite differences.
"""

import pytest

import mindtorch_core as torch
from mindtorch_core.autograd import gradcheck, gradgradcheck
from mindtorch_core.gradients.names import node_name
from mindtorch_core.nn import functional as F
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.comparison import assert_close, from_pytorch

pt = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's samples import it")

from opinfo_gradients import recorded_nodes  # noqa: E402


def nn(lib):
    return F if lib is torch else pt.nn.functional


def index(lib, *values):
    return lib.tensor(values)


def written(t, write):
    """A copy of a tensor after a write."""
    copied = t * 1
    write(copied)
    return copied


# Inputs by letter: a, b of one shape; p positive; r a row; m, n matrices to multiply; v a vector.
def inputs():
    g = pt.Generator().manual_seed(0)

    def draw(*shape):
        return pt.randn(*shape, generator=g, dtype=pt.float64)

    spread = pt.tensor([[1.3, -0.7, 2.2], [-1.9, 0.4, -2.6]], dtype=pt.float64)
    return {
        "a": spread, "b": draw(2, 3) + 3, "p": draw(2, 3).abs() + 0.5, "r": draw(3) + 2,
        "u": draw(2, 3).tanh() * 0.8, "m": draw(2, 3), "n": draw(3, 4), "v": draw(3), "s": draw(()),
        "x": draw(2, 2, 3), "y": draw(2, 3, 2), "w": draw(4, 3), "c": draw(4), "one": draw(1, 3),
    }  # fmt: skip


CASES = {
    "add": ("ab", lambda l, a, b: l.add(a, b, alpha=2.5)),
    "add.row": ("ar", lambda l, a, r: a + r),
    "sub": ("ab", lambda l, a, b: l.sub(a, b, alpha=-2)),
    "rsub": ("ab", lambda l, a, b: l.rsub(a, b, alpha=2) + (3 - a)),
    "mul": ("ar", lambda l, a, r: a * r),
    "mul.scalar": ("as", lambda l, a, s: a * s),
    "mul.self": ("a", lambda l, a: a * a),
    "div": ("ab", lambda l, a, b: a / b + 2 / b),
    "div.rounded": ("ab", lambda l, a, b: l.div(a, b, rounding_mode="floor") + a * b),
    "remainder": ("ab", lambda l, a, b: l.remainder(a, b)),
    "fmod": ("ab", lambda l, a, b: l.fmod(a, b)),
    "affine_grid_generator": (
        "a",
        lambda l, a: l.affine_grid_generator(a.reshape(-1)[:6].reshape(1, 2, 3), [1, 1, 3, 2], False),
    ),
    "pow": ("pb", lambda l, p, b: p**b),
    "pow.number": ("a", lambda l, a: a**3 + a**2 + a**1 + a**0 + a**-1),
    "pow.base": ("a", lambda l, a: 2.5**a),
    "maximum": ("ab", lambda l, a, b: l.maximum(a * 3, b)),
    "minimum": ("ab", lambda l, a, b: l.minimum(a * 3, b)),
    "atan2": ("ab", lambda l, a, b: l.atan2(a, b)),
    "nextafter": ("ab", lambda l, a, b: l.nextafter(a, b)),
    "take": ("x", lambda l, x: l.take(x, index(l, 0, -1, 5, 5))),
    "neg": ("a", lambda l, a: -a),
    "_neg_view": ("a", lambda l, a: a._neg_view() * a),
    "abs": ("a", lambda l, a: a.abs()),
    "sign": ("a", lambda l, a: a.sign() * a),
    "sgn": ("a", lambda l, a: a.sgn() * a),
    "square": ("a", lambda l, a: a.square()),
    **{name: ("a", lambda l, a, name=name: getattr(l, name)(a)) for name in (
        "exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "sigmoid", "erf", "erfc", "relu",
    )},
    **{name: ("a", lambda l, a, name=name: getattr(l, name)(a) * a) for name in (
        "floor", "ceil", "trunc", "round", "frac",
    )},
    **{name: ("p", lambda l, p, name=name: getattr(l, name)(p)) for name in (
        "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal",
    )},
    **{name: ("u", lambda l, u, name=name: getattr(l, name)(u)) for name in ("asin", "acos")},
    "gelu": ("a", lambda l, a: nn(l).gelu(a) + nn(l).gelu(a, approximate="tanh")),
    "where": ("ar", lambda l, a, r: l.where(a.detach() > 0, a, r) + l.where(a.detach() > 1, a, 0)),
    "clamp": ("a", lambda l, a: a.clamp(-1, 1.5) + a.clamp(min=0) + a.clamp(max=0)),
    "clamp.Tensor": ("ar", lambda l, a, r: a.clamp(-r.abs(), r.abs() * 2) + a.clamp(max=r - 3)),
    "masked_fill": ("as", lambda l, a, s: a.masked_fill(a.detach() > 0, s) + a.masked_fill(a.detach() < 0, 2.0)),
    "sum": ("x", lambda l, x: x.sum((0, 2)) + x.sum(1, keepdim=True).sum() + x.sum()),
    "sum.dim": ("x", lambda l, x: x.sum(1).sum(-1, keepdim=True)),
    "mean": ("x", lambda l, x: x.mean((0, 2)) + x.mean(-1, True).mean() + x.mean()),
    "prod": ("x", lambda l, x: x.prod(1) + x.prod()),
    "prod.keepdim": ("x", lambda l, x: x.prod(-1, True)),
    "amax": ("x", lambda l, x: x.amax((0, 2)) + x.amax() + x.amax(1, True).sum()),
    "amin": ("x", lambda l, x: x.amin(1) + x.amin()),
    "max.dim": ("x", lambda l, x: x.max(1)[0] + x.min(1, True)[0] + x.max()),
    "var": ("x", lambda l, x: x.var(1) + x.var(1, unbiased=False) + x.std()),
    "std": ("x", lambda l, x: x.std((0, 2), keepdim=True)),
    "logsumexp": ("x", lambda l, x: x.logsumexp(1) + l.logsumexp(x, (0, 1), True)),
    "softmax": ("x", lambda l, x: x.softmax(1) + nn(l).softmax(x, dim=-1)),
    "log_softmax": ("x", lambda l, x: x.log_softmax(0)),
    "mm": ("mn", lambda l, m, n: m.mm(n)),
    "bmm": ("xy", lambda l, x, y: x.bmm(y)),
    "matmul": ("xn", lambda l, x, n: x @ n),
    "matmul.vector": ("nv", lambda l, n, v: v @ n),
    "matmul.matrix_vector": ("xv", lambda l, x, v: x @ v),
    "matmul.dot": ("vr", lambda l, v, r: v @ r),
    "matmul.batched": ("xy", lambda l, x, y: x[:, None] @ y[None]),
    "matmul.left": ("my", lambda l, m, y: m @ y),
    "addmm": ("cmn", lambda l, c, m, n: l.addmm(c, m, n, beta=2, alpha=-0.5) + l.addmm(c, m, n)),
    "linear": ("xwc", lambda l, x, w, c: nn(l).linear(x, w, c) + nn(l).linear(x, w)),
    "linear.matrix": ("mwc", lambda l, m, w, c: nn(l).linear(m, w, c)),
    "linear.vector": ("vwc", lambda l, v, w, c: nn(l).linear(v, w, c)),
    "dot": ("vr", lambda l, v, r: v.dot(r)),
    "mv": ("mv", lambda l, m, v: m.mv(v)),
    "view": ("x", lambda l, x: x.view(3, 4)),
    "reshape": ("x", lambda l, x: x.transpose(0, 2).reshape(4, 3) + x.reshape(4, 3)),
    "flatten": ("x", lambda l, x: x.flatten(1)),
    "unflatten": ("n", lambda l, n: n.unflatten(1, (2, 2))),
    "transpose": ("x", lambda l, x: x.transpose(0, 2)),
    "permute": ("x", lambda l, x: x.permute(2, 0, 1)),
    "t": ("m", lambda l, m: m.t()),
    "alias": ("x", lambda l, x: l.ops.aten.alias(x)),
    "movedim": ("x", lambda l, x: x.movedim(0, 2)),
    "expand": ("one", lambda l, one: one.expand(2, 4, 3)),
    "squeeze": ("one", lambda l, one: one.squeeze() + one.squeeze(0) + one.squeeze((0, 1))),
    "unsqueeze": ("m", lambda l, m: m.unsqueeze(1)),
    "select": ("x", lambda l, x: x.select(1, -1) + x[0, 1, 2]),
    "slice": ("x", lambda l, x: x[:, ::2, 1:]),
    "narrow": ("x", lambda l, x: x.narrow(2, 1, 2)),
    "diagonal": ("n", lambda l, n: n.diagonal() + n.diagonal(1)),
    "as_strided": ("n", lambda l, n: n.as_strided((2, 3), (2, 2), 1)),
    "split": ("n", lambda l, n: n.split([1, 3], 1)[1] + n.chunk(2, 1)[0].sum()),
    "split_with_sizes": ("n", lambda l, n: l.split_with_sizes(n, (1, 0, 3), -1)[2]),
    "unbind": ("n", lambda l, n: n.unbind(1)[1] * n.unbind(1)[0]),
    "cat": ("mn", lambda l, m, n: l.cat([m.t(), n, m.t()], 1)),
    "stack": ("mx", lambda l, m, x: l.stack([m, x[0], m * 2], -1)),
    "index": ("x", lambda l, x: x[index(l, 1, 0, 1)] + x[:, index(l, 0, 1), :][index(l, 1, 1, 0)]),
    "index.mask": ("m", lambda l, m: m[m.detach() > 0]),
    "index.pair": ("n", lambda l, n: n[index(l, 0, 2), index(l, 3, 3)]),
    "index_put": ("mr", lambda l, m, r: m.index_put((index(l, 1),), r)),
    "index_put.accumulate": ("mr", lambda l, m, r: m.index_put((index(l, 1, 1),), r, accumulate=True)),
    "gather": ("n", lambda l, n: n.gather(0, index(l, [0, 2, 1, 0], [2, 2, 0, 1]))),
    "scatter": ("mn", lambda l, m, n: n.scatter(0, index(l, [0, 2, 1], [1, 0, 2]), m)),
    "scatter.value": ("n", lambda l, n: n.scatter(0, index(l, [0, 2, 1, 1]), 5.0)),
    "scatter_add": ("mn", lambda l, m, n: n.scatter_add(0, index(l, [0, 2, 2], [0, 0, 2]), m)),
    "index_select": ("n", lambda l, n: n.index_select(1, index(l, 3, 0, 3))),
    "index_add": ("mn", lambda l, m, n: n.t().index_add(0, index(l, 2, 2), m, alpha=1.5)),
    "masked_select": ("m", lambda l, m: m.masked_select(m.detach() > 0)),
    "embedding": ("w", lambda l, w: nn(l).embedding(index(l, [1, 3], [1, 0]), w, padding_idx=0)),
    "nll_loss": ("m", lambda l, m: nn(l).nll_loss(m, index(l, 2, 0))),
    "cross_entropy": ("m", lambda l, m: nn(l).cross_entropy(m, index(l, 2, 0), label_smoothing=0.1)),
    "cross_entropy.soft": ("mp", lambda l, m, p: nn(l).cross_entropy(m, p)),
    "mse_loss": ("ab", lambda l, a, b: nn(l).mse_loss(a, b)),
    "conv2d": ("mn", lambda l, m, n: nn(l).conv2d(n[None, None], m[None, None], padding=1)),
    "col2im": ("w", lambda l, w: nn(l).fold(w.unsqueeze(0), (2, 4), (2, 2))),
    **{
        f"_upsample_{mode}2d_aa": (
            "x",
            lambda l, x, mode=mode: nn(l).interpolate(x[None], (3, 2), mode=mode, antialias=True),
        )
        for mode in ("bicubic", "lanczos")
    },
    "igamma": ("p", lambda l, p: l.igamma(l.full_like(p, 1.3), p)),
    "igammac": ("p", lambda l, p: l.igammac(l.full_like(p, 1.3), p)),
    "clone": ("m", lambda l, m: m.clone() * m.t().contiguous().t()),
    "to": ("m", lambda l, m: m.to(l.float64) + m.to("cpu")),
    "copy": ("mr", lambda l, m, r: written(m, lambda t: t.copy_(r))),
    "fill": ("m", lambda l, m: written(m, lambda t: t[0].fill_(2.0))),
    "zero": ("m", lambda l, m: written(m, lambda t: t[:, 1].zero_())),
    "setitem": ("ms", lambda l, m, s: written(m, lambda t: t.__setitem__((0, slice(1, 3)), s))),
    "setitem.index": ("mr", lambda l, m, r: written(m, lambda t: t.__setitem__(index(l, 1), r))),
    "inplace.add": ("mr", lambda l, m, r: written(m, lambda t: t.add_(r, alpha=2))),
    "inplace.mul": ("mr", lambda l, m, r: written(m, lambda t: t.mul_(r).mul_(r))),
    "inplace.exp": ("m", lambda l, m: written(m, lambda t: t.exp_())),
    "inplace.view": ("mr", lambda l, m, r: written(m, lambda t: t[0].mul_(r).sin_())),
    "inplace.abs": ("a", lambda l, a: written(a, lambda t: t[1].abs_())),
    "inplace.square": ("a", lambda l, a: written(a, lambda t: t[:, 0].square_())),
    "inplace.masked_fill": ("as", lambda l, a, s: written(a, lambda t: t.masked_fill_(t.detach() > 0, s))),
    "inplace.scatter_add": ("mn", lambda l, m, n: written(n, lambda t: t.scatter_add_(0, index(l, [0, 2, 2], [1, 1, 0]), m))),
    "inplace.clamp": ("a", lambda l, a: written(a, lambda t: t.clamp_(-1, 1))),
    "inplace.overwrite": ("m", lambda l, m: written(m, lambda t: t.uniform_(0, 0) + t.zero_())),
}  # fmt: skip
LETTERS = {"one": ("one",)}


def arguments(letters):
    pool = inputs()
    return [pool[name].clone() for name in LETTERS.get(letters, letters)]


def gradients(lib, function, tensors):
    """Results and gradients, weighted by fixed numbers."""
    result = function(lib, *tensors)
    weights = lib.linspace(-1, 2, result.numel() or 1, dtype=lib.float64)[: result.numel()]
    result.backward(weights.reshape(result.shape))
    return [result.detach(), *(t.grad for t in tensors)]


@pytest.mark.parametrize(("letters", "function"), CASES.values(), ids=CASES.keys())
def test_against_pytorch(letters, function):
    theirs = [t.requires_grad_() for t in arguments(letters)]
    ours = [from_pytorch(t) for t in theirs]
    expected = gradients(pt, function, theirs)
    found = gradients(torch, function, ours)
    assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("letters", "function"), CASES.values(), ids=CASES.keys())
def test_against_pytorch_in_other_layouts(letters, function):
    theirs = [
        t.t().contiguous().t() if t.dim() == 2 else pt.stack([t, t], -1)[..., 0]
        for t in arguments(letters)
    ]
    ours = [from_pytorch(t).requires_grad_() for t in theirs]
    theirs = [t.detach().requires_grad_() for t in theirs]
    if letters in ("x", "n") and function in (CASES["view"][1], CASES["as_strided"][1]):
        return  # only for row-major tensors
    assert_close(
        gradients(torch, function, ours), gradients(pt, function, theirs), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize(("letters", "function"), CASES.values(), ids=CASES.keys())
def test_against_finite_differences(letters, function):
    if function in NOT_SMOOTH:
        return
    tensors = [from_pytorch(t).requires_grad_() for t in arguments(letters)]
    assert gradcheck(lambda *xs: function(torch, *xs), tensors)
    if function not in [CASES[name][1] for name in WRITES_TO_VIEWS]:
        assert gradgradcheck(lambda *xs: function(torch, *xs), tensors)


WRITES_TO_VIEWS = ["setitem", "inplace.view", "inplace.abs", "inplace.square"]


@pytest.mark.parametrize("name", WRITES_TO_VIEWS)
def test_second_order_through_writes_to_views(name):
    letters, function = CASES[name]
    tensors = [from_pytorch(t).requires_grad_() for t in arguments(letters)]
    assert gradgradcheck(lambda *xs: function(torch, *xs), tensors)


# The first has no value that depends on its input, the other no gradient at its padding.
NOT_SMOOTH = [CASES["inplace.overwrite"][1], CASES["embedding"][1]]


@pytest.mark.parametrize(
    "name",
    [
        "mul",
        "div",
        "matmul",
        "addmm",
        "pow.number",
        "softmax",
        "log_softmax",
        "prod",
        "var",
        "index",
        "cat",
        "tanh",
        "logsumexp",
        "mean",
        "amax",
    ],
)
def test_second_order_against_pytorch(name):
    letters, function = CASES[name]
    results = []
    for lib, make in ((torch, from_pytorch), (pt, lambda t: t)):
        tensors = [make(t).requires_grad_() for t in arguments(letters)]
        out = function(lib, *tensors)
        first = lib.autograd.grad((out * out).sum(), tensors, create_graph=True)
        total = sum((g * g).sum() for g in first)
        total.backward()
        results.append([*(g.detach() for g in first), *(t.grad for t in tensors)])
    assert_close(*results, rtol=1e-8, atol=1e-8)


def test_every_differentiable_op_is_covered():
    tested = (
        {name.partition(".")[0] for name in CASES}
        | {
            *("uniform", "normal", "random", "bernoulli_p", "binomial", "cauchy", "exponential"),
            *("geometric", "log_normal", "poisson"),  # overwritten: the gradient is zero
            *("_standard_gamma", "_sample_dirichlet"),  # with the distributions
            "_thnn_fused_lstm_cell",  # in test_fused_gradients
            "_scaled_dot_product_flash_attention_for_cpu",  # in test_fused_attention
            "_scaled_dot_product_fused_attention_overrideable",  # in tests/operators/test_device_attention
            "native_dropout",  # what it keeps is drawn: in tests/autograd/test_whole_kernels
            "_grouped_mm",  # in test_grouped_mm
            "fake_quantize_per_tensor_affine",  # steps: in tests/operators/test_fake_quantization
            "fake_quantize_per_channel_affine",
            "_recurrent_steps",  # in test_recurrent_steps
            *(f"special_{name}" for name in (*BESSEL, *POLYNOMIALS, "zeta")),
        }
    )
    behind = {  # what the gradients of other ops are made of
        "threshold_backward": "relu",
        "_convolution_weight": "conv2d",
        "_upsample_bicubic2d_aa_backward": "_upsample_bicubic2d_aa",
        "_upsample_lanczos2d_aa_backward": "_upsample_lanczos2d_aa",
        "_to_device": "to",
    }
    nodes = {}
    for d in definitions():
        own = isinstance(d.grad, dict) and d.functional is None and "::" not in d.name
        if own and behind.get(d.base_name, d.base_name) not in tested:
            nodes.setdefault(d.base_name, set()).add(node_name(d))
    recorded = recorded_nodes(set().union(*nodes.values()))
    assert {name for name, its in nodes.items() if not its & recorded} == set()


# Ops that PyTorch cannot differentiate: only here are there derivatives, or there are none here either.
BESSEL = [
    *(f"bessel_{kind}" for kind in ("j0", "j1", "y0", "y1")),
    *(f"{scaled}modified_bessel_k{n}" for scaled in ("", "scaled_") for n in (0, 1)),
    "spherical_bessel_j0",
]
POLYNOMIALS = [
    *(f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    "legendre_polynomial_p",
]


@pytest.mark.parametrize("name", BESSEL)
def test_derivatives_of_bessel_functions(name):
    x = from_pytorch(inputs()["p"]).requires_grad_()
    assert gradcheck(getattr(torch.special, name), [x])
    assert gradgradcheck(getattr(torch.special, name), [x])


@pytest.mark.parametrize("name", [*POLYNOMIALS, "zeta"])
def test_what_has_no_derivative_says_so(name):
    x, y = (torch.tensor(v, requires_grad=True) for v in (2.5, 3.0))
    result = getattr(torch.special, name)(x, y)
    with pytest.raises(NotImplementedError, match=f"the derivative of {name} .*not implemented"):
        result.backward()


@pytest.mark.parametrize(
    "name",
    [
        "mul",
        "div",
        "exp",
        "sum",
        "matmul",
        "abs",
        "reciprocal",
        "sqrt",
        "tanh",
        "sigmoid",
        "log",
        "sin",
        "pow",
    ],
)
def test_complex_gradients(name):
    g = pt.Generator().manual_seed(0)
    a = pt.randn(3, 3, dtype=pt.complex128, generator=g)
    b = pt.randn(3, 3, dtype=pt.complex128, generator=g)

    def run(lib, x, y):
        if name in ("mul", "div", "matmul", "pow"):
            out = getattr(lib, name)(x, y) if name != "pow" else x**2
        else:
            out = getattr(lib, name)(x) + y
        out.real.sum().backward() if out.is_complex() else out.sum().backward()
        return x.grad, y.grad

    results = []
    for lib, make in ((torch, from_pytorch), (pt, lambda t: t)):
        x, y = make(a.clone()).requires_grad_(), make(b.clone()).requires_grad_()
        found = [t for t in run(lib, x, y) if t is not None]
        results.append([found[0].real, found[0].imag if lib is pt else found[0]])
    ours, theirs = results
    assert_close(ours[0], theirs[0], rtol=1e-9, atol=1e-9)
    assert_close(
        ours[1].tolist() and [v.imag for row in ours[1].tolist() for v in row],
        [v for row in theirs[1].tolist() for v in row],
        rtol=1e-9,
        atol=1e-9,
    )


DTYPES = ["float32", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("second", DTYPES)
def test_gradients_keep_the_operands_dtypes(first, second):
    results = []
    for lib in (torch, pt):
        a = lib.tensor([1.0, 2.0, 3.0], dtype=getattr(lib, first), requires_grad=True)
        b = lib.tensor([[2.0], [4.0]], dtype=getattr(lib, second), requires_grad=True)
        s = lib.tensor(2.0, dtype=lib.float64, requires_grad=True)
        (a * b + a / b - b + a * s).sum().backward()
        results.append([a.grad, b.grad, s.grad])
    assert_close(*results, rtol=2e-2, atol=2e-2)


def test_broadcasting_sums_gradients():
    for first, second in (
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((), (2, 3)),
        ((4, 1, 3), (2, 1)),
        ((1,), (0,)),
        ((0, 3), (1, 3)),
    ):
        results = []
        for lib in (torch, pt):
            a = lib.full(first, 2.0, requires_grad=True)
            b = lib.full(second, 3.0, requires_grad=True)
            (a * b + a).sum().backward()
            results.append([a.grad, b.grad])
        assert_close(*results, msg=f"{first} {second}")


def test_ties_and_corners_as_in_pytorch():
    for function in (
        lambda l, x: x.amax(),
        lambda l, x: x.amax(1),
        lambda l, x: x.max(),
        lambda l, x: x.abs(),
        lambda l, x: x.relu(),
        lambda l, x: l.maximum(x, x.detach()),
        lambda l, x: l.minimum(x, x.detach()),
        lambda l, x: x.clamp(0, 2),
        lambda l, x: x.clamp(l.zeros(3), l.full((3,), 2.0)),
        lambda l, x: x.prod(),
        lambda l, x: x.prod(1),
        lambda l, x: x**2,
        lambda l, x: x ** x.detach().abs(),
        lambda l, x: x.sign(),
        lambda l, x: l.where(x > 0, x, x * 0),
        lambda l, x: l.atan2(x, x.detach() + 1),
        lambda l, x: x.std(0),
        lambda l, x: x.masked_fill(x.detach() == 0, 1.0).log(),
    ):
        results = []
        for lib in (torch, pt):
            x = lib.tensor([[2.0, 0.0, 2.0], [0.0, 1.0, 2.0]], requires_grad=True)
            function(lib, x).sum().backward()
            results.append(x.grad)
        assert_close(*results, equal_nan=True)


def test_empty_tensors():
    for function in (
        lambda l, x: x.sum(),
        lambda l, x: x.sum(0),
        lambda l, x: x * 2,
        lambda l, x: x.mean(1),
        lambda l, x: l.cat([x, x]),
        lambda l, x: x @ l.ones(3, 2),
        lambda l, x: x.softmax(1),
        lambda l, x: x.reshape(3, 0),
        lambda l, x: x[:, 1],
        lambda l, x: x.prod(0),
        lambda l, x: x[l.zeros(0, dtype=l.int64)],
    ):
        results = []
        for lib in (torch, pt):
            x = lib.zeros(0, 3, requires_grad=True)
            function(lib, x).sum().backward()
            results.append(x.grad)
        assert_close(*results)


def test_relu_lets_the_gradient_of_nan_pass():
    for n in (1, 1000):  # small arrays and large ones are computed in different ways
        found = []
        for lib in (torch, pt):
            x = lib.tensor([float("nan"), -1.0, 0.0, 2.0] * n).requires_grad_()
            (x.relu() * 3).sum().backward()
            found.append(x.grad.tolist())
        assert found[0] == found[1]
