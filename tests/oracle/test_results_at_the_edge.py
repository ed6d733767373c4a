"""Results and gradients where there is nothing to compute, or little: no elements, no dimensions, corners, rare options."""

import pytest

import mindtorch_core as torch
from both import both

pt = pytest.importorskip("torch")


def numbers(lib, *shape, dtype="float64"):
    count = 1
    for n in shape:
        count *= n
    return ((lib.arange(count) * 7 % 13 - 6) / 4).reshape(shape).to(getattr(lib, dtype))


def square(lib, n, dtype="float64"):
    """A matrix that has an inverse and different eigenvalues."""
    return (
        numbers(lib, n, n, dtype=dtype) + lib.arange(1.0, n + 1).diag().to(getattr(lib, dtype)) * 3
    )


def turned(lib, n):
    return square(lib, n) + 1j * numbers(lib, n, n).T


def walked(lib, call, *values):
    """Results and the gradients of their weighted sum."""
    leaves = [v.detach().requires_grad_(v.is_floating_point() or v.is_complex()) for v in values]
    made = call(*leaves)
    made = made if isinstance(made, list | tuple) else (made,)
    total = 0
    for i, t in enumerate(made):
        t = lib.view_as_real(t) if t.is_complex() else t
        total = total + (t * numbers(lib, *t.shape).to(t.dtype)).sum() * (i + 1)
    total.backward()
    return [*(t.detach() for t in made), *(x.grad for x in leaves if x.requires_grad)]


def signal(lib):
    return numbers(lib, 5, 6) + 1j * numbers(lib, 6, 5).T


