"""Pages on reductions, sorting and searching."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_DIM: Final = """\
    dim: a dimension, or several; all of them by default.
    keepdim: whether reduced dimensions stay, with size 1.
"""
_DTYPE: Final = (
    "    dtype: what elements are converted to before; whole numbers to int64 by default.\n"
)
_OUT: Final = "    out: where the result is written, instead of into new memory.\n"
_INDEX_ERROR: Final = "    IndexError: if there is no such dimension.\n"

PAGES: Final[dict[str, str]] = {
    "sum": f"""\
Args:
    input: a tensor of any shape.
{_DIM}{_DTYPE}{_OUT}
Returns:
    A tensor without the reduced dimensions; 0 of no elements.

Raises:
{_INDEX_ERROR}
Example:
    >>> x = torch.tensor([[1, 2], [3, 4]])
    >>> torch.sum(x), torch.sum(x, dim=0, keepdim=True)
    (tensor(10), tensor([[4, 6]]))
""",
    "mean": f"""\
Args:
    input: a tensor of any shape, of floats or complex numbers.
{_DIM}    dtype: what elements are converted to before.
{_OUT}
Returns:
    A tensor without the reduced dimensions; NaN of no elements.

Raises:
    RuntimeError: for whole numbers and bools, unless ``dtype`` says what to compute in.
{_INDEX_ERROR}
Example:
    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([1.5000, 3.5000])
""",
    "prod": f"""\
Args:
    input: a tensor of any shape.
    dim: one dimension; all of them by default.
    keepdim: whether the reduced dimension stays, with size 1.
{_DTYPE}{_OUT}
Returns:
    A tensor without the reduced dimension; 1 of no elements.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.prod(torch.tensor([2, 3, 4]))
    tensor(24)
""",
    "max": f"""\
Args:
    input: a tensor, real.
    dim: one dimension, along which to look; without it the largest of all elements is given.
    keepdim: whether the dimension stays, with size 1.
    other: a tensor; then this is `maximum`.
{_OUT}
Returns:
    A tensor of one element, or with ``dim`` the named tuple ``(values, indices)``: of several that are
    largest, the index may be that of any. NaN is larger than all numbers.

Raises:
    RuntimeError: of no elements without ``dim``.
    IndexError: if there is no such dimension, or it has no elements.

Example:
    >>> x = torch.tensor([[1.0, 5.0], [7.0, 2.0]])
    >>> torch.max(x)
    tensor(7.)
    >>> values, indices = torch.max(x, dim=1)
    >>> values, indices
    (tensor([5., 7.]), tensor([1, 0]))
""",
    "min": f"""\
Args:
    input: a tensor, real.
    dim: one dimension, along which to look; without it the smallest of all elements is given.
    keepdim: whether the dimension stays, with size 1.
    other: a tensor; then this is `minimum`.
{_OUT}
Returns:
    A tensor of one element, or with ``dim`` the named tuple ``(values, indices)``. NaN is smaller than
    all numbers here.

Raises:
    RuntimeError: of no elements without ``dim``.
    IndexError: if there is no such dimension, or it has no elements.

Example:
    >>> torch.min(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1).indices
    tensor([0, 1])
""",
    "amax": f"""\
Args:
    input: a tensor, real.
{_DIM}{_OUT}
Returns:
    A tensor without the reduced dimensions. Unlike `max` it takes several, gives no indices, and its
    gradient is shared by all elements that are largest.

Raises:
    IndexError: if there is no such dimension, or it has no elements.

Example:
    >>> torch.amax(torch.tensor([[1, 5], [7, 2]]), dim=(0, 1))
    tensor(7)
""",
    "argmax": f"""\
Args:
    input: a tensor, real.
    dim: one dimension; by default the index is that into all elements, in their order.
    keepdim: whether the dimension stays, with size 1.
{_OUT}
Returns:
    A tensor of int64; it has no gradient.

Raises:
    IndexError: if there is no such dimension, or it has no elements.

