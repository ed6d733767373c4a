"""Linear algebra: identities, gradients, failures, and arguments that are hard."""

import numpy as np
import pytest

import mindtorch_core as torch

linalg = torch.linalg
DOUBLE, COMPLEX = torch.float64, torch.complex128


def randn(*shape, dtype=DOUBLE):
    torch.manual_seed(sum(shape) + len(shape))
    return torch.randn(*shape, dtype=dtype)


def adjoint(t):
    return t.conj().transpose(-1, -2)


def close(a, b, atol=1e-10):
    assert a.shape == b.shape
    assert a.dtype is b.dtype
    assert bool(torch.allclose(a, b, rtol=1e-9, atol=atol)), (a, b)


# ---- failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (linalg.inv, "singular"),
        (linalg.cholesky, "not positive-definite"),
        (linalg.lu_factor, r"U\[2,2\] is zero"),
        (lambda a: linalg.solve(a, torch.ones(3, 2, 1)), "singular"),
    ],
)
def test_failures_name_the_matrix_of_a_batch(fn, words):
    batch = torch.eye(2).expand(3, 2, 2).clone()
    batch[1] = torch.tensor([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(linalg.LinAlgError, match=rf"\(Batch element 1\): .*{words}"):
        fn(batch)
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_the_ex_forms_report_codes_instead():
    batch = torch.stack([torch.eye(2), torch.zeros(2, 2), -torch.eye(2)])
    assert linalg.inv_ex(batch).info.tolist() == [0, 1, 0]
    assert linalg.cholesky_ex(batch).info.tolist() == [0, 1, 1]
    solved = linalg.solve_ex(batch, torch.ones(3, 2))
    assert solved.info.tolist() == [0, 1, 0]
    assert solved.result[2].tolist() == [-1, -1]
    with pytest.raises(linalg.LinAlgError, match="Batch element 1"):
        linalg.inv_ex(batch, check_errors=True)


@pytest.mark.parametrize("name", ["det", "inv", "eigh", "qr", "svd", "cholesky", "matrix_rank"])
def test_dtypes_without_factorizations_are_refused(name):
    fn = getattr(linalg, name)
    with pytest.raises(RuntimeError, match="Expected a floating point or complex tensor"):
        fn(torch.ones(2, 2, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="Low precision dtypes not supported"):
        fn(torch.ones(2, 2, dtype=torch.float16))


# ---- identities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [DOUBLE, COMPLEX])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 0, 3), (0, 3, 3), (2, 3, 4, 4)])
def test_factors_multiply_to_the_matrix(shape, dtype):
    a = randn(*shape, dtype=dtype).transpose(-1, -2)
    q, r = linalg.qr(a)
    close(q @ r, a)
    u, s, vh = linalg.svd(a, full_matrices=False)
    close((u * s.unsqueeze(-2)) @ vh, a)
    p, low, up = linalg.lu(a)
    close(p @ low @ up, a)
    close(linalg.pinv(a) @ a @ linalg.pinv(a), linalg.pinv(a))


@pytest.mark.parametrize("dtype", [DOUBLE, COMPLEX])
def test_reflections_are_the_orthogonal_factor(dtype):
    a, c = randn(5, 3, dtype=dtype), randn(5, 5, dtype=dtype)
    packed, tau = torch.geqrf(a)
    close(linalg.householder_product(packed, tau), linalg.qr(a).Q)
    whole = linalg.qr(a, "complete").Q
    for left in (True, False):
        for transpose in (True, False):
            q = adjoint(whole) if transpose else whole
            close(torch.ormqr(packed, tau, c, left, transpose), q @ c if left else c @ q)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("dtype", [DOUBLE, COMPLEX])
def test_solutions_fit_broadcast_batches(dtype, left):
    a, b = randn(2, 1, 3, 3, dtype=dtype), randn(4, 3, 3, dtype=dtype)
    for x in (
        linalg.solve(a, b, left=left),
        linalg.lu_solve(*linalg.lu_factor(a), b, left=left),
    ):
        close(a @ x if left else x @ a, b.expand(2, 4, 3, 3))
    x = linalg.lu_solve(*linalg.lu_factor(a), b, left=left, adjoint=True)
    close(adjoint(a) @ x if left else x @ adjoint(a), b.expand(2, 4, 3, 3))


def test_least_squares_leave_an_orthogonal_rest():
    a, b = randn(6, 3), randn(6, 2)
    found = linalg.lstsq(a, b, driver="gelsd")
    rest = b - a @ found.solution
    close(a.T @ rest, torch.zeros(3, 2, dtype=DOUBLE))
    close(found.residuals, (rest * rest).sum(0))
    assert found.rank.item() == 3
    close(found.singular_values, linalg.svdvals(a))
    assert linalg.lstsq(a, b).residuals.numel() == 0


def test_random_algorithms_find_matrices_of_low_rank():
    a = randn(30, 3) @ randn(3, 20)
    u, s, v = torch.svd_lowrank(a, q=4)
    close((u * s) @ v.T, a)
    u, s, v = torch.pca_lowrank(a, q=4)
    close((u * s) @ v.T, a - a.mean(0))
    with pytest.raises(ValueError, match="not greater than min"):
        torch.pca_lowrank(a, q=21)


# ---- gradients ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [DOUBLE, COMPLEX])
@pytest.mark.parametrize(
    "fn",
    [
        linalg.inv,
        linalg.det,
        lambda a: linalg.slogdet(a)[1],
        lambda a: linalg.lu_factor(a[:2])[0],
        lambda a: linalg.qr(a[:2])[1].abs(),
        lambda a: linalg.svd(a[:, :2], False)[0].abs(),
        lambda a: linalg.eigh(a + adjoint(a))[1].abs(),
        lambda a: linalg.cholesky(a @ adjoint(a)),
        lambda a: linalg.pinv(a[:2]),
        lambda a: linalg.matrix_exp(a),
        lambda a: linalg.solve(a, a[:, 0]),
    ],
)
def test_gradients_agree_with_finite_differences(fn, dtype):
    a = randn(3, 3, dtype=dtype).requires_grad_()
    assert torch.autograd.gradcheck(fn, (a,))


def test_determinants_of_singular_matrices_have_cofactors():
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=DOUBLE, requires_grad=True)
    linalg.det(a).backward()
    close(a.grad, torch.tensor([[4.0, -2.0], [-2.0, 1.0]], dtype=DOUBLE))
    (g,) = torch.autograd.grad(linalg.det(a), a, create_graph=True)
    close(g.detach(), a.grad)


def test_only_some_results_of_a_factorization_may_count():
    a = randn(3, 3).requires_grad_()
    (g,) = torch.autograd.grad(linalg.svd(a).S.sum(), a)
    u, _, vh = linalg.svd(a.detach())
    close(g, u @ vh)
    (g,) = torch.autograd.grad(linalg.slogdet(a).logabsdet, a)
    close(g, linalg.inv(a.detach()).T)


# ---- products -----------------------------------------------------------------------------------


def test_integers_multiply_exactly_and_wrap_around():
    big = torch.full((40, 40), 3_037_000_500, dtype=torch.int64)
    total = 40 * 3_037_000_500**2
    want = (total + 2**63) % 2**64 - 2**63
    assert (big @ big)[3, 4].item() == want
    small = torch.full((40, 40), -7, dtype=torch.int8)
    assert (small @ small)[0, 0].item() == (40 * 49 + 128) % 256 - 128
    exact = torch.full((40, 40), 10**7 + 1, dtype=torch.int64)
    assert (exact @ exact)[0, 0].item() == 40 * (10**7 + 1) ** 2


def test_operands_may_have_any_strides():
    a, b = randn(3, 8, 10), randn(3, 10, 6)
    for left, right in (
        (a[:, ::2, ::3], b[:, :8:2, ::2]),
        (a[:1, :1].expand(3, 8, 10), b),
        (a.flip(1) if hasattr(a, "flip") else a, b),
    ):
        close(left @ right, left.contiguous() @ right.contiguous())


EQUATIONS = """
    i,j->ij | i,j->ji | i,j-> | i,k->i | i,i | i,i->i | ij,ij->ij | ij,ji | ij,ij->j | ij,k->kij | ij,k->jk
    ij,jk | ij,jk->ik | ij,kj->ki | ij,jk->ijk | ij,jk,kl->il | ij,k,jl->lik | i,j,k->kij | bij,bjk->bik
    bij,bkj->bki | bij,jk->bik | bij,bj->bi | bij,bij->b | ii | ii->i | ii,i->i | ii,j->ij | iij->j
    ...i,...j->...ij | ...i,i | ij...,jk->ik... | i...->... | ij->ji | ij-> | i,->i | , | abc,cd,db->a
""".replace("\n", "|")  # fmt: skip
EXTENTS = dict(zip("abcdijkl", (2, 3, 4, 5, 3, 4, 2, 5), strict=True))


@pytest.mark.parametrize("kind", ["float64", "complex128", "int64"])
@pytest.mark.parametrize("equation", [e.strip() for e in EQUATIONS.split("|") if e.strip()])
def test_einsum_as_numpy_has_it(equation, kind):
    draw = np.random.default_rng(len(equation))
    operands = []
    for subscripts in equation.partition("->")[0].split(","):
        shape = [
            n
            for s in subscripts.replace("...", ".")
            for n in ([EXTENTS[s]] if s != "." else [2, 3])
        ]
        drawn = draw.integers(-4, 5, shape) * (1 + 0.5j if kind == "complex128" else 1)
        operands.append(np.asarray(drawn, kind))
    made = torch.einsum(equation, *map(torch.from_numpy, operands))
    expected = np.asarray(np.einsum(equation, *operands))
    assert made.numpy().dtype == expected.dtype
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-12, atol=1e-12)


CALLS = """
    '' | 'i' | 'i,j', x | 'i', x, x | 'ij', x | 'i->j', x | 'i->ii', x | '1', x | 'i j', y | 'i->i->i', x
    '...', y | 'i...j...', y | 'i->...i', x | '.i', x | 'i,', x, x[0] | 'ij,jk', y, y | 'ii', y | 'i->', 3
    [x] | x, [0] | x, [0], [0] | x, [60] | x, [-1] | x, [0, 1] | '->', x | 'é', x | x, [...], [0]
""".replace("\n", "|")


@pytest.mark.parametrize("call", [c.strip() for c in CALLS.split("|") if c.strip()])
def test_einsum_refuses_what_pytorch_refuses(call):
    found = []
    for lib in (torch, pytest.importorskip("torch")):
        names = {"einsum": lib.einsum, "x": lib.arange(3.0), "y": lib.ones(2, 3)}
        try:
            found.append(eval(f"einsum({call})", names).tolist())
        except (RuntimeError, ValueError, TypeError) as error:
            found.append(type(error))
    assert found[0] == found[1]


def test_einsum_takes_diagonals_ellipses_and_lists():
    a, b = randn(3, 3), randn(2, 3, 4)
    close(torch.einsum("ii", a), a.diagonal().sum())
    close(torch.einsum("ii->i", a), a.diagonal())
    close(torch.einsum("ij,...jk", a, b), a @ b)
    close(torch.einsum(a, [0, 1], b, [..., 1, 2], [..., 0, 2]), a @ b)
    close(torch.einsum("ij,bjk,b->ik", [a, b, b[:, 0, 0]]), (a @ b * b[:, :1, :1]).sum(0))
    with pytest.raises(RuntimeError, match="subscript j has size 2 for operand 1"):
        torch.einsum("ij,jk->ik", a, a[:2])
    with pytest.raises(RuntimeError, match="does not appear in the equation"):
        torch.einsum("ij->ik", a)


def test_chains_are_multiplied_in_the_cheapest_order():
    from mindtorch_core.operators.linalg.contraction import _best_splits

    assert _best_splits([10, 100, 5, 50])[0, 2] == 1  # (A B) C: 7500 products, not 75000
    assert _best_splits([10, 5, 100, 50])[0, 2] == 0
    a, b, c = randn(2, 3), randn(3, 4), randn(4)
    close(linalg.multi_dot([a, b, c]), a @ b @ c)


@pytest.mark.parametrize(
    "chain",
    [
        "[x]", "[x, x.double()]", "[x, x, x.double()]", "[x, x[0], x]", "[x, x[None], x]", "[x[None], x]",
        "[x, x[None]]", "[x, y]", "[x, x, y]", "[x[0], y]", "[x, x.to('meta')]", "[x[0, 0], x]",
    ],
)  # fmt: skip
def test_chains_that_pytorch_refuses(chain):
    found = []
    for lib in (torch, pytest.importorskip("torch")):
        with pytest.raises(RuntimeError) as error:
            lib.linalg.multi_dot(eval(chain, {"x": lib.ones(2, 2), "y": lib.ones(3, 2)}))
        found.append(str(error.value).replace("must have be the", "must have the"))
    if "meta" not in chain:  # refused before, as by every op
        assert found[0] == found[1]


# ---- without data, and deferred -----------------------------------------------------------------


def test_shapes_are_known_without_data():
    a = torch.empty(2, 5, 3, dtype=torch.complex64, device="meta")
    u, s, vh = linalg.svd(a)
    assert (u.shape, s.shape, vh.shape) == ((2, 5, 5), (2, 3), (2, 3, 3))
    assert s.dtype is torch.float32
    assert linalg.pinv(a).shape == (2, 3, 5)
    assert linalg.eigvals(a[:, :3].real).dtype is torch.complex64


def test_a_pipeline_defers_factorizations():
    a = randn(4, 4)
    with torch.pipeline():
        found = linalg.inv(a) @ a
        logs = linalg.slogdet(a).logabsdet
        assert found._pending
    close(found, torch.eye(4, dtype=DOUBLE))
    close(logs, linalg.det(a).abs().log())
