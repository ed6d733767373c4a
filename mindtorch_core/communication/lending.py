"""Tensors as engines take them: contiguous, real, where the engine can reach them; and back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, TypeVar

from ..autograd.graph import increment_version
from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD, UNRESOLVED, DispatchKey
from ..dispatch.masks import MASKS, with_masks
from ..tensors.autograd_state import INFERENCE
from ..tensors.tensor import Tensor
from ..values.dtypes import bool_, dtype, float32, float64, int32, uint8
from ..values.layouts import strided
from ..values.own_frames import hide
from .engine import Engine
from .errors import UnfitError
from .reductions import Premultiplied, ReduceOp

__all__ = [
    "Lent",
    "check_alike",
    "check_list",
    "check_op",
    "check_tensor",
    "divided",
    "lend",
    "lend_to_reduce",
    "unrecorded",
]

Step = Callable[[], None]
F = TypeVar("F", bound=Callable[..., Any])
_PYTHON: Final = int(DispatchKey.Python)
_SUM: Final = ReduceOp.SUM
_BITS: Final = (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)
_NOT_COMPLEX: Final = (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT, *_BITS)


def unrecorded(call: F) -> F:
    """Decorator: what the function does to tensors is not recorded; its errors show no frame of it."""

    @functools.wraps(call)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return with_masks(MASKS.include, MASKS.keep & ~AUTOGRAD, call, *args, **kwargs)
        except Exception as error:
            hide(error)
            raise

    return called  # type: ignore[return-value]  # the same signature


class Lent:
    """A tensor that an engine works on.

    Attributes:
        memory: what the engine is given.
        back: what makes the user's tensor of it, or None if they share memory.
    """

    __slots__ = ("back", "memory", "user")

    def __init__(self, user: Tensor, memory: Tensor, back: Step | None) -> None:
        self.user = user
        self.memory = memory
        self.back = back

    def returned(self) -> None:
        """Have the user's tensor hold what the engine has written."""
        if self.back is not None:
            self.back()
        else:
            user = self.user
            if not user._keys & INFERENCE:
                user._own_storage().version += 1


