"""Recomputing what backward needs instead of keeping it: the machinery behind checkpoints.

While a checkpointed function runs, hooks on saved tensors replace everything its ops save by
`_Holder`s, in order. The first holder that backward opens makes the function run again; what its
ops save then is put, in the same order, into the holders that are still alive.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from operator import call
from typing import Any, Final

from ..amp import autocast_mode, state
from ..amp.state import autocast_settings
from ..dispatch.keys import MASKS, with_masks
from ..frontend.dispatch_modes import active_modes, set_modes
from ..gradients.grad_mode import keep_mask
from ..gradients.nesting import nests
from ..gradients.packing import active_hooks, packed, with_hooks
from ..gradients.saved import Packed, saved_input
from ..random import default_generator, random_positions
from ..tensors.tensor import Tensor
from ..values.devices import concrete, device
from ..values.forks import fork_safe
from ..values.interrupts import undone

__all__ = ["AGAIN", "CheckpointError", "Frame", "Surroundings", "inside"]

Description = Callable[[Tensor], Any]
# A block for what is run again, as the module that is running wants it.
AGAIN: Final[ContextVar[Callable[[], AbstractContextManager[Any]]]] = ContextVar(
    "AGAIN", default=nullcontext
)


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not save what the first one did."""


class _Stop(BaseException):
    """Ends a recomputation that has got everything; no handler of the function should catch it."""


def held(value: Any) -> Callable[[], Any]:
    """Keep an argument of a checkpointed function, as an op would: returns what gives it back.

    Around it there may be another checkpoint, which then does not keep it either.
    """
    if not isinstance(value, Tensor):
        return lambda: value
    pair = active_hooks()
    if pair is not None:
        kept: Packed = packed(value, pair)
        return kept.unpack
    version = 0 if value._storage is None else value._storage.version
    return lambda: saved_input(value, version)


class Surroundings:
    """What a function ran in: where its devices' random streams were, autocast, and `AGAIN`.

    Args:
        args: its arguments; their devices count, and the CPU.
        preserve_rng_state: whether a second run draws the same random numbers.
    """

    def __init__(self, args: tuple[Any, ...], preserve_rng_state: bool) -> None:
        found = {a._device: None for a in args if isinstance(a, Tensor)}
        devices: list[device] = [concrete("cpu"), *(d for d in found if d.type != "cpu")]
        self._devices = [d for d in devices if d.type != "meta"]
        self._states = (
            {d: default_generator(d).get_state() for d in self._devices}
            if preserve_rng_state
            else None
        )
        self._autocast = [
            autocast_mode.autocast(
                kind,
                dtype=state.get_autocast_dtype(kind),
                enabled=state.is_autocast_enabled(kind),
                cache_enabled=state.is_autocast_cache_enabled(),
            )
            for kind in dict.fromkeys(d.type for d in devices)
            if state.is_autocast_available(kind)
        ]
        self._again = AGAIN.get()

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function in surroundings as they were then, with gradients enabled."""
        include, keep = MASKS.include, keep_mask(MASKS.keep, True)
        changed = [autocast_settings()]
        if self._states is not None:
            changed.append(random_positions())
        restore = partial(_all, changed)
        return undone(restore, with_masks, include, keep, self._inside, function, args, kwargs)

    def _inside(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        with ExitStack() as stack:
            if self._states is not None:
                for on, position in self._states.items():
                    default_generator(on).set_state(position)
            for each in self._autocast:
                stack.enter_context(each)
            stack.enter_context(self._again())
            return function(*args, **kwargs)


def inside(
    around: AbstractContextManager[Any], function: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Call a function inside a context, of which no interrupt leaves a mode or masks in force."""
    restore = partial(set_modes, active_modes())
    run = partial(_within, around, function, args, kwargs)
    return undone(restore, with_masks, MASKS.include, MASKS.keep, run)


