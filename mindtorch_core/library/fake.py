"""Fake implementations: what an op's results look like, computed on tensors without data.

A fake implementation is the op's Meta kernel. It also tells the pipeline the shapes of results, so
an op that has one is deferred.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Final, NoReturn, TypeVar

from ..dispatch.keys import DispatchKey
from ..dispatch.registry import registry
from .by_name import existing_name, library_for
from .registration import Library, qualified_parts

__all__ = ["FakeImplCtx", "get_ctx", "register_fake"]

F = TypeVar("F", bound=Callable[..., Any])


class FakeImplCtx:
    """What `get_ctx` gives inside a fake implementation."""

    __slots__ = ("_op",)

    def __init__(self, op: str) -> None:
        self._op = op

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> NoReturn:
        """Say that a size depends on the values of the inputs.

        There are no symbolic sizes here: the result of such an op has no shape without data, so
        calling it on meta tensors is an error. Give the op the tag
        ``torch.Tag.dynamic_output_shape`` as well, and a pipeline runs it at once.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            f"{self._op}: the shape of its result depends on data, which meta tensors do not have"
        )


class _Current(threading.local):
    """The fake implementation that the thread is in."""

    ctx: FakeImplCtx | None = None


_CURRENT: Final = _Current()


def get_ctx() -> FakeImplCtx | None:
    """The context of the fake implementation that is running, None outside of one."""
    return _CURRENT.ctx


def register_fake(
    op: Any, func: F | None = None, /, *, lib: Library | None = None, allow_override: bool = True
) -> Any:
    """Register an op's fake implementation: its Meta kernel. A decorator without ``func``.

    Args:
        op: name, overload or custom op.
        func: takes the op's arguments, meta tensors among them, and returns meta tensors.
        lib: the library to register it through; without one it lives as long as the process.
        allow_override: replace an earlier one instead of raising.

    Example:
        >>> @torch.library.custom_op("docs::pairs", mutates_args=())
        ... def pairs(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.stack([x, x])
        >>> @torch.library.register_fake("docs::pairs")
        ... def pairs_fake(x):
        ...     return x.new_empty((2, *x.shape))
        >>> pairs(torch.ones(3, device="meta")).shape
        torch.Size([2, 3])

    Raises:
        RuntimeError: if there is no such op, it decomposes by itself, or it has one already and
            ``allow_override`` is false.
    """
    name = existing_name(op)
    namespace, _ = qualified_parts(name)

    def register(fn: F) -> F:
        entry = registry.entry(name)
        before = entry.record(DispatchKey.Meta)
        if before is not None and not allow_override:
            raise RuntimeError(
                f"register_fake(...): the operator {name} already has a fake impl registered at "
                f"{before.source}."
            )
        if DispatchKey.CompositeImplicitAutograd in entry.records:
            raise RuntimeError(
                f"register_fake(...): the operator {name} has a CompositeImplicitAutograd kernel: "
                f"its parts tell the shapes already."
            )

        @functools.wraps(fn)
        def fake(*args: Any, **kwargs: Any) -> Any:
            before = _CURRENT.ctx
            _CURRENT.ctx = FakeImplCtx(name)
            try:
                return fn(*args, **kwargs)
            finally:
                _CURRENT.ctx = before

        owner = library_for(namespace, "IMPL", lib)
        owner._made.append(registry.register_kernel(name, DispatchKey.Meta, fake))
        return fn

    return register if func is None else register(func)
