"""Random numbers: how ops are defined that fill tensors with them, or make tensors of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.resizing import resize
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, dtype, float32, uint16, uint32, uint64
from ..creation.factory import OPTIONS, checked_size

__all__ = [
    "filling",
    "floating_only",
    "in_single_at_least",
    "into",
    "random_tensor",
    "refuse",
    "usual_only",
]

GENERATOR = "*, Generator? generator=None"
RANDOM_OPTIONS = OPTIONS.replace("*", GENERATOR, 1)
Check = Callable[..., None]
Draw = Callable[..., Tensor]


def in_single_at_least(self: Tensor) -> Tensor:
    """An undefined tensor like ``self`` in which numbers are drawn: of 32 bits or more."""
    narrow = self._dtype.itemsize < float32.itemsize or self._dtype.category != FLOATING
    return fn.empty_like(self, dtype=float32 if narrow else self._dtype)


def floating_only(name: str, *, complex_too: bool = False) -> Check:
    """A check that refuses dtypes other than floating-point ones, in the words of ``name``."""

    def check(self: Tensor, *_: Any) -> None:
        category = self._dtype.category
        if category < FLOATING or (category == COMPLEX and not complex_too):
            refuse(name, self._dtype)

    return check


def refuse(name: str, d: dtype) -> NoReturn:
    """Say that a kernel of PyTorch's has no such dtype.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"\"{name}\" not implemented for '{d.label}'")


def usual_only(name: str, d: dtype) -> None:
    """Refuse complex dtypes and the unsigned ones that few kernels of PyTorch's have."""
    if d.category == COMPLEX or d in (uint16, uint32, uint64):
        refuse(name, d)


def filling(
    schema: str, doc: str, check: Check, draw: Draw | None = None, **properties: Any
) -> None:
    """Define an op that fills a tensor with random numbers, and its functional form.

    Args:
        schema: of the functional form, up to its generator: ``uniform(Tensor self``.
        doc: what is drawn.
        check: ``check(self, *args)`` raises where parameters or dtype are refused.
        draw: the in-place form in terms of other ops; None for what a backend supplies.
        **properties: further fields of the op.
    """
    name, _, overload = schema.partition("(")[0].partition(".")
    method = f"{name}_.{overload}" if overload else f"{name}_"

    def rule(self: Tensor, *args: Any, generator: Any = None) -> TensorSpec:
        check(self, *args)
        return rules.same(self)

    def inplace(self: Tensor, *args: Any, generator: Any = None) -> Tensor:
        check(self, *args)
        return draw(self, *args, generator=generator)  # type: ignore[misc]

    op(
        f"{schema}, {GENERATOR}) -> Tensor",
        doc=doc,
        rule=rule,
        grad={"self": lambda g: fn.zeros_like(g)},
        decomposition=lambda self, *args, generator=None: method_of(method)(
            fn.empty_like(self), *args, generator=generator
        ),
        inplace=True,
        inplace_primitive=draw is None,
        inplace_decomposition=None if draw is None else inplace,
        random=True,
        **{"namespaces": (), **properties},
    )


def into(fill: str, read: Callable[..., tuple[Any, tuple[Any, ...]]]) -> Callable[..., None]:
    """What serves ``out=``: an output is filled as it lies in memory.

    Args:
        fill: the method that fills it.
        read: gives the result's shape, and the method's arguments, of the op's.
    """

    def draw(out: Tensor, *args: Any, generator: Any) -> None:
        size, numbers = read(*args)
        shape = checked_size(size)
        if out._shape != shape:
            resize(out, shape)
        getattr(out, fill)(*numbers, generator=generator)

    return draw


def random_tensor(schema: str, doc: str, **properties: Any) -> None:
    """Define a function that makes a tensor of random numbers."""
    op(schema, doc=doc, random=True, **{"namespaces": ("torch",), **properties})


def method_of(name: str) -> Callable[..., Tensor]:
    """The function of one overload."""
    from ...dispatch.registry import registry
    from ...opdefs.packets import front

    return front(registry.entry(name))
