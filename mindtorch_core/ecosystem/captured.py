"""`torch.pipeline.capture`: a step that is recorded once and then computed without its Python code."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from threading import get_ident
from types import MethodType
from typing import Any, Final

from ..deferred import Pipeline, current_pipeline
from ..deferred.dependence import memory_of
from ..deferred.frames import request, user_line
from ..deferred.observers import BESIDE
from ..deferred.programs.describing import Description, Undescribable
from ..deferred.programs.program import Program
from ..deferred.trace import location_of
from ..dispatch.dispatcher import dispatch
from ..dispatch.keys import MASKS, DispatchKey, with_masks
from ..dispatch.masks import without_gradients
from ..frontend.creation import is_array
from ..random import BEFORE_POSITION, default_generator
from ..tensors.autograd_state import BORN, GRADS_READ, GRADS_UNSET, AutogradMeta
from ..tensors.storage import BEFORE_LOOK, Storage
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, tree_flatten, tree_leaves
from ..values.devices import concrete
from ..values.errors import CaptureError
from ..values.forks import fork_safe
from .captured_names import is_fixed
from .captured_step import Constant, Step
from .captured_surroundings import Settings, Surroundings

__all__ = ["capture"]

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
            reads besides, or what is set, is something else; if it is called while it runs. By the first
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


class _Recorder(Pipeline):
    """A pipeline that remembers the only launch of its block, and who looks at values.

    Attributes:
        constants: the tensors that were made of Python's data.
        shared: memory of arrays, and the like, that tensors were made around.
        looks: lines that looked at the value of a tensor that was there before.
        unset: places of the tensors whose grad was set to None.
        bare: tensors whose grad was asked for when they had none that it might have set to None.
        beside: what it has computed outside of the block.
        reentered: the captured functions that it has called although they were just running.
        moved: lines that asked for the position of a generator of random numbers, or set it.
        returns_to_position: whether the CPU's generator is where it was before.
        others_draw: whose random numbers it has drawn besides: Python's, or NumPy's.
        copying: whether a tensor is just copied, by kernels that may make some of their own.
    """

    def __init__(self) -> None:
        super().__init__(max_ops=1 << 40, max_bytes=1 << 62, through_backward=True)
        self.launches = 0
        self.description: Description | None = None
        self.program: Program | None = None
        self.undescribable = False
        self.constants: list[Constant] = []
        self.shared: list[Tensor] = []
        self.looks: list[str] = []
        self.unset: list[AutogradMeta] = []
        self.bare: list[Tensor] = []
        self.beside: list[str] = []
        self.reentered: list[str] = []
        self.moved: list[str] = []
        self.others_draw = ""
        self.copying = False
        self.returns_to_position = True

    def learn(self, count: int) -> None:
        """Describe the ops of a launch."""
        self.drop_aliases(count)
        self.launches += 1
        try:
            found = Description(self.recorded[:count])
        except Undescribable:
            self.undescribable = True
            return
        self.undescribable = found.needs_more()
        self.description = found
        # Now: when the ops have run, tensors have other storages.
        self.program = self.description.program(self.recorded[0].op.device)

    def run(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function in a block, and watch what it looks at."""
        thread, others = get_ident(), {t.ident for t in threading.enumerate()}

        def looked(storage: Storage) -> None:
            if get_ident() == thread and not any(
                memory_of(c.tensor) is storage.root for c in self.constants
            ):
                self.looks.append(f"{request()} at {location_of(*user_line(2))}")

        def born(t: Tensor, own: bool) -> None:
            if get_ident() != thread or t._pending or self.launching or self.copying:
                return
            if own:
                keep = MASKS.keep & ~DispatchKey.Pipeline
                self.copying = True
                try:
                    before = with_masks(
                        MASKS.include, keep, without_gradients, dispatch, "clone", None, t
                    )
                finally:
                    self.copying = False
                t._own_storage()
                self.constants.append(Constant(t, before))
            else:
                self.shared.append(t)

        def unset(meta: AutogradMeta) -> None:
            if get_ident() == thread:
                self.unset.append(meta)

        def read(t: Tensor) -> None:
            meta = t._autograd
            if get_ident() == thread and (
                meta is None
                or (meta.grad is None and meta.is_leaf and not any(meta is m for m in self.unset))
            ):
                self.bare.append(t)

        def beside(what: str) -> None:
            if get_ident() == thread:
                self.beside.append(f"{what} at {location_of(*user_line(2))}")
            elif get_ident() not in others:
                self.beside.append(f"{what} in a thread that it has started")

        def moved() -> None:
            if get_ident() == thread:
                self.moved.append(f"{request()} at {location_of(*user_line(2))}")

        drawn, position = _positions_elsewhere(), _position()
        with self:
            BEFORE_POSITION.append(moved)
            BEFORE_LOOK.append(looked)
            BORN.append(born)
            GRADS_UNSET.append(unset)
            GRADS_READ.append(read)
            BESIDE.append(beside)
            try:
                return fn(*args, **kwargs)
            finally:
                BESIDE.remove(beside)
                GRADS_READ.remove(read)
                BEFORE_POSITION.remove(moved)
                BEFORE_LOOK.remove(looked)
                BORN.remove(born)
                GRADS_UNSET.remove(unset)
                now = _positions_elsewhere()
                self.returns_to_position = not self.moved or _position() == position
                self.others_draw = " and ".join(n for n, at in drawn.items() if now.get(n) != at)

    def refusal(self) -> str | None:
        """Why what was recorded cannot stand for the function; None where it can."""
        found, program = self.description, self.program
        stats = self.stats()
        looked = [w for w in stats["flush_lines"] if not w.startswith("end of block")]
        broken = [w.removeprefix("break: ") for w in looked if w.startswith("break: ")]
        broken += [
            why
            for why in stats["breaks"]
            if not why.endswith("()") and not any(w.startswith(why) for w in broken)
        ]
        if broken:
            return f"some of it cannot wait: {', '.join(dict.fromkeys(broken))}"
        if self.reentered:
            return f"{self.reentered[0]}() was called while it runs: it has one recording"
        if self.beside:
            return (
                f"some of it is not computed in its block: {', '.join(dict.fromkeys(self.beside))}"
            )
        looked += self.looks
        if self.others_draw:
            return (
                f"it draws random numbers of {self.others_draw}, which are other ones in each call"
            )
        draws = found is not None and any(e.op.draws for e in found.entries)
        if self.moved and (draws or self.launches > 1 or not self.returns_to_position):
            lines = ", ".join(dict.fromkeys(self.moved))
            return f"it asks for the position of a generator of random numbers, or sets it: {lines}"
        if looked or self.launches > 1:
            return f"it looks at values: {', '.join(dict.fromkeys(looked))}"
        if self.undescribable:
            return "an argument of one of its ops cannot be kept"
        if found is None or program is None:
            return None
        entries = found.entries
        devices = {e.op.device for e in entries} | {t.device.type for e in entries for t in e.outs}
        if len(devices) > 1:
            return f"its ops are on several devices: {', '.join(sorted(devices))}"
        shared = {id(memory_of(t)) for t in self.shared}
        for t, n in zip(found.inputs, program.inputs, strict=True):
            if program.values[n].memory in program.written and id(memory_of(t)) in shared:
                return "it writes to an array that it has made a tensor of: pass that tensor to it"
        return None


