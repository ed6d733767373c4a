"""The extensions ``linalg`` and ``fft``, and the products of the main namespace, against NumPy's."""

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import COMPLEX, FLOATING, INF, NUMERIC, assert_same, check, sample  # noqa: E402

INEXACT = FLOATING + COMPLEX
BATCHES = [(), (2,), (2, 3), (0,)]


def rough(dtype):
    return 2e-4 if dtype in ("float32", "complex64") else 1e-10


def hermitian(dtype, shape):
    a = sample(dtype, shape)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)


@pytest.mark.parametrize("where", ["", "linalg."])
@pytest.mark.parametrize("dtype", NUMERIC)
def test_products(dtype, where):
    for first, second in [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((4, 2, 3), (3, 5)),
        ((0, 3), (3, 2)),
    ]:
        check(f"{where}matmul", sample(dtype, first), sample(dtype, second, 1), within=1e-5)
    x = sample(dtype, (2, 3, 4))
    check(f"{where}tensordot", x, sample(dtype, (3, 4, 5), 1), within=1e-5)
    check(f"{where}tensordot", x, sample(dtype, (2,), 1), axes=0, within=1e-5)
    check(f"{where}tensordot", x, sample(dtype, (3, 2), 1), axes=((0, -2), (1, 0)), within=1e-5)
    check(f"{where}matrix_transpose", x)
    check(f"{where}vecdot", x, sample(dtype, (4,), 1), within=1e-5)
    check(f"{where}vecdot", x, sample(dtype, (3, 1), 1).repeat(4, 1), axis=-2, within=1e-5)


def test_products_meet_in_a_dtype():
    for a, b in (("int8", "uint16"), ("float32", "float64"), ("float64", "complex64")):
        check("matmul", sample(a, (2, 3)), sample(b, (3, 2)), within=1e-5)
        check("vecdot", sample(a, (2, 3)), sample(b, (3,)), within=1e-5)
        check("tensordot", sample(a, (2, 3)), sample(b, (3, 2)), axes=1, within=1e-5)
        check("linalg.outer", sample(a, (2,)), sample(b, (3,)), within=1e-5)
        check("linalg.cross", sample(a, (2, 3)), sample(b, (3,)), within=1e-5)


def test_what_products_refuse():
    with pytest.raises(ValueError, match="vectors of 3 and of 4 elements"):
        xp.vecdot(torch.ones(3), torch.ones(4))
    with pytest.raises(IndexError):
        xp.vecdot(torch.ones(2, 3), torch.ones(3), axis=-2)
    with pytest.raises(ValueError, match="3 elements, not 2 and 2"):
        xp.linalg.cross(torch.ones(2), torch.ones(2))
    with pytest.raises(ValueError, match="not two or more"):
        xp.matrix_transpose(torch.ones(2))
    with pytest.raises(ValueError, match="not two or more"):
        xp.linalg.matrix_rank(torch.ones(2))


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", INEXACT)
def test_square_matrices(dtype, batch):
    x, h = sample(dtype, (*batch, 3, 3)), hermitian(dtype, (*batch, 3, 3))
    rtol = rough(dtype)
    check("linalg.det", x, within=rtol * 10)
    check("linalg.inv", h, within=rtol)
    for power in (0, 1, 3, -2):
        check("linalg.matrix_power", h / 10, power, within=rtol * 100)
    for upper in (False, True):
        check("linalg.cholesky", h, upper=upper, within=rtol)
    check("linalg.eigvalsh", h, within=rtol)
    ours, theirs = xp.linalg.slogdet(torch.asarray(h)), np.linalg.slogdet(h)
    assert_same(tuple(ours), tuple(theirs), within=rtol)
    assert ours._fields == theirs._fields
    values, vectors = decomposed = xp.linalg.eigh(torch.asarray(h))
    assert decomposed._fields == ("eigenvalues", "eigenvectors")
    assert str(values.dtype) == f"torch.{np.linalg.eigvalsh(h).dtype}"
    again = (vectors * values.unsqueeze(-2)) @ xp.conj(vectors).mT
    np.testing.assert_allclose(again.numpy(), h, rtol=rtol, atol=rtol * 20)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("size", [(4, 2), (2, 4), (3, 3)], ids=str)
