"""Pages on views of tensors, repeating them, and adding at places."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_OUT: Final = "    out: where the result is written, instead of into new memory.\n"

PAGES: Final[dict[str, str]] = {
    "unbind": """\
Args:
    input: a tensor.
    dim: the dimension that is taken apart.

Returns:
    A tuple of views without that dimension.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
""",
    "tile": """\
Args:
    input: a tensor.
    dims: how often along each dimension, the last one last; missing ones count as 1.

Returns:
    A copy.

Raises:
    RuntimeError: for a negative number.

Example:
    >>> torch.tile(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
""",
    "broadcast_to": """\
Args:
    input: a tensor.
    size: the shape that it broadcasts to.

Returns:
    A view in which dimensions of size 1 repeat.

Raises:
    RuntimeError: if it does not broadcast to that shape.

Example:
    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
""",
    "hstack": f"""\
Args:
    tensors: a sequence of tensors; those without dimensions count as of one element.
{_OUT}
Returns:
    They side by side: joined along the second dimension, or the only one.

Raises:
    RuntimeError: if there are none, or shapes do not fit.

Example:
    >>> torch.hstack([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
""",
    "vstack": f"""\
Args:
    tensors: a sequence of tensors; those of fewer than two dimensions count as rows.
{_OUT}
Returns:
    They one below the other: joined along the first dimension.

Raises:
    RuntimeError: if there are none, or shapes do not fit.

Example:
    >>> torch.vstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
""",
    "movedim": """\
Args:
    input: a tensor.
    source: a dimension, or several.
    destination: the place of each in the result.

Returns:
    A view; the other dimensions keep their order.

Raises:
    RuntimeError: if a dimension comes twice, or there are more of one kind.
    IndexError: if there is no such dimension.

Example:
    >>> torch.movedim(torch.zeros(2, 3, 4), 0, -1).shape
    torch.Size([3, 4, 2])
""",
    "select": """\
Args:
    input: a tensor.
    dim: the dimension.
    index: the place along it; negative ones count from the end.

Returns:
    A view without that dimension.

Raises:
    IndexError: if there is no such place or dimension.

Example:
    >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
""",
    "diagonal": """\
Args:
    input: a tensor of two dimensions or more.
    offset: which diagonal: 0 is the main one, those above it are positive.
    dim1: the first of the two dimensions that it lies in.
    dim2: the second.

Returns:
    A view without the two, with the diagonal as last dimension.

Raises:
    RuntimeError: if the two are the same.
    IndexError: if there is no such dimension.

Example:
    >>> torch.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
""",
    "t": """\
Args:
    input: a tensor of at most two dimensions.

Returns:
    A view with the two exchanged; one of fewer dimensions as it is.

Raises:
    RuntimeError: for more dimensions.

Example:
    >>> torch.t(torch.tensor([[1, 2], [3, 4]]))
    tensor([[1, 3],
            [2, 4]])
""",
    "scatter_add": f"""\
Args:
    input: a tensor.
    dim: the dimension that ``index`` counts along.
    index: int64, with as many dimensions: the place of each element of ``src``.
    src: what is added, no smaller than ``index`` in any dimension, of the same dtype.
{_OUT}
Returns:
    A copy of ``input`` with the elements added.

Raises:
    RuntimeError: if an index is outside, or shapes or dtypes do not fit.
    IndexError: if there is no such dimension.

Example:
    >>> torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 2, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])
""",
    "index_add": f"""\
Args:
    input: a tensor.
    dim: the dimension that ``index`` counts along.
    index: one dimension of int64 or int32: where each part of ``source`` is added.
    source: what is added, of the same dtype, with as many parts as there are indices.
    alpha: what it is multiplied with.
{_OUT}
Returns:
    A copy of ``input`` with the parts added.

Raises:
    IndexError: if an index is outside, or there is no such dimension.
    RuntimeError: if shapes or dtypes do not fit.

Example:
    >>> torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([3., 0., 3.])
""",
    "take_along_dim": f"""\
Args:
    input: a tensor.
    indices: int64; but for ``dim`` its shape broadcasts with that of ``input``.
    dim: the dimension that they count along; without it both are taken as rows of all elements.
{_OUT}
Returns:
    A tensor of the elements, such as `argsort` and `argmax` point to.

Raises:
    RuntimeError: if dtypes or numbers of dimensions do not fit.
    IndexError: if there is no such dimension.

Example:
    >>> x = torch.tensor([[3, 1, 2]])
    >>> torch.take_along_dim(x, x.argsort(dim=1), dim=1)
    tensor([[1, 2, 3]])
""",
    "argwhere": """\
Args:
    input: a tensor.

Returns:
    int64, (elements that are not 0, dimensions): the place of each.

Example:
    >>> torch.argwhere(torch.tensor([[0, 5], [6, 0]]))
    tensor([[0, 1],
            [1, 0]])
""",
}