def check_tensor(tensor: Any, name: str, *, sparse: bool = False) -> None:
    """Refuse what is no tensor, or has no memory to send.

    Args:
        tensor: what is given.
        name: of the argument.
        sparse: whether it may be.

    Raises:
        TypeError: as PyTorch does.
        ValueError: for a tensor without data.
        NotImplementedError: for a sparse one, or one whose class answers for its elements.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )
    if tensor.device.type == "meta":
        raise ValueError(f"{name} is on the device 'meta' and has no data to send")
    if not sparse and tensor.layout is not strided:
        raise NotImplementedError(
            f"unsupported layout {tensor.layout} of {name}: of sparse tensors there is all_reduce; send "
            f"indices() and values(), or to_dense()"
        )
    if tensor._keys & _PYTHON and tensor._payload is None and tensor.layout is strided:
        _refuse_wrapper(tensor, name)


def _refuse_wrapper(tensor: Tensor, name: str) -> NoReturn:
    """Refuse a tensor that has no memory of its own, which an engine would read past the end.

    Raises:
        NotImplementedError: always.
    """
    part = ": send to_local(), this rank's part" if hasattr(tensor, "to_local") else ""
    raise NotImplementedError(
        f"{name} is a {type(tensor).__name__}, which has no elements of its own to send{part}"
    )


def check_tensors(tensors: Any, name: str) -> None:
    """Refuse what is no list of tensors, or has one without memory of its own.

    Raises:
        TypeError: as PyTorch does.
        NotImplementedError: for a tensor whose class answers for its elements.
    """
    if not isinstance(tensors, list | tuple) or not all(isinstance(t, Tensor) for t in tensors):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(tensors)} instead."
        )
    for each in tensors:
        if each._keys & _PYTHON and each._payload is None:
            _refuse_wrapper(each, name)


def check_list(tensors: Sequence[Tensor]) -> None:
    """Refuse a list that cannot be one call.

    Raises:
        NotImplementedError: for an empty one.
        RuntimeError: for one over several devices.
    """
    if not tensors:
        raise NotImplementedError(
            "There were no tensor arguments to this function (e.g., you passed an empty list of "
            "Tensors): give every rank the same number of tensors, one at least"
        )
    devices = dict.fromkeys(str(each.device) for each in tensors)
    if len(devices) > 1:
        raise RuntimeError(
            f"tensors must all be on the same device, got {' and '.join(devices)}: make one call for each"
        )


def check_alike(tensors: Sequence[Tensor]) -> None:
    """Refuse a list of several dtypes.

    Raises:
        ValueError: as PyTorch does.
    """
    for each in tensors:
        if each.dtype != tensors[0].dtype:
            raise UnfitError(
                "Invalid usage of tensors with different dtypes"
                f"Found {tensors[0].dtype} and  {each.dtype}"
            )


def lend(tensor: Tensor, engine: Engine) -> Lent:
    """A tensor whose memory an engine is to read or write.

    Args:
        tensor: the user's; results that are deferred are computed.
        engine: who reads it.
    """
    keys, here = tensor._keys, tensor._device.type in engine.devices
    plain = tensor.detach() if keys & AUTOGRAD else tensor
    if here and plain.is_contiguous() and not (keys & UNRESOLVED or plain.is_complex()):
        return Lent(tensor, plain, None)  # mostly
    if plain.is_complex():
        plain = fn.view_as_real(plain.resolve_conj())
    elif plain.is_neg():
        plain = plain.resolve_neg()
    if not here:
        plain = plain.to(engine.devices[0])
    if not plain.is_contiguous():
        plain = plain.contiguous()
    shared = plain.numel() == 0 or plain.data_ptr() == tensor.data_ptr()
    if shared and plain.device == tensor.device:
        return Lent(tensor, plain, None)

    def back() -> None:
        whole = as_complex(plain) if tensor.is_complex() else plain
        tensor.detach().copy_(whole)
        increment_version(tensor)

    return Lent(tensor, plain, back)


def as_complex(tensor: Tensor) -> Tensor:
    """Pairs of numbers as complex numbers."""
    return fn.view_as_complex(tensor)


def check_op(op: Any, tensor: Tensor, name: str) -> None:
    """Refuse a reduction that a dtype has not.

    Raises:
        TypeError: for what is no reduction.
        ValueError: for complex numbers, which have no order.
        RuntimeError: for bits of floating-point numbers.
    """
    if op is _SUM:
        return  # what every dtype has
    if not isinstance(op, ReduceOp | Premultiplied) or op is ReduceOp.UNUSED:
        raise TypeError(f"{name}: op must be a ReduceOp, got {op!r}")
    if op is ReduceOp.PREMUL_SUM:
        raise ValueError(f"{name}: PREMUL_SUM needs a factor: _make_nccl_premul_sum(factor)")
    if tensor.is_complex() and op.op in _NOT_COMPLEX:
        raise ValueError(f"{name} does not support {op.op} on complex tensors")
    if op.op in _BITS and not _is_whole(tensor.dtype):
        raise RuntimeError(f"Cannot use ReduceOp.{op.op.name} with non-integral dtype")
    if tensor.dtype is bool_ and op.op in (ReduceOp.AVG, ReduceOp.PREMUL_SUM):
        raise RuntimeError(f"Cannot use ReduceOp.{op.op.name} with torch.bool")


def _is_whole(kind: dtype) -> bool:
    return not (kind.is_floating_point or kind.is_complex)


_ON_BOOL: Final = {"sum": "max", "product": "min"}


def lend_to_reduce(
    tensor: Tensor, engine: Engine, op: ReduceOp | Premultiplied
) -> tuple[Lent, str]:
    """A tensor that is to be reduced in place, and how; for a mean, the result is to be `divided`.

    bool is reduced as uint8. What the engine cannot add is widened and rounded once: float16 and
    bfloat16 in float32.

    Args:
        tensor: the user's.
        engine: who reduces.
        op: how.
    """
    lent = lend(tensor, engine)
    how = op.op.how
    memory = lent.memory
    if memory.dtype is bool_:
        how = _ON_BOOL.get(how, how)
        lent = Lent(tensor, memory.view(uint8), lent.back)
    elif memory.dtype.name not in engine.reducible:
        wide = memory.to(_wider(memory.dtype))
        back = lent.back

        def narrow() -> None:
            memory.copy_(wide)
            if back is not None:
                back()
            else:
                increment_version(tensor)

        lent = Lent(tensor, wide, narrow)
    if isinstance(op, Premultiplied):
        before = lent.memory
        scaled = before * op.factor
        if lent.back is None:  # the user's own memory may be overwritten: it is the result's place
            before.copy_(scaled)
        else:
            lent.memory.copy_(scaled)

    return lent, how


def divided(result: Tensor, size: int) -> None:
    """Have a sum over ranks be the mean; of whole numbers towards zero."""
    if _is_whole(result.dtype):
        result.div_(size, rounding_mode="trunc")
    else:
        result.div_(size)


def _wider(kind: dtype) -> dtype:
    if kind.is_floating_point:
        return float32 if kind.itemsize < 4 else float64
    return int32


def joined(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors of one dtype, one after the other."""
    flat = [t.detach().reshape(-1) for t in tensors]
    return fn.cat(flat)
