"""Pages on methods of tensors, those that change one included."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_NEW: Final = """\
Args:
    input: a tensor, whose dtype and device are taken.
    size: the shape{how}.
{more}    dtype: of the result; that of ``input`` by default.
    layout: ``torch.strided``.
    device: where it lives; with ``input`` by default.
    pin_memory: whether in memory that is pinned for copies to an accelerator.
    requires_grad: whether ops on it are recorded.

Returns:
    A new tensor of {what}.

Raises:
    RuntimeError: for a negative size.

Example:
    >>> {example}
"""

PAGES: Final[dict[str, str]] = {
    "view": """\
Args:
    input: a tensor.
    size: the new sizes, with the same product; one may be -1, and follows from the others.
    dtype: the dtype as which the bytes are read, in the place of sizes.

Returns:
    A tensor that shares memory with ``input``.

Raises:
    RuntimeError: if the sizes do not fit the number of elements, or the memory does not allow that shape
        (`reshape` copies then), or the last dimension does not divide into elements of that dtype.

Example:
    >>> x = torch.arange(6)
    >>> x.view(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    >>> torch.tensor([1.0]).view(torch.int32)
    tensor([1065353216], dtype=torch.int32)
""",
    "view_as": """\
Args:
    input: a tensor.
    other: whose shape is taken.

Returns:
    A tensor that shares memory with ``input``.

Raises:
    RuntimeError: if sizes do not fit the number of elements, or the memory does not allow that shape.

Example:
    >>> torch.arange(4).view_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
""",
    "expand": """\
Args:
    input: a tensor.
    size: the new sizes, as several ints or as one sequence; -1 keeps one, and there may be more
        dimensions in front.
    implicit: without effect; PyTorch's tracing sets it.

Returns:
    A view in which dimensions of size 1 repeat without taking memory: `clone` it before writing to it.

Raises:
    RuntimeError: if a dimension of another size would have to change.

Example:
    >>> torch.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
""",
    "expand_as": """\
Args:
    input: a tensor.
    other: whose shape is taken.

Returns:
    A view, as of `expand`.

Raises:
    RuntimeError: if a dimension of a size other than 1 would have to change.

Example:
    >>> torch.tensor([[1], [2]]).expand_as(torch.zeros(2, 3))
    tensor([[1, 1, 1],
            [2, 2, 2]])
""",
    "repeat": """\
Args:
    input: a tensor.
    repeats: how often along each dimension, as several ints or as one sequence; there may be more
        dimensions in front.

Returns:
    A copy; `expand` repeats without taking memory.

Raises:
    RuntimeError: for fewer numbers than dimensions, or a negative one.

Example:
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
""",
    "contiguous": """\
Args:
    input: a tensor.
    memory_format: in which order elements lie; rows one after another by default.

Returns:
    ``input`` itself if its elements lie in that order, else a copy in which they do.

Example:
    >>> x = torch.zeros(2, 3).t()
    >>> x.is_contiguous(), x.contiguous().is_contiguous()
    (False, True)
""",
    "clone": """\
Args:
    input: a tensor.
    memory_format: in which order elements lie; as those of ``input`` by default.

Returns:
    A copy; gradients flow through it, `detach` it for one without history.

Example:
    >>> x = torch.zeros(2)
    >>> y = x.clone().fill_(1)
    >>> x, y
    (tensor([0., 0.]), tensor([1., 1.]))
""",
    "detach": """\
Args:
    input: a tensor.

Returns:
    A tensor on the same memory that requires no grad: writing to one changes both.

Example:
    >>> x = torch.ones(2, requires_grad=True)
    >>> y = (x * 2).detach()
    >>> y.requires_grad
    False
""",
    "unfold": """\
Args:
    input: a tensor.
    dimension: the dimension along which windows lie.
    size: elements of a window.
    step: from one window to the next.

Returns:
    A view with the number of windows in the place of ``dimension``, and a last dimension of ``size``.

Raises:
    RuntimeError: if a window is larger than the dimension, or the step is not positive.
    IndexError: if there is no such dimension.

Example:
    >>> torch.arange(5).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3],
            [3, 4]])
""",
    "new_zeros": _NEW.format(
        what="zeros",
        how=", as several ints or as one sequence",
        more="",
        example=(
            "torch.tensor([1.0], dtype=torch.float64).new_zeros(2)\n"
            "    tensor([0., 0.], dtype=torch.float64)"
        ),
    ),
    "new_ones": _NEW.format(
        what="ones",
        how=", as several ints or as one sequence",
        more="",
        example=(
            "torch.tensor([1.0], dtype=torch.float64).new_ones(2)\n"
            "    tensor([1., 1.], dtype=torch.float64)"
        ),
    ),
    "new_full": _NEW.format(
        what="one value",
        how="",
        more="    fill_value: the value.\n",
        example="torch.tensor([1.0]).new_full((2,), 3.0)\n    tensor([3., 3.])",
    ),
    "copy_": """\
Args:
    input: a tensor; it is changed.
    src: what is copied; its shape broadcasts to that of ``input``, and elements are converted.
    non_blocking: whether a copy between devices may still run when the call returns.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if the shape does not broadcast, or ``input`` is a leaf that requires grad.

Example:
    >>> torch.zeros(2, 2).copy_(torch.tensor([1, 2]))
    tensor([[1., 2.],
            [1., 2.]])
""",
    "fill_": """\