def _within(
    around: AbstractContextManager[Any],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    with around:
        return function(*args, **kwargs)


def _all(steps: list[Callable[[], None]]) -> None:
    for step in steps:
        step()


class _Holder:
    """Stands for a saved tensor.

    Attributes:
        value: the tensor, between its recomputation and its use.
        description: what the tensor must be like.
    """

    __slots__ = ("__weakref__", "description", "value")

    def __init__(self, description: Any) -> None:
        self.description = description
        self.value: Tensor | None = None


class Frame:
    """One call of a checkpointed function.

    Args:
        function: the function.
        early_stop: whether a recomputation ends when it has got everything.
        describe: what two runs must agree on of a saved tensor.

    Attributes:
        around: a context for the second run.
        explain: adds to an error about runs that differ, if set.
    """

    def __init__(
        self, function: Callable[..., Any], early_stop: bool, describe: Description
    ) -> None:
        self._function = function
        self._early_stop = early_stop
        self._describe = describe
        self._holders: list[weakref.ref[_Holder]] = []
        self._lock = fork_safe(threading.RLock())
        self.around: AbstractContextManager[Any] = nullcontext()
        self.explain: Callable[[CheckpointError], CheckpointError] | None = None

    def keep(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], surroundings: Surroundings
    ) -> None:
        """Keep what the second run needs: the arguments, and what the first one ran in."""
        self._args = [held(a) for a in args]
        self._kwargs = {k: held(v) for k, v in kwargs.items()}
        self._surroundings = surroundings

    def pack(self, t: Tensor) -> _Holder:
        """The hook that saves during the first run."""
        holder = _Holder(self._describe(t))
        self._holders.append(weakref.ref(holder))
        return holder

    @nests
    def unpack(self, holder: _Holder) -> Tensor:
        """The hook that gives back what was saved, and forgets it."""
        with self._lock:
            if holder.value is None:
                self._recompute(
                    list(map(call, self._args)),  # which may have to be recomputed themselves
                    dict(zip(self._kwargs, map(call, self._kwargs.values()), strict=True)),
                )
            value, holder.value = holder.value, None
        if value is None:
            raise CheckpointError("torch.utils.checkpoint: a saved tensor was not recomputed.")
        return value

    def _recompute(self, args: list[Any], kwargs: dict[str, Any]) -> None:
        filling = _Filling(self._holders, self._describe, self._early_stop)
        run = self._surroundings.run
        with suppress(_Stop):
            again = partial(inside, self.around, self._function)
            with_hooks(filling.pack, _as_it_is, run, again, *args, **kwargs)
        try:
            filling.check()
        except CheckpointError as error:
            if self.explain is None:
                raise
            raise self.explain(error) from error


def _as_it_is(t: Tensor) -> Tensor:
    return t


class _Filling:
    """One recomputation: puts saved tensors into holders.

    Args:
        holders: of the first run, in order.
        describe: what both runs must agree on.
        early_stop: whether to end it when all holders that are alive are filled.
    """

    def __init__(
        self, holders: list[weakref.ref[_Holder]], describe: Description, early_stop: bool
    ) -> None:
        self._holders = holders
        self._describe = describe
        alive = [i for i, ref in enumerate(holders) if ref() is not None]
        self._last = alive[-1] if early_stop else None
        self._count = 0
        self._differing: list[str] = []

    def pack(self, t: Tensor) -> Tensor:
        """The hook that saves during the recomputation."""
        i = self._count
        self._count += 1
        shown = t.detach()
        holder = self._holders[i]() if i < len(self._holders) else None
        if holder is not None:
            found = self._describe(t)
            if found != holder.description:
                self._differing.append(
                    f"tensor at position {i}:\nsaved metadata: {holder.description}\nrecomputed "
                    f"metadata: {found}"
                )
            if holder.value is None:
                holder.value = shown
        if i == self._last:
            raise _Stop
        return shown

    def check(self) -> None:
        """Refuse what differs from the first run.

        Raises:
            CheckpointError: if something does.
        """
        stopped = self._last is not None and self._count > self._last
        if not stopped and self._count != len(self._holders):
            raise CheckpointError(
                f"torch.utils.checkpoint: A different number of tensors was saved during the original "
                f"forward and recomputation.\nNumber of tensors saved during forward: "
                f"{len(self._holders)}\nNumber of tensors saved during recomputation: {self._count}."
            )
        if self._differing:
            listed = "\n".join(self._differing)
            raise CheckpointError(
                f"torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass.\n{listed}"
            )
