"""What functions of ``torch`` do with sparse tensors, and products that have a sparse result.

All of it is made of ops on positions and values, so it is recorded as these are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.functions import fn
from ..dispatch.registry import registry
from ..dispatch.written_functions import overridable
from ..opdefs.packets import front
from ..tensors.subclasses import dispatches
from ..tensors.tensor import Tensor
from ..values.dtypes import int64
from ..values.layouts import sparse_coo, sparse_csc, sparse_csr
from ..values.promotion import check_cast, result_type
from ..values.shapes import wrap_dim
from .sparse import FUNCTIONS, SparseTensor, refusal, sparse_of
from .sparse_compressed import Compressed, relaid
from .sparse_parts import cat, index_select, select, stack, unsqueeze

__all__ = [
    "addmm", "hspmm", "joined_products", "log_softmax", "mm", "sampled_addmm", "smm", "softmax",
    "sparse_of", "spdiags", "sspaddmm",
]  # fmt: skip


def product(a: Any, b: Any) -> Any:
    """The product of two sparse matrices, sparse.

    Each element of the first meets those of the second's row that its column names.

    Raises:
        RuntimeError: if the shapes do not fit.
    """
    if len(a._shape) != 2 or len(b._shape) != 2 or a._shape[1] != b._shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, a._shape))} and "
            f"{'x'.join(map(str, b._shape))})"
        )
    by_rows = Compressed(sparse_csr) if a._how and b._how else None
    a, b = a._summed(), b._summed()
    rows, columns = a._positions.unbind(0)
    held = fn.bincount(b._positions[0], minlength=b._shape[0])
    starts = held.cumsum(0) - held
    each = held[columns]
    from_a = fn.repeat_interleave(fn.arange(rows._shape[0], device=rows._device), each)
    before = fn.repeat_interleave(each.cumsum(0) - each, each)
    from_b = starts[columns][from_a] + fn.arange(from_a._shape[0], device=rows._device) - before
    values = a._elements[from_a] * b._elements[from_b]
    indices = fn.stack([rows[from_a], b._positions[1][from_b]])
    found = sparse_of(indices, values, (a._shape[0], b._shape[1]))._summed()
    return relaid(found, by_rows)


def intersection(a: Any, b: Any) -> Any:
    """The product of a sparse tensor and another, element by element, sparse.

    Raises:
        RuntimeError: for two sparse tensors of different shapes.
    """
    if type(b) is not SparseTensor:
        a = a if a._how else a._summed()
        spread = fn.broadcast_to(b, a._shape)
        return a._with(a._elements * fn.index(spread, list(a._positions.unbind(0))))
    if a._shape != b._shape:
        raise RuntimeError(
            f"mul operands have incompatible sizes {list(a._shape)} and {list(b._shape)}"
        )
    how = a._how if b._how else None
    a, b = a._summed(), b._summed()
    mine, theirs = a._flat(), b._flat()
    if not b._nnz():
        return relaid(sparse_of(b._positions, b._elements, a._shape, True), how)
    at = fn.searchsorted(theirs, mine).clamp(max=b._nnz() - 1)
    (both,) = (theirs[at] == mine).nonzero().unbind(1)
    values = a._elements[both] * b._elements[at[both]]
    return relaid(sparse_of(a._positions[:, both], values, a._shape, True), how)


@guarded
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)`` for a sparse ``mat1``."""
    return fn.add(input * beta, sparse_mm(mat1, mat2) * alpha)


@guarded
def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Any:
    """The product of a sparse matrix and a matrix; or what else joins the products of each row's elements.

    Args:
        mat1: sparse, (m, k); dense if ``mat2`` is sparse and nothing else is to join.
        mat2: (k, n), dense where ``reduce`` is given.
        reduce: ``sum``, ``mean``, ``amax`` or ``amin`` over the elements that a row of ``mat1`` holds; rows
            without any give 0. The gradient of an extreme goes to the first element that has it.

    Raises:
        RuntimeError: for another reduction, or if layouts or shapes do not fit.

    Example:
        >>> held = torch.tensor([[1.0, 3.0], [0.0, 0.0]]).to_sparse_csr()
        >>> torch.sparse.mm(held, torch.ones(2, 1), "mean")
        tensor([[2.],
                [0.]])
    """
    if reduce is None:
        return sparse_mm(mat1, mat2)
    if any(type(t) is not SparseTensor and dispatches(type(t)) for t in (mat1, mat2)):
        return front(registry.entry("_sparse_mm_reduce_impl"))(mat1, mat2, reduce)[0]
    return joined_products(mat1, mat2, reduce)