def test_matrices(size, dtype, batch):
    x, rtol = sample(dtype, (*batch, *size)), rough(dtype)
    ours = torch.asarray(x)
    check("linalg.svdvals", x, within=rtol)
    check("linalg.pinv", x, within=rtol * 10)
    assert_same(xp.linalg.pinv(ours, rtol=0.1), np.linalg.pinv(x, rtol=0.1), within=rtol * 10)
    check("linalg.matrix_rank", x)
    check("linalg.matrix_rank", x, rtol=0.5)
    for full in (True, False):
        found = xp.linalg.svd(ours, full_matrices=full)
        assert [tuple(p.shape) for p in found] == [
            p.shape for p in np.linalg.svd(x, full_matrices=full)
        ]
        assert found._fields == ("U", "S", "Vh")
        k = min(size)
        again = (found.U[..., :k] * found.S.unsqueeze(-2)) @ found.Vh[..., :k, :]
        np.testing.assert_allclose(again.numpy(), x, rtol=rtol, atol=rtol * 10)
    for mode in ("reduced", "complete"):
        found = xp.linalg.qr(ours, mode=mode)
        assert [tuple(p.shape) for p in found] == [p.shape for p in np.linalg.qr(x, mode=mode)]
        assert found._fields == ("Q", "R")
        np.testing.assert_allclose((found.Q @ found.R).numpy(), x, rtol=rtol, atol=rtol * 10)
    for order in ("fro", "nuc", 1, -1, 2, -2, INF, -INF):
        for keepdims in (False, True):
            check("linalg.matrix_norm", x, ord=order, keepdims=keepdims, within=rtol)
    for offset in (0, 1, -1, 5):
        check("linalg.diagonal", x, offset=offset)
        check("linalg.trace", x, offset=offset, within=rtol)


def test_traces_of_integers():
    check("linalg.trace", sample("uint8", (2, 3, 3)))
    check("linalg.trace", sample("int8", (3, 3)), dtype=np.dtype("float32"))


def test_tolerances_that_differ_by_matrix():
    x = sample("float64", (2, 3, 3))
    check("linalg.matrix_rank", x, rtol=np.array([0.9, 1e-9]))
    ours = xp.linalg.pinv(torch.asarray(x), rtol=torch.tensor([0.9, 1e-9], dtype=torch.float64))
    assert_same(ours, np.linalg.pinv(x, rtol=np.array([0.9, 1e-9])))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (3, 2)),
        ((3, 3, 3), (3, 3)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((0, 0), (0, 2)),
    ],
    ids=str,
)
def test_solutions(left, right, dtype):
    check("linalg.solve", hermitian(dtype, left), sample(dtype, right, 1), within=rough(dtype))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("dtype", INEXACT)
def test_vector_norms(dtype, axis, keepdims):
    for order in (0, 1, 2, 3.5, -1, -2, 0.5, INF, -INF):
        x = sample(dtype, (2, 3, 4), low=1)
        check("linalg.vector_norm", x, ord=order, axis=axis, keepdims=keepdims, within=rough(dtype))
    check("linalg.vector_norm", sample(dtype, ()))


def test_norms_of_elements():
    x = torch.tensor([[-2.0, 0.0], [3.0, 1.0]])
    assert xp.linalg.vector_norm(x, axis=()).tolist() == [[2, 0], [3, 1]]
    assert xp.linalg.matrix_norm(x, ord=None).item() == xp.linalg.matrix_norm(x).item()


# ---- fft ------------------------------------------------------------------------------------------

ALONG_ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("name", ALONG_ONE)
def test_transforms_along_one(name, dtype, norm):
    if name in ("rfft", "ihfft") and dtype in COMPLEX:
        return
    x = sample(dtype, (4, 6))
    for n, axis in [(None, -1), (None, 0), (5, 1), (8, -1), (3, 0)]:
        check(f"fft.{name}", x, n=n, axis=axis, norm=norm, within=rough(dtype))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_transforms_along_several(name, dtype, norm):
    if name == "rfftn" and dtype in COMPLEX:
        return
    x = sample(dtype, (3, 4, 6))
    for s, axes in [
        (None, None),
        (None, (0, 2)),
        ((5, 3), (1, 2)),
        ((4, 4), (-3, -1)),
        (None, (1,)),
    ]:
        check(f"fft.{name}", x, s=s, axes=axes, norm=norm, within=rough(dtype))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(name, n):
    result = getattr(xp.fft, name)(n, d=0.5, dtype=xp.float64)
    assert_same(result, getattr(np.fft, name)(n, d=0.5))
    assert getattr(xp.fft, name)(n).dtype is xp.float32
    assert getattr(xp.fft, name)(n, device="meta").device.type == "meta"


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1), (1,)], ids=str)
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name, axes):
    check(f"fft.{name}", sample("float32", (3, 4)), axes=axes)
