"""``torch.utils.checkpoint``: less memory for more time.

A checkpointed function keeps only its arguments; backward runs it again for what its formulas need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Final

from ..autograd.function import Function
from ..autograd.recompute import CheckpointError, Frame, Surroundings, inside
from ..frontend.dispatch_modes import DispatchMode
from ..gradients.differentiation import backward
from ..gradients.grad_mode import is_grad_enabled
from ..gradients.nesting import nests, too_deep
from ..gradients.packing import with_hooks
from ..gradients.within import collecting
from ..random import default_generator
from ..tensors.tensor import Tensor
from ..values.devices import TABLE, concrete
from ..values.interrupts import contextmanager
from ..values.user_warnings import warn_user
from ._pytree import tree_leaves
from ._selective_checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]
ContextFn = Callable[[], Contexts]


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among arguments requires gradients, so that what is recomputed has none."""
    if not any(isinstance(v, Tensor) and v.requires_grad for v in inputs):
        warn_user("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with their tensors detached, which require gradients as those do.

    Raises:
        RuntimeError: if they are no tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        v.detach().requires_grad_(v.requires_grad) if isinstance(v, Tensor) else v for v in inputs
    )


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The accelerators that tensors in some arguments are on, by number, and their random states."""
    found = dict.fromkeys(
        leaf.device
        for leaf in tree_leaves(args)
        if isinstance(leaf, Tensor) and leaf.device.type not in ("cpu", "meta")
    )
    states = [default_generator(d).get_state() for d in found]
    return [d.index or 0 for d in found], states


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Have accelerators go on drawing random numbers from where they were.

    Args:
        devices: as `get_device_states` gave them.
        states: as well.
        device_type: the kind of device; None for the accelerator that is there.
    """
    if device_type is None:
        kinds = [row.type for row in TABLE.rows() if row.runtime.executes and row.type != "cpu"]
        device_type = kinds[0] if kinds else "meta"
    if device_type == "meta":
        return
    for number, state in zip(devices, states, strict=True):
        default_generator(concrete(f"{device_type}:{number}")).set_state(state)


class _Defaults:
    """What a block sets for all checkpoints in it; None leaves it to each call."""

    early_stop: bool | None = None
    debug: bool | None = None