CALLS = {
    "repeat a number": lambda t: walked(t, lambda x: x.repeat(()), t.tensor(2.5)),
    "subtract from truths": lambda t: t.rsub(t.tensor([True]), t.tensor([2.0])),
    "truths from a number": lambda t: t.rsub(t.tensor([True]), 1),
    "subtract truths": lambda t: t.rsub(t.tensor([1.0]), True),
    "no axes": lambda t: walked(t, lambda x: t.fft.fftn(x, dim=()), numbers(t, 3)),
    "no axes of complex": lambda t: t.fft.ifftn(signal(t), dim=()),
    "a complex signal": lambda t: t.istft(
        signal(t).repeat(2, 1)[:8], 8, 2, window=t.ones(8).double(), onesided=False,
        return_complex=True,
    ),
    "a longer signal": lambda t: t.istft(signal(t), 8, 2, window=t.ones(8).double(), length=20),
    "a much longer signal": lambda t: t.istft(
        signal(t), 8, 2, window=t.ones(8).double(), length=31, center=True
    ),
    # ---- positions
    "copy a number": lambda t: walked(
        t, lambda x, s: x.index_copy(0, t.tensor(1), s), numbers(t, 3), t.tensor(9.0).double()
    ),
    "copy into a number": lambda t: walked(
        t, lambda x, s: x.index_copy(0, t.tensor([0]), s), t.tensor(2.5), t.tensor([9.0])
    ),
    "take of a number": lambda t: t.take_along_dim(t.tensor(2.5), t.tensor(0), 0),
    "take before a number": lambda t: t.take_along_dim(t.tensor(2.5), t.tensor(-1), 0),
    "masked positions of nothing": lambda t: t.ops.aten._unsafe_masked_index(
        t.zeros(0, 3), t.tensor([False, False]), [None, t.tensor([0, 1])], 7.0
    ),
    "mask of another shape": lambda t: t.zeros(3, 4).index_put_(
        (t.tensor([True, False, True]), t.tensor([1, 2])), t.ones(2)
    ),
    # ---- linear algebra
    "nothing on a diagonal": lambda t: t.block_diag(),
    "nothing, and a number": lambda t: t.block_diag(t.tensor(2.0), t.zeros(0, 2), t.ones(2)),
    "sign of a determinant": lambda t: walked(t, lambda a: t.linalg.slogdet(a)[1], square(t, 3)),
    "turn of a determinant": lambda t: walked(t, lambda a: t.linalg.slogdet(a)[0], turned(t, 3)),
    "turn and size": lambda t: walked(t, t.linalg.slogdet, turned(t, 3)),
    "vectors of a matrix": lambda t: walked(
        t, lambda a: (lambda e: (e[1].abs(), e[0]))(t.linalg.eig(a)), square(t, 3)
    ),
    "vectors by a phase": lambda t: walked(t, lambda a: t.linalg.eig(a)[1].real, turned(t, 3)),
    "values without vectors": lambda t: walked(t, t.linalg.eigvals, square(t, 3)),
    "dimensions of one": lambda t: walked(
        t, lambda a, b: t.einsum("ij,ik->ik", a, b), numbers(t, 1, 3), numbers(t, 4, 2)
    ),
    "summed and of one": lambda t: walked(
        t, lambda a, b: t.einsum("ij,jk->ik", a, b), numbers(t, 2, 1), numbers(t, 4, 3)
    ),
    "both of one": lambda t: walked(
        t, lambda a, b: t.einsum("ij,ij->i", a, b), numbers(t, 2, 4), numbers(t, 2, 1)
    ),
    "no operands": lambda t: t.einsum(""),
    "a mean that is taken away": lambda t: t.svd_lowrank(numbers(t, 5, 4), q=4, M=numbers(t, 4))[1],
    "lu into": lambda t: t.lu(square(t, 3), out=(t.empty(0).double(), t.empty(0, dtype=t.int32))),
    "lu with infos into": lambda t: t.lu(
        square(t, 3), get_infos=True,
        out=(t.empty(0).double(), t.empty(0, dtype=t.int32), t.empty(0, dtype=t.int32)),
    ),
    "norm in more digits": lambda t: walked(
        t, lambda x: t.linalg.vector_norm(x, dtype=t.float64), numbers(t, 5, dtype="float32")
    ),
    "norm of complex in more digits": lambda t: walked(
        t, lambda x: t.linalg.vector_norm(x, 3, dtype=t.complex128),
        numbers(t, 5, dtype="float32") * (1 + 2j),
    ),
    "limited slices of halves": lambda t: walked(
        t, lambda x: t.renorm(x, 2, 0, 1.5), numbers(t, 3, 4, dtype="bfloat16")
    ),
    "a pseudoinverse by size": lambda t: t.linalg.pinv(square(t, 3), atol=0.5),
    "a pseudoinverse by sizes": lambda t: t.linalg.pinv(square(t, 3), atol=t.tensor(0.0)),
    "a rank by size": lambda t: t.linalg.matrix_rank(square(t, 3), atol=1.0),
    "condition of no rows": lambda t: t.linalg.cond(t.zeros(3, 0, 0)),
    "condition of nothing by rows": lambda t: t.linalg.cond(t.zeros(2, 0, 0), 1),
    "least squares of nothing": lambda t: tuple(t.linalg.lstsq(t.zeros(0, 2), t.zeros(0, 3))),
    "least squares of no columns": lambda t: tuple(t.linalg.lstsq(t.zeros(3, 2), t.zeros(3, 0))),
    "solved, and how": lambda t: tuple(t.linalg.solve_ex(square(t, 3), numbers(t, 3))),
    "solved with a check": lambda t: tuple(
        t.linalg.solve_ex(square(t, 3), numbers(t, 3, 2), check_errors=True)
    ),
    # ---- functions of modules
    "pooled to its shape": lambda t: walked(
        t, lambda x: t.nn.functional.adaptive_avg_pool2d(x, (3, 4)), numbers(t, 1, 2, 3, 4)
    ),
    "heads that do not divide": lambda t: t.nn.functional.scaled_dot_product_attention(
        numbers(t, 1, 4, 3, 2), numbers(t, 1, 3, 3, 2), numbers(t, 1, 3, 3, 2), enable_gqa=True
    ),
    "shared heads": lambda t: walked(
        t, lambda q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        numbers(t, 1, 4, 3, 2), numbers(t, 1, 2, 3, 2), numbers(t, 1, 2, 3, 2),
    ),
    "dropout of nothing": lambda t: t.native_dropout(t.zeros(0, 2), 0.5, True),
    "samples for more": lambda t: t.nn.functional.fractional_max_pool2d(
        numbers(t, 1, 2, 5, 5), 2, output_size=3, _random_samples=t.ones(4, 2, 2).double() / 4
    ),
    "weighted squares": lambda t: walked(
        t, lambda a, b: t.nn.functional.mse_loss(a, b, weight=t.arange(4.0).double()),
        numbers(t, 4), numbers(t, 4) * 2,
    ),
    "weighted differences": lambda t: t.nn.functional.l1_loss(
        numbers(t, 4), numbers(t, 4) * 2, weight=t.arange(4.0).double(), reduction="sum"
    ),
    "a variance": lambda t: t.nn.functional.gaussian_nll_loss(numbers(t, 3), t.zeros(3).double(), 2.0),
    "variances of rows": lambda t: walked(
        t, lambda a, v: t.nn.functional.gaussian_nll_loss(a, t.zeros(3, 4).double(), v * v + 1),
        numbers(t, 3, 4), numbers(t, 3),
    ),
    "variances of columns": lambda t: walked(
        t, lambda a, v: t.nn.functional.gaussian_nll_loss(a, t.zeros(3, 4).double(), v * v + 1),
        numbers(t, 3, 4), numbers(t, 1, 4),
    ),
    "no labels": lambda t: walked(
        t,
        lambda x: t.nn.functional.ctc_loss(
            x.log_softmax(2), t.zeros(2, 0).long(), t.tensor([3, 2]), t.tensor([0, 0]),
            reduction="none",
        ),
        numbers(t, 3, 2, 4),
    ),
    # ---- reductions and draws
    "areas of no samples": lambda t: t.trapezoid(t.zeros(3, 0)),
    "areas by one width": lambda t: t.cumulative_trapezoid(numbers(t, 2, 5), dx=0.5),
    "areas by points of rows": lambda t: t.trapezoid(numbers(t, 2, 3, 4), t.arange(12.0).reshape(3, 4)),
    "running areas by points": lambda t: t.cumulative_trapezoid(
        numbers(t, 2, 3, 4), t.arange(12.0).reshape(3, 4)
    ),
    "truth along no dimensions": lambda t: t.all(t.tensor([[2.0, 0.0]]), dim=()),
    "any along no dimensions": lambda t: t.any(t.tensor([[2, 0]], dtype=t.uint8), dim=()),
    "nothing drawn": lambda t: t.multinomial(t.ones(0, 3), 2),
    "classes": lambda t: t.nn.functional.one_hot(t.tensor([[0, 2]]), 4),
    "a class too large": lambda t: t.nn.functional.one_hot(t.tensor([0, 4]), 4),
    "a class below": lambda t: t.nn.functional.one_hot(t.tensor([0, -1]), 4),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*(torch.lu|length of signal|TensorList).*:UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_as_in_pytorch(name):
    both(CALLS[name])


def test_classes_in_a_pipeline():
    with torch.pipeline():
        found = torch.nn.functional.one_hot(torch.tensor([[0, 2]]) * 1, 4)
    assert found.tolist() == [[[1, 0, 0, 0], [0, 0, 1, 0]]]
    with pytest.raises(RuntimeError, match="Class values must be smaller"), torch.pipeline():
        found = torch.nn.functional.one_hot(torch.tensor([0, 4]) * 1, 4)
    del found


def test_gradients_of_corners_are_zeros_around_them():
    # PyTorch refuses to give gradients of a source of which a part was used.
    for put in ("scatter", "scatter_add"):
        x, source = numbers(torch, 3, 2).requires_grad_(), numbers(torch, 2, 4).requires_grad_()
        made = getattr(x, put)(0, torch.tensor([[1, 0]]), source)
        (made * torch.arange(6.0).reshape(3, 2)).sum().backward()
        assert source.grad.tolist() == [[2, 1, 0, 0], [0, 0, 0, 0]]
        kept = [[0, 0], [0, 3], [4, 5]] if put == "scatter" else [[0, 1], [2, 3], [4, 5]]
        assert x.grad.tolist() == kept


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_normalized_vectors_of_halves_are_rounded_once(dtype):
    # PyTorch's gradients are of values that were rounded in between.
    found, expected = (
        walked(
            torch,
            lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
            numbers(torch, 6, 3, dtype=dtype).to(getattr(torch, kind)),
        )
        for kind in (dtype, "float64")
    )
    for ours, wide in zip(found, expected, strict=True):
        torch.testing.assert_close(ours.double(), wide, rtol=0.02, atol=1e-4)


def test_a_matrix_without_a_solution():
    for call in (torch.linalg.solve, lambda *of: torch.linalg.solve_ex(*of, check_errors=True)):
        with pytest.raises(torch.linalg.LinAlgError, match="the input matrix is singular"):
            call(torch.zeros(2, 2), torch.ones(2))
    assert torch.linalg.solve_ex(torch.zeros(2, 2), torch.ones(2)).info.item() == 1
