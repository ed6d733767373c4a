"""Pages on functions that make tensors."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGES"]

_OUT: Final = "    out: where the result is written, instead of into new memory.\n"
_MADE: Final = """\
    dtype: of the result; {default} by default.
    layout: ``torch.strided``.
    device: where it lives; the default device by default.
    pin_memory: whether in memory that is pinned for copies to an accelerator.
    requires_grad: whether ops on it are recorded.
"""
_LIKE: Final = """\
    dtype: of the result; that of ``input`` by default.
    layout: ``torch.strided``.
    device: where it lives; with ``input`` by default.
    pin_memory: whether in memory that is pinned for copies to an accelerator.
    requires_grad: whether ops on it are recorded.
    memory_format: in which order its elements lie; as those of ``input`` by default.
"""
_FLOAT: Final = _MADE.format(default="the default dtype")
_SIZE: Final = "    size: the shape, as several ints or as one sequence.\n"

PAGES: Final[dict[str, str]] = {
    "zeros": f"""\
Args:
{_SIZE}{_FLOAT}{_OUT}
Raises:
    RuntimeError: for a negative size.

Example:
    >>> torch.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> torch.zeros((2,), dtype=torch.int64)
    tensor([0, 0])
""",
    "ones": f"""\
Args:
{_SIZE}{_FLOAT}{_OUT}
Raises:
    RuntimeError: for a negative size.

Example:
    >>> torch.ones(2, dtype=torch.bool)
    tensor([True, True])
""",
    "empty": f"""\
Args:
{_SIZE}{_FLOAT}    memory_format: in which order the elements lie.
{_OUT}
Returns:
    A tensor whose elements are whatever was in the memory.

Raises:
    RuntimeError: for a negative size.

Example:
    >>> torch.empty(2, 0, 3).shape
    torch.Size([2, 0, 3])
""",
    "full": f"""\
Args:
    size: the shape, as one sequence.
    fill_value: a number, or a tensor of one element.
{_MADE.format(default="that of the number, with the default dtype for floats")}{_OUT}
Raises:
    RuntimeError: for a negative size.

Example:
    >>> torch.full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
""",
    "arange": f"""\
Args:
    start: the first number; 0 by default.
    end: where it ends: this number is not part of it.
    step: how far each is from the one before.
{_MADE.format(default="int64 if all three are ints, else the default dtype")}{_OUT}
Raises:
    RuntimeError: if ``step`` is 0, or leads away from ``end``.

Example:
    >>> torch.arange(5), torch.arange(1, 2, 0.5)
    (tensor([0, 1, 2, 3, 4]), tensor([1.0000, 1.5000]))
""",
    "linspace": f"""\
Args:
    start: the first number.
    end: the last one.
    steps: how many.
{_FLOAT}{_OUT}
Raises:
    RuntimeError: if ``steps`` is negative.

Example:
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
""",
    "eye": f"""\
Args:
    n: the number of rows.
    m: the number of columns; that of the rows by default.
{_FLOAT}{_OUT}
Raises:
    RuntimeError: for a negative size.

Example:
    >>> torch.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
""",
    "zeros_like": f"""\
Args:
    input: a tensor whose shape is taken.
{_LIKE}
Example:
    >>> torch.zeros_like(torch.tensor([[1, 2]]))
    tensor([[0, 0]])
""",
    "ones_like": f"""\
Args:
    input: a tensor whose shape is taken.
{_LIKE}
Example:
    >>> torch.ones_like(torch.tensor([1.5, 2.5]), dtype=torch.int64)
    tensor([1, 1])
""",
    "rand": f"""\
Args:
{_SIZE}    generator: where numbers come from; the device's default one by default.
{_FLOAT}{_OUT}
Returns:
    Numbers that are spread evenly over [0, 1). On the CPU a seed gives those that it gives in PyTorch.

Example:
    >>> torch.rand(2, generator=torch.Generator().manual_seed(0))
    tensor([0.4963, 0.7682])
""",
    "randn": f"""\
Args:
{_SIZE}    generator: where numbers come from; the device's default one by default.
{_FLOAT}{_OUT}
Returns:
    Numbers of the normal distribution with mean 0 and variance 1. On the CPU a seed gives those that it
    gives in PyTorch.

Example:
    >>> torch.randn(2, generator=torch.Generator().manual_seed(0))
    tensor([ 1.5410, -0.2934])
""",
    "randint": f"""\
Args:
    low: the smallest number; 0 by default.
    high: where they end: this number is not drawn.
    size: the shape, as one sequence.
    generator: where numbers come from; the device's default one by default.
{_MADE.format(default="int64")}{_OUT}
Raises:
    RuntimeError: if ``low`` is not below ``high``.

Example:
    >>> torch.randint(0, 2, (100,)).unique()
    tensor([0, 1])
""",
    "randperm": f"""\
Args:
    n: how many numbers.
    generator: where numbers come from; the device's default one by default.
{_MADE.format(default="int64")}{_OUT}
Returns:
    The numbers from 0 to ``n - 1`` in an order of chance.

Raises:
    RuntimeError: if ``n`` is negative.

Example:
    >>> torch.randperm(4).sort().values
    tensor([0, 1, 2, 3])
""",
    "multinomial": f"""\
Args:
    input: weights, (categories) or (rows, categories): not negative, and not all 0.
    num_samples: how many are drawn of each row.
    replacement: whether one may be drawn again.
    generator: where numbers come from; the device's default one by default.
{_OUT}
Returns:
    Categories as int64: (num_samples) or (rows, num_samples).

Raises:
    RuntimeError: for weights that are none, or more samples than categories without replacement.

Example:
    >>> torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 2, replacement=True)
    tensor([1, 1])
""",
    "full_like": f"""\
Args:
    input: a tensor whose shape is taken.
    fill_value: the value of all elements.
{_LIKE}
Example:
    >>> torch.full_like(torch.tensor([1.0, 2.0]), 7)
    tensor([7., 7.])
""",
    "empty_like": f"""\
Args:
    input: a tensor whose shape is taken.
{_LIKE}
Example:
    >>> torch.empty_like(torch.tensor([[1, 2]])).shape
    torch.Size([1, 2])
""",
    "rand_like": f"""\
Args:
    input: a tensor whose shape is taken.
    generator: the source of random numbers; the default one by default.
{_LIKE}
Example:
    >>> torch.rand_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
""",
    "randn_like": f"""\
Args:
    input: a tensor whose shape is taken.
    generator: the source of random numbers; the default one by default.
{_LIKE}
Example:
    >>> torch.randn_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
""",
}
