"""Matrix products against PyTorch: ranks, broadcasting, dtypes, layouts, errors."""

import itertools
import math
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome, from_pytorch

pt = pytest.importorskip("torch")

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int8",
    "uint8",
    "complex64",
]


def sample(shape, dtype="float64", seed=0):
    generator = pt.Generator().manual_seed(seed)
    d = getattr(pt, dtype)
    if d.is_floating_point or d.is_complex:
        kind = pt.complex64 if d.is_complex else pt.float64
        return pt.randn(shape, generator=generator, dtype=kind).to(d)
    if dtype == "bool":
        return pt.rand(shape, generator=generator) > 0.5
    return pt.randint(0, 4, shape, generator=generator).to(d)


def loose(dtype):
    if dtype in ("float16", "bfloat16"):
        return {"rtol": 2e-2, "atol": 2e-2}
    return {"rtol": 1e-5, "atol": 1e-5} if dtype != "float64" else {"rtol": 1e-12, "atol": 1e-12}


SHAPES = [
    (3,),
    (2, 3),
    (3, 2),
    (4, 2, 3),
    (1, 3, 2),
    (2, 1, 2, 3),
    (5, 1, 3, 2),
    (0, 3),
    (3, 0),
    (2, 0, 3),
    (),
]


@pytest.mark.parametrize("first", SHAPES, ids=str)
@pytest.mark.parametrize("second", SHAPES, ids=str)
def test_matmul_of_any_ranks(first, second):
    a, b = sample(first, seed=1), sample(second, seed=2)
    x, y = from_pytorch(a), from_pytorch(b)
    assert_same_outcome(lambda: torch.matmul(x, y), lambda: pt.matmul(a, b), **loose("float64"))
    assert_same_outcome(lambda: x @ y, lambda: a @ b, **loose("float64"))


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_products_of_every_dtype(dtype):
    options = loose(dtype)
    a, b = sample((3, 4), dtype, 1), sample((4, 2), dtype, 2)
    x, y = from_pytorch(a), from_pytorch(b)
    for name in ("mm", "matmul"):
        assert_same_outcome(
            lambda name=name: getattr(torch, name)(x, y),
            lambda name=name: getattr(pt, name)(a, b),
            **options,
        )
    assert_same_outcome(lambda: x.matmul(y[:, 0]), lambda: a.matmul(b[:, 0]), **options)
    assert_same_outcome(lambda: x.mv(y[:, 0]), lambda: a.mv(b[:, 0]), **options)
    assert_same_outcome(lambda: x[0].dot(y[:, 1]), lambda: a[0].dot(b[:, 1]), **options)
    c, d = sample((2, 3, 4), dtype, 3), sample((2, 4, 2), dtype, 4)
    assert_same_outcome(
        lambda: torch.bmm(from_pytorch(c), from_pytorch(d)), lambda: pt.bmm(c, d), **options
    )
    bias = sample((2,), dtype, 5)
    assert_same_outcome(
        lambda: torch.addmm(from_pytorch(bias), x, y), lambda: pt.addmm(bias, a, b), **options
    )
    assert_same_outcome(
        lambda: F.linear(x, from_pytorch(b.t())),
        lambda: pt.nn.functional.linear(a, b.t()),
        **options,
    )


def test_layouts():
    base = sample((6, 8), seed=1)
    views = {
        "contiguous": base[:3, :4].contiguous(),
        "transposed": base[:4, :3].contiguous().t(),
        "stepped": base[::2, ::2],
        "expanded": base[:1, :4].expand(3, 4),
        "sliced": base[1:4, 3:7],
    }
    for (n, a), (m, b) in itertools.product(views.items(), repeat=2):
        x, y = from_pytorch(a), from_pytorch(b)
        assert_close(x @ y.t(), a @ b.t(), msg=f"{n} {m}")
        assert_close(x.t() @ y, a.t() @ b, msg=f"{n} {m}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bfloat16", "complex64"])
def test_addmm_factors(dtype):
    a, b, c = sample((3, 4), dtype, 1), sample((4, 2), dtype, 2), sample((3, 2), dtype, 3)
    x, y, z = from_pytorch(a), from_pytorch(b), from_pytorch(c)
    for beta, alpha in ((1, 1), (0, 1), (2, 3), (-1, 0), (0.5, 2)):
        assert_same_outcome(
            lambda beta=beta, alpha=alpha: torch.addmm(z, x, y, beta=beta, alpha=alpha),
            lambda beta=beta, alpha=alpha: pt.addmm(c, a, b, beta=beta, alpha=alpha),
            msg=f"{beta} {alpha}",
            **loose(dtype),
        )
    for shape in ((2,), (1, 2), (3, 1), (1,), ()):
        bias = sample(shape, dtype, 7)
        assert_close(from_pytorch(bias).addmm(x, y), bias.addmm(a, b), **loose(dtype))