def joined_products(mat1: Any, mat2: Any, reduce: str) -> Any:
    """What `mm` gives with a reduction."""
    how = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if how not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError(f"sparse_mm_reduce: reduce type of {reduce} has not been enabled.")
    _check_product("sparse_mm_reduce", mat1, mat2)
    if how == "sum":
        return sparse_mm(mat1, mat2)
    mat1 = mat1 if mat1._how else mat1._summed()
    rows, columns = mat1._positions.unbind(0)
    if how == "mean":
        held = fn.bincount(rows, minlength=mat1._shape[0]).clamp(min=1)
        return sparse_mm(mat1, mat2) / held.unsqueeze(1)
    products = mat1._elements.unsqueeze(1) * mat2[columns]
    count, places = products._shape[0], rows.unsqueeze(1).expand(products._shape)
    joined = products.new_zeros((mat1._shape[0], mat2._shape[1]))
    if not count:
        return joined
    extreme = joined.scatter_reduce(0, places, products.detach(), how, include_self=False)
    chosen = (products == extreme[rows]) | products.isnan()
    numbers = fn.where(chosen, fn.arange(count, device=rows._device).unsqueeze(1), count)
    first = fn.full_like(joined, count, dtype=int64).scatter_reduce(0, places, numbers, "amin")
    return fn.where(first < count, products.gather(0, first.clamp(max=count - 1)), joined)


@overridable
@guarded
def hspmm(mat1: Any, mat2: Tensor) -> Any:
    """The product of a sparse matrix and a dense one, as rows that are held: those where ``mat1`` has some.

    Raises:
        RuntimeError: if ``mat1`` is not sparse, ``mat2`` is, or the shapes do not fit.

    Example:
        >>> torch.hspmm(torch.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse(), torch.eye(2)).values()
        tensor([[0., 2.]])
    """
    _check_product("hspmm", mat1, mat2)
    mat1 = mat1._summed()
    rows, columns = mat1._positions.unbind(0)
    held, at = fn.unique(rows, return_inverse=True)
    each = mat1._elements.unsqueeze(1) * mat2[columns]
    values = each.new_zeros((held._shape[0], mat2._shape[1])).index_add(0, at, each)
    return sparse_of(held.unsqueeze(0), values, (mat1._shape[0], mat2._shape[1]))


@overridable
@guarded
def smm(input: Tensor, mat: Tensor) -> Any:
    """The product of a sparse matrix and a dense one, sparse: rows where ``input`` has some are held whole.

    Raises:
        RuntimeError: if ``input`` is not sparse, ``mat`` is, or the shapes do not fit.

    Example:
        >>> torch.smm(torch.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse(), torch.eye(2)).indices()
        tensor([[0, 0],
                [0, 1]])
    """
    _check_product("smm", input, mat)
    rows = hspmm(input, mat)
    held, width = rows._positions[0], mat._shape[1]
    columns = fn.arange(width, device=mat._device).repeat(held._shape[0])
    indices = fn.stack([held.repeat_interleave(width), columns])
    return sparse_of(indices, rows._elements.reshape(-1), rows._shape)


