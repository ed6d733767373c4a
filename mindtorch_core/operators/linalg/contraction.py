"""Contractions of many tensors: ``tensordot``, ``multi_dot``, ``bilinear``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.promotion import result_type
from ...values.shapes import numel, show, wrap_dims
from ...values.user_warnings import warn_user_once
from .products import c_name

# ---- tensordot ----------------------------------------------------------------------------------


def _tensordot(
    self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Any:
    if len(dims_self) != len(dims_other):
        raise RuntimeError(
            f"both dimension lists should have same length, got {len(dims_self)} and {len(dims_other)}"
        )
    mine, theirs = wrap_dims(dims_self, self.dim()), wrap_dims(dims_other, other.dim())
    if self._dtype is not other._dtype:
        raise RuntimeError(
            f"both inputs should have same dtype, got {c_name(self)} and {c_name(other)}"
        )
    for i, j in zip(mine if dims_self else (), theirs if dims_other else (), strict=True):
        n, m = self._shape[i], other._shape[j]
        if n != m and 1 not in (n, m):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {i} and second "
                f"has size {m} in dim {j}"
            )
        if n != m and n == 1:  # a size of 1 is repeated, so the other's elements add up
            other = other.sum(j, keepdim=True, dtype=other._dtype)
        elif n != m:
            self = self.sum(i, keepdim=True, dtype=self._dtype)
    a, b = list(mine if dims_self else ()), list(theirs if dims_other else ())
    rows = [i for i in range(self.dim()) if i not in a]
    columns = [j for j in range(other.dim()) if j not in b]
    shape = [self._shape[i] for i in rows] + [other._shape[j] for j in columns]
    left: Any = self.permute(rows + a)
    right: Any = other.permute(b + columns)
    if not shape:
        return left.reshape(-1).dot(right.reshape(-1))
    count, width = _product(self._shape, a), _product(other._shape, columns)
    left = left.reshape(_product(self._shape, rows), count)
    return left.mm(right.reshape(count, width)).reshape(shape)


def _product(shape: Sequence[int], dims: Sequence[int]) -> int:
    n = 1
    for i in dims:
        n *= shape[i]
    return n


op(
    "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
    doc="Sums of products over pairs of dimensions.",
    decomposition=_tensordot,
    out=True,
    namespaces=("torch:_tensordot",),
)


@public("torch")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Any:
    """Sums of products of two tensors over several dimensions.

    Args:
        a: a tensor.
        b: another one of the same dtype.
        dims: how many of the last dimensions of ``a`` meet the first of ``b``; or two lists that
            pair dimensions of ``a`` with dimensions of ``b``.
        out: where the result is written.

    Raises:
        RuntimeError: if ``dims`` is negative or larger than a rank, or sizes do not fit.

    Example:
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), dims=2).shape
        torch.Size([2, 5])
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if not isinstance(dims, int | tuple | list):
        raise RuntimeError(
            f"tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(
                f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims} for tensors of "
                f"{a.dim()} and {b.dim()} dimensions"
            )
        dims = (list(range(-dims, 0)), list(range(dims)))
    mine, theirs = ([d] if isinstance(d, int) else list(d) for d in dims)
    return fn._tensordot(a, b, mine, theirs, out=out)


# ---- chains of matrices -------------------------------------------------------------------------


