"""Which calls matter though nobody uses their values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, TypeVar

import mindtorch_core as torch

from ...opdefs.torch_ops import OpOverload, OpOverloadPacket

__all__ = ["has_side_effect", "is_impure_call"]

_F = TypeVar("_F", bound=Callable[..., Any])

_EFFECTS: Final[set[Any]] = {operator.setitem}
_DRAWING: Final = (
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "poisson",
    "bernoulli", "multinomial",
)  # fmt: skip


def has_side_effect(fn: _F) -> _F:
    """Decorator: calls of a function stay in a graph though nobody uses their values."""
    _EFFECTS.add(fn)
    return fn


def is_impure_call(
    target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], impure_random: bool
) -> bool:
    """Whether a call does more than give a value.

    Args:
        target: the function.
        args: of the call.
        kwargs: of the call.
        impure_random: whether ops that draw random numbers do, such as dropout's.
    """
    if target in _EFFECTS or target in (torch._assert, torch._assert_async):
        return True
    if isinstance(target, OpOverloadPacket):
        target = getattr(target, "default", target)
    if isinstance(target, OpOverload):
        if target._schema.is_mutable:
            return True
        if impure_random and torch.Tag.nondeterministic_seeded in target.tags:
            return True
    return any(target is getattr(torch, name) for name in _DRAWING)