Args:
    input: a tensor; it is changed.
    value: a number, or a tensor without dimensions.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if it is a tensor with dimensions, or ``input`` is a leaf that requires grad.

Example:
    >>> torch.zeros(2).fill_(7)
    tensor([7., 7.])
""",
    "zero_": """\
Args:
    input: a tensor; it is changed.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if ``input`` is a leaf that requires grad.

Example:
    >>> torch.ones(2).zero_()
    tensor([0., 0.])
""",
    "add_": """\
Args:
    input: a tensor; it is changed.
    other: a tensor whose shape broadcasts to that of ``input``, or a number.
    alpha: what ``other`` is multiplied with.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if the shape does not broadcast, the result has no place in this dtype, or ``input`` is
        a leaf that requires grad.

Example:
    >>> torch.tensor([1.0, 2.0]).add_(torch.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
""",
    "sub_": """\
Args:
    input: a tensor; it is changed.
    other: a tensor whose shape broadcasts to that of ``input``, or a number.
    alpha: what ``other`` is multiplied with.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if the shape does not broadcast, the result has no place in this dtype, or ``input`` is
        a leaf that requires grad.

Example:
    >>> torch.tensor([1.0, 2.0]).sub_(1)
    tensor([0., 1.])
""",
    "mul_": """\
Args:
    input: a tensor; it is changed.
    other: a tensor whose shape broadcasts to that of ``input``, or a number.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if the shape does not broadcast, the result has no place in this dtype, or ``input`` is
        a leaf that requires grad.

Example:
    >>> torch.tensor([1.0, 2.0]).mul_(3)
    tensor([3., 6.])
""",
    "div_": """\
Args:
    input: a tensor of floats, but for roundings; it is changed.
    other: a tensor whose shape broadcasts to that of ``input``, or a number.
    rounding_mode: None, ``"trunc"`` or ``"floor"``.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if the shape does not broadcast, the result has no place in this dtype, or ``input`` is
        a leaf that requires grad.

Example:
    >>> torch.tensor([1.0, 2.0]).div_(4)
    tensor([0.2500, 0.5000])
""",
    "clamp_": """\
Args:
    input: a tensor; it is changed.
    min: what smaller elements become: a number, a tensor that broadcasts, or None.
    max: what larger elements become.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if both are None, or ``input`` is a leaf that requires grad.

Example:
    >>> torch.tensor([-1.0, 0.5, 2.0]).clamp_(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
""",
    "masked_fill_": """\
Args:
    input: a tensor; it is changed.
    mask: bools, whose shape broadcasts to that of ``input``.
    value: what stands where the mask is true: a number, or a tensor without dimensions.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if the mask is not of bools or does not broadcast.

Example:
    >>> torch.tensor([1.0, 2.0]).masked_fill_(torch.tensor([True, False]), float("-inf"))
    tensor([-inf, 2.])
""",
    "scatter_": """\
Args:
    input: a tensor; it is changed.
    dim: the dimension that ``index`` counts along.
    index: int64, with as many dimensions: the place of each element of ``src``.
    src: what is written, no smaller than ``index`` in any dimension.
    value: a number to write instead.
    reduce: ``"add"`` or ``"multiply"`` with what stands there.

Returns:
    ``input`` itself; of several elements for one place any may be the one that stays.

Raises:
    RuntimeError: if an index is outside, or shapes or dtypes do not fit.
    IndexError: if there is no such dimension.

Example:
    >>> torch.zeros(2, 3).scatter_(1, torch.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
""",
    "scatter_add_": """\
Args:
    input: a tensor; it is changed.
    dim: the dimension that ``index`` counts along.
    index: int64, with as many dimensions: the place of each element of ``src``.
    src: what is added, no smaller than ``index`` in any dimension, of the same dtype.

Returns:
    ``input`` itself.

Raises:
    RuntimeError: if an index is outside, or shapes or dtypes do not fit.
    IndexError: if there is no such dimension.

Example:
    >>> torch.zeros(3).scatter_add_(0, torch.tensor([0, 2, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])
""",
    "index_add_": """\
Args:
    input: a tensor; it is changed.
    dim: the dimension that ``index`` counts along.
    index: one dimension of int64 or int32: where each part of ``source`` is added.
    source: what is added, of the same dtype, with as many parts as there are indices.
    alpha: what it is multiplied with.

Returns:
    ``input`` itself.

Raises:
    IndexError: if an index is outside, or there is no such dimension.
    RuntimeError: if shapes or dtypes do not fit.

Example:
    >>> torch.zeros(3).index_add_(0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([3., 0., 3.])
""",
    "normal_": """\
Args:
    input: a tensor of floats or complex numbers; it is changed.
    mean: of what is drawn.
    std: its standard deviation, not negative.
    generator: the source of random numbers; the default one by default.

Returns:
    ``input`` itself, filled with samples of a normal distribution.

Raises:
    RuntimeError: if ``std`` is negative.

Example:
    >>> x = torch.empty(10000).normal_(5.0, 0.1)
    >>> bool((x.mean() - 5).abs() < 0.01)
    True
""",
    "uniform_": """\
Args:
    input: a tensor of floats; it is changed.
    from_: the least number.
    to: what numbers are below.
    generator: the source of random numbers; the default one by default.

Returns:
    ``input`` itself, filled with samples.

Raises:
    RuntimeError: if ``from_`` is above ``to``.

Example:
    >>> x = torch.empty(100).uniform_(-1, 1)
    >>> bool(x.min() >= -1), bool(x.max() < 1)
    (True, True)
""",
}