@overridable
@guarded
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)`` of sparse ``input`` and ``mat1``, sparse: see `smm`.

    Raises:
        RuntimeError: if one of them is not sparse, ``mat2`` is, or the shapes do not fit.

    Example:
        >>> s = torch.eye(2).to_sparse()
        >>> torch.sspaddmm(s, s, torch.ones(2, 2)).to_dense()
        tensor([[2., 1.],
                [1., 2.]])
    """
    _check_product("sspaddmm", mat1, mat2)
    added = smm(mat1, mat2)
    if type(input) is not SparseTensor or input._shape != added._shape:
        raise RuntimeError(
            f"sspaddmm: expected 'input' to be sparse, of shape {[*added._shape]}; got "
            f"{'a sparse' if type(input) is SparseTensor else 'a dense'} tensor of shape {[*input._shape]}"
        )
    indices = fn.cat([input._positions, added._positions], 1)
    values = fn.cat([input._elements * beta, added._elements * alpha])
    return sparse_of(indices, values, added._shape)


def _check_product(name: str, a: Any, b: Any) -> None:
    if type(a) is not SparseTensor or type(b) is SparseTensor:
        raise RuntimeError(f"{name}: expected a sparse matrix and, as the second, a dense one")
    if len(a._shape) != 2 or len(b._shape) != 2 or a._shape[1] != b._shape[0]:
        raise RuntimeError(
            f"{name}: shapes cannot be multiplied ({'x'.join(map(str, a._shape))} and "
            f"{'x'.join(map(str, b._shape))}): expected matrices, and as many rows of the second as the "
            "first has columns"
        )


@guarded
def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0
) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)`` where ``input`` holds elements, in its layout.

    Args:
        input: a sparse matrix in compressed rows, (m, n); only its elements are computed.
        mat1: a dense matrix, (m, k).
        mat2: a dense matrix, (k, n).
        beta: factor of ``input``.
        alpha: factor of the product.

    Raises:
        RuntimeError: for other layouts, shapes or dtypes.

    Example:
        >>> import mindtorch_core as torch
        >>> held = torch.eye(2).to_sparse_csr()
        >>> torch.sparse.sampled_addmm(held, torch.ones(2, 3), torch.ones(3, 2)).values()
        tensor([4., 4.])
    """
    if type(input) is not SparseTensor or not input._how or input._how.layout is not sparse_csr:
        raise RuntimeError(
            f"sampled_addmm: Expected result to have sparse csr layout, but got {input.layout}"
        )
    one, two = mat1._shape, mat2._shape
    for name, shape in (("mat1", one), ("mat2", two)):
        if len(shape) != 2:
            raise RuntimeError(
                f"sampled_addmm: Expected {name} to be a matrix, got {len(shape)}-D tensor"
            )
    if one[1] != two[0]:
        raise RuntimeError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({one[0]}x{one[1]} and "
            f"{two[0]}x{two[1]})"
        )
    for at, name, size in ((0, "mat1", one[0]), (1, "mat2", two[1])):
        if input._shape[at] != size:
            raise RuntimeError(
                f"sampled_addmm: self.shape[{at - 2}] must match {name}.shape[{at - 2}]: "
                f"{input._shape[at]} is not {size}"
            )
    if not input._dtype == mat1._dtype == mat2._dtype:
        raise RuntimeError(
            f"sampled_addmm: Expected self, mat1 and mat2 to have the same dtype, but got {input._dtype}, "
            f"{mat1._dtype} and {mat2._dtype}"
        )
    rows, columns = input._positions.unbind(0)
    products = (mat1[rows] * mat2.t()[columns]).sum(1)
    return input._with(input._elements * beta + products * alpha)


@guarded
def softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """Softmax of the elements that are held, along a sparse dimension."""
    return _softmax("softmax", input, dim, dtype)


@guarded
def log_softmax(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    return _softmax("log_softmax", input, dim, dtype)


def _softmax(name: str, input: Tensor, dim: int, dtype: Any) -> Any:
    if type(input) is not SparseTensor:
        raise NotImplementedError(
            f"sparse.{name}(): expected a sparse tensor, got one of layout {input.layout}: "
            f"torch.{name} takes it"
        )
    x = input._summed()
    dim = wrap_dim(dim, len(x._shape))
    if dim >= x.sparse_dim() or x.dense_dim():
        raise NotImplementedError(refusal(f"{name}() along a dense dimension"))
    values = x._elements if dtype is None else x._elements.to(dtype)
    rest = [i for i in range(x.sparse_dim()) if i != dim]
    shape = tuple(x._shape[i] for i in rest)
    others = sparse_of(x._positions[rest], values, shape)._flat()
    groups, at = fn.unique(others, return_inverse=True)
    lowest = fn.full((groups._shape[0],), -float("inf"), dtype=values._dtype, device=values._device)
    most = fn.scatter_reduce(lowest, 0, at, values.detach(), "amax")
    shifted = values - most[at]
    total = fn.zeros_like(most).index_add(0, at, shifted.exp())[at]
    return x._with(shifted - total.log() if name == "log_softmax" else shifted.exp() / total)


@guarded
def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix with the rows of a matrix as its diagonals.

    Raises:
        RuntimeError: for arguments of other shapes, an offset that comes twice, or a layout that is none of
            coordinates and compressed rows or columns.
    """
    if layout not in (None, sparse_coo, sparse_csc, sparse_csr):
        raise RuntimeError(
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}"
        )
    if diagonals.dim() != 2 or offsets.dim() != 1 or offsets._shape[0] != diagonals._shape[0]:
        raise RuntimeError("spdiags: expected a matrix, and as many offsets as it has rows")
    if len(shape) != 2:
        raise RuntimeError(f"Output shape must be 2d, got {tuple(shape)}")
    if len({*offsets.tolist()}) < offsets._shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    rows, columns = (int(n) for n in shape)
    width = min(columns, diagonals._shape[1])
    column = fn.arange(width).expand(offsets._shape[0], width)
    row = column - offsets.to(int64).unsqueeze(1)
    (kept,) = ((row >= 0) & (row < rows)).reshape(-1).nonzero().unbind(1)
    indices = fn.stack([row.reshape(-1)[kept], column.reshape(-1)[kept]])
    values = diagonals[:, :width].reshape(-1)[kept]
    found = sparse_of(indices, values, (rows, columns))._summed()
    return found if layout is None else found.to_sparse(layout=layout)


def _bmm(x: Any, other: Tensor) -> Any:
    return fn.stack([sparse_mm(select(x, 0, i), other[i]) for i in range(x._shape[0])])


def _elementwise(name: str) -> Callable[..., Any]:
    """A function that is 0 at 0, of the elements that are held."""

    def computed(x: Any, *args: Any, **kwargs: Any) -> Any:
        x = x if x._how else x._summed()
        return x._with(getattr(x._elements, name)(*args, **kwargs))

    return computed


def _matmul(a: Any, b: Any) -> Any:
    if type(a) is SparseTensor and len(a._shape) == 3:
        return _bmm(a, b)
    return sparse_mm(a, b)


def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    found = sparse_mm(input, weight.t())
    return found if bias is None else found + bias


def _mul(a: Any, b: Any) -> Any:
    return a.mul(b) if type(a) is SparseTensor else b.mul(a)


def sparse_mm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse matrix and a matrix or vector; both are differentiated.

    That of two sparse matrices is sparse.

    Raises:
        RuntimeError: if the shapes do not fit.
    """
    if type(mat1) is not SparseTensor:
        if type(mat2) is SparseTensor:
            return mat2.__rmatmul__(mat1)
        return fn.mm(mat1, mat2)
    if type(mat2) is SparseTensor:
        return product(mat1, mat2)
    if len(mat1._shape) != 2 or mat1.dense_dim() or mat1._shape[1] != mat2._shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied: {list(mat1._shape)} and {list(mat2._shape)}"
        )
    rows, columns = mat1._positions.unbind(0)
    picked = fn.index_select(mat2, 0, columns)
    weights = mat1._elements.reshape((-1, *(1,) * (len(mat2._shape) - 1)))
    total = mat2.new_zeros((mat1._shape[0], *mat2._shape[1:]))
    return fn.index_add(total, 0, rows, picked * weights)


