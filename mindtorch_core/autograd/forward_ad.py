"""``torch.autograd.forward_ad``: dual tensors, which carry the direction in which they move."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dispatch.asked_wrongly import guarded
from ..dispatch.keys import FORWARD, MASKS, set_masks
from ..gradients.duals import LEVELS, OF_MANY, Level, give, other_size, tangent_of, unseen
from ..gradients.forward import install
from ..gradients.grad_mode import _Context
from ..tensors.tensor import Tensor
from ..values.dtypes import FLOATING

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """A tensor, and the direction in which it moves: None for one that does not."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open a level of forward mode; it is 0.

    Raises:
        RuntimeError: if one is open.
    """
    if LEVELS:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: end the level that is open, or take "
            "derivatives of derivatives by torch.func.jvp"
        )
    LEVELS.append(Level())
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: no tensor has a tangent any more.

    Args:
        level: which one.

    Raises:
        RuntimeError: if it is not open.
    """
    last = len(LEVELS) - 1
    if last < 0 or (level is not None and level != last):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    LEVELS.pop().end()


class dual_level(_Context):
    """A context, or decorator, in which tensors may have tangents.

    Example:
        >>> with torch.autograd.forward_ad.dual_level():
        ...     x = torch.autograd.forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
        ...     print(x * x)
        tensor(9., tangent=6.)
    """

    def __enter__(self) -> int:  # type: ignore[override]
        return enter_dual_level()

    def _leave(self) -> None:
        if LEVELS:
            exit_dual_level()


@guarded
def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of a tensor that moves along a tangent.

    Args:
        tensor: what moves.
        tangent: the direction: of the same shape and dtype. It is kept as it is if it lies in memory as
            the tensor does, and copied otherwise.
        level: that it belongs to: the one that is open.

    Raises:
        RuntimeError: if no level is open, if the tensor moves already, or for a tangent of another shape.
        ValueError: for whole numbers.

    Example:
        >>> with torch.autograd.forward_ad.dual_level():
        ...     torch.autograd.forward_ad.make_dual(torch.ones(2), torch.zeros(2))
        tensor([1., 1.], tangent=tensor([0., 0.]))
    """
    if not LEVELS or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for what, t in (("primal", tensor), ("tangent", tangent)):
        if t._dtype.category < FLOATING:
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {t._dtype}"
            )
    if tensor._shape != tangent._shape:
        raise other_size(tensor, tangent)
    if tensor._dtype is not tangent._dtype or tensor._device is not tangent._device:
        raise RuntimeError(
            f"Expected the tangent to have the dtype and device of the tensor, {tensor._dtype} on "
            f"{tensor._device}, but got {tangent._dtype} on {tangent._device}."
        )
    dual: Tensor = _of_many(_made, tensor, tangent)
    return dual


def _of_many(call: Any, *tensors: Tensor) -> Any:
    """A function of tensors, or of what holds them inside ``vmap``."""
    return OF_MANY[0](call, *tensors) if OF_MANY else call(*tensors)


def _made(tensor: Tensor, tangent: Tensor) -> Tensor:
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same "
            "level 0 is not supported."
        )
    dual: Tensor = tensor.view(tensor._shape)
    give(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor without its tangent, and the tangent, which is None where it has none.

    Args:
        tensor: any.
        level: that the tangent belongs to: the one that is open.

    Example:
        >>> torch.autograd.forward_ad.unpack_dual(torch.ones(2)).tangent is None
        True
    """
    if not LEVELS or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_of_many(_unpacked, tensor))


def _unpacked(tensor: Tensor) -> tuple[Tensor, Tensor | None]:
    primal: Tensor = unseen(tensor.view, tensor._shape)
    primal._keys &= ~FORWARD
    return primal, tangent_of(tensor)


def _is_fwd_grad_enabled() -> bool:
    """Whether ops give their results tangents in this thread."""
    return bool(MASKS.keep & FORWARD)


class _set_fwd_grad_enabled(_Context):
    """Whether ops give their results tangents in this thread, from now on or in a block.

    Args:
        mode: whether they do.
    """

    def __init__(self, mode: bool) -> None:
        self._before, self._mode = _is_fwd_grad_enabled(), mode
        _enable(mode)

    def __enter__(self) -> None:
        _enable(self._mode)

    def _leave(self) -> None:
        _enable(self._before)

    def _again(self) -> _Context:
        return _set_fwd_grad_enabled(self._mode)


def __getattr__(name: str) -> Any:
    if name == "_current_level":  # the innermost that is open, -1 without one
        return len(LEVELS) - 1
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _enable(mode: bool) -> None:
    keep = MASKS.keep
    set_masks(MASKS.include, keep | FORWARD if mode else keep & ~FORWARD)


install()  # no tensor has a tangent before this is imported