def test_addmm_ignores_its_input_when_beta_is_zero():
    nan = torch.full((2, 2), float("nan"))
    ones = torch.ones(2, 2)
    assert torch.addmm(nan, ones, ones, beta=0).tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("shape", [(5, 4), (4,), (2, 5, 4), (2, 3, 5, 4), (0, 4)], ids=str)
def test_linear(shape):
    a, w, b = sample(shape, seed=1), sample((3, 4), seed=2), sample((3,), seed=3)
    x, weight, bias = from_pytorch(a), from_pytorch(w), from_pytorch(b)
    assert_close(F.linear(x, weight), pt.nn.functional.linear(a, w))
    assert_close(F.linear(x, weight, bias), pt.nn.functional.linear(a, w, b))


def test_out_argument():
    a, b = sample((3, 4), seed=1), sample((4, 2), seed=2)
    out = torch.empty(3, 2, dtype=torch.float64)
    assert torch.mm(from_pytorch(a), from_pytorch(b), out=out) is out
    assert_close(out, a @ b)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.mm(lib.ones(2, 3), lib.ones(4, 5)),
        lambda lib: lib.mm(lib.ones(3), lib.ones(3, 5)),
        lambda lib: lib.mm(lib.ones(2, 3), lib.ones(3)),
        lambda lib: lib.mm(lib.ones(2, 3), lib.ones(3, 4, dtype=lib.float64)),
        lambda lib: lib.mm(lib.ones(2, 3), 3),
        lambda lib: lib.bmm(lib.ones(2, 3), lib.ones(2, 3, 4)),
        lambda lib: lib.bmm(lib.ones(2, 3, 4), lib.ones(3, 4, 2)),
        lambda lib: lib.bmm(lib.ones(2, 3, 4), lib.ones(2, 5, 2)),
        lambda lib: lib.matmul(lib.ones(2), lib.ones(3)),
        lambda lib: lib.matmul(lib.ones(2, 3), lib.ones(2)),
        lambda lib: lib.matmul(lib.tensor(1.0), lib.ones(2)),
        lambda lib: lib.ones(2, 3) @ lib.ones(3, 2, dtype=lib.int64),
        lambda lib: lib.ones(2, 2, 3) @ lib.ones(3, 3, 2),
        lambda lib: lib.addmm(lib.ones(3), lib.ones(2, 3), lib.ones(3, 4)),
        lambda lib: lib.addmm(lib.ones(2, 3, 4), lib.ones(2, 3), lib.ones(3, 4)),
        lambda lib: lib.addmm(lib.ones(4), lib.ones(2, 3), lib.ones(4, 4)),
        lambda lib: lib.addmm(lib.ones(4), lib.ones(2), lib.ones(4, 4)),
        lambda lib: lib.dot(lib.ones(2), lib.ones(3)),
        lambda lib: lib.dot(lib.ones(2, 2), lib.ones(2)),
        lambda lib: lib.mv(lib.ones(2), lib.ones(2)),
        lambda lib: lib.mv(lib.ones(2, 3), lib.ones(2)),
        lambda lib: lib.nn.functional.linear(lib.ones(2, 3), lib.ones(4, 2)),
        lambda lib: lib.nn.functional.linear(lib.ones(2, 3), lib.ones(4, 3), lib.ones(5)),
    ],
)
def test_bad_operands(call):
    assert_same_outcome(lambda: call(torch), lambda: call(pt))


def test_a_number_is_no_matrix():
    with pytest.raises(TypeError, match="@"):
        torch.ones(2, 2) @ 2


def test_texts_carry_the_sizes():
    with pytest.raises(RuntimeError, match=r"cannot be multiplied \(2x3 and 4x5\)"):
        torch.ones(2, 3) @ torch.ones(4, 5)
    with pytest.raises(RuntimeError, match=r"be: \[2, 4\] but got: \[2, 5\]"):
        torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 2))


def test_numpy_agrees():
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(0)
    for first, second in (
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3,)),
        ((3,), (4, 3, 2)),
        ((2, 1, 3, 4), (5, 4, 2)),
    ):
        a, b = rng.standard_normal(first), rng.standard_normal(second)
        assert_close(torch.tensor(a) @ torch.tensor(b), np.matmul(a, b))


