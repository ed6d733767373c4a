"""`torch.pipeline.capture`: a step that is recorded once and then computed without its Python code."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import MethodType
from typing import Any, Final

from ..deferred import current_pipeline
from ..frontend.creation import is_array
from ..gradients.duals import LEVELS as DUALS
from ..gradients.vmap_levels import LEVELS
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, tree_flatten, tree_leaves
from ..values.errors import CaptureError
from ..values.forks import fork_safe
from .captured_asked import UNSEEN
from .captured_guards import kind_of
from .captured_names import is_fixed
from .captured_outside import Outside
from .captured_packages import Root
from .captured_recorder import Recorder
from .captured_settings import Settings
from .captured_step import Step
from .captured_surroundings import Surroundings

__all__ = ["capture"]

_MOST_LEARNED: Final = 8  # calls that run code which no earlier one has run
_DEEPEST: Final = 100  # calls of a function within itself that are let run to their end


def capture(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Record what a function does in its first call, and only compute that in later ones.

    For steps whose control flow is fixed: it must not look at values, and everything that changes from
    call to call is an argument or a tensor that is changed in place. Its Python code runs once, or, where
    it changes what it reads, until two calls do the same. Numbers that it computes with, the learning
    rate of an optimizer for instance, are part of the recording. A ``grad`` is set anew or added to, as
    the function does it; what else the function has put somewhere is filled anew by each call; what it
    returns is new, and has no history.

    Args:
        fn: the function. Forward pass, backward pass and update may all be in it.

    Returns:
        A function with the same arguments. It has ``reset()``, after which the next call records anew.

    Raises:
        CaptureError: by a call, before anything is computed, if arguments have other shapes, dtypes,
            devices or strides than those that were recorded, or are other values; if what the function
            reads besides, or what is set, is something else; if it is called while it runs, or while
            `torch.func` transforms what calls it, or with tangents. By the first
            call, after it was run as it is, if it looked at a value; by the second if that
            does something else.
        TypeError: for what cannot be called.

    Example:
        >>> import mindtorch_core as torch
        >>> w, x = torch.ones(3), torch.ones(3)
        >>> @torch.pipeline.capture
        ... def step(x):
        ...     w.sub_(0.5 * x)
        ...     return (w * x).sum()
        >>> [step(x).item() for _ in range(3)]
        [1.5, 0.0, -1.5]
    """
    if not callable(fn):
        raise TypeError(f"torch.pipeline.capture() takes a function or a module, got {type(fn)}")
    if isinstance(fn, _Captured):
        return fn
    return functools.wraps(fn)(_Captured(fn))


