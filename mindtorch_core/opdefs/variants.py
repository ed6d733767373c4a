"""What is derived from an op beside the op itself: in-place and ``out=`` forms, named results."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from ..dispatch.autocast_keys import AUTOCAST
from ..dispatch.calls.fronts import shown_by
from ..dispatch.keys import (
    ACTIVE,
    AUTOGRAD,
    FORWARD,
    MASKS,
    UNRESOLVED,
    is_grad_enabled,
    with_masks,
)
from ..dispatch.overrides import IN_USE, active, handle
from ..dispatch.registry import OpEntry
from ..tensors.autograd_state import INFERENCE
from ..tensors.tensor import Tensor
from ..values.devices import row_of
from ..values.dtypes import FLOATING, bool_, dtype, uint8
from ..values.overlap import refuse_partners, refuse_repeats, shared_memory
from ..values.promotion import check_cast
from ..values.shapes import Shape, numel, pointwise_strides, show, storage_extent
from ..values.user_warnings import warn_user
from .resizing import resize

__all__ = [
    "resize_out",
    "return_type",
    "write_out",
]

_DERIVATIVES: Final = AUTOGRAD | FORWARD
_PLAIN: Final = frozenset({int, float, bool, str, complex, type(None)})

# Makers of tensors that, as in PyTorch, say that an output had another shape.
_TELLING: Final = frozenset({"arange", "fft_fftfreq", "fft_rfftfreq"})

# Makers of numbers in a row, which fill an output of as many elements whatever its shape.
_COUNTING: Final = frozenset({"arange", "linspace", "logspace", "range"})

# Outputs of any dtype of a kind, whatever the result's is; of others it is said in PyTorch's words.
_KINDS: Final[dict[str, tuple[str, Callable[[dtype], bool]]]] = {
    "truth": (
        "{} only supports bool tensor for result, got: {}",
        lambda d: d is bool_ or d is uint8,
    ),
    "real": (
        "{} expects a floating point output tensor, but got {}",
        lambda d: d.category == FLOATING,
    ),
    "inexact": (
        "{}(): Expected floating point type for result tensor, but got: {}",
        lambda d: d.category >= FLOATING,
    ),
}


def write_out(
    front: Callable[..., Any],
    out: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    elementwise: bool = False,
    needs: Sequence[str] = (),
    draw: Callable[..., Any] | None = None,
) -> Any:
    """Serve ``out=``: compute, then write into the given tensors, resizing those of other shapes.

    Args:
        front: the op's function.
        out: the tensor, or tensors.
        args: of the call.
        kwargs: of the call.
        elementwise: whether outputs that share memory with inputs are refused.
        needs: as `OutForm.needs`.
        draw: as `OutForm.draw`.

    Raises:
        TypeError: if ``out`` is not a tensor (or not as many as there are results).
        RuntimeError: if autograd would have to record it, or dtype or device do not fit.

    Warns:
        UserWarning: if a tensor that has elements is resized.
    """
    if IN_USE and active((*args, *kwargs.values(), out)):
        func = shown_by(front)
        given = {k: v for k, v in kwargs.items() if v is not None} | {"out": out}
        return handle(func, (*args, *kwargs.values(), out), args, given)
    outs = (out,) if out.__class__ is Tensor or not isinstance(out, tuple | list) else out
    for each in outs:
        if each.__class__ is not Tensor and not isinstance(each, Tensor):
            told = f"argument 'out' must be Tensor, not {type(each).__name__}"
            raise TypeError(f"{front.__name__}(): {told}")
    keys = _keys_among(args) | _keys_among(outs) | (_keys_among(kwargs.values()) if kwargs else 0)
    if keys & _DERIVATIVES:
        _refuse_derivatives(front.__name__, keys)
    if elementwise:
        _refuse_overlap(outs, args)
    if "requires_grad" in kwargs and len(outs) == 1:
        kwargs = _options_of(outs[0], kwargs)
    if needs and _decides(needs, args, outs[0]) and kwargs["dtype"] is None:
        kwargs["dtype"] = outs[0]._dtype
    if draw is not None and kwargs.get("device", outs[0]._device) == outs[0]._device:
        draw(outs[0], *args, generator=kwargs.get("generator"))
        return out
    if ACTIVE:  # autocast off: what is written into a given tensor is not made less precise
        result = with_masks(MASKS.include & ~AUTOCAST, MASKS.keep, front, *args, **kwargs)
    else:
        result = front(*args, **kwargs)
    if (
        out.__class__ is result.__class__ is Tensor
        and out._shape == result._shape
        and out._dtype is result._dtype
        and out._device is result._device
        and "apart" not in needs
    ):  # nothing is left to be checked
        return out.copy_(result)
    results = result if isinstance(result, tuple) else (result,)
    if len(results) != len(outs):
        raise TypeError(
            f"{front.__name__}(): expected {len(results)} tensors in 'out', got {len(outs)}"
        )
    for each, value in zip(outs, results, strict=True):
        _write(
            front.__name__,
            each,
            value,
            args,
            needs,
            elementwise=elementwise,
            makes="requires_grad" in kwargs,
        )
    return type(result)(outs) if hasattr(result, "_fields") else out


def _write(
    name: str, out: Tensor, value: Tensor, args: tuple[Any, ...], needs: Sequence[str], *, elementwise: bool,
    makes: bool,
) -> None:  # fmt: skip
    """Write a result into an output, which is given its shape; ``makes`` says whether the op is a factory.

    Raises:
        RuntimeError: if the output cannot take it.
    """
    exact = "own dtype" in needs and value._dtype is args[0]._dtype
    _check(name, value, out, ("dtype",) if exact else needs, elementwise=elementwise)
    if "apart" in needs:
        _refuse_sharing(out, numel(value._shape), args)
    if name in _COUNTING and numel(out._shape) == numel(value._shape):
        value = value.reshape(out._shape)
    if out._shape != value._shape:
        strides = pointwise_strides(value._shape, [(value._shape, value._geometry()[0])])
        silent = (makes and name not in _TELLING) or "any shape" in needs
        (resize if silent else resize_out)(out, value._shape, strides)
    out.copy_(value)


def _check(
    name: str, value: Tensor, out: Tensor, needs: Sequence[str], *, elementwise: bool
) -> None:
    """Refuse an output on another device, or that cannot be, or may not be, of another dtype.

    Raises:
        RuntimeError: if so.
    """
    if out._device is not value._device:
        row_of(out._device.type)  # its backend may have been unloaded
        raise RuntimeError(
            f"Expected out tensor to have device {value._device}, but got {out._device} instead"
        )
    made, given = value._dtype, out._dtype
    for need, (said, fits) in _KINDS.items():
        if need in needs:
            if not fits(given):
                raise RuntimeError(said.format(name, given.label))
            return
    if made is not given and ("dtype" in needs or not (elementwise or "cast" in needs)):
        raise RuntimeError(f"Expected out tensor to have dtype {made}, but got {given} instead")
    check_cast(made, given)


def _decides(needs: Sequence[str], args: tuple[Any, ...], out: Tensor) -> bool:
    """Whether the dtype of an output says what the op computes in."""
    if "computed in" in needs:
        return True
    if "whole computed in" in needs and args[0]._dtype.category < FLOATING:
        return True
    return (
        "floats computed in" in needs
        and args[0]._dtype.category >= FLOATING
        and out._dtype.category >= FLOATING
    )


def _keys_among(values: Iterable[Any]) -> int:
    """The keys of all tensors among values of a call or in its lists."""
    found = 0
    for v in values:
        if v.__class__ is Tensor:
            found |= v._keys
        elif v.__class__ not in _PLAIN:
            found |= _keys_among(v) if isinstance(v, list | tuple) else getattr(v, "_keys", 0)
    return found


def _refuse_derivatives(name: str, keys: int) -> None:
    """Refuse ``out=`` where gradients or tangents of tensors with such keys would be lost.

    Raises:
        RuntimeError: if something requires grad.
        NotImplementedError: if something has a tangent.
    """
    if MASKS.include & INFERENCE or not is_grad_enabled():
        return  # in inference mode nothing is recorded, even with gradients enabled
    if keys & AUTOGRAD:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one "
            f"of the arguments requires grad."
        )
    if keys & FORWARD:
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
            f"function"
        )


def _refuse_overlap(outs: Sequence[Tensor], args: tuple[Any, ...]) -> None:
    """Refuse outputs that an element-wise op would change while it reads.

    Raises:
        RuntimeError: if one shares memory with an input, other than being the same elements, or shows
            some element several times.
    """
    for each in outs:
        if each._storage is not None:
            refuse_repeats(each)
            refuse_partners(each, args, UNRESOLVED)


def _refuse_sharing(out: Tensor, count: int, args: tuple[Any, ...]) -> None:
    """Refuse an output that shows an element several times, or lies where an input does.

    Args:
        out: the tensor, which is to hold ``count`` elements.
        count: number of elements of the result.
        args: of the call.

    Raises:
        RuntimeError: if it does.
    """
    refuse_repeats(out)
    inputs = [t for a in args for t in (a if isinstance(a, list | tuple) else (a,))]
    begin, end = _extent(out)
    if numel(out._shape) != count:  # after it has been resized
        end = begin + count * out._dtype.itemsize
    for t in inputs:
        if not isinstance(t, Tensor):
            continue
        if t is not out and (t._storage is None or t._storage is not out._storage):
            continue
        first, last = _extent(t)
        if t is out or (first < end and begin < last):
            raise shared_memory()


def _extent(t: Tensor) -> tuple[int, int]:
    """Where a tensor begins and ends in its storage, in bytes."""
    strides, offset = t._geometry()
    size = t._dtype.itemsize
    return offset * size, storage_extent(t._shape, strides, offset) * size


def _options_of(out: Tensor, kwargs: dict[str, Any]) -> dict[str, Any]:
    """A factory's options: it makes what it is to write.

    Raises:
        RuntimeError: if another dtype was asked for.
    """
    d = kwargs.get("dtype")
    if d is not None and d is not out._dtype:
        raise RuntimeError(f"dtype {d} does not match dtype of out parameter ({out._dtype})")
    return {**kwargs, "dtype": out._dtype, "device": kwargs.get("device") or out._device}


def resize_out(out: Tensor, shape: Shape, strides: Shape | None = None) -> None:
    """Give a tensor the shape and layout of the result that is written into it."""
    if out.numel():
        warn_user(
            f"An output with one or more elements was resized since it had shape {show(out._shape)}, which "
            f"does not match the required output shape {show(shape)}. Pass an output "
            "of that shape, or let an output t be resized without this warning by emptying it first: "
            "t.resize_(0)",
        )
    resize(out, shape, strides)


def return_type(entry: OpEntry) -> Callable[..., Any] | None:
    """A named tuple for ops with several named results, such as ``max(dim=...)``."""
    schema = entry.schema
    if schema is None or len(schema.returns) < 2 or not all(r.name for r in schema.returns):
        return None
    space = entry.name.partition("::")[0]
    return _named_results(space, schema.name, tuple(r.name for r in schema.returns if r.name))


@functools.cache
def _named_results(space: str, name: str, fields: tuple[str, ...]) -> Callable[..., Any]:
    """One class for the overloads of an op."""
    base = namedtuple(name, fields)  # type: ignore[misc]

    def show_result(self: Any) -> str:
        inner = ",\n".join(f"{f}={getattr(self, f)!r}" for f in fields)
        return f"torch.return_types.{name}(\n{inner})"

    def make(cls: Any, *values: Any) -> Any:
        """From the values one by one, or from one sequence of them, as PyTorch's are made.

        Behind the sequence may stand a dictionary of further fields, of which there are none: pickles
        of structured sequences have one.
        """
        whole = len(values) == 1 or values[-1].__class__ is dict
        return base.__new__(cls, *(values[0] if whole else values))

    def reduce(self: Any) -> tuple[Any, ...]:
        return type(self), (tuple(self), {})

    members = {
        "__slots__": (), "__new__": make, "__repr__": show_result, "__reduce__": reduce,
    }  # fmt: skip
    if space == "aten":
        package = sys.modules[
            "mindtorch_core"
        ].__name__  # where pickles find it: `torch`, as a drop-in
        members["__module__"] = f"{package}.return_types"
    return type(name, (base,), members)
