"""Narrow dtypes for forward, backward and sums of `DistributedDataParallel`; parameters keep their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.autograd.recompute import AGAIN
from mindtorch_core.utils import _pytree

from ..modules.module import Module

__all__ = ["Narrowed", "_MixedPrecision", "cast"]


@dataclass
class _MixedPrecision:
    """The dtypes of `DistributedDataParallel`'s ``mixed_precision``; of floating point tensors alone.

    Attributes:
        param_dtype: of parameters and inputs in forward and backward; their own by default.
        reduce_dtype: in which gradients are added up over processes; ``param_dtype`` by default.
        buffer_dtype: of buffers, from the beginning on; their own by default.
    """

    param_dtype: torch.dtype | None = None
    reduce_dtype: torch.dtype | None = None
    buffer_dtype: torch.dtype | None = None


def cast(value: Any, dtype: torch.dtype) -> Any:
    """Floating point tensors of nested values in a dtype."""

    def change(x: Any) -> Any:
        if isinstance(x, Tensor) and x.is_floating_point() and x.dtype is not dtype:
            return x.to(dtype)
        return x

    return _pytree.tree_map(change, value)


class Narrowed:
    """A module that computes with parameters of another dtype.

    What is computed with are results of casts, so that gradients come to the parameters in their own dtype.

    Args:
        module: the module, whose buffers are cast now.
        dtypes: those to have.
        ignored: names of parameters and buffers that keep theirs.
    """

    def __init__(self, module: Module, dtypes: _MixedPrecision, ignored: Collection[str]) -> None:
        self._module = module
        self._dtype = dtypes.param_dtype
        self._ignored = ignored
        if dtypes.buffer_dtype is not None:
            for name, buffer in module.named_buffers():
                if name not in ignored:
                    buffer.data = cast(buffer.data, dtypes.buffer_dtype)

    @classmethod
    def of(
        cls, module: Module, dtypes: _MixedPrecision | None, ignored: Collection[str]
    ) -> Self | None:
        """A module with other dtypes, or None where none are given."""
        return None if dtypes is None else cls(module, dtypes, ignored)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the module makes of its arguments."""
        return self.around(self._module, *args, **kwargs)

    def around(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """What a function makes of the arguments that calls the module, or its forward."""
        if self._dtype is None:
            return call(*args, **kwargs)
        args, kwargs = cast((args, kwargs), self._dtype)
        token = AGAIN.set(self._shown)
        try:
            with self._shown():
                return call(*args, **kwargs)
        finally:
            AGAIN.reset(token)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """A block in which the modules have narrow parameters."""
        own = [p for name, p in self._module.named_parameters() if name not in self._ignored]
        made = {id(p): p.to(self._dtype) for p in own if p.is_floating_point()}
        places = [
            (module._parameters, name, p)
            for module in self._module.modules()
            for name, p in module._parameters.items()
            if id(p) in made
        ]
        try:
            for parameters, name, p in places:
                parameters[name] = made[id(p)]  # type: ignore[assignment]  # while forward runs
            yield
        finally:
            for parameters, name, p in places:
                parameters[name] = p
