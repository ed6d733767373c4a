"""What views show, as copies; and copies of a whole in which a view is overwritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.memory_formats import contiguous_format
from ...values.shapes import is_dense, show, storage_extent
from ..creation.factory import fresh

__all__: list[str] = []

View = Callable[..., Any]


def _method(name: str) -> View:
    """The function that makes a view, wherever users find it."""
    return lambda self, *args, **kwargs: (
        getattr(self, name) if hasattr(Tensor, name) else getattr(fn, name).__get__(self)
    )(*args, **kwargs)


def _copied(shown: Tensor) -> Tensor:
    return shown.clone(memory_format=contiguous_format)


def _copy(schema: str, show_part: View | None = None) -> None:
    """Define ``<view>_copy``, from the view's arguments.

    Args:
        schema: of the view, without overload's name in front of the bracket if there is none:
            ``select_copy.int(int dim, int index)``.
        show_part: makes the view; None for the method of its name.
    """
    head, _, arguments = schema.partition("(")
    base = head.partition(".")[0].removesuffix("_copy")
    make = show_part or _method(base)
    separator = "" if arguments == ")" else ", "
    op(
        f"{head}(Tensor self{separator}{arguments} -> Tensor",
        doc=f"A copy of what `{base}` shows.",
        decomposition=lambda self, *args, **kwargs: _copied(make(self, *args, **kwargs)),
        namespaces=("torch", "Tensor") if base == "narrow" else ("torch",),
        out=True,
        tags=frozenset({"view_copy"}),
    )


def _several(schema: str, make: View) -> None:
    """Define the same for views that come in several parts."""
    head, _, arguments = schema.partition("(")
    op(
        f"{head}(Tensor self, {arguments} -> Tensor[]",
        doc=f"Copies of the parts that `{head.partition('.')[0].removesuffix('_copy')}` shows.",
        decomposition=lambda self, *args: tuple(map(_copied, make(self, *args))),
        namespaces=("torch",),
        out=True,
        tags=frozenset({"view_copy"}),
    )


_copy("alias_copy()", lambda self: self)
_copy("as_strided_copy(int[] size, int[] stride, int? storage_offset=None)")
_copy("detach_copy()", lambda self: self.detach())
_copy("diagonal_copy(int offset=0, int dim1=0, int dim2=1)")
_copy("expand_copy(int[] size, *, bool implicit=False)")
_copy("narrow_copy(int dim, int start, int length)")
_copy("permute_copy(int[] dims)")
_copy("select_copy.int(int dim, int index)")
_copy("slice_copy.Tensor(int dim=0, int? start=None, int? end=None, int step=1)",
      lambda self, *args: fn.slice(self, *args))  # fmt: skip
_copy("squeeze_copy()")
_copy("squeeze_copy.dim(int dim)")
_copy("squeeze_copy.dims(int[] dim)")
_copy("t_copy()")
_copy("transpose_copy.int(int dim0, int dim1)")
_copy("unfold_copy(int dimension, int size, int step)")
_copy("unsqueeze_copy(int dim)")
_copy("view_as_complex_copy()", lambda self: fn.view_as_complex(self))
_copy("view_as_real_copy()", lambda self: fn.view_as_real(self))
_copy("view_copy(int[] size)", lambda self, size: self.reshape(size))
_copy("view_copy.dtype(ScalarType dtype)")
_several("split_copy.Tensor(int split_size, int dim=0)", lambda self, *a: self.split(*a))
_several("split_with_sizes_copy(int[] split_sizes, int dim=0)",
         lambda self, *a: fn.split_with_sizes(self, *a))  # fmt: skip
_several("unbind_copy.int(int dim=0)", lambda self, *a: self.unbind(*a))

# ---- overwritten copies -------------------------------------------------------------------------


def _clone_as_it_lies(self: Tensor) -> Tensor:
    """A copy with the tensor's own strides and offset, gaps included."""
    strides, offset = self._geometry()
    shape = self._shape
    repeats = any(step == 0 and n > 1 for step, n in zip(strides, shape, strict=True))
    if repeats or (not offset and is_dense(shape, strides)):
        return self.clone()
    extent = storage_extent(shape, strides, offset)
    memory = fn.empty((extent,), dtype=self._dtype, device=self._device)
    return memory.as_strided(shape, strides, offset).copy_(self)


def _scatter(schema: str, make: View) -> None:
    """Define ``<view>_scatter``, from the view's arguments."""
    head, _, arguments = schema.partition("(")

    def decomposition(self: Tensor, src: Tensor, *args: Any) -> Tensor:
        whole = _clone_as_it_lies(self)
        part = make(whole, *args)
        if part._shape != src._shape:
            raise RuntimeError(
                f"expected src to have a size equal to the slice of self. src size = "
                f"{show(src._shape)}, slice size = {show(part._shape)}"
            )
        part.copy_(src)
        return fresh(whole)

    op(
        f"{head}(Tensor self, Tensor src, {arguments} -> Tensor",
        doc=f"A copy in which ``src`` stands where `{head.removesuffix('_scatter')}` shows.",
        decomposition=decomposition,
        out=True,
        tags=frozenset({"view_copy"} if head == "slice_scatter" else ()),  # PyTorch's choice
    )


_scatter("as_strided_scatter(int[] size, int[] stride, int? storage_offset=None)",
         lambda whole, *args: whole.as_strided(*args))  # fmt: skip
_scatter("diagonal_scatter(int offset=0, int dim1=0, int dim2=1)",
         lambda whole, *args: whole.diagonal(*args))  # fmt: skip
_scatter("select_scatter(int dim, int index)", lambda whole, *args: whole.select(*args))
_scatter("slice_scatter(int dim=0, int? start=None, int? end=None, int step=1)",
         lambda whole, *args: fn.slice(whole, *args))  # fmt: skip