def _best_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain of matrices so that multiplications are fewest.

    Dynamic programming over parts (Godbole, 1973); matrix i has ``sizes[i]`` rows and
    ``sizes[i + 1]`` columns.
    """
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            found = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], split[i, j] = min(found)
    return split


def _multi_dot(tensors: Sequence[Tensor]) -> Any:
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, *middle, last = tensors
    for t, place in ((first, "first"), (last, "last")):
        if len(t._shape) not in (1, 2):
            raise RuntimeError(
                f"multi_dot(): the {place} tensor must be 1D or 2D but got {len(t._shape)}D"
            )
    for i, t in enumerate(middle, 1):
        if len(t._shape) != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {len(t._shape)}D")
    for i, t in enumerate(tensors):
        if t._dtype is not first._dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have the same dtype but tensor 0 is {c_name(first)} "
                f"and tensor {i} {c_name(t)}"
            )
    row, column = len(first._shape) == 1, len(last._shape) == 1
    chain = [
        first.unsqueeze(0) if row else first,
        *middle,
        last.unsqueeze(1) if column else last,
    ]
    for i, (a, b) in enumerate(itertools.pairwise(chain)):
        if a._shape[1] != b._shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {show(tensors[i]._shape)} and "
                f"{show(tensors[i + 1]._shape)} cannot be multiplied"
            )
    split = _best_splits([t._shape[0] for t in chain] + [chain[-1]._shape[1]])

    def part(i: int, j: int) -> Any:
        if i == j:
            return chain[i]
        return part(i, split[i, j]).mm(part(split[i, j] + 1, j))

    result = part(0, len(chain) - 1)
    if row:
        result = result.squeeze(0)
    return result.squeeze(-1) if column else result


op(
    "linalg_multi_dot(Tensor[] tensors) -> Tensor",
    doc="Product of a chain of matrices in the order that takes the fewest multiplications; the "
    "first and the last may be vectors.",
    decomposition=_multi_dot,
    out=True,
    namespaces=("linalg:multi_dot",),
)


def _chain_matmul(matrices: Sequence[Tensor]) -> Any:
    warn_user_once(
        "torch.chain_matmul is deprecated: torch.linalg.multi_dot takes the matrices as one list"
    )
    for t in matrices:
        if len(t._shape) != 2:
            raise RuntimeError(
                f"chain_matmul(): Tensor dimension is {len(t._shape)}, expected 2 instead."
            )
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0].clone() if len(matrices) == 1 else fn_linalg.multi_dot(matrices)


op(
    "chain_matmul(Tensor[] matrices) -> Tensor",
    doc="Product of matrices; `torch.linalg.multi_dot` is its newer name.",
    decomposition=_chain_matmul,
    out=True,
    varargs="matrices",
    namespaces=("torch",),
)

# ---- bilinear forms -----------------------------------------------------------------------------


def _bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if input1.dim() != input2.dim():
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}"
        )
    if input1._shape[:-1] != input2._shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {show(input1._shape[:-1])} and "
            f"{show(input2._shape[:-1])}"
        )
    if weight.dim() != 3:
        raise RuntimeError(f"bilinear(): weight must be (out, in1, in2), got {show(weight._shape)}")
    if not input1.dim():
        raise IndexError("bilinear(): inputs must have at least one dimension")
    outs, left, right = weight._shape
    for name, t, n in (("input1", input1, left), ("input2", input2, right)):
        if t._shape[-1] != n:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {t._shape[-1]} but expected {n}"
            )
    if bias is not None and bias._shape != (outs,):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {show(bias._shape)} but expected "
            f"[{outs}]"
        )
    flat: Any = weight.permute(1, 0, 2)
    forms = input1.matmul(flat.reshape(left, outs * right))
    forms = forms.reshape(*input1._shape[:-1], outs, right)
    result = forms.matmul(input2.unsqueeze(-1)).squeeze(-1).to(input1._dtype)  # autocast lowers it
    return result if bias is None else result + bias


op(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    doc="``input1 @ weight[k] @ input2 + bias[k]`` for each output k; weight is (out, in1, in2).",
    decomposition=_bilinear,
    namespaces=("torch", "nn"),
)

# ---- combinations -------------------------------------------------------------------------------


def _cartesian_prod(tensors: Sequence[Tensor]) -> Any:
    for t in tensors:
        if len(t._shape) != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {show(t._shape)}")
    if len(tensors) < 2:
        if not tensors:
            raise RuntimeError("cartesian_prod expects at least one vector")
        return tensors[0]
    sizes = [t._shape[0] for t in tensors]
    columns = []
    for i, t in enumerate(tensors):
        own = [1] * len(tensors)
        own[i] = sizes[i]
        spread: Any = t.reshape(own)
        columns.append(spread.expand(sizes).reshape(-1))
    return fn.stack(columns, 1)


op(
    "cartesian_prod(Tensor[] tensors) -> Tensor",
    doc="All combinations of one element of each vector, as rows, the last changing fastest.",
    decomposition=_cartesian_prod,
    varargs="tensors",
    namespaces=("torch",),
)

# ---- blocks -------------------------------------------------------------------------------------


def _block_diag(tensors: Sequence[Tensor]) -> Any:
    if not tensors:
        return fn.empty((1, 0))
    blocks = []
    d = result_type(*tensors)
    for i, t in enumerate(tensors):
        if len(t._shape) > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has "
                f"{len(t._shape)} dimensions"
            )
        if t._device != tensors[0]._device:
            raise RuntimeError(
                f"torch.block_diag: input tensors must all be on the same device, got "
                f"{tensors[0]._device} and {t._device}"
            )
        t = t.reshape(1, numel(t._shape)) if len(t._shape) < 2 else t
        blocks.append(t if t._dtype is d else t.to(d))
    width, before, rows = sum(b._shape[1] for b in blocks), 0, []
    for b in blocks:
        height, own = b._shape
        sides = [before, width - before - own]
        left, right = (b.new_zeros((height, n)) for n in sides)
        rows.append(fn.cat([left, b, right], 1))
        before += own
    return fn.cat(rows, 0)


op(
    "block_diag(Tensor[] tensors) -> Tensor",
    doc="A matrix with the given matrices along its diagonal; vectors are rows.",
    decomposition=_block_diag,
    varargs="tensors",
    namespaces=("torch",),
)
