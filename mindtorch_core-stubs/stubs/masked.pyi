"""Functions of ``torch.masked``.

Written by `docs/make.py` from the ops' schemas. Do not edit.
"""

# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from numpy import ndarray  # for type checkers alone: where it is not installed, it is of no type

from mindtorch_core.gradients.handles import RemovableHandle
from mindtorch_core.values.devices import device as _device
from mindtorch_core.values.dtypes import dtype as _dtype
from ..random import Generator
from ..tensors.tensor import Tensor
from . import results

__all__: list[str] = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

def amax(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Largest of the elements that ``mask`` selects."""

def amin(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Smallest of the elements that ``mask`` selects."""

def argmax(
    input: Tensor,
    dim: _int | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Position, in the input's dtype, of the largest element that ``mask`` selects."""

def argmin(
    input: Tensor,
    dim: _int | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Position, in the input's dtype, of the smallest element that ``mask`` selects."""

def cumprod(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Cumulative product of the elements that ``mask`` selects."""

def cumsum(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Cumulative sum of the elements that ``mask`` selects."""

def log_softmax(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`log_softmax` along a dimension, of the elements that ``mask`` selects."""

def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: _dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """``log(exp(input) + exp(other))``, element by element, of what the masks select."""

def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Logarithm of the sum of exponentials of the elements that ``mask`` selects."""

def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Mean of the elements that ``mask`` selects."""

def median(
    input: Tensor,
    dim: _int = -1,
    *,
    keepdim: _bool = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Median along a dimension of the elements that ``mask`` selects."""

def norm(
    input: Tensor,
    ord: _float | None = 2.0,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The ``ord``-norm of the elements that ``mask`` selects."""

def normalize(
    input: Tensor,
    ord: _float,
    dim: _int,
    *,
    eps: _float = 1e-12,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Vectors along a dimension divided by the norm of what ``mask`` selects (at least ``eps``)."""

def prod(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Product of the elements that ``mask`` selects."""

def softmax(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`softmax` along a dimension, of the elements that ``mask`` selects."""

def softmin(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """`softmin` along a dimension, of the elements that ``mask`` selects."""

def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    *,
    correction: _float | None = None,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Standard deviation of the elements that ``mask`` selects."""

def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Sum of the elements that ``mask`` selects."""

def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    *,
    correction: _float | None = None,
    keepdim: _bool | None = False,
    dtype: _dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Variance of the elements that ``mask`` selects."""
