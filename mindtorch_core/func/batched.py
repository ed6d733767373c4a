"""Tensors inside ``vmap``: each stands for one of many, which one tensor around it holds.

A `Batched` has the shape of one sample and, at its level, a tensor with one dimension more. It carries
the key FuncTorchBatched, above Autograd: an op on it becomes an op on what it holds, and that is
recorded as any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD, FORWARD, UNRESOLVED, DispatchKey
from ..dispatch.overrides import DISABLED
from ..gradients.vmap_levels import LEVELS
from ..tensors.tensor import Tensor

__all__ = [
    "LEVELS", "Batched", "Level", "batched", "debug_unwrap", "front_of", "held", "level_of", "plain",
]  # fmt: skip

_KEY: Final = int(DispatchKey.FuncTorchBatched)
_NOT_TAKEN: Final = AUTOGRAD | FORWARD | UNRESOLVED


class Level:
    """One ``vmap`` that is running.

    Attributes:
        number: how deep it is nested, from 1.
        size: how many samples it has.
        randomness: ``error``, ``different`` or ``same``.
        depth: how many gradients are taken around it.
        call: what a custom Function's ``apply`` does inside, given the class and the arguments of a call;
            NotImplemented: as everywhere.
        warns: whether calls of an op for each sample are told.
    """

    def __init__(
        self,
        number: int,
        size: int,
        randomness: str,
        depth: int,
        call: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any],
    ) -> None:
        self.number = number
        self.size = size
        self.randomness = randomness
        self.depth = depth
        self.call = call
        self.warns = True


class Batched(Tensor):
    """One sample of many."""

    __torch_function__ = DISABLED
    _stands_for_many = True

    _inner: Tensor
    _bdim: int
    _level: int

    requires_grad: Any = property(
        lambda self: self._inner.requires_grad,
        lambda self, value: self.requires_grad_() if value else None,
        doc="Whether what it holds requires grad.",
    )

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Refused: what is differentiated inside must be an argument of a transform."""
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using "
            "torch.autograd.functional.* APIs) inside of a function being transformed by a functorch "
            "transform. This is unsupported, please attempt to use the functorch transforms (e.g. "
            "grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
            "transformed instead."
        )

    def item(self) -> Any:
        """Refused: there are many values."""
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
            ".item() on a Tensor, please try to rewrite what you're doing with other operations."
        )

    def _refused(self) -> Any:
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
            "We don't support that yet, please write it with torch.where or masks."
        )

    __bool__ = __float__ = __int__ = __index__ = __complex__ = _refused

    def tolist(self) -> Any:
        """Refused: there are many values."""
        return self.item()

    def numpy(self, **kwargs: Any) -> Any:
        """Refused: there are many values."""
        return self.item()

    def stride(self, dim: int | None = None) -> Any:
        """Steps of the sample's dimensions."""
        steps = list(self._inner.stride())
        del steps[self._bdim]
        return tuple(steps) if dim is None else steps[dim]

    def is_contiguous(self, **kwargs: Any) -> bool:
        """Whether the samples one after the other are contiguous."""
        return front_of(self)._inner.is_contiguous(**kwargs)

    def __repr__(self, **kwargs: Any) -> str:
        return f"BatchedTensor(lvl={self._level}, bdim={self._bdim}, value=\n    {self._inner!r}\n)"


def batched(inner: Tensor, bdim: int, level: int) -> Batched:
    """A tensor as many samples along one of its dimensions."""
    made: Batched = object.__new__(Batched)
    shape = inner._shape
    strides, offset = inner._geometry()
    made._payload = made._storage = made._base = made._autograd = None
    made._strided = strides[:bdim] + strides[bdim + 1 :], offset
    made._shape = shape[:bdim] + shape[bdim + 1 :]
    made._dtype, made._device = inner._dtype, inner._device
    made._keys = (inner._keys & ~_NOT_TAKEN) | _KEY
    made._inner, made._bdim, made._level = inner, bdim, level
    return made


def level_of(value: Any) -> int:
    """The level of a batched tensor; 0 of anything else."""
    return value._level if type(value) is Batched else 0


def held(value: Any, level: int) -> tuple[Any, int | None]:
    """What a tensor holds at a level, and the dimension of the samples; itself and None elsewhere."""
    if type(value) is Batched and value._level == level:
        return value._inner, value._bdim
    return value, None


def front_of(t: Batched) -> Batched:
    """The same with the samples along the first dimension."""
    return t if t._bdim == 0 else batched(fn.movedim(t._inner, t._bdim, 0), 0, t._level)


def plain(t: Tensor, level: int, size: int) -> Tensor:
    """What holds samples along the first dimension, whether or not a tensor is batched there."""
    inner, bdim = held(t, level)
    if bdim is None:
        expanded: Tensor = inner.expand((size, *inner._shape))
        return expanded
    return inner if bdim == 0 else fn.movedim(inner, bdim, 0)


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What holds a sample and all others, to be looked at in a debugger; a plain tensor as it is.

    Args:
        tensor: any.
        recurse: whether to go through all levels of ``vmap``.
    """
    while type(tensor) is Batched:
        tensor = tensor._inner
        if not recurse:
            break
    return tensor
