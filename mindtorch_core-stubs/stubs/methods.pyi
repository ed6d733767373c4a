"""Methods of tensors.

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

class TensorMethods:
    """What ops and other modules add to `Tensor`."""

    def _conj(self) -> Tensor:
        """Complex conjugate of a complex tensor as a view, computed when it is read."""

    def _conj_physical(self) -> Tensor:
        """Complex conjugate, written out into new memory, also of real tensors."""

    def _index_put_positions(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: _bool = False,
    ) -> Tensor:
        """A copy of ``input`` with values put (or added) at integer positions."""

    def _index_put_positions_(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: _bool = False,
    ) -> Tensor:
        """In-place version of `_index_put_positions`: writes the result into ``input`` and returns
        it."""

    def _neg_view(self) -> Tensor:
        """The negative as a view, computed when it is read."""

    def abs(self) -> Tensor:
        """Absolute value."""

    def abs_(self) -> Tensor:
        """In-place version of `abs`: writes the result into ``input`` and returns it."""

    def absolute(self) -> Tensor:
        """Alias of `abs`."""

    def absolute_(self) -> Tensor:
        """In-place version of `absolute`: writes the result into ``input`` and returns it."""

    def acos(self) -> Tensor:
        """Angle whose cosine is given."""

    def acos_(self) -> Tensor:
        """In-place version of `acos`: writes the result into ``input`` and returns it."""

    def acosh(self) -> Tensor:
        """Inverse hyperbolic cosine."""

    def acosh_(self) -> Tensor:
        """In-place version of `acosh`: writes the result into ``input`` and returns it."""

    def add(self, other: Tensor | _float | _complex, *, alpha: _float | _complex = 1) -> Tensor:
        """Sum ``input + alpha * other``."""

    def add_(
        self,
        other: Tensor | _float | _complex,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `add`: writes the result into ``input`` and returns it."""

    def addbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """``beta * input + alpha * (batch1 @ batch2).sum(0)``."""

    def addbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `addbmm`: writes the result into ``input`` and returns it."""

    def addcdiv(
        self,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: _float | _complex = 1,
    ) -> Tensor:
        """``input + value * tensor1 / tensor2``."""

    def addcdiv_(
        self,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `addcdiv`: writes the result into ``input`` and returns it."""

    def addcmul(
        self,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: _float | _complex = 1,
    ) -> Tensor:
        """``input + value * tensor1 * tensor2``."""

    def addcmul_(
        self,
        tensor1: Tensor,
        tensor2: Tensor,
        *,
        value: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `addcmul`: writes the result into ``input`` and returns it."""

    def addmm(
        self,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``."""

    def addmm_(
        self,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `addmm`: writes the result into ``input`` and returns it."""

    def addmv(
        self,
        mat: Tensor,
        vec: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``."""

    def addmv_(
        self,
        mat: Tensor,
        vec: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `addmv`: writes the result into ``input`` and returns it."""

    def addr(
        self,
        vec1: Tensor,
        vec2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``."""

    def addr_(
        self,
        vec1: Tensor,
        vec2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `addr`: writes the result into ``input`` and returns it."""

    def adjoint(self) -> Tensor:
        """Matrices transposed and conjugated."""

    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether all elements are non-zero, over dimensions (all if ``dim`` is None)."""

    def allclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
    ) -> _bool:
        """Whether `isclose` holds everywhere."""

    def amax(self, dim: _int | Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
        """Largest element over dimensions (all if none are given); ties share the gradient."""

    def amin(self, dim: _int | Sequence[_int] = ..., keepdim: _bool = False) -> Tensor:
        """Smallest element over dimensions (all if none are given); ties share the gradient."""

    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> results.aminmax:
        """The smallest and the largest element, of all or along a dimension."""

    def angle(self) -> Tensor:
        """Angle of complex numbers in radians; of real ones 0, or pi where negative."""

    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether some element is non-zero, over dimensions (all if ``dim`` is None)."""

    def arccos(self) -> Tensor:
        """Alias of `acos`."""

    def arccos_(self) -> Tensor:
        """In-place version of `arccos`: writes the result into ``input`` and returns it."""

    def arccosh(self) -> Tensor:
        """Alias of `acosh`."""

    def arccosh_(self) -> Tensor:
        """In-place version of `arccosh`: writes the result into ``input`` and returns it."""

    def arcsin(self) -> Tensor:
        """Alias of `asin`."""

    def arcsin_(self) -> Tensor:
        """In-place version of `arcsin`: writes the result into ``input`` and returns it."""

    def arcsinh(self) -> Tensor:
        """Alias of `asinh`."""

    def arcsinh_(self) -> Tensor:
        """In-place version of `arcsinh`: writes the result into ``input`` and returns it."""

    def arctan(self) -> Tensor:
        """Alias of `atan`."""

    def arctan2(self, other: Tensor) -> Tensor:
        """Alias of `atan2`."""

    def arctan2_(self, other: Tensor) -> Tensor:
        """In-place version of `arctan2`: writes the result into ``input`` and returns it."""

    def arctan_(self) -> Tensor:
        """In-place version of `arctan`: writes the result into ``input`` and returns it."""

    def arctanh(self) -> Tensor:
        """Alias of `atanh`."""

    def arctanh_(self) -> Tensor:
        """In-place version of `arctanh`: writes the result into ``input`` and returns it."""

    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Position of the largest element, the first one among equals; flat if ``dim`` is None."""

    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """Position of the smallest element, the first one among equals; flat if ``dim`` is None."""

    @overload
    def argsort(self, dim: _int = -1, descending: _bool = False) -> Tensor:
        """Positions that sort the elements along a dimension."""
    @overload
    def argsort(self, *, stable: _bool, dim: _int = -1, descending: _bool = False) -> Tensor:
        """Positions that sort the elements along a dimension; equal ones keep their order."""

    def argwhere(self) -> Tensor:
        """Positions of elements that are not zero, one row each."""

    def as_strided(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """A view of the storage with any sizes, strides and offset."""

    def as_strided_(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """In-place version of `as_strided`: the tensor becomes that view of its memory."""

    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[_int],
        stride: Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """A copy in which ``src`` stands where `as_strided` shows."""

    def asin(self) -> Tensor:
        """Angle whose sine is given."""

    def asin_(self) -> Tensor:
        """In-place version of `asin`: writes the result into ``input`` and returns it."""

    def asinh(self) -> Tensor:
        """Inverse hyperbolic sine."""

    def asinh_(self) -> Tensor:
        """In-place version of `asinh`: writes the result into ``input`` and returns it."""

    def atan(self) -> Tensor:
        """Angle whose tangent is given."""

    def atan2(self, other: Tensor) -> Tensor:
        """Angle of the point (other, input) in radians."""

    def atan2_(self, other: Tensor) -> Tensor:
        """In-place version of `atan2`: writes the result into ``input`` and returns it."""

    def atan_(self) -> Tensor:
        """In-place version of `atan`: writes the result into ``input`` and returns it."""

    def atanh(self) -> Tensor:
        """Inverse hyperbolic tangent."""

    def atanh_(self) -> Tensor:
        """In-place version of `atanh`: writes the result into ``input`` and returns it."""

    def baddbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """``beta * input + alpha * (batch1 @ batch2)``, batch by batch."""

    def baddbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: _float | _complex = 1,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `baddbmm`: writes the result into ``input`` and returns it."""

    @overload
    def bernoulli(self, *, generator: Generator | None = None) -> Tensor:
        """Ones with the probabilities that ``input`` gives, zeros otherwise."""
    @overload
    def bernoulli(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """Ones with probability ``p``, zeros otherwise, in the shape of ``input``."""

    @overload
    def bernoulli_(self, p: Tensor, *, generator: Generator | None = None) -> Tensor:
        """Ones with the probabilities that ``p`` gives, zeros otherwise, in place."""
    @overload
    def bernoulli_(self, p: _float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Ones with probability ``p``, zeros otherwise, in place."""

    def bernoulli_p_(self, p: _float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """In-place version of `bernoulli_p`: writes the result into ``input`` and returns it."""

    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each number from 0 on occurs, or the sum of the weights where it does."""

    def bitwise_and(self, other: Tensor | _float | _complex) -> Tensor:
        """Bitwise and of integers or booleans."""

    def bitwise_and_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `bitwise_and`: writes the result into ``input`` and returns it."""

    def bitwise_left_shift(self, other: Tensor | _float | _complex) -> Tensor:
        """Bits moved to the left by ``other`` places: a product with ``2**other``."""

    def bitwise_left_shift_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `bitwise_left_shift`: writes the result into ``input`` and returns
        it."""

    def bitwise_not(self) -> Tensor:
        """Bitwise complement; logical not of booleans."""

    def bitwise_not_(self) -> Tensor:
        """In-place version of `bitwise_not`: writes the result into ``input`` and returns it."""

    def bitwise_or(self, other: Tensor | _float | _complex) -> Tensor:
        """Bitwise or of integers or booleans."""

    def bitwise_or_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `bitwise_or`: writes the result into ``input`` and returns it."""

    def bitwise_right_shift(self, other: Tensor | _float | _complex) -> Tensor:
        """Bits moved to the right, the sign kept: ``input // 2**other``."""

    def bitwise_right_shift_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `bitwise_right_shift`: writes the result into ``input`` and returns
        it."""

    def bitwise_xor(self, other: Tensor | _float | _complex) -> Tensor:
        """Bitwise xor of integers or booleans."""

    def bitwise_xor_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `bitwise_xor`: writes the result into ``input`` and returns it."""

    def bmm(self, mat2: Tensor) -> Tensor:
        """Products of matrices, batch by batch."""

    @overload
    def broadcast_to(self, *size: _int) -> Tensor:
        """Expand to a shape."""
    @overload
    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """Expand to a shape."""

    def cauchy_(
        self,
        median: _float = 0.0,
        sigma: _float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place version of `cauchy`: writes the result into ``input`` and returns it."""

    def ceil(self) -> Tensor:
        """Smallest integer not below."""

    def ceil_(self) -> Tensor:
        """In-place version of `ceil`: writes the result into ``input`` and returns it."""

    def cholesky(self, upper: _bool = False) -> Tensor:
        """Cholesky factor of a positive-definite matrix; `torch.linalg.cholesky` is its newer
        name."""

    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """Inverse of the matrix whose Cholesky factor is given."""

    def cholesky_solve(self, input2: Tensor, upper: _bool = False) -> Tensor:
        """Solution ``X`` of ``A @ X = input``, given the Cholesky factor ``input2`` of ``A``."""

    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` parts of equal size along a dimension."""

    @overload
    def clamp(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """Limit elements to the range between those of ``min`` and ``max``."""
    @overload
    def clamp(
        self,
        min: _float | _complex | None = None,
        max: _float | _complex | None = None,
    ) -> Tensor:
        """Limit elements to the range from ``min`` to ``max``; None leaves a side open."""

    @overload
    def clamp_(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """In-place version of `clamp`: writes the result into ``input`` and returns it."""
    @overload
    def clamp_(
        self,
        min: _float | _complex | None = None,
        max: _float | _complex | None = None,
    ) -> Tensor:
        """In-place version of `clamp`: writes the result into ``input`` and returns it."""

    @overload
    def clamp_max(self, max: Tensor) -> Tensor:
        """`clamp` with ``max`` only."""
    @overload
    def clamp_max(self, max: _float | _complex) -> Tensor:
        """`clamp` with ``max`` only."""

    @overload
    def clamp_max_(self, max: Tensor) -> Tensor:
        """In-place version of `clamp_max`: writes the result into ``input`` and returns it."""
    @overload
    def clamp_max_(self, max: _float | _complex) -> Tensor:
        """In-place version of `clamp_max`: writes the result into ``input`` and returns it."""

    @overload
    def clamp_min(self, min: Tensor) -> Tensor:
        """`clamp` with ``min`` only."""
    @overload
    def clamp_min(self, min: _float | _complex) -> Tensor:
        """`clamp` with ``min`` only."""

    @overload
    def clamp_min_(self, min: Tensor) -> Tensor:
        """In-place version of `clamp_min`: writes the result into ``input`` and returns it."""
    @overload
    def clamp_min_(self, min: _float | _complex) -> Tensor:
        """In-place version of `clamp_min`: writes the result into ``input`` and returns it."""

    @overload
    def clip(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """Alias of `clamp`."""
    @overload
    def clip(
        self,
        min: _float | _complex | None = None,
        max: _float | _complex | None = None,
    ) -> Tensor:
        """Alias of `clamp`."""

    @overload
    def clip_(self, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
        """In-place version of `clip`: writes the result into ``input`` and returns it."""
    @overload
    def clip_(
        self,
        min: _float | _complex | None = None,
        max: _float | _complex | None = None,
    ) -> Tensor:
        """In-place version of `clip`: writes the result into ``input`` and returns it."""

    def clone(self, *, memory_format: Any = None) -> Tensor:
        """A copy in memory of its own, in its order of dimensions or in a memory format."""

    def combinations(self, r: _int = 2, with_replacement: _bool = False) -> Tensor:
        """All combinations of ``r`` elements of a vector, as rows, in the order of their
        positions."""

    def conj(self) -> Tensor:
        """Complex conjugate as a view, computed when it is read; the tensor itself where it is
        real."""

    def conj_physical(self) -> Tensor:
        """Complex conjugate, written out into new memory; real tensors are returned as they are."""

    def conj_physical_(self) -> Tensor:
        """In-place version of `conj_physical`: writes the result into ``input`` and returns it."""

    def contiguous(self, *, memory_format: Any = None) -> Tensor:
        """The tensor itself if it is dense in a memory format, row-major by default; else a
        copy."""

    def copy_(self, src: Tensor, non_blocking: _bool = False) -> Tensor:
        """In-place version of `copy`: writes the result into ``input`` and returns it."""

    def copysign(self, other: Tensor | _float | _complex) -> Tensor:
        """The absolute value of ``input`` with the sign of ``other``."""

    def copysign_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `copysign`: writes the result into ``input`` and returns it."""

    def corrcoef(self) -> Tensor:
        """Pearson's correlation coefficients of variables (rows) from observations (columns)."""

    def cos(self) -> Tensor:
        """Cosine of radians."""

    def cos_(self) -> Tensor:
        """In-place version of `cos`: writes the result into ``input`` and returns it."""

    def cosh(self) -> Tensor:
        """Hyperbolic cosine."""

    def cosh_(self) -> Tensor:
        """In-place version of `cosh`: writes the result into ``input`` and returns it."""

    @overload
    def count_nonzero(self, dim: _int | None = None) -> Tensor:
        """How many elements are not zero, in all or along a dimension."""
    @overload
    def count_nonzero(self, *dim: _int) -> Tensor:
        """How many elements are not zero over dimensions."""
    @overload
    def count_nonzero(self, dim: Sequence[_int]) -> Tensor:
        """How many elements are not zero over dimensions."""

    def cov(
        self,
        *,
        correction: _int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Tensor:
        """Covariance matrix of variables (rows) from observations (columns), with frequencies
        ``fweights`` and importances ``aweights``."""

    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """Cross product along ``dim``, by default the first dimension of size 3."""

    def cummax(self, dim: _int) -> results.cummax:
        """Largest element up to each along a dimension, and the last position where it stands."""

    def cummin(self, dim: _int) -> results.cummin:
        """Smallest element up to each along a dimension, and the last position where it stands."""

    def cumprod(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """Products of the elements up to each along a dimension; integers multiply as int64."""

    def cumprod_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """In-place version of `cumprod`: writes the result into ``input`` and returns it."""

    def cumsum(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """Sums of the elements up to each along a dimension; integers are summed as int64."""

    def cumsum_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """In-place version of `cumsum`: writes the result into ``input`` and returns it."""

    def deg2rad(self) -> Tensor:
        """Radians of an angle in degrees."""

    def deg2rad_(self) -> Tensor:
        """In-place version of `deg2rad`: writes the result into ``input`` and returns it."""

    def det(self) -> Tensor:
        """Determinant of a square matrix."""

    def detach(self) -> Tensor:
        """The same memory without history."""

    def diag(self, diagonal: _int = 0) -> Tensor:
        """The matrix with a vector as its diagonal, or the diagonal of a matrix."""

    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Zeros with the last dimension of ``input`` as a diagonal of two dimensions."""

    def diagflat(self, offset: _int = 0) -> Tensor:
        """The matrix with all elements of ``input`` as its diagonal."""

    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A diagonal, as the last dimension."""

    def diagonal_scatter(
        self,
        src: Tensor,
        offset: _int = 0,
        dim1: _int = 0,
        dim2: _int = 1,
    ) -> Tensor:
        """A copy in which ``src`` stands where `diagonal` shows."""

    def diff(
        self,
        n: _int = 1,
        dim: _int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
    ) -> Tensor:
        """Differences between neighbours along a dimension, taken ``n`` times; of booleans, whether
        they differ."""

    def digamma(self) -> Tensor:
        """Derivative of `lgamma`."""

    def digamma_(self) -> Tensor:
        """In-place version of `digamma`: writes the result into ``input`` and returns it."""

    def dist(self, other: Tensor, p: _float | _complex = 2) -> Tensor:
        """The ``p``-norm of the difference."""

    def div(
        self,
        other: Tensor | _float | _complex,
        *,
        rounding_mode: _str | None = None,
    ) -> Tensor:
        """Quotient; ``rounding_mode`` is None (true division), ``'trunc'`` or ``'floor'``."""

    def div_(
        self,
        other: Tensor | _float | _complex,
        *,
        rounding_mode: _str | None = None,
    ) -> Tensor:
        """In-place version of `div`: writes the result into ``input`` and returns it."""

    def divide(
        self,
        other: Tensor | _float | _complex,
        *,
        rounding_mode: _str | None = None,
    ) -> Tensor:
        """Alias of `div`."""

    def divide_(
        self,
        other: Tensor | _float | _complex,
        *,
        rounding_mode: _str | None = None,
    ) -> Tensor:
        """In-place version of `divide`: writes the result into ``input`` and returns it."""

    def dot(self, tensor: Tensor) -> Tensor:
        """Inner product of two vectors."""

    @overload
    def dsplit(self, sections: _int) -> tuple[Tensor, ...]:
        """Equal parts along dimension 2."""
    @overload
    def dsplit(self, indices: Sequence[_int]) -> tuple[Tensor, ...]:
        """Parts along dimension 2 that begin at the given positions."""

    def eq(self, other: Tensor | _float | _complex) -> Tensor:
        """True where ``input == other``."""

    def eq_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `eq`: writes the result into ``input`` and returns it."""

    def equal(self, other: Tensor) -> _bool:
        """Whether both have the same shape and equal elements."""

    def erf(self) -> Tensor:
        """Error function."""

    def erf_(self) -> Tensor:
        """In-place version of `erf`: writes the result into ``input`` and returns it."""

    def erfc(self) -> Tensor:
        """``1 - erf(x)``."""

    def erfc_(self) -> Tensor:
        """In-place version of `erfc`: writes the result into ``input`` and returns it."""

    def erfinv(self) -> Tensor:
        """Inverse of the error function."""

    def erfinv_(self) -> Tensor:
        """In-place version of `erfinv`: writes the result into ``input`` and returns it."""

    def exp(self) -> Tensor:
        """Exponential."""

    def exp2(self) -> Tensor:
        """Powers of 2."""

    def exp2_(self) -> Tensor:
        """In-place version of `exp2`: writes the result into ``input`` and returns it."""

    def exp_(self) -> Tensor:
        """In-place version of `exp`: writes the result into ``input`` and returns it."""

    @overload
    def expand(self, *size: _int, implicit: _bool = False) -> Tensor:
        """Dimensions of size 1 repeated without copying; -1 keeps a size."""
    @overload
    def expand(self, size: Sequence[_int], *, implicit: _bool = False) -> Tensor:
        """Dimensions of size 1 repeated without copying; -1 keeps a size."""

    def expand_as(self, other: Tensor) -> Tensor:
        """Expand to the shape of ``other``."""

    def expm1(self) -> Tensor:
        """``exp(x) - 1``, accurate near 0."""

    def expm1_(self) -> Tensor:
        """In-place version of `expm1`: writes the result into ``input`` and returns it."""

    def exponential_(
        self,
        lambd: _float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place version of `exponential`: writes the result into ``input`` and returns it."""

    @overload
    def fill_(self, value: Tensor) -> Tensor:
        """The value of a zero-dimensional tensor everywhere."""
    @overload
    def fill_(self, value: _float | _complex) -> Tensor:
        """In-place version of `fill`: writes the result into ``input`` and returns it."""

    def fill_diagonal_(self, fill_value: _float | _complex, wrap: _bool = False) -> Tensor:
        """Write a number into the diagonal, where all positions are equal; ``wrap`` starts it again
        in a tall matrix, below a row that is left out."""

    def fix(self) -> Tensor:
        """Alias of `trunc`."""

    def fix_(self) -> Tensor:
        """In-place version of `fix`: writes the result into ``input`` and returns it."""

    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Join the dimensions from ``start_dim`` to ``end_dim`` into one."""

    @overload
    def flip(self, *dims: _int) -> Tensor:
        """A copy with the order of the elements reversed along dimensions."""
    @overload
    def flip(self, dims: Sequence[_int]) -> Tensor:
        """A copy with the order of the elements reversed along dimensions."""

    def fliplr(self) -> Tensor:
        """A copy with the order of the elements reversed along dimension 1."""

    def flipud(self) -> Tensor:
        """A copy with the order of the elements reversed along dimension 0."""

    def float_power(self, exponent: Tensor | _float | _complex) -> Tensor:
        """Power ``input ** exponent`` in double precision."""

    def float_power_(self, exponent: Tensor | _float | _complex) -> Tensor:
        """In-place version of `float_power`: writes the result into ``input`` and returns it."""

    def floor(self) -> Tensor:
        """Largest integer not above."""

    def floor_(self) -> Tensor:
        """In-place version of `floor`: writes the result into ``input`` and returns it."""

    def floor_divide(self, other: Tensor | _float | _complex) -> Tensor:
        """Quotient rounded towards minus infinity."""

    def floor_divide_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `floor_divide`: writes the result into ``input`` and returns it."""

    def fmax(self, other: Tensor) -> Tensor:
        """Larger of two elements; the other one where one is NaN."""

    def fmin(self, other: Tensor) -> Tensor:
        """Smaller of two elements; the other one where one is NaN."""

    def fmod(self, other: Tensor | _float | _complex) -> Tensor:
        """Remainder with the sign of the dividend, as C's ``fmod``."""

    def fmod_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `fmod`: writes the result into ``input`` and returns it."""

    def frac(self) -> Tensor:
        """What `trunc` takes away."""

    def frac_(self) -> Tensor:
        """In-place version of `frac`: writes the result into ``input`` and returns it."""

    def frexp(self) -> results.frexp:
        """Mantissas from 1/2 to 1 and exponents: ``input == mantissa * 2**exponent``."""

    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """Elements picked along a dimension: ``out[i][j] = input[index[i][j]][j]`` for
        ``dim=0``."""

    def gcd(self, other: Tensor) -> Tensor:
        """Greatest common divisor."""

    def gcd_(self, other: Tensor) -> Tensor:
        """In-place version of `gcd`: writes the result into ``input`` and returns it."""

    def ge(self, other: Tensor | _float | _complex) -> Tensor:
        """True where ``input >= other``."""

    def ge_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `ge`: writes the result into ``input`` and returns it."""

    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Tensor:
        """In-place version of `geometric`: writes the result into ``input`` and returns it."""

    def geqrf(self) -> results.geqrf:
        """A QR factorization as LAPACK packs it: R above, Householder vectors below the diagonal,
        and their scales."""

    def ger(self, vec2: Tensor) -> Tensor:
        """Outer product of two vectors: ``result[i, j] = input[i] * vec2[j]``."""

    def greater(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `gt`."""

    def greater_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `greater`: writes the result into ``input`` and returns it."""

    def greater_equal(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `ge`."""

    def greater_equal_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `greater_equal`: writes the result into ``input`` and returns it."""

    def gt(self, other: Tensor | _float | _complex) -> Tensor:
        """True where ``input > other``."""

    def gt_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `gt`: writes the result into ``input`` and returns it."""

    def hardshrink(self, lambd: _float | _complex = 0.5) -> Tensor:
        """Zero between ``-lambd`` and ``lambd``."""

    def hash_tensor(
        self,
        dim: _int | Sequence[_int] = ...,
        *,
        keepdim: _bool = False,
        mode: _int = 0,
    ) -> Tensor:
        """Exclusive or of the elements' bits, widened to 64, over dimensions (all if none are
        given)."""

    def heaviside(self, values: Tensor) -> Tensor:
        """0 for negative elements, ``values`` at 0, 1 for positive ones."""

    def heaviside_(self, values: Tensor) -> Tensor:
        """In-place version of `heaviside`: writes the result into ``input`` and returns it."""

    def histc(
        self,
        bins: _int = 100,
        min: _float | _complex = 0,
        max: _float | _complex = 0,
    ) -> Tensor:
        """How many elements lie in each of ``bins`` equal bins between ``min`` and ``max`` (of the
        data, if both are equal)."""

    @overload
    def histogram(
        self,
        bins: Tensor,
        *,
        weight: Tensor | None = None,
        density: _bool = False,
    ) -> results.histogram:
        """Counts (or weights) of elements in bins, given by their number or by their edges, and the
        edges; ``density`` scales to an integral of 1."""
    @overload
    def histogram(
        self,
        bins: _int = 100,
        *,
        range: Sequence[_float] | None = None,
        weight: Tensor | None = None,
        density: _bool = False,
    ) -> results.histogram:
        """Counts (or weights) of elements in bins, given by their number or by their edges, and the
        edges; ``density`` scales to an integral of 1."""

    @overload
    def hsplit(self, sections: _int) -> tuple[Tensor, ...]:
        """Equal parts along dimension 1."""
    @overload
    def hsplit(self, indices: Sequence[_int]) -> tuple[Tensor, ...]:
        """Parts along dimension 1 that begin at the given positions."""

    def hypot(self, other: Tensor) -> Tensor:
        """Length ``sqrt(input**2 + other**2)`` of the hypotenuse, computed without overflow."""

    def hypot_(self, other: Tensor) -> Tensor:
        """In-place version of `hypot`: writes the result into ``input`` and returns it."""

    def i0(self) -> Tensor:
        """Modified Bessel function of the first kind of order 0."""

    def i0_(self) -> Tensor:
        """In-place version of `i0`: writes the result into ``input`` and returns it."""

    def igamma(self, other: Tensor) -> Tensor:
        """Regularized lower incomplete gamma function P(input, other)."""

    def igamma_(self, other: Tensor) -> Tensor:
        """In-place version of `igamma`: writes the result into ``input`` and returns it."""

    def igammac(self, other: Tensor) -> Tensor:
        """Regularized upper incomplete gamma function Q(input, other)."""

    def igammac_(self, other: Tensor) -> Tensor:
        """In-place version of `igammac`: writes the result into ``input`` and returns it."""

    def index_add(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """A copy of ``input`` with slices of ``source`` added at positions along a dimension."""

    def index_add_(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `index_add`: writes the result into ``input`` and returns it."""

    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """A copy of ``input`` with slices along a dimension replaced by those of ``source``."""

    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """In-place version of `index_copy`: writes the result into ``input`` and returns it."""

    @overload
    def index_fill(self, dim: _int, index: Tensor, value: Tensor) -> Tensor:
        """A copy of ``input`` with slices along a dimension filled with a number."""
    @overload
    def index_fill(self, dim: _int, index: Tensor, value: _float | _complex) -> Tensor:
        """A copy of ``input`` with slices along a dimension filled with a number."""

    @overload
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor) -> Tensor:
        """In-place version of `index_fill`: writes the result into ``input`` and returns it."""
    @overload
    def index_fill_(self, dim: _int, index: Tensor, value: _float | _complex) -> Tensor:
        """In-place version of `index_fill`: writes the result into ``input`` and returns it."""

    def index_put(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: _bool = False,
    ) -> Tensor:
        """A copy with values put at the positions that index tensors give."""

    def index_put_(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: _bool = False,
    ) -> Tensor:
        """Put values at the positions that index tensors give; ``accumulate`` adds them."""

    def index_reduce(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        reduce: _str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """A copy of ``input`` in which slices of ``source`` are combined with those at positions
        along a dimension: ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``."""

    def index_reduce_(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        reduce: _str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """In-place version of `index_reduce`: writes the result into ``input`` and returns it."""

    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """Slices along a dimension, at the positions in a vector."""

    def inner(self, other: Tensor) -> Tensor:
        """Sums of products along the last dimension of both tensors."""

    def inverse(self) -> Tensor:
        """Inverse of a square matrix."""

    def is_conj(self) -> _bool:
        """Whether it is a view whose conjugation is computed when it is read."""

    def is_neg(self) -> _bool:
        """Whether it is a view whose negation is computed when it is read."""

    def isclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
    ) -> Tensor:
        """True where ``abs(input - other) <= atol + rtol * abs(other)``."""

    def isfinite(self) -> Tensor:
        """True where finite."""

    def isinf(self) -> Tensor:
        """True where infinite."""

    def isnan(self) -> Tensor:
        """True where NaN."""

    def isneginf(self) -> Tensor:
        """True where minus infinity."""

    def isposinf(self) -> Tensor:
        """True where plus infinity."""

    def isreal(self) -> Tensor:
        """True where the imaginary part is zero."""

    def istft(
        self,
        n_fft: _int,
        hop_length: _int | None = None,
        win_length: _int | None = None,
        window: Tensor | None = None,
        center: _bool = True,
        normalized: _bool = False,
        onesided: _bool | None = None,
        length: _int | None = None,
        return_complex: _bool = False,
    ) -> Tensor:
        """Inverse short-time Fourier transform, by least squares (Griffin and Lim, 1984)."""

    def kron(self, other: Tensor) -> Tensor:
        """Kronecker product: every element of ``input`` times the whole of ``other``, as blocks."""

    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> results.kthvalue:
        """The ``k``-th smallest element along a dimension, counted from 1, and its position."""

    def lcm(self, other: Tensor) -> Tensor:
        """Least common multiple; 0 where either is 0."""

    def lcm_(self, other: Tensor) -> Tensor:
        """In-place version of `lcm`: writes the result into ``input`` and returns it."""

    def ldexp(self, other: Tensor) -> Tensor:
        """``input * 2**other``."""

    def ldexp_(self, other: Tensor) -> Tensor:
        """In-place version of `ldexp`."""

    def le(self, other: Tensor | _float | _complex) -> Tensor:
        """True where ``input <= other``."""

    def le_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `le`: writes the result into ``input`` and returns it."""

    @overload
    def lerp(self, end: Tensor, weight: Tensor) -> Tensor:
        """The point between ``input`` and ``end`` at the share ``weight`` of the way."""
    @overload
    def lerp(self, end: Tensor, weight: _float | _complex) -> Tensor:
        """The point between ``input`` and ``end`` at the share ``weight`` of the way."""

    @overload
    def lerp_(self, end: Tensor, weight: Tensor) -> Tensor:
        """In-place version of `lerp`: writes the result into ``input`` and returns it."""
    @overload
    def lerp_(self, end: Tensor, weight: _float | _complex) -> Tensor:
        """In-place version of `lerp`: writes the result into ``input`` and returns it."""

    def less(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `lt`."""

    def less_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `less`: writes the result into ``input`` and returns it."""

    def less_equal(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `le`."""

    def less_equal_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `less_equal`: writes the result into ``input`` and returns it."""

    def lgamma(self) -> Tensor:
        """Logarithm of the absolute value of the gamma function."""

    def lgamma_(self) -> Tensor:
        """In-place version of `lgamma`: writes the result into ``input`` and returns it."""

    def log(self) -> Tensor:
        """Natural logarithm."""

    def log10(self) -> Tensor:
        """Logarithm to base 10."""

    def log10_(self) -> Tensor:
        """In-place version of `log10`: writes the result into ``input`` and returns it."""

    def log1p(self) -> Tensor:
        """``log(1 + x)``, accurate near 0."""

    def log1p_(self) -> Tensor:
        """In-place version of `log1p`: writes the result into ``input`` and returns it."""

    def log2(self) -> Tensor:
        """Logarithm to base 2."""

    def log2_(self) -> Tensor:
        """In-place version of `log2`: writes the result into ``input`` and returns it."""

    def log_(self) -> Tensor:
        """In-place version of `log`: writes the result into ``input`` and returns it."""

    def log_normal_(
        self,
        mean: _float = 1.0,
        std: _float = 2.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place version of `log_normal`: writes the result into ``input`` and returns it."""

    def log_softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """Logarithm of `softmax`, computed without overflow."""

    def logaddexp(self, other: Tensor) -> Tensor:
        """``log(exp(input) + exp(other))``, computed without overflow."""

    def logaddexp2(self, other: Tensor) -> Tensor:
        """``log2(2**input + 2**other)``, computed without overflow."""

    def logcumsumexp(self, dim: _int) -> Tensor:
        """Logarithm of the sums of exponentials up to each element along a dimension."""

    def logdet(self) -> Tensor:
        """Logarithm of the determinant; NaN where it is negative."""

    def logical_and(self, other: Tensor) -> Tensor:
        """True where both are non-zero."""

    def logical_and_(self, other: Tensor) -> Tensor:
        """In-place version of `logical_and`: writes the result into ``input`` and returns it."""

    def logical_not(self) -> Tensor:
        """True where zero."""

    def logical_not_(self) -> Tensor:
        """In-place version of `logical_not`: writes the result into ``input`` and returns it."""

    def logical_or(self, other: Tensor) -> Tensor:
        """True where either is non-zero."""

    def logical_or_(self, other: Tensor) -> Tensor:
        """In-place version of `logical_or`: writes the result into ``input`` and returns it."""

    def logical_xor(self, other: Tensor) -> Tensor:
        """True where exactly one is non-zero."""

    def logical_xor_(self, other: Tensor) -> Tensor:
        """In-place version of `logical_xor`: writes the result into ``input`` and returns it."""

    def logit(self, eps: _float | None = None) -> Tensor:
        """Log of the odds ``x / (1 - x)``; ``eps`` keeps ``x`` from the ends of [0, 1]."""

    def logit_(self, eps: _float | None = None) -> Tensor:
        """In-place version of `logit`: writes the result into ``input`` and returns it."""

    def logsumexp(self, dim: _int | Sequence[_int], keepdim: _bool = False) -> Tensor:
        """Logarithm of the sum of exponentials, without overflow."""

    def lt(self, other: Tensor | _float | _complex) -> Tensor:
        """True where ``input < other``."""

    def lt_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `lt`: writes the result into ``input`` and returns it."""

    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> Any:
        """LU factors in one matrix and the rows exchanged, see `torch.lu`."""

    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Solution of ``A @ X = input``, given A's LU factors; `torch.linalg.lu_solve` is the newer
        form."""

    def masked_fill(
        self,
        mask: Tensor | _float | _complex,
        value: Tensor | _float | _complex,
    ) -> Tensor:
        """``input`` with ``value`` where the boolean mask holds."""

    def masked_fill_(
        self,
        mask: Tensor | _float | _complex,
        value: Tensor | _float | _complex,
    ) -> Tensor:
        """In-place version of `masked_fill`: writes the result into ``input`` and returns it."""

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy of ``input`` in which elements where the mask holds are, one after another, those
        of ``source``."""

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place version of `masked_scatter`: writes the result into ``input`` and returns it."""

    def masked_select(self, mask: Tensor) -> Tensor:
        """Elements where the mask holds, in one dimension."""

    def matmul(self, other: Tensor) -> Tensor:
        """Matrix product; vectors gain a dimension, leading dimensions broadcast."""

    def matrix_exp(self) -> Tensor:
        """Exponential of square matrices."""

    def matrix_power(self, n: _int) -> Tensor:
        """Product of a square matrix with itself, ``n`` times; of its inverse if ``n`` is
        negative."""

    @overload
    def max(self) -> Tensor:
        """The maximum element."""
    @overload
    def max(self, other: Tensor) -> Tensor:
        """Alias of `maximum`."""
    @overload
    def max(self, dim: _int, keepdim: _bool = False) -> results.max:
        """The maximum along a dimension and its position."""

    def maximum(self, other: Tensor) -> Tensor:
        """Larger of two elements; NaN if either is NaN."""

    def mean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Mean over dimensions (all if ``dim`` is None)."""

    @overload
    def median(self) -> Tensor:
        """The median of all elements, the lower of two in the middle; NaN if there is one."""
    @overload
    def median(self, dim: _int, keepdim: _bool = False) -> results.median:
        """The median along a dimension, the lower of two in the middle, and its position; NaN if
        there is one."""

    @overload
    def min(self) -> Tensor:
        """The minimum element."""
    @overload
    def min(self, other: Tensor) -> Tensor:
        """Alias of `minimum`."""
    @overload
    def min(self, dim: _int, keepdim: _bool = False) -> results.min:
        """The minimum along a dimension and its position."""

    def minimum(self, other: Tensor) -> Tensor:
        """Smaller of two elements; NaN if either is NaN."""

    def mm(self, mat2: Tensor) -> Tensor:
        """Product of two matrices."""

    def mode(self, dim: _int = -1, keepdim: _bool = False) -> results.mode:
        """The most frequent element along a dimension, the smallest among several, and the last
        place where it stands."""

    @overload
    def moveaxis(self, source: _int, destination: _int) -> Tensor:
        """One dimension moved to another place."""
    @overload
    def moveaxis(self, source: Sequence[_int], destination: Sequence[_int]) -> Tensor:
        """Dimensions moved to other places; the others keep their order."""

    @overload
    def movedim(self, source: _int, destination: _int) -> Tensor:
        """One dimension moved to another place."""
    @overload
    def movedim(self, source: Sequence[_int], destination: Sequence[_int]) -> Tensor:
        """Dimensions moved to other places; the others keep their order."""

    def msort(self) -> Tensor:
        """Elements in order along the first dimension."""

    def mul(self, other: Tensor | _float | _complex) -> Tensor:
        """Product, element by element."""

    def mul_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `mul`: writes the result into ``input`` and returns it."""

    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """Indices drawn with the weights that each row of ``input`` gives."""

    def multiply(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `mul`."""

    def multiply_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `multiply`: writes the result into ``input`` and returns it."""

    def mv(self, vec: Tensor) -> Tensor:
        """Product of a matrix and a vector."""

    def mvlgamma(self, p: _int) -> Tensor:
        """Logarithm of the multivariate gamma function of dimension ``p``."""

    def mvlgamma_(self, p: _int) -> Tensor:
        """In-place version of `mvlgamma`: writes the result into ``input`` and returns it."""

    def nan_to_num(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
    ) -> Tensor:
        """NaN replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the largest
        numbers)."""

    def nan_to_num_(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
    ) -> Tensor:
        """In-place version of `nan_to_num`: writes the result into ``input`` and returns it."""

    def nanmean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Mean over dimensions (all if ``dim`` is None) of what is not NaN."""

    @overload
    def nanmedian(self) -> Tensor:
        """The median of all elements, the lower of two in the middle; those that are NaN are left
        out."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = False) -> results.nanmedian:
        """The median along a dimension, the lower of two in the middle, and its position; those
        that are NaN are left out."""

    @overload
    def nanquantile(
        self,
        q: Tensor,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: _str = 'linear',
    ) -> Tensor:
        """Quantiles of all elements or along a dimension; NaN are left out."""
    @overload
    def nanquantile(
        self,
        q: _float,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: _str = 'linear',
    ) -> Tensor:
        """Quantiles of all elements or along a dimension; NaN are left out."""

    def nansum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Sum over dimensions (all if ``dim`` is None) in which NaN count as zero."""

    @overload
    def narrow(self, dim: _int, start: Tensor, length: _int) -> Tensor:
        """``length`` elements along a dimension, from a position that a tensor holds."""
    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor:
        """``length`` elements from ``start`` along a dimension."""

    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor:
        """A copy of what `narrow` shows."""

    def ne(self, other: Tensor | _float | _complex) -> Tensor:
        """True where ``input != other``."""

    def ne_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `ne`: writes the result into ``input`` and returns it."""

    def neg(self) -> Tensor:
        """Negative."""

    def neg_(self) -> Tensor:
        """In-place version of `neg`: writes the result into ``input`` and returns it."""

    def negative(self) -> Tensor:
        """Alias of `neg`."""

    def negative_(self) -> Tensor:
        """In-place version of `negative`: writes the result into ``input`` and returns it."""

    @overload
    def new_empty(
        self,
        *size: _int,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `empty`, in the dtype of ``self`` and on its device."""
    @overload
    def new_empty(
        self,
        size: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `empty`, in the dtype of ``self`` and on its device."""

    def new_empty_strided(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `empty_strided`, in the dtype of ``self`` and on its device."""

    def new_full(
        self,
        size: Sequence[_int],
        fill_value: _float | _complex,
        *,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `full`, in the dtype of ``self`` and on its device."""

    @overload
    def new_ones(
        self,
        *size: _int,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `ones`, in the dtype of ``self`` and on its device."""
    @overload
    def new_ones(
        self,
        size: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `ones`, in the dtype of ``self`` and on its device."""

    @overload
    def new_zeros(
        self,
        *size: _int,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `zeros`, in the dtype of ``self`` and on its device."""
    @overload
    def new_zeros(
        self,
        size: Sequence[_int],
        *,
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | _str | _int | None = None,
        pin_memory: _bool | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """As `zeros`, in the dtype of ``self`` and on its device."""

    def nextafter(self, other: Tensor) -> Tensor:
        """The next number after ``input`` towards ``other``."""

    def nextafter_(self, other: Tensor) -> Tensor:
        """In-place version of `nextafter`: writes the result into ``input`` and returns it."""

    def nonzero(self, *, out: Tensor | None = None, as_tuple: _bool = False) -> Any:
        """Positions of non-zero elements."""

    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """The first ``size`` positions of elements that are not zero; rows that are left over hold
        ``fill_value``."""

    def norm(
        self,
        p: _float | _str | None = 'fro',
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Norm of elements over dimensions; see `torch.norm`."""

    def normal_(
        self,
        mean: _float = 0.0,
        std: _float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place version of `normal`: writes the result into ``input`` and returns it."""

    def not_equal(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `ne`."""

    def not_equal_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `not_equal`: writes the result into ``input`` and returns it."""

    def orgqr(self, input2: Tensor) -> Tensor:
        """`torch.linalg.householder_product` under LAPACK's name."""

    def ormqr(
        self,
        input2: Tensor,
        input3: Tensor,
        left: _bool = True,
        transpose: _bool = False,
    ) -> Tensor:
        """``Q @ input3`` (``input3 @ Q`` if not ``left``; Q^H if ``transpose``) for the whole
        square Q of the reflections that `torch.geqrf` gives."""

    def outer(self, vec2: Tensor) -> Tensor:
        """Outer product of two vectors: ``result[i, j] = input[i] * vec2[j]``."""

    @overload
    def permute(self, *dims: _int) -> Tensor:
        """Dimensions in the given order."""
    @overload
    def permute(self, dims: Sequence[_int]) -> Tensor:
        """Dimensions in the given order."""

    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """Pseudoinverse; `torch.linalg.pinv` is the newer form."""

    def polygamma(self, n: _int) -> Tensor:
        """The ``n``-th derivative of `digamma`."""

    def polygamma_(self, n: _int) -> Tensor:
        """In-place version of `polygamma`."""

    def positive(self) -> Tensor:
        """The tensor itself."""

    def pow(self, exponent: Tensor | _float | _complex) -> Tensor:
        """Power ``input ** exponent``."""

    def pow_(self, exponent: Tensor | _float | _complex) -> Tensor:
        """In-place version of `pow`: writes the result into ``input`` and returns it."""

    def prelu(self, weight: Tensor) -> Tensor:
        """Negative elements times a weight, one or one for each channel (He et al., 2015)."""

    def prod(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Product over a dimension (all if ``dim`` is None); integers multiply as int64."""

    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """A copy of ``input`` with elements put (or added) at positions in the tensor read as one
        row."""

    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """In-place version of `put`: writes the result into ``input`` and returns it."""

    def qr(self, some: _bool = True) -> results.qr:
        """``A = Q @ R``; `torch.linalg.qr` is the newer form."""

    @overload
    def quantile(
        self,
        q: Tensor,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: _str = 'linear',
    ) -> Tensor:
        """Quantiles of all elements or along a dimension; NaN where there is a NaN."""
    @overload
    def quantile(
        self,
        q: _float,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: _str = 'linear',
    ) -> Tensor:
        """Quantiles of all elements or along a dimension; NaN where there is a NaN."""

    def rad2deg(self) -> Tensor:
        """Degrees of an angle in radians."""

    def rad2deg_(self) -> Tensor:
        """In-place version of `rad2deg`: writes the result into ``input`` and returns it."""

    @overload
    def random_(
        self,
        from_: _int,
        to: _int | None,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place version of `random`: writes the result into ``input`` and returns it."""
    @overload
    def random_(self, to: _int, *, generator: Generator | None = None) -> Tensor:
        """In-place version of `random`: writes the result into ``input`` and returns it."""
    @overload
    def random_(self, *, generator: Generator | None = None) -> Tensor:
        """In-place version of `random`: writes the result into ``input`` and returns it."""

    def ravel(self) -> Tensor:
        """All elements in one dimension: a view of a row-major tensor, a copy of others."""

    def reciprocal(self) -> Tensor:
        """``1 / x``."""

    def reciprocal_(self) -> Tensor:
        """In-place version of `reciprocal`: writes the result into ``input`` and returns it."""

    def relu(self) -> Tensor:
        """Zero for negative elements."""

    def relu_(self) -> Tensor:
        """In-place version of `relu`: writes the result into ``input`` and returns it."""

    def remainder(self, other: Tensor | _float | _complex) -> Tensor:
        """Remainder with the sign of the divisor, as Python's ``%``."""

    def remainder_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `remainder`: writes the result into ``input`` and returns it."""

    def renorm(self, p: _float | _complex, dim: _int, maxnorm: _float | _complex) -> Tensor:
        """Slices along a dimension, scaled down where their ``p``-norm is above ``maxnorm``."""

    def renorm_(self, p: _float | _complex, dim: _int, maxnorm: _float | _complex) -> Tensor:
        """In-place version of `renorm`: writes the result into ``input`` and returns it."""

    @overload
    def repeat(self, *repeats: _int) -> Tensor:
        """The tensor so many times along each dimension, as tiles; further dimensions come in
        front."""
    @overload
    def repeat(self, repeats: Sequence[_int]) -> Tensor:
        """The tensor so many times along each dimension, as tiles; further dimensions come in
        front."""

    @overload
    def repeat_interleave(
        self,
        repeats: Tensor,
        dim: _int | None = None,
        *,
        output_size: _int | None = None,
    ) -> Tensor:
        """Each slice along a dimension so many times, one next to the other; without a dimension
        the tensor is one row."""
    @overload
    def repeat_interleave(
        self,
        repeats: _int,
        dim: _int | None = None,
        *,
        output_size: _int | None = None,
    ) -> Tensor:
        """Each slice along a dimension ``repeats`` times, one next to the other."""

    @overload
    def reshape(self, *shape: _int) -> Tensor:
        """The same elements in another shape: a view where strides allow it, a copy otherwise."""
    @overload
    def reshape(self, shape: Sequence[_int]) -> Tensor:
        """The same elements in another shape: a view where strides allow it, a copy otherwise."""

    def reshape_as(self, other: Tensor) -> Tensor:
        """Reshape to the shape of ``other``."""

    @overload
    def resize_(self, *size: _int, memory_format: Any = None) -> Tensor:
        """Change the shape, keeping memory and elements as far as they fit; new elements are
        undefined."""
    @overload
    def resize_(self, size: Sequence[_int], *, memory_format: Any = None) -> Tensor:
        """Change the shape, keeping memory and elements as far as they fit; new elements are
        undefined."""

    def resize_as_(self, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
        """`resize_` to the shape of another tensor."""

    def resolve_conj(self) -> Tensor:
        """A copy in which conjugation is computed; the tensor itself unless it is such a view."""

    def resolve_neg(self) -> Tensor:
        """A copy in which negation is computed; the tensor itself unless it is such a view."""

    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] = ...) -> Tensor:
        """Elements moved on along dimensions; what leaves at the end comes in at the start. Without
        dimensions the tensor is rolled as one row."""

    def rot90(self, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor:
        """Rotated by ``k`` quarter turns in a plane, from the first of two dimensions to the
        second."""

    @overload
    def round(self) -> Tensor:
        """Nearest integer, halves to even."""
    @overload
    def round(self, *, decimals: _int) -> Tensor:
        """Nearest multiple of ``10**-decimals``, halves to even."""

    @overload
    def round_(self) -> Tensor:
        """In-place version of `round`: writes the result into ``input`` and returns it."""
    @overload
    def round_(self, *, decimals: _int) -> Tensor:
        """In-place version of `round`: writes the result into ``input`` and returns it."""

    def rsqrt(self) -> Tensor:
        """``1 / sqrt(x)``."""

    def rsqrt_(self) -> Tensor:
        """In-place version of `rsqrt`: writes the result into ``input`` and returns it."""

    def rsub(
        self,
        other: Tensor | _float | _complex,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """Difference ``other - alpha * input``."""

    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """A copy of ``input`` with elements of ``src`` put at positions along a dimension."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor, *, reduce: _str) -> Tensor:
        """A copy of ``input`` in which elements of ``src`` are added to those at positions along a
        dimension, or multiplied with them; ``reduce`` is ``"add"`` or ``"multiply"``."""
    @overload
    def scatter(self, dim: _int, index: Tensor, value: _float | _complex) -> Tensor:
        """A copy of ``input`` with one value put at positions along a dimension."""
    @overload
    def scatter(
        self,
        dim: _int,
        index: Tensor,
        value: _float | _complex,
        *,
        reduce: _str,
    ) -> Tensor:
        """A copy of ``input`` in which elements of ``src`` are added to those at positions along a
        dimension, or multiplied with them; ``reduce`` is ``"add"`` or ``"multiply"``."""

    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In-place version of `scatter`: writes the result into ``input`` and returns it."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor, *, reduce: _str) -> Tensor:
        """In-place version of `scatter`: writes the result into ``input`` and returns it."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, value: _float | _complex) -> Tensor:
        """In-place version of `scatter`: writes the result into ``input`` and returns it."""
    @overload
    def scatter_(
        self,
        dim: _int,
        index: Tensor,
        value: _float | _complex,
        *,
        reduce: _str,
    ) -> Tensor:
        """In-place version of `scatter`: writes the result into ``input`` and returns it."""

    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """A copy of ``input`` with elements of ``src`` added at positions along a dimension."""

    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In-place version of `scatter_add`: writes the result into ``input`` and returns it."""

    def scatter_reduce(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: _str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """A copy of ``input`` in which elements of ``src`` are combined with what is at their
        positions along a dimension: ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``.
        Without ``include_self`` only elements of ``src`` count where there are any."""

    def scatter_reduce_(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: _str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """In-place version of `scatter_reduce`: writes the result into ``input`` and returns it."""

    def select(self, dim: _int, index: _int) -> Tensor:
        """One slice along a dimension, which goes away."""

    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """A copy in which ``src`` stands where `select` shows."""

    @overload
    def set_(self, source: Tensor) -> Tensor:
        """The tensor shows the memory of another one, or none, from now on."""
    @overload
    def set_(
        self,
        source: Tensor,
        storage_offset: _int,
        size: Sequence[_int],
        stride: Sequence[_int] = ...,
    ) -> Tensor:
        """The tensor shows the memory of another one, or none, from now on."""
    @overload
    def set_(self, source: Any) -> Tensor:
        """The tensor shows the memory of another one, or none, from now on."""
    @overload
    def set_(
        self,
        source: Any,
        storage_offset: _int,
        size: Sequence[_int],
        stride: Sequence[_int] = ...,
    ) -> Tensor:
        """The tensor shows the memory of another one, or none, from now on."""
    @overload
    def set_(self) -> Tensor:
        """The tensor shows the memory of another one, or none, from now on."""

    def sgn(self) -> Tensor:
        """Sign; for complex numbers the number divided by its absolute value."""

    def sgn_(self) -> Tensor:
        """In-place version of `sgn`: writes the result into ``input`` and returns it."""

    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-x))``."""

    def sigmoid_(self) -> Tensor:
        """In-place version of `sigmoid`: writes the result into ``input`` and returns it."""

    def sign(self) -> Tensor:
        """-1, 0 or 1 by sign."""

    def sign_(self) -> Tensor:
        """In-place version of `sign`: writes the result into ``input`` and returns it."""

    def signbit(self) -> Tensor:
        """True where the sign bit is set: for negative numbers and -0.0."""

    def sin(self) -> Tensor:
        """Sine of radians."""

    def sin_(self) -> Tensor:
        """In-place version of `sin`: writes the result into ``input`` and returns it."""

    def sinc(self) -> Tensor:
        """``sin(pi x) / (pi x)``, and 1 at 0."""

    def sinc_(self) -> Tensor:
        """In-place version of `sinc`: writes the result into ``input`` and returns it."""

    def sinh(self) -> Tensor:
        """Hyperbolic sine."""

    def sinh_(self) -> Tensor:
        """In-place version of `sinh`: writes the result into ``input`` and returns it."""

    def slice_scatter(
        self,
        src: Tensor,
        dim: _int = 0,
        start: _int | None = None,
        end: _int | None = None,
        step: _int = 1,
    ) -> Tensor:
        """A copy in which ``src`` stands where `slice` shows."""

    def slogdet(self) -> results.slogdet:
        """Sign of the determinant (of absolute value 1, or 0) and the logarithm of its absolute
        value."""

    def softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """Exponentials along a dimension, scaled to sum 1."""

    @overload
    def sort(
        self,
        *,
        stable: _bool | None,
        dim: _int = -1,
        descending: _bool = False,
    ) -> results.sort:
        """Elements in order along a dimension, equal ones in their own order, and where they were.
        NaN counts as largest."""
    @overload
    def sort(self, dim: _int = -1, descending: _bool = False) -> results.sort:
        """Elements in order along a dimension, and where they were. NaN counts as largest."""

    @overload
    def split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of ``split_size`` elements along a dimension; the last may be smaller."""
    @overload
    def split(self, split_size: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts of the given sizes along a dimension."""

    def split_with_sizes(
        self,
        split_sizes: Sequence[_int],
        dim: _int = 0,
    ) -> tuple[Tensor, ...]:
        """Parts of the given sizes along a dimension."""

    def sqrt(self) -> Tensor:
        """Square root."""

    def sqrt_(self) -> Tensor:
        """In-place version of `sqrt`: writes the result into ``input`` and returns it."""

    def square(self) -> Tensor:
        """Square."""

    def square_(self) -> Tensor:
        """In-place version of `square`: writes the result into ``input`` and returns it."""

    @overload
    def squeeze(self) -> Tensor:
        """Without any dimension of size 1."""
    @overload
    def squeeze(self, dim: _int) -> Tensor:
        """Without one dimension, if it is of size 1."""
    @overload
    def squeeze(self, *dim: _int) -> Tensor:
        """Without those of the given dimensions that are of size 1."""
    @overload
    def squeeze(self, dim: Sequence[_int]) -> Tensor:
        """Without those of the given dimensions that are of size 1."""

    @overload
    def squeeze_(self) -> Tensor:
        """In-place version of `squeeze`: the tensor becomes that view of its memory."""
    @overload
    def squeeze_(self, dim: _int) -> Tensor:
        """In-place version of `squeeze`: the tensor becomes that view of its memory."""
    @overload
    def squeeze_(self, *dim: _int) -> Tensor:
        """In-place version of `squeeze`: the tensor becomes that view of its memory."""
    @overload
    def squeeze_(self, dim: Sequence[_int]) -> Tensor:
        """In-place version of `squeeze`: the tensor becomes that view of its memory."""

    @overload
    def std(
        self,
        dim: _int | Sequence[_int] | None = None,
        *,
        correction: _float | _complex | None = None,
        keepdim: _bool = False,
    ) -> Tensor:
        """Standard deviation, the root of `var`."""
    @overload
    def std(
        self,
        dim: _int | Sequence[_int] | None,
        unbiased: _bool = True,
        keepdim: _bool = False,
    ) -> Tensor:
        """Standard deviation, the root of `var`."""
    @overload
    def std(self, unbiased: _bool = True) -> Tensor:
        """Standard deviation, the root of `var`."""

    def stft(
        self,
        n_fft: _int,
        hop_length: _int | None = None,
        win_length: _int | None = None,
        window: Tensor | None = None,
        center: _bool = True,
        pad_mode: _str = 'reflect',
        normalized: _bool = False,
        onesided: _bool | None = None,
        return_complex: _bool | None = None,
        align_to_window: _bool | None = None,
    ) -> Tensor:
        """Short-time Fourier transform: the transforms of windows of ``n_fft`` samples,
        ``hop_length`` apart, as (..., frequency, time)."""

    def sub(self, other: Tensor | _float | _complex, *, alpha: _float | _complex = 1) -> Tensor:
        """Difference ``input - alpha * other``."""

    def sub_(
        self,
        other: Tensor | _float | _complex,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `sub`: writes the result into ``input`` and returns it."""

    def subtract(
        self,
        other: Tensor | _float | _complex,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """Alias of `sub`."""

    def subtract_(
        self,
        other: Tensor | _float | _complex,
        *,
        alpha: _float | _complex = 1,
    ) -> Tensor:
        """In-place version of `subtract`: writes the result into ``input`` and returns it."""

    def sum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """Sum over dimensions (all if ``dim`` is None); integers are summed as int64."""

    @overload
    def sum_to_size(self, *size: _int) -> Tensor:
        """Sum over the dimensions along which ``size`` would be expanded to the tensor's shape."""
    @overload
    def sum_to_size(self, size: Sequence[_int]) -> Tensor:
        """Sum over the dimensions along which ``size`` would be expanded to the tensor's shape."""

    def svd(self, some: _bool = True, compute_uv: _bool = True) -> results.svd:
        """``A = U @ diag(S) @ V^H``; `torch.linalg.svd` is the newer form."""

    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Alias of `transpose`."""

    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor:
        """In-place version of `swapaxes`: the tensor becomes that view of its memory."""

    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Alias of `transpose`."""

    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place version of `swapdims`: the tensor becomes that view of its memory."""

    def t(self) -> Tensor:
        """Transpose of a matrix."""

    def t_(self) -> Tensor:
        """In-place version of `t`: the tensor becomes that view of its memory."""

    def take(self, index: Tensor) -> Tensor:
        """Elements at positions in the tensor read as one row."""

    def take_along_dim(self, indices: Tensor, dim: _int | None = None) -> Tensor:
        """Elements picked along a dimension, where the other sizes are broadcast; without a
        dimension both tensors are read as rows."""

    def tan(self) -> Tensor:
        """Tangent of radians."""

    def tan_(self) -> Tensor:
        """In-place version of `tan`: writes the result into ``input`` and returns it."""

    def tanh(self) -> Tensor:
        """Hyperbolic tangent."""

    def tanh_(self) -> Tensor:
        """In-place version of `tanh`: writes the result into ``input`` and returns it."""

    @overload
    def tensor_split(
        self,
        tensor_indices_or_sections: Tensor,
        dim: _int = 0,
    ) -> tuple[Tensor, ...]:
        """Parts along a dimension, by their number or by the positions where they begin."""
    @overload
    def tensor_split(self, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along a dimension, by their number or by the positions where they begin."""
    @overload
    def tensor_split(self, indices: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along a dimension, by their number or by the positions where they begin."""

    @overload
    def tile(self, *dims: _int) -> Tensor:
        """As `Tensor.repeat`, where dimensions in front may be left out."""
    @overload
    def tile(self, dims: Sequence[_int]) -> Tensor:
        """As `Tensor.repeat`, where dimensions in front may be left out."""

    def topk(
        self,
        k: _int,
        dim: _int = -1,
        largest: _bool = True,
        sorted: _bool = True,
    ) -> results.topk:
        """The ``k`` largest (or smallest) elements along a dimension in order, and where they
        are."""

    def trace(self) -> Tensor:
        """Sum of the diagonal of a matrix."""

    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dimensions exchanged."""

    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place version of `transpose`: the tensor becomes that view of its memory."""

    def triangular_solve(
        self,
        A: Tensor,
        upper: _bool = True,
        transpose: _bool = False,
        unitriangular: _bool = False,
    ) -> results.triangular_solve:
        """Solution of ``A @ X = input`` for a triangular matrix, and a copy of it;
        `torch.linalg.solve_triangular` is the newer form."""

    def tril(self, diagonal: _int = 0) -> Tensor:
        """Matrices with zeros but in the lower triangle, up to and including a diagonal."""

    def tril_(self, diagonal: _int = 0) -> Tensor:
        """In-place version of `tril`: writes the result into ``input`` and returns it."""

    def triu(self, diagonal: _int = 0) -> Tensor:
        """Matrices with zeros but in the upper triangle, up to and including a diagonal."""

    def triu_(self, diagonal: _int = 0) -> Tensor:
        """In-place version of `triu`: writes the result into ``input`` and returns it."""

    def true_divide(self, other: Tensor | _float | _complex) -> Tensor:
        """Alias of `div` without rounding."""

    def true_divide_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `true_divide`: writes the result into ``input`` and returns it."""

    def trunc(self) -> Tensor:
        """Integer part."""

    def trunc_(self) -> Tensor:
        """In-place version of `trunc`: writes the result into ``input`` and returns it."""

    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Slices along a dimension, as a tuple."""

    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """Split a dimension into several."""

    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """Windows of ``size`` elements, ``step`` apart, along a dimension; they overlap in
        memory."""

    def uniform_(
        self,
        from_: _float = 0.0,
        to: _float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> Tensor:
        """In-place version of `uniform`: writes the result into ``input`` and returns it."""

    def unique(
        self,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any:
        """Different elements, or slices along a dimension, in order."""

    def unique_consecutive(
        self,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any:
        """Elements, or slices along a dimension, that differ from the one before."""

    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """As `chunk`, with parts that may change in place under autograd."""

    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """As `split`, with parts that may change in place under autograd."""

    def unsafe_split_with_sizes(
        self,
        split_sizes: Sequence[_int],
        dim: _int = 0,
    ) -> tuple[Tensor, ...]:
        """As `split_with_sizes`, with parts that may change in place under autograd."""

    def unsqueeze(self, dim: _int) -> Tensor:
        """With a dimension of size 1 put in."""

    def unsqueeze_(self, dim: _int) -> Tensor:
        """In-place version of `unsqueeze`: the tensor becomes that view of its memory."""

    @overload
    def var(
        self,
        dim: _int | Sequence[_int] | None = None,
        *,
        correction: _float | _complex | None = None,
        keepdim: _bool = False,
    ) -> Tensor:
        """Variance: squared deviations over ``n - correction`` (1 by default)."""
    @overload
    def var(
        self,
        dim: _int | Sequence[_int] | None,
        unbiased: _bool = True,
        keepdim: _bool = False,
    ) -> Tensor:
        """Variance: squared deviations over ``n - correction`` (1 by default)."""
    @overload
    def var(self, unbiased: _bool = True) -> Tensor:
        """Variance: squared deviations over ``n - correction`` (1 by default)."""

    def vdot(self, other: Tensor) -> Tensor:
        """Inner product of two vectors, the first one conjugated."""

    @overload
    def view(self, *size: _int) -> Tensor:
        """The same elements in another shape, without copying; one size may be -1."""
    @overload
    def view(self, size: Sequence[_int]) -> Tensor:
        """The same elements in another shape, without copying; one size may be -1."""
    @overload
    def view(self, dtype: _dtype) -> Tensor:
        """The same bytes read as another dtype; the last dimension's size changes with the
        element's."""

    def view_as(self, other: Tensor) -> Tensor:
        """View in the shape of ``other``."""

    @overload
    def vsplit(self, sections: _int) -> tuple[Tensor, ...]:
        """Equal parts along dimension 0."""
    @overload
    def vsplit(self, indices: Sequence[_int]) -> tuple[Tensor, ...]:
        """Parts along dimension 0 that begin at the given positions."""

    def where(self, condition: Tensor, other: Tensor | _float | _complex) -> Tensor:
        """This tensor where the condition holds, ``other`` elsewhere."""

    def xlogy(self, other: Tensor | _float | _complex) -> Tensor:
        """``input * log(other)``, and 0 where ``input`` is 0."""

    def xlogy_(self, other: Tensor | _float | _complex) -> Tensor:
        """In-place version of `xlogy`: writes the result into ``input`` and returns it."""

    def zero_(self) -> Tensor:
        """In-place version of `zero`: writes the result into ``input`` and returns it."""

    def __array__(self, dtype: Any = None, copy: _bool | None = None) -> ndarray[Any, Any]:
        """What NumPy calls to make an array."""

    def __array_namespace__(self, *, api_version: _str | None = None) -> Any:
        """The functions of the array API standard: `mindtorch_core.array_api`, imported when it is
        asked for."""

    def __array_wrap__(
        self,
        array: Any,
        context: Any = None,
        return_scalar: _bool = False,
    ) -> Any:
        """What NumPy's functions of a tensor return: a tensor."""

    def __bool__(self) -> _bool:
        """Whether the one element differs from zero."""

    def __complex__(self) -> _complex:
        """The one element as a complex number."""

    def __contains__(self, value: Any) -> _bool:
        """Whether an element equals a value."""

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        """A deep copy of the tensor, or storage."""

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[_int, _int] | None = None,
        dl_device: tuple[Any, _int] | None = None,
        copy: _bool | None = None,
    ) -> Any:
        """A DLPack capsule over the tensor's memory."""

    def __dlpack_device__(self) -> tuple[_int, _int]:
        """DLPack's numbers for the tensor's device."""

    def __float__(self) -> _float:
        """The one element as a float."""

    def __format__(self, spec: _str) -> _str:
        """The text of a number for 0 dimensions, else as any object's."""

    def __getitem__(self, index: Any) -> Tensor:
        """``self[index]``: views for ints, slices, None and Ellipsis; a copy for masks and
        tensors."""

    def __index__(self) -> _int:
        """The one element of an integer tensor, for use as an index."""

    def __int__(self) -> _int:
        """The one element as an int."""

    def __iter__(self) -> Iterator[Tensor]:
        """The slices along the first dimension."""

    def __len__(self) -> _int:
        """Size of the first dimension."""

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """What pickle needs to make the tensor, or storage, again."""

    def __repr__(self, *args: Any, **kwargs: Any) -> _str:
        """The text of a tensor, with ``tensor_contents`` for its elements if given; launches
        recorded work."""

    def __reversed__(self) -> Tensor:
        """The slices in reverse order, as one tensor."""

    def __setitem__(self, index: Any, value: Any) -> None:
        """``self[index] = value`` in place, with the value broadcast and converted."""

    @property
    def _backward_hooks(self) -> Any:
        """What `register_hook` has registered, by number; None if there is nothing."""

    @staticmethod
    def _from_array(*args: Any, **kwargs: Any) -> Any: ...

    def _host(self) -> memoryview:
        """Row-major bytes in host memory."""

    @staticmethod
    def _make_subclass(*args: Any, **kwargs: Any) -> Any: ...

    @staticmethod
    def _make_wrapper_subclass(*args: Any, **kwargs: Any) -> Any: ...

    @staticmethod
    def _refuse_ops(*args: Any, **kwargs: Any) -> Any: ...

    def _repr_html_(self) -> _str:
        """What notebooks show: shape, dtype and device above the text; launches recorded work."""

    def _typed_storage(self) -> Any: ...

    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace every element by what a Python function returns for it."""

    def as_subclass(self, cls: Any) -> Any:
        """A view of the whole tensor as an instance of a subclass of Tensor."""

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Any = None,
    ) -> None:
        """Accumulate the gradient of this tensor into the leaves of its graph."""

    def bfloat16(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.bfloat16: itself if it has that one, else a copy."""

    def bool(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.bool: itself if it has that one, else a copy."""

    def byte(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.uint8: itself if it has that one, else a copy."""

    def ccol_indices(self) -> Any:
        """Raise RuntimeError: ccol_indices is for sparse tensors."""

    def cdouble(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.complex128: itself if it has that one, else a copy."""

    def cfloat(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.complex64: itself if it has that one, else a copy."""

    def char(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.int8: itself if it has that one, else a copy."""

    def coalesce(self) -> Any:
        """Raise RuntimeError: coalesce is for sparse tensors."""

    def col_indices(self) -> Any:
        """Raise RuntimeError: col_indices is for sparse tensors."""

    def cpu(self, memory_format: Any = ...) -> Tensor:
        """The tensor in host memory: itself if it is there, else a copy."""

    def crow_indices(self) -> Any:
        """Raise RuntimeError: crow_indices is for sparse tensors."""

    def cuda(
        self,
        device: _device | _str | _int | None = None,
        non_blocking: _bool = False,
        memory_format: Any = ...,
    ) -> Tensor:
        """The tensor on a device of type cuda, the current one by default."""

    def dense_dim(self) -> _int:
        """Number of dimensions whose elements are all stored: all of a dense tensor's."""

    def detach_(self) -> Tensor:
        """Cut this tensor off its history and its tangent, in place. Its ``grad`` stays."""

    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[_int, ...]:
        """Its dimensions, from the outermost in memory to the innermost."""

    def double(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.float64: itself if it has that one, else a copy."""

    def float(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.float32: itself if it has that one, else a copy."""

    def half(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.float16: itself if it has that one, else a copy."""

    def hpu(
        self,
        device: _device | _str | _int | None = None,
        non_blocking: _bool = False,
        memory_format: Any = ...,
    ) -> Tensor:
        """The tensor on a device of type hpu, the current one by default."""

    @property
    def imag(self) -> Any:
        """The imaginary part of a complex tensor, a view. What is assigned is copied into it."""

    @imag.setter
    def imag(self, value: Any) -> None: ...

    def indices(self) -> Any:
        """Raise RuntimeError: indices is for sparse tensors."""

    def int(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.int32: itself if it has that one, else a copy."""

    def ipu(
        self,
        device: _device | _str | _int | None = None,
        non_blocking: _bool = False,
        memory_format: Any = ...,
    ) -> Tensor:
        """The tensor on a device of type ipu, the current one by default."""

    def is_coalesced(self) -> Any:
        """Raise RuntimeError: is_coalesced is for sparse tensors."""

    @property
    def is_cuda(self) -> _bool:
        """Whether the tensor is on a device of type cuda."""

    @property
    def is_hpu(self) -> _bool:
        """Whether the tensor is on a device of type hpu."""

    def is_inference(self) -> _bool:
        """Whether a tensor was made in inference mode."""

    @property
    def is_ipu(self) -> _bool:
        """Whether the tensor is on a device of type ipu."""

    @property
    def is_maia(self) -> _bool:
        """Whether the tensor is on a device of type maia."""

    @property
    def is_mkldnn(self) -> _bool:
        """Whether the tensor is in MKL-DNN's layout; none is, all are dense and strided."""

    @property
    def is_mps(self) -> _bool:
        """Whether the tensor is on a device of type mps."""

    @property
    def is_mtia(self) -> _bool:
        """Whether the tensor is on a device of type mtia."""

    @property
    def is_nested(self) -> _bool:
        """Whether the tensor is a nested one; none is, all are dense and strided."""

    @property
    def is_npu(self) -> _bool:
        """Whether the tensor is on a device of type npu."""

    def is_pinned(self, device: _device | _str | None = None) -> _bool:
        """Whether its memory is page-locked for an accelerator."""

    @property
    def is_quantized(self) -> _bool:
        """Whether the tensor is quantized; none is, all are dense and strided."""

    def is_shared(self) -> _bool:
        """Whether other processes see what is written to its memory."""

    @property
    def is_sparse(self) -> _bool:
        """Whether the tensor is sparse, as a list of coordinates; none is, all are dense and
        strided."""

    @property
    def is_sparse_csr(self) -> _bool:
        """Whether the tensor is sparse, in compressed rows; none is, all are dense and strided."""

    @property
    def is_vulkan(self) -> _bool:
        """Whether the tensor is on a device of type vulkan."""

    @property
    def is_xla(self) -> _bool:
        """Whether the tensor is on a device of type xla."""

    @property
    def is_xpu(self) -> _bool:
        """Whether the tensor is on a device of type xpu."""

    def item(self) -> _bool | _int | _float:
        """The one element as a Python number."""

    def long(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.int64: itself if it has that one, else a copy."""

    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replace every element by what a Python function returns for it and those of two
        tensors."""

    def map_(self, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replace every element by what a Python function returns for it and that of another
        tensor."""

    def module_load(self, other: Tensor, assign: _bool = False) -> Tensor:
        """What a module gets in this tensor's place when it loads another one, if modules swap
        tensors."""

    def mtia(
        self,
        device: _device | _str | _int | None = None,
        non_blocking: _bool = False,
        memory_format: Any = ...,
    ) -> Tensor:
        """The tensor on a device of type mtia, the current one by default."""

    def new(self, *args: Any, device: _device | _str | None = None, **named: Any) -> Tensor:
        """A tensor as the class of this one would make it, on its device."""

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: _dtype | None = None,
        device: _device | _str | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """`tensor` with the dtype and device of this tensor, unless others are given."""

    def npu(
        self,
        device: _device | _str | _int | None = None,
        non_blocking: _bool = False,
        memory_format: Any = ...,
    ) -> Tensor:
        """The tensor on a device of type npu, the current one by default."""

    def numpy(self, *, force: _bool = False) -> ndarray[Any, Any]:
        """The tensor as a NumPy array that shares its memory."""

    def pin_memory(self, device: _device | _str | None = None) -> Tensor:
        """The tensor in page-locked memory of the host, from which an accelerator copies faster."""

    @property
    def real(self) -> Any:
        """The real part; the tensor itself where it is real. What is assigned is copied into it."""

    @real.setter
    def real(self, value: Any) -> None: ...

    def record_stream(self, stream: Any) -> None:
        """Keep the memory, once the tensor is gone, until a stream has done what it has queued."""

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when this tensor's gradient is known; what it returns replaces it."""

    def register_post_accumulate_grad_hook(
        self,
        hook: Callable[[Tensor], None],
    ) -> RemovableHandle:
        """Call ``hook(self)`` when backward has updated this leaf's ``grad``."""

    def retain_grad(self) -> None:
        """Keep the gradient of this result in ``grad`` when backward passes. Leaves always do."""

    @property
    def retains_grad(self) -> _bool:
        """Whether `retain_grad` was called on this result; False for leaves."""

    def row_indices(self) -> Any:
        """Raise RuntimeError: row_indices is for sparse tensors."""

    def share_memory_(self) -> Tensor:
        """Move its memory to where other processes see what is written to it; on the CPU only."""

    def short(self, *, memory_format: Any = None) -> Tensor:
        """The tensor in the dtype torch.int16: itself if it has that one, else a copy."""

    def smm(self, mat: Tensor) -> Any:
        """The product of a sparse matrix and a dense one, sparse: see `torch.smm`."""

    def sparse_dim(self) -> _int:
        """Number of dimensions that positions have: 0 for a dense tensor."""

    def sparse_mask(self, mask: Any) -> Any:
        """The elements at the positions of a sparse tensor, as a sparse tensor."""

    def sspaddmm(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """A product of a sparse matrix and a dense one added to a sparse one: see
        `torch.sspaddmm`."""

    def storage(self) -> Any:
        """The memory the tensor and its views share, counted in its elements; `untyped_storage` in
        bytes."""

    def storage_type(self) -> Any:
        """The class of its `storage`."""

    @overload
    def to(
        self,
        dtype: _dtype,
        non_blocking: _bool = False,
        copy: _bool = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """The tensor in another dtype; itself if nothing changes."""
    @overload
    def to(
        self,
        device: _device | _str | _int | None = None,
        dtype: _dtype | None = None,
        non_blocking: _bool = False,
        copy: _bool = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """The tensor on another device, or in another dtype; itself if nothing changes."""
    @overload
    def to(
        self,
        other: Tensor,
        non_blocking: _bool = False,
        copy: _bool = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """The tensor in the dtype and on the device of another; itself if nothing changes."""

    def to_dense(
        self,
        dtype: _dtype | None = None,
        *,
        masked_grad: _bool | None = None,
    ) -> Tensor:
        """The tensor itself, which is dense, or in another dtype."""

    def to_device(self, device: _device | _str, *, stream: Any = None) -> Tensor:
        """The tensor on a device, as the array API standard spells ``to(device)``."""

    def to_sparse(
        self,
        sparse_dim: _int | None = None,
        *,
        layout: Any = None,
        blocksize: Any = None,
        dense_dim: _int | None = None,
    ) -> Any:
        """The elements that are not 0, with their positions, as a sparse tensor."""

    def to_sparse_bsc(self, blocksize: Any, dense_dim: _int | None = None) -> Any:
        """The blocks of a matrix that are not all 0, in compressed columns."""

    def to_sparse_bsr(self, blocksize: Any, dense_dim: _int | None = None) -> Any:
        """The blocks of a matrix that are not all 0, in compressed rows."""

    def to_sparse_coo(self) -> Any:
        """The elements that are not 0, with their positions, as a sparse tensor."""

    def to_sparse_csc(self, dense_dim: _int | None = None) -> Any:
        """The elements of a matrix that are not 0, in compressed columns."""

    def to_sparse_csr(self, dense_dim: _int | None = None) -> Any:
        """The elements of a matrix that are not 0, in compressed rows."""

    def tolist(self) -> list[Any]:
        """The elements as nested lists of Python numbers (one number for 0 dimensions)."""

    def type(self, dtype: _dtype | None = None) -> Any:
        """The tensor in another dtype, or the name of its type if none is given."""

    def type_as(self, other: Tensor) -> Tensor:
        """The tensor in the dtype and on the device of another."""

    def values(self) -> Any:
        """Raise RuntimeError: values is for sparse tensors."""

    def xpu(
        self,
        device: _device | _str | _int | None = None,
        non_blocking: _bool = False,
        memory_format: Any = ...,
    ) -> Tensor:
        """The tensor on a device of type xpu, the current one by default."""

    def __abs__(self) -> Tensor: ...

    def __add__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __and__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __div__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]

    def __floordiv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ge__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __gt__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __iadd__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __iand__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __idiv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ifloordiv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ilshift__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __imod__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __imul__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __invert__(self) -> Tensor: ...

    def __ior__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ipow__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __irshift__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __isub__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __itruediv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ixor__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __le__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __lshift__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __lt__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __matmul__(self, other: Tensor) -> Tensor: ...

    def __mod__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __mul__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]

    def __neg__(self) -> Tensor: ...

    def __or__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __pos__(self) -> Tensor: ...

    def __pow__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __radd__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rand__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rdiv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rfloordiv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rlshift__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rmatmul__(self, other: Tensor) -> Tensor: ...

    def __rmod__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rmul__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __ror__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rpow__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rrshift__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rshift__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rsub__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rtruediv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __rxor__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __sub__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __truediv__(self, other: Tensor | _float | _complex) -> Tensor: ...

    def __xor__(self, other: Tensor | _float | _complex) -> Tensor: ...
