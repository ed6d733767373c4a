"""Inference tensors: what ops return inside `torch.inference_mode`.

The mode puts `DispatchKey.Inference` into the thread's include mask. Its wrapper, made here for
each op, makes inference tensors of the tensors an op creates: they carry the Inference key instead
of ADInplaceOrView, so that calls on them reach the same wrapper outside the mode, where it
refuses writes and lets other ops return normal tensors. Views, and inputs that an op hands on, stay
what they were. Those that are detached outside the mode carry both keys: they may be written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.adapters import tensors_in
from ..dispatch.asked_wrongly import guarded
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import ADINPLACE, AUTOGRAD, MASKS, UNRESOLVED, DispatchKey
from ..dispatch.registry import registry
from ..dispatch.written import written, written_places
from ..tensors.autograd_state import INFERENCE
from ..tensors.tensor import Tensor
from ..values.overlap import refuse_partners
from .versions import IN_INFERENCE, refuse_overlap, traits

__all__ = ["install", "is_inference", "refuse_saving"]

_SEQUENCES: Final = frozenset({tuple, list})
_DETACH: Final = "aten::detach"


@guarded
def is_inference(input: Tensor) -> bool:
    """Whether a tensor was made in inference mode."""
    return bool(input._keys & INFERENCE)


def refuse_saving(value: Any) -> None:
    """Refuse inference tensors as values that a node keeps for backward.

    Args:
        value: a tensor, a list of them, or anything else.

    Raises:
        RuntimeError: if there is an inference tensor.
    """
    for t in tensors_in((value,)):
        if t._keys & INFERENCE:
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Use a clone, which is a normal "
                "tensor, or make the tensor under torch.no_grad() instead of torch.inference_mode()."
            )


def inference_kernel(entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]) -> Kernel:
    """What the Inference key runs for an op, in the mode or on inference tensors outside it."""
    below = resolve(below_mask)
    schema = entry.schema
    if schema is not None and schema.is_mutable:
        below = _writing(entry, below)
    if entry.name == _DETACH:
        return _detaching(below)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        result = below(*args, **kwargs)
        inside = bool(MASKS.include & INFERENCE)
        if isinstance(result, Tensor):
            if inside and result._storage is None:  # it shares memory with no other tensor
                for a in args:
                    if a is result or (type(a) in _SEQUENCES and _holds(a, result)):
                        break
                else:
                    result._keys = (result._keys & ~ADINPLACE) | INFERENCE
                    return result
            _settle(result, args, inside)
        elif isinstance(result, tuple | list):
            for each in result:
                if isinstance(each, Tensor):
                    _settle(each, args, inside)
        return result

    return kernel


def _detaching(below: Kernel) -> Kernel:
    """As PyTorch has it, what is detached outside the mode may be written, and counts that."""

    def kernel(self: Tensor) -> Any:
        result: Tensor = below(self)
        _settle(result, (self,), inside := bool(MASKS.include & INFERENCE))
        if not inside:
            result._keys |= ADINPLACE
        return result

    return kernel


def _holds(values: Any, t: Tensor) -> bool:
    """Whether a tensor is an element of a list; ``in`` would compare values."""
    for v in values:  # noqa: SIM110  (half the cost of any())
        if v is t:
            return True
    return False


def _settle(r: Tensor, args: tuple[Any, ...], inside: bool) -> None:
    """Make a result what it has to be.

    A view, and what shares an argument's memory otherwise, is of the same kind as that. Memory that
    is new is an inference tensor's inside, and a normal one's outside.
    """
    source = r._base if r._base is not None else _handed_on(r, args)
    if source is None:
        inference = inside
    elif source is r:
        return
    else:
        inference = bool(source._keys & INFERENCE)
        if inference:
            r._base = None  # nothing is tracked for it
        elif inside and source._keys & AUTOGRAD:
            vars(r)[IN_INFERENCE] = True
    keys = r._keys
    r._keys = (keys & ~ADINPLACE) | INFERENCE if inference else (keys & ~INFERENCE) | ADINPLACE


def _handed_on(r: Tensor, args: tuple[Any, ...]) -> Tensor | None:
    """The argument that a result is, or whose memory it shares."""
    s = r._storage
    for a in args:
        if isinstance(a, Tensor):
            if a is r or (s is not None and a._storage is s):
                return a
        elif isinstance(a, tuple | list):
            found = _handed_on(r, tuple(a))
            if found is not None:
                return found
    return None


def _writing(entry: OpEntry, below: Kernel) -> Kernel:
    """Guard an op that writes to arguments."""
    places = written_places(entry.schema)
    d = traits(entry)
    elementwise = d is not None and d.grad is not None and not d.traits.fills

    def guarded(*args: Any, **kwargs: Any) -> Any:
        inside = MASKS.include & INFERENCE
        for t in written(places, args, kwargs):
            if t._keys & INFERENCE:
                if not inside and not t._keys & ADINPLACE:
                    raise RuntimeError(
                        "Inplace update to inference tensor outside InferenceMode is not allowed. "
                        "Write to a clone, which is a normal tensor."
                    )
                refuse_overlap(entry, t)
                if elementwise and t._storage is not None:
                    refuse_partners(t, args, UNRESOLVED)
        return below(*args, **kwargs)

    return guarded


def install() -> None:
    """Serve the Inference key."""
    registry.wrappers[DispatchKey.Inference] = inference_kernel