@pytest.mark.parametrize("name", ["matmul", "mm", "linear", "addmm"])
@pytest.mark.parametrize("values", [([[math.nan], [1.0]], [[0.0]]), ([[0.0]], [[math.nan, 1.0]])])
def test_zero_times_nan_where_one_matrix_is_a_number(name, values):
    def product(lib):
        a, b = map(lib.tensor, values)
        if name == "linear":
            return lib.nn.functional.linear(a, b.t())
        if name == "addmm":
            return lib.addmm(lib.zeros(b.shape[1]), a, b)
        return getattr(lib, name)(a, b)

    assert_close(product(torch), from_pytorch(product(pt)), equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
def test_factors_of_what_is_not_finite_are_refused(dtype, upper):
    """By the column that PyTorch names, alone and among others. (In float32 PyTorch finds 0 * inf.)"""
    odd = [
        [[a, 0, 0], [b, c, 0], [b, d, 1]]
        for a in (1, np.nan, np.inf)
        for b in (0, np.nan, np.inf)
        for c in (1, np.nan, np.inf, -np.inf)
        for d in (0, np.nan, np.inf)
    ]
    full = np.array([np.maximum(m, np.transpose(m)) for m in odd])
    codes = [
        lib.linalg.cholesky_ex(
            lib.tensor(full, dtype=getattr(lib, dtype)), upper=upper
        ).info.tolist()
        for lib in (torch, pt)
    ]
    assert codes[0] == codes[1]
    for code, matrix in zip(codes[0], full, strict=True):
        for lib in (torch, pt):
            t = lib.tensor(matrix, dtype=getattr(lib, dtype))
            with (
                pytest.raises(lib.linalg.LinAlgError, match="positive-definite")
                if code
                else nullcontext()
            ):
                lib.linalg.cholesky(t, upper=upper)


REFUSED = {
    "both vectors to have same dtype": lambda lib, x, n: lib.dot(n[0], lib.ones(3)),
    "addmv input tensors must have the same dtype": lambda lib, x, n: lib.addmv(n[0], x, x[0]),
    "Input dtypes must be the same": lambda lib, x, n: lib.baddbmm(n[None], x[None], x[None]),
    "must have the same dtype, but got": lambda lib, x, n: lib.addbmm(n, x[None], x[None]),
    "argument beta must not be a floating": lambda lib, x, n: lib.addr(n, n[0], n[0], beta=1.5),
    "Boolean beta only supported": lambda lib, x, n: lib.addr(x, x[0], x[0], beta=True),
    "Tensor dimension is 1, expected 2": lambda lib, x, n: lib.chain_matmul(x[0], x),
    "must all be greater or equal to 1": lambda lib, x, n: lib.linalg.lu_solve(x, n[0].int(), x),
    "at least one operand": lambda lib, x, n: lib.einsum("", []),
}


@pytest.mark.filterwarnings("ignore:torch.chain_matmul")
@pytest.mark.parametrize("phrase", REFUSED)
def test_refusals_are_in_pytorchs_words(phrase):
    raised = []
    for lib in (torch, pt):
        x = lib.eye(2)
        with pytest.raises((RuntimeError, ValueError), match=phrase) as caught:
            REFUSED[phrase](lib, x, x.long())
        raised.append(caught.type)
    assert raised[0] is raised[1]


@pytest.mark.parametrize("name", ["addbmm_", "baddbmm_", "addmm_"])
def test_numbers_before_tensors_are_told_of_as_in_pytorch(name):
    for lib in (torch, pt):
        x = lib.ones(1, 2, 2)
        self, *operands = (x, x, x) if name == "baddbmm_" else (x[0], x, x)
        operands = [t[0] for t in operands] if name == "addmm_" else operands
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            getattr(self.clone(), name)(2, *operands)
        assert told or lib is pt  # PyTorch says it once
        assert all(f"This overload of {name} is deprecated" in str(w.message) for w in told)


def test_signs_of_zeros_in_products_of_rows_of_one_element():
    a, b = np.random.default_rng(0).normal(0, 1, (300, 1)).astype("f4"), np.zeros((1, 200), "f4")
    b[0, ::3] = -0.0
    ours, theirs = (lib.from_numpy(a) @ lib.from_numpy(b) for lib in (torch, pt))
    assert (np.signbit(ours.numpy()) == np.signbit(theirs.numpy())).all()
