"""Pages on products of matrices and on what networks are made of."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_OUT: Final = "    out: where the result is written, instead of into new memory.\n"
_CONVOLUTION: Final = """\
Args:
    input: (batch, channels, {sizes}), or without the batch.
    weight: (out_channels, channels / groups, {kernel}).
    bias: (out_channels), or None.
    stride: how far the window moves, one int or {count}.
    padding: zeros on both sides, one int or {count}; ``"same"`` for a result of the input's size, with
        stride 1, and ``"valid"`` for none.
    dilation: how far the elements of the window are apart, one int or {count}.
    groups: how many groups of channels there are, each with kernels of its own.

Returns:
    (batch, out_channels, {results}).

Raises:
    RuntimeError: if shapes, groups or dtypes do not fit, or the window is larger than the input.

Example:
    >>> {example}
"""

PAGES: Final[dict[str, str]] = {
    "matmul": f"""\
Args:
    input: (n), (n, k) or (*, n, k).
    other: (k), (k, m) or (*, k, m); the dimensions before the last two broadcast.
{_OUT}
Returns:
    (*, n, m); without ``n`` or ``m`` where an argument has one dimension, so that of two of them it
    has none.

Raises:
    RuntimeError: if the inner sizes or the dtypes differ, or an argument has no dimension.

Example:
    >>> torch.matmul(torch.tensor([[1, 2], [3, 4]]), torch.tensor([10, 1]))
    tensor([12, 34])
    >>> torch.matmul(torch.ones(5, 1, 2, 3), torch.ones(4, 3, 6)).shape
    torch.Size([5, 4, 2, 6])
""",
    "mm": f"""\
Args:
    input: (n, k).
    mat2: (k, m); nothing broadcasts, as it does in `matmul`.
{_OUT}
Returns:
    (n, m).

Raises:
    RuntimeError: if one is no matrix, or inner sizes or dtypes differ.

Example:
    >>> torch.mm(torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [3., 4.]])
""",
    "bmm": f"""\
Args:
    input: (batch, n, k).
    mat2: (batch, k, m).
{_OUT}
Returns:
    (batch, n, m).

Raises:
    RuntimeError: for other numbers of dimensions, or if sizes or dtypes differ.

