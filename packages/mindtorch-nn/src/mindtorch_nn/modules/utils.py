"""What modules share: sizes that are one number or several, parameters, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import refusing

from ..parameter import Parameter, UninitializedParameter

if TYPE_CHECKING:
    from .module import Module

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of ``n`` of one value, and a tuple of several."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    """Elements from last to first, each ``n`` times."""
    return tuple(x for x in reversed(t) for _ in range(n))


@refusing
def declare(module: Module, device: Any, dtype: Any, /, **shapes: tuple[int, ...] | None) -> None:
    """Give a module parameters without values, by name; those whose shape is None are absent."""
    for name, shape in shapes.items():
        if shape is None:
            module.register_parameter(name, None)
        else:
            setattr(module, name, Parameter(torch.empty(shape, device=device, dtype=dtype)))


def declare_lazy(module: Module, device: Any, dtype: Any, /, **there: bool) -> None:
    """Give a module parameters without a shape, by name; those that are not there are absent."""
    for name, wanted in there.items():
        made = UninitializedParameter(device=device, dtype=dtype) if wanted else None
        if wanted:
            setattr(module, name, made)
        else:
            module.register_parameter(name, None)


def shown(module: Any, *names: str) -> str:
    """``name=value`` for each of the attributes."""
    return ", ".join(f"{name}={getattr(module, name)}" for name in names)


def unusual(module: Any, **usual: Any) -> str:
    """``, name=value`` for each of the attributes that has another value."""
    return "".join(
        f", {name}={getattr(module, name)}"
        for name, value in usual.items()
        if getattr(module, name) != value
    )


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix off the keys of a state dict that have it, in place."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