def _into_dense(name: str, dense: Tensor, other: SparseTensor, alpha: Any = 1) -> Tensor:
    """A dense tensor with a sparse one added; in place it is written where that has elements."""
    scale = -alpha if name.startswith("sub") else alpha
    values = other._elements if scale == 1 else other._elements * scale
    target = dense if name.endswith("_") else dense.to(result_type(dense, other), copy=True)
    check_cast(result_type(dense, other), target._dtype)
    return target.index_put_(list(other._positions.unbind(0)), values.to(target._dtype), True)


def _pow(x: Any, exponent: Any) -> Any:
    if isinstance(x, Tensor) and not isinstance(exponent, Tensor) and exponent == 0:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
        )
    return _elementwise("pow")(x, exponent)


def _plus(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    if type(a) is SparseTensor:
        return a.add(b, alpha=alpha)
    return _into_dense("add", a, b, alpha)


def _plus_in_place(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    if type(a) is SparseTensor:
        return a.add_(b, alpha=alpha)
    return _into_dense("add_", a, b, alpha)


# By the name of the function or method; what is not here is an op, see `SparseTensor.__torch_dispatch__`.
FUNCTIONS.update({
    **dict.fromkeys(("mm", "matmul", "mv", "__matmul__", "spmm", "dsmm", "bmm"), _matmul),
    **dict.fromkeys(("mul", "multiply", "__mul__", "__rmul__"), _mul),
    **dict.fromkeys(("add", "__add__", "__radd__"), _plus),
    **dict.fromkeys(("add_", "__iadd__"), _plus_in_place),
    **dict.fromkeys(("cat", "concat", "concatenate"), cat),
    **{
        name: _elementwise(name)
        for name in (
            "abs", "absolute", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1",
            "floor", "frac", "log1p", "nan_to_num", "rad2deg", "relu", "round", "sgn", "sign", "sin",
            "sinh", "sqrt", "square", "tan", "tanh", "trunc", "isnan", "isinf",
        )
    },
    "_intersection": intersection,
    "_into_dense": _into_dense,
    "_product": product,
    "_sparse_mm": sparse_mm,
    "_sparse_mm_reduce_impl": lambda a, b, reduce: (
        joined_products(a, b, reduce), b.new_empty(0, dtype=int64)
    ),
    "__rmatmul__": lambda a, b: _matmul(b, a),
    "addmm": addmm,
    **dict.fromkeys(("pow", "__pow__"), _pow),
    "index_select": index_select,
    "linear": _linear,
    "select": select,
    "smm": smm,
    "softmax": softmax,
    "sspaddmm": sspaddmm,
    "log_softmax": log_softmax,
    "stack": stack,
    "unsqueeze": unsqueeze,
})  # fmt: skip