Example:
    >>> torch.bmm(torch.ones(2, 1, 3), torch.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
""",
    "dot": f"""\
Args:
    input: (n).
    tensor: (n), of the same dtype; of complex numbers nothing is conjugated.
{_OUT}
Returns:
    The sum of the products, a tensor without dimensions.

Raises:
    RuntimeError: if one has not one dimension, or sizes or dtypes differ.

Example:
    >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor(11)
""",
    "addmm": f"""\
Args:
    input: what is added; it broadcasts with (n, m).
    mat1: (n, k).
    mat2: (k, m).
    beta: what ``input`` is multiplied with; with 0 it is not looked at, so that NaN does not spread.
    alpha: what the product is multiplied with.
{_OUT}
Returns:
    ``beta * input + alpha * (mat1 @ mat2)``, (n, m).

Raises:
    RuntimeError: if shapes or dtypes do not fit.

Example:
    >>> torch.addmm(torch.tensor([1.0, 2.0]), torch.eye(2), torch.ones(2, 2))
    tensor([[2., 3.],
            [2., 3.]])
""",
    "outer": f"""\
Args:
    input: (n).
    vec2: (m).
{_OUT}
Returns:
    (n, m): every product of an element of one and of the other.

Raises:
    RuntimeError: if one has not one dimension.

Example:
    >>> torch.outer(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
""",
    "diag": f"""\
Args:
    input: (n), which becomes a diagonal, or a matrix, whose diagonal is taken.
    diagonal: which: 0 is the main one, those above it are positive.
{_OUT}
Returns:
    A matrix with zeros beside the diagonal, or a copy of the diagonal.

Raises:
    RuntimeError: for other numbers of dimensions.

Example:
    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
""",
    "softmax": """\
Args:
    input: a tensor, of floats.
    dim: the dimension along which the results add up to 1.
    dtype: what elements are converted to before; whole numbers want one.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape of ``input``.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.softmax(torch.tensor([0.0, 0.0, 1000.0]), dim=0)
    tensor([0., 0., 1.])
""",
    "log_softmax": """\
Args:
    input: a tensor, of floats.
    dim: the dimension along which the results' exponentials add up to 1.
    dtype: what elements are converted to before; whole numbers want one.
    out: where the result is written, instead of into new memory.

Returns:
    ``log(softmax(input))``, computed so that small probabilities stay finite.

Raises:
    IndexError: if there is no such dimension.

Example:
    >>> torch.log_softmax(torch.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
""",
    "linear": """\
Args:
    input: (*, in_features).
    weight: (out_features, in_features), or (in_features).
    bias: (out_features), or None.
    out: where the result is written, instead of into new memory.

Returns:
    ``input @ weight.T + bias``, (*, out_features).

Raises:
    RuntimeError: if shapes or dtypes do not fit.

Example:
    >>> torch.nn.functional.linear(torch.ones(2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
    tensor([3.5000])
""",
    "conv1d": _CONVOLUTION.format(
        sizes="length",
        kernel="size",
        count="a tuple of one",
        results="length",
        example="torch.conv1d(torch.ones(1, 1, 4), torch.ones(1, 1, 2))\n    tensor([[[2., 2., 2.]]])",
    ),
    "conv2d": _CONVOLUTION.format(
        sizes="height, width",
        kernel="height, width",
        count="two",
        results="height, width",
        example="torch.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3), padding=1).shape\n"
        "    torch.Size([1, 4, 8, 8])",
    ),
    "conv3d": _CONVOLUTION.format(
        sizes="depth, height, width",
        kernel="depth, height, width",
        count="three",
        results="depth, height, width",
        example="torch.conv3d(torch.ones(1, 1, 4, 4, 4), torch.ones(2, 1, 2, 2, 2)).shape\n"
        "    torch.Size([1, 2, 3, 3, 3])",
    ),
    "gelu": """\
Args:
    input: a tensor of any shape, of floats.
    approximate: ``"none"`` for the normal distribution itself, ``"tanh"`` for a formula with tanh.
    out: where the result is written, instead of into new memory.

Returns:
    A tensor of the shape of ``input``.

Raises:
    RuntimeError: for another approximation.

Example:
    >>> torch.nn.functional.gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
""",
    "scaled_dot_product_attention": """\
Args:
    query: (*, queries, features).
    key: (*, keys, features).
    value: (*, keys, features of the result).
    attn_mask: broadcasts with (*, queries, keys): of bools, true where a key may be looked at, or of
        floats, which are added to the products.
    dropout_p: probability with which weights are dropped.
    is_causal: whether a query sees only the keys up to its own place; then there is no mask.
    scale: what products are multiplied with; ``1 / sqrt(features)`` by default.
    enable_gqa: whether there may be fewer heads of keys and values than of queries.

Returns:
    (*, queries, features of the result).

Raises:
    RuntimeError: if shapes or dtypes do not fit, or a mask is given with ``is_causal``.

Example:
    >>> q = torch.ones(1, 2, 4)
    >>> v = torch.tensor([[[1.0], [3.0]]])
    >>> torch.nn.functional.scaled_dot_product_attention(q, q, v, is_causal=True).flatten()
    tensor([1., 2.])
""",
    "pad": """\
Args:
    input: a tensor.
    pad: how many elements before and after, a pair for each dimension, the last one first; negative
        ones cut.
    mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    value: what is put there in the mode constant; 0 by default.

Returns:
    A tensor of the larger shape.

Raises:
    RuntimeError: if numbers are missing or too many, or larger than the mode allows.
    NotImplementedError: for a mode that does not take this number of dimensions.

Example:
    >>> torch.nn.functional.pad(torch.tensor([1, 2]), (1, 2), value=9)
    tensor([9, 1, 2, 9, 9])
""",
    "one_hot": """\
Args:
    input: classes as int64, of any shape.
    num_classes: how many there are; by default one more than the largest.

Returns:
    int64, (*, num_classes), with a 1 at each class.

Raises:
    RuntimeError: for a class that is negative or not below ``num_classes``.

Example:
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
""",
    "kron": """\
Args:
    input: a tensor of any shape.
    other: another one; the shorter shape is filled up with 1 in front.
    out: where the result is written, instead of into new memory.

Returns:
    A new tensor, whose sizes are the products of both.

Example:
    >>> torch.kron(torch.tensor([1, 10]), torch.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])
""",
    "baddbmm": f"""\
Args:
    input: what is added; it broadcasts with (batch, n, m).
    batch1: (batch, n, k).
    batch2: (batch, k, m).
    beta: what ``input`` is multiplied with; with 0 it is not looked at, so that NaN does not spread.
    alpha: what the products are multiplied with.
{_OUT}
Returns:
    ``beta * input + alpha * (batch1 @ batch2)``.

Raises:
    RuntimeError: if shapes or dtypes do not fit.

Example:
    >>> torch.baddbmm(torch.tensor([1.0]), torch.ones(1, 2, 3), torch.ones(1, 3, 2)).tolist()
    [[[4.0, 4.0], [4.0, 4.0]]]
""",
    "mv": f"""\
Args:
    input: (n, k).
    vec: (k).
{_OUT}
Returns:
    (n).

Raises:
    RuntimeError: if shapes or dtypes do not fit.

Example:
    >>> torch.mv(torch.tensor([[1, 2], [3, 4]]), torch.tensor([10, 1]))
    tensor([12, 34])
""",
    "cross": f"""\
Args:
    input: a tensor with three elements along ``dim``.
    other: another one; the shapes broadcast.
    dim: the dimension; by default the first of size 3.
{_OUT}
Returns:
    The vector products.

Raises:
    RuntimeError: if there are not three elements along the dimension, or shapes do not fit.

Example:
    >>> torch.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]), dim=0)
    tensor([0, 0, 1])
""",
}