Example:
    >>> torch.argmax(torch.tensor([[1, 5], [7, 2]])), torch.argmax(torch.tensor([[1, 5], [7, 2]]), dim=1)
    (tensor(2), tensor([1, 0]))
""",
    "argmin": f"""\
Args:
    input: a tensor, real.
    dim: one dimension; by default the index is that into all elements, in their order.
    keepdim: whether the dimension stays, with size 1.
{_OUT}
Returns:
    A tensor of int64; it has no gradient.

Raises:
    IndexError: if there is no such dimension, or it has no elements.

Example:
    >>> torch.argmin(torch.tensor([3, 1, 2]))
    tensor(1)
""",
    "var": f"""\
Args:
    input: a tensor, of floats or complex numbers.
{_DIM}    correction: what is taken from the number of elements before dividing; 1 by default.
    unbiased: the older way to say it: True for a correction of 1, False for 0.
{_OUT}
Returns:
    A tensor without the reduced dimensions; NaN, with a warning, where nothing is left to divide by.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.var(torch.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    >>> torch.var(torch.tensor([1.0, 2.0, 3.0]), correction=0)
    tensor(0.6667)
""",
    "std": f"""\
Args:
    input: a tensor, of floats or complex numbers.
{_DIM}    correction: what is taken from the number of elements before dividing; 1 by default.
    unbiased: the older way to say it: True for a correction of 1, False for 0.
{_OUT}
Returns:
    A tensor without the reduced dimensions: the square root of `var`.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.std(torch.tensor([[1.0, 3.0], [0.0, 4.0]]), dim=1)
    tensor([1.4142, 2.8284])
""",
    "any": f"""\
Args:
    input: a tensor of any shape; elements that are not 0 are true.
{_DIM}{_OUT}
Returns:
    A tensor of bools (of uint8 for uint8) without the reduced dimensions; false of no elements.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.any(torch.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])
""",
    "all": f"""\
Args:
    input: a tensor of any shape; elements that are not 0 are true.
{_DIM}{_OUT}
Returns:
    A tensor of bools (of uint8 for uint8) without the reduced dimensions; true of no elements.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.all(torch.tensor([[True, True], [True, False]]), dim=1)
    tensor([ True, False])
""",
    "cumsum": f"""\
Args:
    input: a tensor.
    dim: the dimension along which to sum.
{_DTYPE}{_OUT}
Returns:
    A tensor of the shape of ``input``: each element is the sum of those up to it.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
""",
    "logsumexp": f"""\
Args:
    input: a tensor.
    dim: a dimension, or several.
    keepdim: whether reduced dimensions stay, with size 1.
{_OUT}
Returns:
    ``log(sum(exp(input)))``, computed so that large elements do not overflow.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.logsumexp(torch.tensor([1000.0, 1000.0], dtype=torch.float64), dim=0)
    tensor(1000.6931, dtype=torch.float64)
""",
    "sort": f"""\
Args:
    input: a tensor, real.
    dim: the dimension along which to sort.
    descending: whether the largest come first.
    stable: whether equal elements keep their order.
{_OUT}
Returns:
    The named tuple ``(values, indices)``, both of the shape of ``input``, with
    ``values == input.gather(dim, indices)``. NaN is larger than all numbers.

Raises:
{_INDEX_ERROR}
Example:
    >>> values, indices = torch.sort(torch.tensor([3, 1, 2]))
    >>> values, indices
    (tensor([1, 2, 3]), tensor([1, 2, 0]))
""",
    "argsort": f"""\
Args:
    input: a tensor, real.
    dim: the dimension along which to sort.
    descending: whether the largest come first.
    stable: whether equal elements keep their order.
{_OUT}
Returns:
    A tensor of int64 of the shape of ``input``: the indices that `sort` gives.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.argsort(torch.tensor([3, 1, 2]), descending=True)
    tensor([0, 2, 1])
""",
    "topk": f"""\
Args:
    input: a tensor, real.
    k: how many.
    dim: the dimension along which to look.
    largest: whether the largest are wanted, or the smallest.
    sorted: whether they come in order.
{_OUT}
Returns:
    The named tuple ``(values, indices)`` with ``k`` elements along ``dim``.

