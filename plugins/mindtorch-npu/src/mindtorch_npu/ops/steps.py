"""From an op to the operators of CANN that compute it.

Most ops are a sequence of operators that is known from the arguments' shapes and dtypes. Their *steps*
make the result and say what is to be called; nothing is launched yet::

    STEPS["aten::exp"](x) == (result, [("Exp", (x, result))])

The kernel of such an op takes the steps and calls. Steps return None where CANN has no operator for the
arguments: the op is then made of others, or left to the CPU (`mindtorch_npu.fallback`). The few ops that
have to decide by the data have kernels of their own, in `KERNELS`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from mindtorch_core.backend import Tensor, device, dtype, tensors_in
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

from .. import aclnn
from ..acl import ACLError
from ..fallback import otherwise

__all__ = [
    "KERNELS",
    "MOST_DIMS",
    "STEPS",
    "Call",
    "Steps",
    "Work",
    "kernel",
    "register",
    "rule_of",
    "steps",
    "two_devices",
]

Call = tuple[str, tuple[Any, ...]]
Work = tuple[Any, list[Call]]
Steps = Callable[..., Work | None]
Kernel = Callable[..., Any]

STEPS: Final[dict[str, Steps]] = {}
KERNELS: Final[dict[str, Kernel]] = {}

# Codes of phase one that say "not these arguments", or "not on this chip": null pointer, invalid
# parameter, shape inference, tiling, kernel not found, internal null pointer, kernels not installed.
REFUSALS: Final = frozenset({161001, 161002, 561001, 561002, 561003, 561103, 561112})
# An internal failure; chips also answer so to some operators that they lack.
INNER: Final = 561000

# What descriptors of tensors hold at most, and the ops whose steps see to more dimensions themselves.
MOST_DIMS: Final = 8
ANY_RANK: Final = frozenset(
    f"aten::{name}" for name in ("clone", "copy_", "fill_.Scalar", "zero_", "_to_dtype")
)

# Calls whose operators were refused, by op and what its tensors were.
_refused: Final[set[tuple[Any, ...]]] = set()


@functools.cache
def rule_of(name: str) -> Callable[..., Any]:
    """The shape-and-dtype rule of an op, which also raises its errors.

    Raises:
        LookupError: if it has none.
    """
    definition = registry.entry(name).definition
    if definition is None or definition.rule is None:
        raise LookupError(f"{name} has no rule of shapes and dtypes")
    return definition.rule


def steps(*names: str) -> Callable[[Steps], Steps]:
    """Decorator: a function gives the steps of the named ops."""

    def decorate(fn: Steps) -> Steps:
        STEPS.update(dict.fromkeys(names, fn))
        return fn

    return decorate


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """Decorator: a function is the kernel of the named ops."""

    def decorate(fn: Kernel) -> Kernel:
        KERNELS.update(dict.fromkeys(names, fn))
        return fn

    return decorate


def register(key: DispatchKey, names: Iterable[str]) -> None:
    """Register what the tables hold for some ops."""
    for name in names:
        fn = _taking(name, STEPS[name]) if name in STEPS else KERNELS.get(name)
        if fn is not None:
            registry.register_kernel(name, key, fn, promoted=True)


def _taking(name: str, plan: Steps) -> Kernel:
    """The kernel that takes an op's steps."""
    call = aclnn.call
    definition = registry.entry(name).definition
    crosses = definition is not None and bool(definition.operands.crosses_devices)
    most = sys.maxsize if name in ANY_RANK else MOST_DIMS

    def run(*args: Any, **kwargs: Any) -> Any:
        on = None
        for each in args:
            if isinstance(each, Tensor):
                if len(each.raw_shape) > most:
                    return otherwise(name, *args, **kwargs)
                if each.raw_device is not on and not crosses:
                    if on is not None:
                        raise two_devices(name, on, each.raw_device)
                    on = each.raw_device
        if _refused and _signature(name, args, kwargs) in _refused:
            return otherwise(name, *args, **kwargs)
        work = plan(*args, **kwargs)
        if work is None:
            return otherwise(name, *args, **kwargs)
        result, calls = work
        try:
            for operator, arguments in calls:
                call(operator, *arguments)
        except (aclnn.UnsupportedOperator, ACLError) as error:
            if not _is_refusal(error, operator, arguments):
                raise
            _refused.add(_signature(name, args, kwargs))
            return otherwise(name, *args, **kwargs)
        return result

    run.__name__ = run.__qualname__ = name
    run.__source__ = plan  # type: ignore[attr-defined]  # what lists of kernels show
    return run


def two_devices(name: str, one: device, other: device) -> RuntimeError:
    """The error for operands on several devices, whose memory operators cannot reach."""
    first, second = sorted((str(one), str(other)))
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and "
        f"{second}! (when calling {name})"
    )


def _is_refusal(error: Exception, operator: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an operator was refused before it was queued, rather than failed."""
    if not isinstance(error, ACLError):
        return True
    if "GetWorkspaceSize(" not in error.call:
        return False
    return error.code in REFUSALS or (error.code == INNER and _fails_again(operator, arguments))


def _fails_again(operator: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an internal failure of phase one is no passing one."""
    try:
        aclnn.prepare(operator, *arguments).release()
    except ACLError as error:
        return error.code == INNER
    return False


def _signature(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    tensors = tensors_in((*args, *kwargs.values()))
    return name, *((t.raw_dtype, len(t.raw_shape)) for t in tensors)


@functools.cache
def accepts(operator: str, parameter: str, d: dtype) -> bool:
    """Whether an operator takes a dtype, which is asked often."""
    return aclnn.accepts(operator, parameter, d)


@functools.cache
def takes_strides(operator: str, parameter: str) -> bool:
    """Whether an operator takes strided tensors for a parameter, which is asked often."""
    return aclnn.takes_strides(operator, parameter)


@functools.cache
def known(operator: str) -> bool:
    """Whether there is an operator of a name, in some toolkit."""
    try:
        aclnn.operator(operator)
    except ValueError:
        return False
    return True


@functools.cache
def inputs(operator: str) -> tuple[str, ...]:
    """The names of an operator's input tensors, those that it writes in place first."""
    kinds = ("T", "TL", "T±")
    return tuple(p for p, kind in aclnn.operator(operator).parameters if kind in kinds)


@functools.cache
def outputs(operator: str) -> tuple[str, ...]:
    """The names of an operator's results."""
    return tuple(p for p, kind in aclnn.operator(operator).parameters if kind in ("T>", "TL>"))
