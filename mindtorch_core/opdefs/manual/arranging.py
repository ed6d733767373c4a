"""Pages on joining, cutting, reshaping and indexing them."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_OUT: Final = "    out: where the result is written, instead of into new memory.\n"

PAGES: Final[dict[str, str]] = {
    "cat": f"""\
Args:
    tensors: a sequence of tensors, whose shapes differ along ``dim`` alone; empty ones of one dimension
        are left out.
    dim: the dimension along which they are joined.
{_OUT}
Returns:
    A tensor in the dtype that all promote to.

Raises:
    ValueError: if there are none.
    RuntimeError: if shapes do not fit.
    IndexError: if there is no such dimension.

Example:
    >>> torch.cat([torch.tensor([1, 2]), torch.tensor([3])])
    tensor([1, 2, 3])
""",
    "stack": f"""\
Args:
    tensors: a sequence of tensors of one shape.
    dim: where the new dimension stands in the result.
{_OUT}
Returns:
    A tensor with one dimension more, whose size is the number of tensors.

Raises:
    RuntimeError: if there are none, or shapes differ.
    IndexError: if there is no such place.

Example:
    >>> torch.stack([torch.tensor([1, 2]), torch.tensor([3, 4])], dim=1)
    tensor([[1, 3],
            [2, 4]])
""",
    "chunk": """\
Args:
    input: a tensor.
    chunks: how many parts, at most.
    dim: the dimension that is cut.

Returns:
    A tuple of views of one size, of which the last may be smaller; fewer than ``chunks`` if that is how
    it comes out.

Raises:
    RuntimeError: if ``chunks`` is not positive.
    IndexError: if there is no such dimension.

Example:
    >>> [len(part) for part in torch.chunk(torch.arange(7), 3)]
    [3, 3, 1]
""",
    "reshape": """\
Args:
    input: a tensor.
    shape: the new sizes, with the same product; one may be -1, and follows from the others.

Returns:
    A view where memory allows that, else a copy.

Raises:
    RuntimeError: if the sizes do not fit the number of elements.