@contextmanager
def _setting(name: str, value: bool | None) -> Iterator[None]:
    before = getattr(_Defaults, name)
    setattr(_Defaults, name, value)
    try:
        yield
    finally:
        setattr(_Defaults, name, before)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """A block that decides ``early_stop`` for the checkpoints in it."""
    return _setting("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """A block that decides ``debug`` for the checkpoints in it; None leaves it to each call."""
    return _setting("debug", enabled)


def noop_context_fn() -> Contexts:
    """The ``context_fn`` that does nothing."""
    return nullcontext(), nullcontext()


@nests
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: ContextFn = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args, **kwargs)`` without keeping what its backward needs.

    Backward calls it again, with the same random numbers and autocast. It must do the same thing
    both times, and should not depend on anything that changes in between.

    Args:
        function: what to call.
        *args: its arguments; tensors among them are kept.
        use_reentrant: False for the variant to be preferred. True for the older one, which runs
            forward unrecorded, and a backward of its own inside backward: it works with
            ``backward()`` without ``inputs`` only, and needs an argument that requires grad.
        context_fn: returns two context managers, for the first and the second run.
        determinism_check: "default" compares shapes, dtypes and devices of both runs, "none" nothing.
        debug: list the ops of both runs when they differ.
        early_stop: end the second run as soon as it has computed what is needed.
        preserve_rng_state: give the second run the random numbers of the first.
        **kwargs: the function's; not with ``use_reentrant=True``.

    Returns:
        What the function returned.

    Raises:
        ValueError: for arguments that do not go together.
        CheckpointError: from backward, if the second run differs from the first.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad
        tensor([2.7183, 2.7183])
    """
    if use_reentrant is None:
        use_reentrant = _default_variant("checkpoint")
    call: Callable[..., Any]
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        call = partial(CheckpointFunction.apply, function, preserve_rng_state)
    else:
        if determinism_check not in _DESCRIPTIONS:
            raise ValueError(
                f"determinism_check should be one of {list(_DESCRIPTIONS)} but got "
                f"{determinism_check}"
            )
        early = early_stop if _Defaults.early_stop is None else _Defaults.early_stop
        frame = Frame(function, early, _DESCRIPTIONS[determinism_check])
        first = _contexts(frame, context_fn, debug)
        call = function if isinstance(first, nullcontext) else partial(inside, first, function)
        if is_grad_enabled():
            frame.keep(args, kwargs, Surroundings((*args, *kwargs.values()), preserve_rng_state))
            call = partial(with_hooks, frame.pack, frame.unpack, call)
    try:
        return call(*args, **kwargs)
    except RecursionError as error:
        explained = too_deep(error)
        if explained is None:
            raise
        raise explained from None


def _contexts(frame: Frame, context_fn: ContextFn, debug: bool) -> AbstractContextManager[Any]:
    """What surrounds the first run; the second's is told to the frame."""
    if not (debug if _Defaults.debug is None else _Defaults.debug):
        first, frame.around = context_fn()
        return first
    if context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    logs = _OpLog(), _OpLog()
    frame.around, frame.explain = logs[1], partial(_explained, *logs)
    return logs[0]


def _default_variant(name: str) -> bool:
    """The variant used where none was named; warns."""
    warn_user(
        f"torch.utils.checkpoint.{name}: the use_reentrant parameter should be passed explicitly: "
        f"use_reentrant=False is recommended, use_reentrant=True is what you get now."
    )
    return True


_DESCRIPTIONS: Final[dict[str, Callable[[Tensor], Any]]] = {
    "default": lambda t: {"shape": t.shape, "dtype": t.dtype, "device": t.device},
    "none": lambda t: None,
}


class _OpLog(DispatchMode):
    """Remembers which ops were called."""

    def __init__(self) -> None:
        self.ops: list[str] = []

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        shown = (
            f"{a.dtype}{list(a.shape)}" if isinstance(a, Tensor) else repr(a)
            for a in (*args, *(kwargs or {}).values())
        )
        self.ops.append(f"{func}({', '.join(shown)})")
        return func(*args, **(kwargs or {}))


def _explained(first: _OpLog, second: _OpLog, error: CheckpointError) -> CheckpointError:
    """The error with the ops of both runs."""
    lines = [
        "Operations of the original forward:",
        *first.ops,
        "",
        "Operations of the recomputation:",
        *second.ops,
        "",
        str(error),
    ]
    return CheckpointError("\n".join(lines))


# ---- the reentrant variant ---------------------------------------------------------------------


class CheckpointFunction(Function):
    """The call of a checkpointed function as one op, whose backward runs a backward of its own."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function unrecorded."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(args, preserve_rng_state)
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function recorded, and backward through that."""
        if collecting():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can either "
                "set use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        args = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = t.detach()
            if t.requires_grad:
                args[i].requires_grad_()
        outputs = ctx.surroundings.run(ctx.run_function, *args)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        pairs = [
            (out, g)
            for out, g in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([out for out, _ in pairs], [g for _, g in pairs])
        return None, None, *(a.grad if isinstance(a, Tensor) else None for a in args)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call functions one after another, in checkpointed segments; the last one is not checkpointed.

    Args:
        functions: a sequence of functions, or a module with ``children()``.
        segments: number of segments.
        input: what the first function is given.
        use_reentrant: as for `checkpoint`.
        preserve_rng_state: as for `checkpoint`.
        **kwargs: refused.

    Raises:
        ValueError: for other keyword arguments.
    """
    if use_reentrant is None:
        use_reentrant = _default_variant("checkpoint_sequential")
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps: Sequence[Any] = list(
        functions.children() if hasattr(functions, "children") else functions
    )
    size = len(steps) // segments
    end = size * (segments - 1)
    for begin in range(0, end, size or 1):
        part = _in_a_row(steps[begin : begin + size])
        input = checkpoint(
            part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    return _in_a_row(steps[end:])(input)


def _in_a_row(steps: Sequence[Any]) -> Callable[[Any], Any]:
    """The functions as one."""

    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run