class _Captured:
    """A function that was captured.

    Attributes:
        step: its recording.
        last: the last recording of a function that changes what it reads, which is compared with the next.
    """

    __captured__ = True  # `torch.compile` gives it back

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn
        self._lock = fork_safe(threading.Lock())
        self._step: Step | None = None
        self._last: Step | None = None
        self._roots: list[Root] = []  # code that earlier calls have run, of packages for instance
        self._learned = 0  # how many calls have run code that was new

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """The captured method of an object, which has its own recording."""
        if owner is None:
            return self
        bound = MethodType(self._fn, owner)
        held = getattr(owner, "__dict__", None)
        if held is None:
            return capture(bound)
        return held.setdefault(f"_captured_{self._fn.__name__}", capture(bound))

    def __reduce__(self) -> tuple[Any, ...]:
        return capture, (self._fn,)

    def reset(self) -> None:
        """Forget the recording: the next call makes a new one."""
        self._step = self._last = None
        self._roots, self._learned = [], 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        pipe = current_pipeline()
        if not self._lock.acquire(blocking=False):
            if not isinstance(pipe, Recorder) or len(pipe.reentered) == _DEEPEST:
                raise CaptureError(f"{self._name}() was called while it runs: it has one recording")
            pipe.reentered.append(self._name)  # told of when the outer call has run
            return self._fn(*args, **kwargs)
        try:
            if isinstance(pipe, Recorder):  # part of another function's recording
                return self._fn(*args, **kwargs)
            step = self._step
            if LEVELS.gradients or LEVELS.stack or (DUALS and step is None):
                raise CaptureError(
                    f"{self._name}() was captured, so it cannot be transformed: a recording has no tangents, "
                    f"and neither the gradients nor the batches of torch.func. Transform the function "
                    f"itself, and capture what that gives"
                )
            if step is None:
                leaves, spec = tree_flatten((args, kwargs))
                return self._record(leaves, spec, args, kwargs)
            if pipe is not None:
                raise CaptureError(
                    f"{self._name}() was captured, so it cannot be part of a torch.pipeline()"
                )
            return step(*step.flattened(args, kwargs))
        finally:
            self._lock.release()

    @property
    def _name(self) -> str:
        return getattr(self._fn, "__qualname__", type(self._fn).__qualname__)

    def _record(
        self, leaves: list[Any], spec: TreeSpec, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function as it is, and remember what it did.

        A function that changes what it reads, as an optimizer does that makes its state in the first
        step, is recorded by a later call: when it does what it did the last time. So is one that runs code
        which nothing that it holds leads to, such as that of packages: that has to be known beforehand.

        Raises:
            CaptureError: if it looked at a value, its ops are on several devices, or if it does something
                else in each call.
        """
        if current_pipeline() is not None:
            raise CaptureError(f"{self._name}() cannot be recorded inside a torch.pipeline()")
        pipe, settings = Recorder(), Settings()
        around = Surroundings(self._fn, leaves, self._roots)
        result = pipe.run(self._fn, args, kwargs)
        around.share({t.data_ptr() for t in pipe.shared})
        why = (
            pipe.refusal()
            or _identifies(pipe.outside, leaves, around)
            or _unfit(leaves, result, around, settings)
        )
        if why is None and not pipe.outside.sees:
            return result  # a profiler is at work, so that nobody has seen what code ran
        if why is None and (found := around.roots(pipe.outside.others())) is not None:
            known = {each.code for each in self._roots}
            new = next((each for each in found if each.code not in known), found[0])
            self._roots, self._learned = found, self._learned + 1
            if self._learned < _MOST_LEARNED:
                return result
            why = f"it runs other code in each call: {new.called} in this one"
        if why is None:
            changed, last = around.changes(), self._last
            around.forget_logs()
            if changed is not None:
                around = Surroundings(self._fn, leaves, self._roots)
            around.complete()
            step = Step(
                self._name, self._fn, leaves, spec, result, pipe.constants, around, settings
            )
            step.compute(pipe.description, pipe.program, [*pipe.grads.values()])
            self._last = None
            why = step.refusal(leaves)
        if why is None:
            if changed is None:
                changed = step.changes_grads(leaves)
                if last is not None and step.only_adds_to(last):
                    step, changed = (
                        last,
                        None,
                    )  # which is right with and without a grad that is there
                elif last is not None and step.is_like(last):
                    changed = None  # grads are what they were again when it is called
            if changed is None:
                self._step = step
                return step.first(result)
            if last is None:
                self._last = step
                return result
            why = f"it does something else in each call: {changed}"
        self._last = None
        raise CaptureError(
            f"{self._name}() cannot be captured, since {why}. This call was run as it is; its result is "
            f"the attribute `result` of this error",
            result,
        )


def _identifies(outside: Outside, leaves: list[Any], around: Surroundings) -> str | None:
    """Why later calls would see other objects where a call asks which ones they are; None where not."""
    if (at := outside.handed_on()) is not None:
        return f"it passes on id(), which gives something else for other objects, at {at}: call it"
    objects = [each for each in leaves if not isinstance(each, Tensor)]
    for value, at in outside.identified:
        if isinstance(value, Tensor):
            there = around.name_of(value) is not None
        else:
            there = around.holds(value) or any(value is each for each in objects)
            there = there or (value is not UNSEEN and is_fixed(value))
        if not there:
            return (
                f"it asks for the identity of an object that it does not hold, of which later calls may "
                f"have another, by {at}"
            )
    return None


def _unfit(leaves: list[Any], result: Any, around: Surroundings, settings: Settings) -> str | None:
    """Why later calls could not do what a call has done, whatever it has computed; None where they can."""
    if (left := settings.left()) is not None:
        return f"it leaves something set that later calls would not set: {left}"
    if around.unseen is not None:
        return (
            f"it can reach more objects than can be watched, {around.unseen!r} among them: pass what it "
            f"reads of them as arguments"
        )
    if around.iterators:
        return (
            f"{around.iterators[0]!r} is an iterator, whose next item is another one in each call: pass "
            f"what it gives as an argument"
        )
    for i, value in enumerate(leaves):
        if is_array(value):
            return f"argument {i} is an array, whose numbers may change: pass a tensor"
    for value in tree_leaves(result):
        name = type(value).__qualname__
        if any(value is each for each in leaves) or around.holds(value):
            continue
        if isinstance(value, Tensor):
            if kind_of(value) is not Tensor:
                return (
                    f"it returns a tensor of class {name}, and later calls would return plain ones: return "
                    f"value.as_subclass(torch.Tensor)"
                )
        elif not is_fixed(value):
            return (
                f"it returns an object of {name}, which would be the same one in each call: return tensors, "
                f"in tuples, lists or dicts, or register the class with "
                f"torch.utils._pytree.register_pytree_node()"
            )
    return None