Example:
    >>> torch.reshape(torch.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
""",
    "flatten": """\
Args:
    input: a tensor.
    start_dim: the first of the dimensions that become one.
    end_dim: the last of them.

Returns:
    A view where memory allows that, else a copy; a tensor without dimensions gets one.

Raises:
    RuntimeError: if the first comes after the last.
    IndexError: if there is no such dimension.

Example:
    >>> torch.flatten(torch.zeros(2, 3, 4), start_dim=1).shape
    torch.Size([2, 12])
""",
    "permute": """\
Args:
    input: a tensor.
    dims: each of its dimensions once, in the new order.

Returns:
    A view with its dimensions in that order.

Raises:
    RuntimeError: if one is missing or comes twice.
    IndexError: if there is no such dimension.

Example:
    >>> torch.permute(torch.zeros(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
""",
    "transpose": """\
Args:
    input: a tensor.
    dim0: a dimension.
    dim1: the one that it changes places with.

Returns:
    A view with both exchanged.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.transpose(torch.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
""",
    "squeeze": """\
Args:
    input: a tensor.
    dim: a dimension, or several, that go if their size is 1; all such by default.

Returns:
    A view without them.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.squeeze(torch.zeros(1, 2, 1)).shape, torch.squeeze(torch.zeros(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
""",
    "unsqueeze": """\
Args:
    input: a tensor.
    dim: where the new dimension stands in the result.

Returns:
    A view with a dimension of size 1 more.

Raises:
    IndexError: if there is no such place.

Example:
    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
""",
    "narrow": """\
Args:
    input: a tensor.
    dim: the dimension that is cut.
    start: where the part begins, counted from the end if negative.
    length: its size.

Returns:
    A view of the part.

Raises:
    RuntimeError: if the part is not within the dimension.
    IndexError: if there is no such dimension, or ``start`` is outside of it.

Example:
    >>> torch.narrow(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
""",
    "repeat_interleave": """\
Args:
    input: a tensor; alone, of whole numbers, it says how often each index is repeated.
    repeats: how often each element is repeated: an int, or a tensor with one for each.
    dim: the dimension along which; by default the elements of all, as one dimension.
    output_size: the size of the result along it, if that is known: it saves looking.

Returns:
    A tensor in which equal elements follow each other.

Raises:
    RuntimeError: if the numbers do not fit the dimension, or one is negative.

Example:
    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    >>> torch.repeat_interleave(torch.tensor([1, 2]), torch.tensor([3, 1]))
    tensor([1, 1, 1, 2])
""",
    "flip": """\
Args:
    input: a tensor.
    dims: the dimensions that are turned round.

Returns:
    A copy: its memory is its own.

Raises:
    RuntimeError: if a dimension comes twice.
    IndexError: if there is no such dimension.

Example:
    >>> torch.flip(torch.tensor([1, 2, 3]), [0])
    tensor([3, 2, 1])
""",
    "gather": f"""\
Args:
    input: a tensor.
    dim: the dimension along which ``index`` counts.
    index: int64, with as many dimensions as ``input``, and along the others no larger.
    sparse_grad: accepted; gradients are dense.
{_OUT}
Returns:
    A tensor of the shape of ``index``: for ``dim=1`` its ``[i][j]`` is ``input[i][index[i][j]]``.

Raises:
    RuntimeError: if ``index`` does not fit, or an index is outside of the dimension.
    IndexError: if there is no such dimension.

Example:
    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
""",
    "index_select": f"""\
Args:
    input: a tensor.
    dim: the dimension along which ``index`` counts.
    index: int32 or int64, with one dimension.
{_OUT}
Returns:
    A copy of the slices at these places, which may come again.

Raises:
    IndexError: if an index is outside of the dimension, or there is no such dimension.

Example:
    >>> torch.index_select(torch.tensor([[1, 2], [3, 4]]), 0, torch.tensor([1, 1]))
    tensor([[3, 4],
            [3, 4]])
""",
    "masked_fill": """\
Args:
    input: a tensor.
    mask: bools, whose shape broadcasts with that of ``input``.
    value: a number, or a tensor without dimensions.

Returns:
    A copy with the value where the mask is true.

Raises:
    RuntimeError: if the mask is not of bools, or does not broadcast.

Example:
    >>> torch.masked_fill(torch.tensor([1.0, 2.0]), torch.tensor([False, True]), -torch.inf)
    tensor([1., -inf])
""",
    "tril": f"""\
Args:
    input: matrices, (*, rows, columns).
    diagonal: the last diagonal that is kept: 0 is the main one, those above it are positive.
{_OUT}
Returns:
    A copy with 0 above it.

Raises:
    RuntimeError: for fewer than two dimensions.

Example:
    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
""",
    "triu": f"""\
Args:
    input: matrices, (*, rows, columns).
    diagonal: the first diagonal that is kept: 0 is the main one, those above it are positive.
{_OUT}
Returns:
    A copy with 0 below it.

Raises:
    RuntimeError: for fewer than two dimensions.

Example:
    >>> torch.triu(torch.ones(2, 2), diagonal=1)
    tensor([[0., 1.],
            [0., 0.]])
""",
    "masked_select": """\
Args:
    input: a tensor of any shape.
    mask: bools of a shape that broadcasts with ``input``'s.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of one dimension, a copy; its length depends on data, so that a pipeline launches first.

Raises:
    RuntimeError: if the shapes do not broadcast, or the mask is not of bools.

Example:
    >>> x = torch.tensor([[1, -2], [-3, 4]])
    >>> torch.masked_select(x, x > 0)
    tensor([1, 4])
""",
    "roll": """\
Args:
    input: a tensor of any shape.
    shifts: how far; one number, or one for each of ``dims``.
    dims: along which dimensions; the tensor is one row without any.

Returns:
    A new tensor of the same shape.

Raises:
    RuntimeError: if there are more shifts than dimensions, or fewer.
    IndexError: if there is no such dimension.

Example:
    >>> torch.roll(torch.arange(4), 1), torch.roll(torch.tensor([[1, 2], [3, 4]]), 1, dims=0)
    (tensor([3, 0, 1, 2]), tensor([[3, 4],
            [1, 2]]))
""",
    "scatter": """\
Args:
    input: a tensor of any shape.
    dim: along which dimension ``index`` counts.
    index: positions, int64, with as many dimensions as ``input``; no larger than ``src``.
    src: what is put there, of the dtype of ``input``.
    value: a number that is put there, in the place of ``src``.
    reduce: "add" or "multiply" with what is there, rather than put in its place.
    out: where the result is written, instead of into new memory.

Returns:
    A new tensor of the shape of ``input``. Where a position occurs twice, which value stays is not said.

Raises:
    RuntimeError: if a position is out of range, or the shapes or dtypes do not fit.
    IndexError: if there is no such dimension.

Example:
    >>> torch.scatter(torch.zeros(2, 3), 1, torch.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
""",
}