class _Captured:
    """A function that was captured.

    Attributes:
        step: its recording.
        last: the last recording of a function that changes what it reads, which is compared with the next.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn
        self._lock = fork_safe(threading.Lock())
        self._step: Step | None = None
        self._last: Step | None = None

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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        pipe = current_pipeline()
        if not self._lock.acquire(blocking=False):
            if not isinstance(pipe, _Recorder) or len(pipe.reentered) == _DEEPEST:
                raise CaptureError(f"{self._name}() was called while it runs: it has one recording")
            pipe.reentered.append(self._name)  # told of when the outer call has run
            return self._fn(*args, **kwargs)
        try:
            if isinstance(pipe, _Recorder):  # part of another function's recording
                return self._fn(*args, **kwargs)
            step = self._step
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
        step, is recorded by a later call: when it does what it did the last time.

        Raises:
            CaptureError: if it looked at a value, its ops are on several devices, or if it does something
                else in each call.
        """
        if current_pipeline() is not None:
            raise CaptureError(f"{self._name}() cannot be recorded inside a torch.pipeline()")
        pipe, settings = _Recorder(), Settings()
        around = Surroundings(self._fn, leaves)
        result = pipe.run(self._fn, args, kwargs)
        why = pipe.refusal()
        for i, value in enumerate(leaves):
            if why is None and is_array(value):
                why = f"argument {i} is an array, whose numbers may change: pass a tensor"
        for value in tree_leaves(result):
            if why is None and not (
                isinstance(value, Tensor)
                or is_fixed(value)
                or around.holds(value)
                or any(value is each for each in leaves)
            ):
                why = (
                    f"it returns an object of {type(value).__qualname__}, which would be the same one in "
                    f"each call: return tensors, in tuples, lists or dicts, or register the class with "
                    f"torch.utils._pytree.register_pytree_node()"
                )
        if why is None:
            changed, last = around.changes(), self._last
            around.forget_logs()
            if changed is not None:
                around = Surroundings(self._fn, leaves)
            same_around = changed is None
            step = Step(
                self._name, self._fn, leaves, spec, result, pipe.constants, around, settings
            )
            step.compute(pipe.description, pipe.program, pipe.unset, pipe.bare)
            self._last = None
            changed = changed or step.begins_grads()
            if last is not None and same_around and step.only_adds_to(last):
                step = last  # which is right with and without a grad that is there
                changed = None
            if changed is None or (last is not None and step.is_like(last)):
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


def _position() -> bytes:
    """Where the CPU's generator is."""
    return bytes(default_generator(concrete("cpu")).source.get_state())


def _positions_elsewhere() -> dict[str, Any]:
    """Where the generators of random numbers are that are not ours, where they are imported."""
    found: dict[str, Any] = {}
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random")
    if python is not None:
        found["Python"] = python.getstate()
    if numpy is not None:
        state = numpy.get_state(legacy=False)
        inner = state["state"]
        found["NumPy"] = repr(inner.get("pos")), bytes(inner["key"]), state["has_gauss"]
    return found
