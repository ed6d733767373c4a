"""`torch.pipeline.capture`: a step that is recorded once and then computed without its Python code."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from ..deferred import Pipeline, StepFailed, current_pipeline
from ..deferred.failures import error_from
from ..deferred.programs.checks import Checked
from ..deferred.programs.describing import Description, Undescribable
from ..deferred.programs.payloads import as_tensor
from ..deferred.programs.planned import compiled_program
from ..deferred.programs.program import Halted, Number, Program, Ref, Value
from ..deferred.replay.following import same
from ..deferred.replay.known import partition
from ..deferred.replay.replaying import computed
from ..dispatch.dispatcher import dispatch
from ..dispatch.keys import AUTOGRAD
from ..dispatch.masks import without_gradients
from ..tensors.making import make_view
from ..tensors.tensor import Tensor
from ..utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten
from ..values.forks import fork_safe
from ..values.shapes import show

__all__ = ["CaptureError", "capture"]


class CaptureError(RuntimeError):
    """A captured function was called in a way that its recording does not stand for.

    Attributes:
        result: what the call has returned, where it was run as it is: its results are right.
    """

    def __init__(self, text: str, result: Any = None) -> None:
        super().__init__(text)
        self.result = result


def capture(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Record what a function does in its first call, and only compute that in later ones.

    For steps whose control flow is fixed: it must not look at values, and everything that changes from
    call to call is an argument or a tensor that is changed in place. Its Python code runs once. Numbers
    that it computes with, the learning rate of an optimizer for instance, are part of the recording.
    What the function has put somewhere, such as a ``grad``, is filled anew by each call; what it
    returns is new, and has no history.

    Args:
        fn: the function. Forward pass, backward pass and update may all be in it.

    Returns:
        A function with the same arguments. It has ``reset()``, after which the next call records anew.

    Raises:
        CaptureError: by a call, before anything is computed, if arguments have other shapes, dtypes,
            devices or strides than those that were recorded, or are other values; if it is called while
            it runs. By the first call, after it was run as it is, if it looked at a value.

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
    return functools.wraps(fn)(_Captured(fn))


class _Recorder(Pipeline):
    """A pipeline that remembers the only launch of its block."""

    def __init__(self) -> None:
        super().__init__(max_ops=1 << 40, max_bytes=1 << 62, through_backward=True)
        self.launches = 0
        self.description: Description | None = None
        self.program: Program | None = None
        self.undescribable = False

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


class _Captured:
    """A function that was captured."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn
        self._lock = fork_safe(threading.Lock())
        self._step: _Step | None = None

    def reset(self) -> None:
        """Forget the recording: the next call makes a new one."""
        self._step = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._lock.acquire(blocking=False):
            raise CaptureError(f"{self._name}() was called while it runs: it has one recording")
        try:
            leaves, spec = tree_flatten((args, kwargs))
            if self._step is None:
                return self._record(leaves, spec, args, kwargs)
            if current_pipeline() is not None:
                raise CaptureError(
                    f"{self._name}() was captured, so it cannot be part of a torch.pipeline()"
                )
            return self._step(leaves, spec)
        finally:
            self._lock.release()

    @property
    def _name(self) -> str:
        return getattr(self._fn, "__qualname__", repr(self._fn))

    def _record(
        self, leaves: list[Any], spec: TreeSpec, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function as it is, and remember what it did.

        Raises:
            CaptureError: if it looked at a value, or its ops are on several devices.
        """
        if current_pipeline() is not None:
            raise CaptureError(f"{self._name}() cannot be recorded inside a torch.pipeline()")
        pipe = _Recorder()
        with pipe:
            result = self._fn(*args, **kwargs)
        found = pipe.description
        stats = pipe.stats()
        looked = [w for w in stats["flush_lines"] if not w.startswith("end of block")]
        looked += [why for why in stats["breaks"] if not why.endswith("()")]
        entries = [] if found is None else found.entries
        devices = {e.op.device for e in entries} | {t.device.type for e in entries for t in e.outs}
        if looked or pipe.launches > 1:
            why = f"it looks at values: {', '.join(looked)}"
        elif pipe.undescribable:
            why = "an argument of one of its ops cannot be kept"
        elif len(devices) > 1:
            why = f"its ops are on several devices: {', '.join(sorted(devices))}"
        else:
            step = _Step(self._name, self._fn, leaves, spec, result)
            if found is not None and pipe.program is not None:
                step.compute(found, pipe.program, leaves)
            self._step = step
            return result
        raise CaptureError(
            f"{self._name}() cannot be captured, since {why}. This call was run as it is; its result is "
            f"the attribute `result` of this error",
            result,
        )


class _Step:
    """A recording.

    Args:
        name, fn: of the function, for errors.
        leaves, spec: its arguments.
        result: what it returned.
    """

    def __init__(
        self,
        name: str,
        fn: Callable[..., Any],
        leaves: list[Any],
        spec: TreeSpec,
        result: Any,
    ) -> None:
        self._name, self._fn = name, fn
        self._leaves = [_guard(t) if isinstance(t, Tensor) else t for t in leaves]
        self._spec = spec
        results, self._result_spec = tree_flatten(result)
        self._constants = results
        self._program: Program | None = None

    def compute(self, found: Description, program: Program, leaves: list[Any]) -> None:
        """Compute ops in each call.

        Args:
            found: the ops.
            program: the same.
            leaves: the arguments of the call that was recorded.
        """
        results = self._constants
        kept = compiled_program(program)
        self._program = program
        self._executable = kept.executable or partial(_one_by_one, program)
        self._numbers = found.numbers
        self._looks: list[tuple[Any, ...]] = []
        # By input: which argument it is, or the tensor itself, and what it has to be like.
        at = {id(t): i for i, t in enumerate(leaves) if isinstance(t, Tensor)}
        self._inputs = [at.get(id(t), t) for t in found.inputs]
        self._guards = [_guard(t) for t in found.inputs]
        written = program.written
        self._written = [
            i for i, n in enumerate(program.inputs) if program.values[n].memory in written
        ]
        self._sharing = partition(found.inputs) if self._written else None
        numbers = [found.number_of.get(id(t)) if isinstance(t, Tensor) else None for t in results]
        memories = {program.values[n].memory: i for i, n in enumerate(program.outputs)}
        # By result: how to make it of an output; None for what is returned as it was.
        self._returned = [
            None if n is None or (m := program.values[n].memory) not in memories
            else (memories[m], program.values[n])
            for n in numbers
        ]  # fmt: skip
        self._arguments = {i: at[id(t)] for i, t in enumerate(results) if id(t) in at}
        given = {id(t) for t in results}
        self._kept = [
            (i, weakref.ref(t)) for i, t in enumerate(found.outputs) if id(t) not in given
        ]
        self._constants = [
            None if r is not None else t for r, t in zip(self._returned, results, strict=True)
        ]

    def __call__(self, leaves: list[Any], spec: TreeSpec) -> Any:
        """Compute what was recorded, of other arguments."""
        self._check(leaves, spec)
        program = self._program
        if program is None:
            return tree_unflatten(self._constants, self._result_spec)
        inputs: list[Tensor] = [leaves[t] if isinstance(t, int) else t for t in self._inputs]
        looks = [(t._data, t._storage, t._shape, t._layout, t._keys) for t in inputs]
        if not self._as_before(looks):
            self._check_inputs(inputs)
            self._looks = [(t._data, t._storage, t._shape, t._layout, t._keys) for t in inputs]
        outputs = self._compute(program, inputs)
        for i in self._written:
            inputs[i]._own_storage().version += 1
        if self._kept:
            without_gradients(self._fill_kept, outputs)
        results = []
        for at, (made, constant) in enumerate(zip(self._returned, self._constants, strict=True)):
            if made is not None:
                results.append(_shown_as(outputs[made[0]], made[1]))
            elif at in self._arguments:
                results.append(leaves[self._arguments[at]])
            else:
                results.append(constant)
        return tree_unflatten(results, self._result_spec)

    def _as_before(self, looks: list[tuple[Any, ...]]) -> bool:
        """Whether what the call reads and writes are the very objects that the last one did."""
        return all(
            a[0] is b[0] is not None and a[1] is b[1] and a[2] is b[2] and a[3] is b[3] and a[4] == b[4]
            for a, b in zip(looks, self._looks, strict=False)
        ) and len(looks) == len(self._looks)  # fmt: skip

    def _check_inputs(self, inputs: list[Tensor]) -> None:
        """Check what the function uses besides its arguments, and who shares memory."""
        for i, (t, guard) in enumerate(zip(inputs, self._guards, strict=True)):
            if t._pending or t._data is None:
                t._settled()
            if not isinstance(self._inputs[i], int) and _guard(t) != guard:
                raise CaptureError(
                    f"{self._name}(): a tensor that it used was {_shown(guard)} when it was captured, "
                    f"and is {_shown(_guard(t))} now"
                )
        if self._sharing is not None and partition(inputs) != self._sharing:
            raise CaptureError(
                f"{self._name}(): other tensors share memory than when it was captured, and it writes "
                f"to some of them"
            )

    def _fill_kept(self, outputs: list[Tensor]) -> None:
        """Fill anew what the function has put somewhere."""
        for i, ref in self._kept:
            if (kept := ref()) is not None:
                dispatch("copy_", None, kept, outputs[i])

    def _check(self, leaves: list[Any], spec: TreeSpec) -> None:
        if spec != self._spec:
            raise CaptureError(
                f"{self._name}(): the arguments are other ones than when it was captured: {spec} "
                f"instead of {self._spec}"
            )
        for i, (value, wanted) in enumerate(zip(leaves, self._leaves, strict=True)):
            if isinstance(value, Tensor):
                if (found := _guard(value)) != wanted:
                    was = _shown(wanted) if wanted.__class__ is tuple else repr(wanted)
                    raise CaptureError(
                        f"{self._name}(): {self._argument(i)} was {was} when it was captured, and is "
                        f"{_shown(found)} now; reset() captures anew"
                    )
            elif not same(value, wanted):
                was = _shown(wanted) if wanted.__class__ is tuple else repr(wanted)
                raise CaptureError(
                    f"{self._name}(): {self._argument(i)} was {was} when it was captured, and is "
                    f"{value!r} now; reset() captures anew"
                )

    def _argument(self, leaf: int) -> str:
        """How an error names an argument."""
        placeholders = tree_unflatten(list(range(self._spec.num_leaves)), self._spec)
        args, kwargs = placeholders
        try:
            given = inspect.signature(self._fn).bind(*args, **kwargs).arguments
        except (TypeError, ValueError):
            return f"argument {leaf}"
        for name, value in given.items():
            if leaf in tree_leaves(value):
                return f"argument {name!r}"
        return f"argument {leaf}"

    def _compute(self, program: Program, inputs: list[Any]) -> list[Tensor]:
        """The outputs, as tensors."""
        try:
            found = computed(self._executable, inputs, self._numbers)
            if isinstance(found, Checked):
                for check in found.checks:
                    if not check.passed():
                        raise StepFailed(check.instruction, check.error)
                found = found.outputs
        except Halted as halted:
            at, cause = program.instructions[halted.instruction], halted.cause
            if not isinstance(cause, Exception):
                raise cause from None
            raise error_from(at.op, None, at.location, cause) from cause
        except StepFailed as failed:
            where = failed.entry
            if not isinstance(where, int):  # executables know no entries
                raise
            at = program.instructions[where]
            raise error_from(at.op, None, at.location, failed.cause) from failed.cause
        values = [program.values[n] for n in program.outputs]
        return [
            as_tensor(t, v.shape, v.dtype, v.device, (v.strides, v.offset))
            for t, v in zip(found, values, strict=True)
        ]


def _one_by_one(program: Program, inputs: list[Any], numbers: list[Any]) -> list[Any]:
    """Compute a program that its backend does not compile: in a pipeline, whose plan is kept."""
    values: dict[int, Any] = dict(zip(program.inputs, inputs, strict=True))

    def given(v: Any) -> Any:
        if isinstance(v, Ref):
            return values[v]
        if isinstance(v, Number):
            return numbers[v]
        return type(v)([given(each) for each in v]) if isinstance(v, list | tuple) else v

    with Pipeline():
        for each in program.instructions:
            kwargs = {k: given(v) for k, v in each.kwargs.items()}
            made = dispatch(each.op.name, None, *map(given, each.args), **kwargs)
            if each.op.writes:
                continue
            several = made if isinstance(made, tuple | list) else (made,)
            if len(several) != len(each.outs):
                several = [t for t in several if t is not None]
            values.update((n, t) for n, t in zip(each.outs, several, strict=True) if n is not None)
        del made, several
        dead = values.keys() - {*program.outputs}
        for n in dead:
            del values[n]
    return [values[n] for n in program.outputs]


def _guard(t: Tensor) -> tuple[Any, ...]:
    """What a tensor has to be like."""
    return t._shape, t._dtype, t._device, t._geometry()[0], bool(t._keys & AUTOGRAD)


def _shown(guard: tuple[Any, ...]) -> str:
    shape, dtype, device, strides, grad = guard
    text = f"{show(shape)} {dtype} on {device} with strides {strides}"
    return f"{text}, requiring grad," if grad else text


def _shown_as(t: Tensor, value: Value) -> Tensor:
    """An output, or the view of it that the function returned."""
    if (
        t._shape == value.shape
        and t._dtype is value.dtype
        and t._geometry() == (value.strides, value.offset)
    ):
        return t
    return make_view(t, value.shape, value.strides, value.offset, value.dtype)
