"""Shape-and-dtype rules: what an op's result looks like, computed without any data.

A rule takes the op's arguments and returns a `TensorSpec` or a tuple of them. Rules also raise the
errors about shapes and dtypes, so every backend reports them in the same words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..dispatch.keys import DispatchKey
from ..dispatch.opdef import TensorSpec
from ..tensors.tensor import Tensor
from ..values.dtypes import BOOL, FLOATING, bool_, dtype, int64
from ..values.memory_formats import (
    contiguous_format,
    format_strides,
    like_strides,
    memory_format,
    suggested,
)
from ..values.promotion import result_type, to_floating
from ..values.shapes import (
    Shape,
    broadcast_all,
    contiguous_strides,
    numel,
    pointwise_strides,
    reduced,
    show,
    wrap_dim,
    wrap_dims,
)
from ..values.user_warnings import warn_user_once

__all__ = [
    "matmul_shape",
    "pointwise",
    "reduction",
    "refuse_other_masks",
    "same",
    "tell_of_lost_parts",
]

Rule = Callable[..., TensorSpec]
META: Final = int(DispatchKey.Meta)


def same(self: Tensor, *_: Any, **__: Any) -> TensorSpec:
    """Shape, dtype and layout of the first argument."""
    return pointwise_spec((self,), self._dtype)


def pointwise_spec(operands: tuple[Any, ...], d: dtype) -> TensorSpec:
    """Broadcast shape of the tensors among ``operands``, in their common layout."""
    tensors = [t for t in operands if hasattr(t, "_keys")]
    shape = tensors[0]._shape
    plain = tensors[0]._strided is None
    for t in tensors[1:]:
        if t._shape != shape:
            shape = broadcast_all(t._shape for t in tensors)
            plain = False
            break
        plain = plain and t._strided is None
    if len(shape) < 2 or (plain and tensors[0]._keys & META):
        return TensorSpec(shape, d)
    return TensorSpec(
        shape, d, _strides(shape, tuple([(t._shape, t._geometry()[0]) for t in tensors]))
    )


@functools.lru_cache(4096)
def _strides(shape: Shape, operands: tuple[tuple[Shape, Shape], ...]) -> Shape | None:
    """Strides of what is made of operands of some shapes and strides; None if it lies row-major."""
    strides = pointwise_strides(shape, operands)
    return None if strides == contiguous_strides(shape) else strides


def like(
    self: Tensor, d: dtype | None = None, *, memory_format: memory_format | None = None
) -> TensorSpec:
    """Shape of a tensor, in its layout or in a memory format."""
    shape = self._shape
    if memory_format is None and (len(shape) < 2 or (self._strided is None and self._keys & META)):
        return TensorSpec(shape, d or self._dtype)
    strides = _strides_like(shape, self._geometry()[0], memory_format)
    return TensorSpec(shape, d or self._dtype, strides)


@functools.lru_cache(4096)
def _strides_like(shape: Shape, strides: Shape, wanted: memory_format | None) -> Shape | None:
    """As `like_strides`; None for those of row-major order."""
    found = like_strides(shape, strides, wanted)
    return None if found == contiguous_strides(shape) else found


def pointwise(result: Callable[[dtype], dtype] | dtype | None = None, count: int = 0) -> Rule:
    """Rule of element-wise ops.

    Args:
        result: dtype of the result, or what makes it from the operands' common dtype; None keeps
            the common dtype.
        count: number of leading arguments that are operands; 0 means all positional ones.
    """

    def rule(*args: Any, **_: Any) -> TensorSpec:
        operands = args[:count] if count else args
        if isinstance(result, dtype):
            return pointwise_spec(operands, result)
        first = operands[0]
        if len(operands) == 1 or (
            len(operands) == 2
            and operands[1].__class__ is Tensor
            and operands[1]._dtype is first._dtype
        ):
            common = first._dtype
        else:
            common = result_type(*operands)
        return pointwise_spec(operands, common if result is None else result(common))

    return rule


def floating(*args: Any, **_: Any) -> dtype:
    """Common dtype of operands of a float-valued op: integers become the default dtype."""
    return to_floating(result_type(*args))


def reduction(result: Callable[[dtype], dtype] | dtype | None = None) -> Rule:
    """Rule of ``op(self, dim=None, keepdim=False, *, dtype=None)``."""

    def rule(
        self: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None, **_: Any
    ) -> TensorSpec:
        if dtype is not None:
            tell_of_lost_parts(self._dtype, dtype)
            d = dtype
        elif result is None:
            d = self._dtype
        else:
            d = result(self._dtype) if callable(result) else result
        if dim is None and not keepdim:
            return TensorSpec((), d)
        dims = wrap_dims(dim, len(self._shape))
        return TensorSpec(reduced(self._shape, dims, keepdim), d)

    return rule


def tell_of_lost_parts(held: dtype, wanted: dtype) -> None:
    """Warn once where complex numbers become real ones."""
    if held.is_complex and not wanted.is_complex and wanted is not bool_:
        warn_user_once("Casting complex values to real discards the imaginary part")


def sum_dtype(d: dtype) -> dtype:
    """Sums and products of integers and booleans are int64."""
    return int64 if d.category < FLOATING else d


def truth(_: dtype) -> dtype:
    """Comparisons are boolean."""
    return bool_


def limited(rule: Rule, name: str, kinds: str, *, operands: int = 2) -> Rule:
    """The rule of an op that serves only some kinds of dtypes; see `Operands.kinds`.

    Args:
        rule: the rest of the rule.
        name: the op.
        kinds: letters of the dtypes that it serves.
        operands: how many leading arguments, at most, decide the dtype.
    """
    if kinds == "bifc":
        return rule

    def checked(*args: Any, **kwargs: Any) -> TensorSpec:
        spec = rule(*args, **kwargs)
        d = args[0]._dtype if operands == 1 or len(args) == 1 else result_type(*args[:2])
        if "bifc"[d.category] not in kinds:
            raise NotImplementedError(f"\"{name}\" not implemented for '{d.label}'")
        return spec

    return checked


def format_of(t: Tensor | None) -> memory_format:
    """The memory format that an operand hands on: row-major unless its channels clearly lie innermost."""
    if t is not None and len(t._shape) > 3:
        strides = t._geometry()[0]
        if strides[1] <= strides[-1]:  # asked first, as it costs least
            return suggested(t._shape, strides)
    return contiguous_format


def format_of_any(*operands: Tensor | None) -> memory_format:
    """The memory format of a result with channels innermost where those of an operand are."""
    return next((found for t in operands if (found := format_of(t)).order), contiguous_format)


def format_of_all(operands: Sequence[Tensor]) -> memory_format:
    """The memory format of a result with channels innermost where those of all operands are."""
    first = format_of(operands[0])
    return first if all(format_of(t) is first for t in operands) else contiguous_format


def laid(shape: Shape, d: dtype, lies: memory_format) -> TensorSpec:
    """A result in a memory format."""
    return TensorSpec(shape, d, format_strides(shape, lies) if lies.order else None)


def not_bool(message: str) -> Callable[[dtype], dtype]:
    """A result dtype that refuses booleans with a text of its own."""

    def check(d: dtype) -> dtype:
        if d.category == BOOL:
            raise RuntimeError(message)
        return d

    return check


def nonempty(name: str, self: Tensor, dim: int | None) -> None:
    """Refuse a search for an extreme along an empty dimension.

    Raises:
        IndexError: if the dimension that is searched has no elements.
        RuntimeError: if the whole tensor is searched and has none.
    """
    if dim is None:
        if 0 in self._shape:
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                f"the reduction dim with the 'dim' argument."
            )
    elif self._shape and self._shape[wrap_dim(dim, len(self._shape))] == 0:
        raise IndexError(
            f"{name}(): Expected reduction dim {wrap_dim(dim, len(self._shape))} to have non-zero size."
        )


def matmul_shape(a: Shape, b: Shape) -> Shape:
    """Shape of ``a @ b`` for any ranks.

    Raises:
        RuntimeError: if the inner sizes differ; the text depends on the ranks as PyTorch's does.
    """
    if len(a) == 2 and len(b) == 2 and a[1] == b[0]:
        return a[0], b[1]
    if not a or not b:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D"
        )
    if len(a) == 1 and len(b) == 1:
        if a != b:
            raise RuntimeError(
                f"inconsistent tensor size, expected tensor {show(a)} and src {show(b)} to have the "
                f"same number of elements, but got {a[0]} and {b[0]} elements respectively"
            )
        return ()
    if len(b) == 1:
        if a[-1] != b[0]:
            n = numel(a[:-1])
            raise RuntimeError(f"size mismatch, got input ({n}), mat ({n}x{a[-1]}), vec ({b[0]})")
        return a[:-1]
    rows: Shape = a[:-1] if len(a) == 1 else a[-2:-1]
    if a[-1] != b[-2]:
        raise _inner_sizes_differ(a, b)
    if len(a) == 1:
        return (*b[:-2], b[-1])
    if len(b) == 2:
        return (*a[:-1], b[1])
    return (*broadcast_all((a[:-2], b[:-2])), *rows, b[-1])


def _inner_sizes_differ(a: Shape, b: Shape) -> RuntimeError:
    """The error of a product of matrices; batches are shown folded, as they are multiplied."""
    if len(b) > 2:
        batch = numel(broadcast_all((a[:-2], b[:-2])))
        return RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {show((batch, a[-1]))} "
            f"but got: {show((batch, b[-2]))}."
        )
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({numel(a[:-1])}x{a[-1]} and {b[0]}x{b[1]})"
    )


def refuse_other_masks(mask: Tensor) -> None:
    """Refuse a mask of another dtype than bool, where elements are filled."""
    if mask._dtype.category != BOOL:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {mask._dtype}"
        )
