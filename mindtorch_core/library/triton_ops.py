"""Ops of functions that may launch Triton's kernels, and the older name of `register_fake`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ..values.user_warnings import warn_user
from .custom_ops import CustomOpDef, custom_op
from .fake import register_fake

__all__ = ["impl_abstract", "triton_op", "wrap_triton"]


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """Make an op of a Python function, which gives its fake results too; a decorator without ``fn``.

    In PyTorch a compiler looks into the function, to the Triton kernels in it. Nothing does here.

    Args:
        name: such as ``"mylib::scale"``.
        fn: takes and returns tensors and plain values; its annotations give the schema.
        mutates_args: names of the arguments it writes, ``()`` for none, ``"unknown"`` for any.
        schema: used instead of the annotations, without the name.

    Example:
        >>> @torch.library.triton_op("docs::twice", mutates_args=())
        ... def twice(x: torch.Tensor) -> torch.Tensor:
        ...     return x * 2
        >>> twice(torch.ones(2)), twice(torch.ones(3, device="meta")).shape
        (tensor([2., 2.]), torch.Size([3]))
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        made: CustomOpDef = custom_op(name, function, mutates_args=mutates_args, schema=schema)
        made.register_fake(function)
        return made

    return make if fn is None else make(fn)


def wrap_triton(triton_kernel: Callable[..., Any], /) -> NoReturn:
    """Refuse: there is no Triton, so that this is no kernel of its.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        f"wrap_triton only works on functions annotated with triton.jit or triton.autotune, and there is no "
        f"Triton here: got {triton_kernel}"
    )


def impl_abstract(qualname: Any, func: Any = None, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """`register_fake` under its older name."""
    warn_user(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`: use that.",
        FutureWarning,
    )
    return register_fake(qualname, func, lib=lib)