Raises:
    RuntimeError: if there are fewer than ``k``.
{_INDEX_ERROR}
Example:
    >>> torch.topk(torch.tensor([1.0, 5.0, 3.0]), 2).indices
    tensor([1, 2])
""",
    "median": f"""\
Args:
    input: a tensor, real.
    dim: one dimension; without it the median of all elements is given.
    keepdim: whether the dimension stays, with size 1.
{_OUT}
Returns:
    A tensor of one element, or with ``dim`` the named tuple ``(values, indices)``. Of an even number of
    elements it is the lower one of the two in the middle; NaN if one is.

Raises:
{_INDEX_ERROR}
Example:
    >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
""",
    "cumprod": """\
Args:
    input: a tensor of any shape.
    dim: along which dimension.
    dtype: what elements are converted to before; whole numbers to int64 by default.
    out: where the result is written, instead of into new memory.

Returns:
    A new tensor of the same shape.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.cumprod(torch.tensor([1, 2, 3, 4]), dim=0)
    tensor([ 1,  2,  6, 24])
""",
    "bincount": """\
Args:
    input: whole numbers that are not negative, in one dimension.
    weights: what each counts for, of the same length; 1 by default.
    minlength: of the result.

Returns:
    int64 counts, or float64 sums of weights, (max(input) + 1 or ``minlength``,).

Raises:
    RuntimeError: for a negative number, another dtype or more dimensions.

Example:
    >>> torch.bincount(torch.tensor([0, 2, 2]), minlength=4)
    tensor([1, 0, 2, 0])
""",
    "searchsorted": """\
Args:
    sorted_sequence: values in ascending order along the last dimension.
    input: what is to be inserted; all dimensions but the last as those of the sequence, or any shape into
        a sequence of one dimension.
    out_int32: positions in int32 rather than int64.
    right: after equal elements, rather than before.
    side: "left" or "right", which says the same.
    sorter: positions that bring a sequence into order which is not.
    out: where the result is written, instead of into new memory.

Returns:
    Positions in the sequence, in the shape of ``input``.

Raises:
    RuntimeError: if the shapes do not fit, or ``side`` contradicts ``right``.

Example:
    >>> steps = torch.tensor([1, 3, 5])
    >>> torch.searchsorted(steps, torch.tensor([0, 3, 9])), torch.searchsorted(steps, 3, right=True)
    (tensor([0, 1, 3]), tensor(2))
""",
    "count_nonzero": """\
Args:
    input: a tensor.
    dim: the dimension or dimensions that are reduced; all by default.

Returns:
    int64, without the reduced dimensions.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.count_nonzero(torch.tensor([[0, 5], [6, 7]]), dim=1)
    tensor([1, 2])
""",
    "bucketize": f"""\
Args:
    input: a tensor, or a number.
    boundaries: one dimension, in ascending order.
    out_int32: whether the result is int32, not int64.
    right: whether a number equal to a boundary belongs behind it.
{_OUT}
Returns:
    For each element the number of boundaries before it.

Raises:
    RuntimeError: if boundaries have not one dimension.

Example:
    >>> torch.bucketize(torch.tensor([0.5, 2.0, 9.0]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([0, 1, 3])
""",
    "quantile": f"""\
Args:
    input: a tensor of float32 or float64.
    q: a number from 0 to 1, or several as a tensor of one dimension.
    dim: one dimension; by default all elements are one row.
    keepdim: whether the dimension stays, with size 1.
    interpolation: between two elements: ``"linear"``, ``"lower"``, ``"higher"``, ``"nearest"`` or
        ``"midpoint"``.
{_OUT}
Returns:
    A tensor without that dimension; of several ``q`` they are the first dimension.

Raises:
    RuntimeError: for other dtypes, a ``q`` outside of its range, or another interpolation.
    IndexError: if there is no such dimension.

Example:
    >>> torch.quantile(torch.tensor([0.0, 1.0, 2.0, 3.0]), 0.5)
    tensor(1.5000)
""",
}
