from typing import Any

import pytest
from calling import TORCH, InOut, Out, close, refused, run, strided, torch, workspace_size
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

FLT3 = dtypes("FLT3")


def plain(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Random numbers without infinities."""
    return sample(dtype, shape, seed, special=False)


def product(a: Any, b: Any, dtype: str) -> Any:
    """What PyTorch makes of it in float32, rounded once."""
    return torch.matmul(a.float(), b.float()).to(TORCH[dtype])


@pytest.mark.parametrize("dtype", FLT3)
def test_matrices(dtype: str) -> None:
    for m, k, n in [
        (3, 5, 7),
        (1, 1, 1),
        (17, 33, 9),
        (4, 8, 16),
        (5, 0, 2),
        (0, 3, 2),
        (64, 50, 1),
    ]:
        a, b = plain(dtype, (m, k)), plain(dtype, (k, n), 1)
        with case(m, k, n):
            for x, y in [(a, b), (strided(a), strided(b)), (a.T.contiguous().T, b)]:
                close(run("Mm", x, y, Out(dtype, [m, n]), 0), product(a, b, dtype))


@pytest.mark.parametrize("dtype", FLT3)
def test_matmul_broadcasts(dtype: str) -> None:
    shapes = [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((4,), (2, 4, 5)),
              ((2, 3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 2, 3), (4, 3, 2)), ((2, 3, 0), (0, 5))]  # fmt: skip
    for left, right in shapes:
        a, b = plain(dtype, left), plain(dtype, right, 1)
        expected = product(a, b, dtype)
        with case(left, right):
            close(run("Matmul", a, b, Out(dtype, expected.shape), 0), expected)
            close(run("Matmul", strided(a), strided(b), Out(dtype, expected.shape), 0), expected)


def test_batches_and_vectors() -> None:
    for dtype in FLT3:
        a, b = plain(dtype, (3, 4, 5)), plain(dtype, (3, 5, 6), 1)
        close(run("BatchMatMul", strided(a), b, Out(dtype, [3, 4, 6]), 1), product(a, b, dtype))
        check("Mv", [a[0], b[0, :, 0], Out(dtype, [4]), 0], product(a[0], b[0, :, 0], dtype))


def test_dtypes_mix() -> None:
    a, b = plain("f16", (3, 4)), plain("f32", (4, 5))
    close(run("Mm", a, b, Out("f32", [3, 5]), 0), a.float() @ b)


def test_precision_of_the_matrix_unit() -> None:
    a, b = plain("f32", (8, 16)), plain("f32", (16, 8), 1)
    exact = a @ b
    half = run("Mm", a, b, Out("f32", [8, 8]), 2)
    close(half, a.half().float() @ b.half().float())
    hf32 = run("Mm", a, b, Out("f32", [8, 8]), 3)
    assert 0 < (hf32 - exact).abs().max() < (half - exact).abs().max() * 1.5
    close(run("Mm", a, b, Out("f32", [8, 8]), 1), exact)


@pytest.mark.parametrize("dtype", FLT3)
def test_products_added_to_something(dtype: str) -> None:
    a, b, c = plain(dtype, (3, 4)), plain(dtype, (4, 5), 1), plain(dtype, (3, 5), 2)
    for self in (c, c[0], c[:, :1]):
        expected = torch.addmm(self.float(), a.float(), b.float(), beta=0.5, alpha=2).to(c.dtype)
        close(run("Addmm", strided(self), a, strided(b), 0.5, 2, Out(dtype, [3, 5]), 0), expected)
    check("InplaceAddmm", [InOut(c), a, b, 0.5, 2, 0],
          torch.addmm(c.float(), a.float(), b.float(), beta=0.5, alpha=2))  # fmt: skip
    x, y, z = plain(dtype, (2, 3, 4)), plain(dtype, (2, 4, 5), 1), plain(dtype, (2, 3, 5), 2)
    wide = torch.baddbmm(z.float(), x.float(), y.float(), beta=3, alpha=-1)
    check("Baddbmm", [z, x, y, 3, -1, Out(dtype, z.shape), 0], wide.to(z.dtype))
    check("InplaceBaddbmm", [InOut(z), x, y, 3, -1, 0], wide.to(z.dtype))
    summed = torch.addbmm(c.float(), x.float(), y.float(), beta=3, alpha=-1)
    check("Addbmm", [c, x, y, 3, -1, Out(dtype, c.shape), 0], summed.to(c.dtype))
    check("InplaceAddbmm", [InOut(c), x, y, 3, -1, 0], summed.to(c.dtype))
    right = 2 * (a.float() @ b.float()) + 0.5 * c.float()
    close(
        run("Gemm", a, b.T.contiguous(), c, 2, 0.5, 0, 1, Out(dtype, [3, 5]), 0), right.to(c.dtype)
    )
    close(run("Gemm", a.T, b, c, 2, 0.5, 1, 0, Out(dtype, [3, 5]), 0), right.to(c.dtype))


def test_a_beta_of_zero_does_not_read_self() -> None:
    a, b = plain("f32", (3, 4)), plain("f32", (4, 5))
    nan = torch.full((3, 5), torch.nan)
    close(run("Addmm", nan, a, b, 0, 1, Out("f32", [3, 5]), 0), a @ b)


def test_vectors() -> None:
    for dtype in dtypes("FLT3 i8 i32 u8"):
        a, b = plain(dtype, (9,)), plain(dtype, (9,), 1)
        wide = torch.dot(a.double(), b.double()).to(torch.int64 if dtype[0] in "iu" else a.dtype)
        check("Dot", [a, b, Out(dtype, [])], wide.to(a.dtype))
    empty = torch.zeros(0)
    assert run("Dot", empty, empty, Out("f32", [])).item() == 0
    for dtype in dtypes("NUM12"):
        a, b = plain(dtype, (3,)), plain(dtype, (4,), 1)
        right = (
            torch.outer(a.float(), b.float()).to(a.dtype) if dtype in FLT3 else torch.outer(a, b)
        )
        check("Ger", [a, b, Out(dtype, [3, 4])], right)
    for dtype in dtypes("REAL9"):
        m, v, s = plain(dtype, (3, 4)), plain(dtype, (4,), 1), plain(dtype, (3,), 2)
        wide = 3 * s.double() + 2 * (m.double() @ v.double())
        right = wide.to(torch.int64).to(s.dtype) if dtype[0] in "iu" else wide.to(s.dtype)
        check("Addmv", [s, m, v, 2, 3, Out(dtype, [3]), 0], right, factor=2)
        outer = 3 * m.double() + 2 * torch.outer(s.double(), v.double())
        right = outer.to(torch.int64).to(s.dtype) if dtype[0] in "iu" else outer.to(s.dtype)
        check("Addr", [m, s, v, 3, 2, Out(dtype, [3, 4])], right, factor=2)
        check("InplaceAddr", [InOut(m), s, v, 3, 2], right, factor=2)
    m, v, s = plain("f32", (3, 4)), plain("f32", (4,)), plain("f32", (3,))
    check("Addr", [m, s, v, None, None, Out("f32", [3, 4])], torch.addr(m, s, v))


def test_scratch_memory_is_for_strided_inputs() -> None:
    a, b = plain("f32", (3, 4)), plain("f32", (4, 5))
    assert workspace_size("Mm", a, b, Out("f32", [3, 5]), 0) == 0
    assert workspace_size("Mm", strided(a), b, Out("f32", [3, 5]), 0) == 48


def test_refusals() -> None:
    a, b, c = plain("f32", (3, 4)), plain("f32", (4, 5)), plain("f32", (3, 5))
    out = Out("f32", [3, 5])
    for name in ("Mm", "Matmul"):
        check_refusals(name, [a, b, out, 0], [FLT3, FLT3, FLT3])
        assert refused(name, a, b, out, 4) == CODES.INVALID
        assert refused(name, a, b, out, -1) == CODES.INVALID
        assert refused(name, a, a, Out("f32", [3, 4]), 0) == CODES.INVALID
        assert refused(name, a, b, Out("f32", [5, 3]), 0) == CODES.INVALID
        assert refused(name, a, b, Out("f32", [3, 5], strided=True), 0) == CODES.INVALID
    assert refused("Mm", a[0], b, Out("f32", [5]), 0) == CODES.INVALID
    assert refused("BatchMatMul", a, b, out, 0) == CODES.INVALID
    assert refused("Matmul", a[0, 0], b, out, 0) == CODES.INVALID
    check_refusals("Addmm", [c, a, b, 1, 1, out, 0], [FLT3] * 4)
    assert refused("Addmm", c, a, b, None, 1, out, 0) == CODES.NULLPTR
    assert refused("Addmm", c, a, b, 1, 1, out, 9) == CODES.INVALID
    assert refused("Addmm", c[:2], a, b, 1, 1, out, 0) == CODES.INVALID
    assert refused("Addmm", c, a, b, 1, 1, Out("f32", [3, 5], strided=True), 0) == CODES.INVALID
    check_refusals("Dot", [a[0], a[0], Out("f32", [])], [["f32"], ["f32"], ["f32"]])
    assert refused("Mv", a, a[:, 0], Out("f32", [3]), 0) == CODES.INVALID
    assert refused("Baddbmm", c, a, b, 1, 1, out, 0) == CODES.INVALID
