"""Matrices with NaN or infinite numbers, for which LAPACK's searches may not end, are refused."""

import math

import pytest

import mindtorch_core as torch

CALLS = [
    torch.linalg.svd, torch.linalg.svdvals, torch.svd, torch.linalg.pinv, torch.linalg.matrix_rank,
    torch.linalg.cond, torch.linalg.eig, torch.linalg.eigvals, torch.linalg.eigh, torch.linalg.eigvalsh,
]  # fmt: skip


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("n", [1, 5, 40])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_refused(call, n, number):
    torch.manual_seed(0)
    matrices = torch.randn(2, 3, n, n)
    matrices[1, 1, n - 1, 0] = number
    with pytest.raises(
        torch.linalg.LinAlgError, match=r"Batch element 4.*contained non-finite values"
    ):
        call(matrices)
    with pytest.raises(
        torch.linalg.LinAlgError, match=r": The algorithm.*contained non-finite values"
    ):
        call(matrices[1, 1])
    call(matrices[0])


@pytest.mark.parametrize(("uplo", "row", "column"), [("L", 0, 2), ("U", 2, 0)])
def test_the_triangle_that_is_not_read_may_hold_anything(uplo, row, column):
    torch.manual_seed(0)
    whole = torch.randn(4, 4)
    whole = whole + whole.t()
    expected = torch.linalg.eigvalsh(whole)
    whole[row, column] = math.nan
    assert torch.equal(torch.linalg.eigvalsh(whole, uplo), expected)
    assert torch.linalg.eigh(whole, uplo)[1].isfinite().all()
