"""Launching recorded ops and settling their results."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ...errors import PipelineError
from ...shapes import contiguous_strides, numel, show
from ...storage import Storage, held_once
from ...tensor import Tensor
from ..keys import AUTOGRAD, MASKS, DispatchKey, set_masks
from .trace import Batch, Entry, Plan, RecordedOp, Step, Unsent, location_of, tensors_of

__all__ = ["Failed", "Launch", "drop_dead"]

_getrefcount = sys.getrefcount
# Keys that the ops which kernels call during a launch must not meet: all of it was seen already.
_HIDDEN = int(AUTOGRAD | DispatchKey.Pipeline | DispatchKey.Python)


class Failed:
    """Stands in a storage's ``pending`` for a value that could not be computed."""

    __slots__ = ("error",)

    def __init__(self, error: PipelineError) -> None:
        self.error = error

    def flush(self) -> None:
        """Raise the error that prevented the value."""
        raise PipelineError(str(self.error), op=self.error.op, location=self.error.location) from (
            self.error.__cause__
        )

    def flush_because(self, reason: str) -> None:
        """The same, for whoever asks a pipeline with a reason."""
        self.flush()


class Launch:
    """One launch of recorded ops, in program order, below Autograd and the pipeline itself.

    An op that fails does not stop those that do not depend on it. What was launched is let go at
    once, so that results that only later ops use do not outlive them.

    Attributes:
        entries: the ops; None stands for one that nobody needs, or that was launched.
        first: the first failure.
    """

    def __init__(self, entries: list[Entry | None]) -> None:
        self.entries = entries
        self.first: PipelineError | None = None
        self._any_failed = False
        self._marked: list[Storage] = []  # memory to be marked as no longer pending at the end
        self._collected: list[_Collected] = []  # ops whose kernels ran and that a batch may hold

    def run(self, plan: Plan | None = None) -> None:
        """Launch all entries, in the way of a backend's plan if there is one.

        Raises:
            PipelineError: from the first failure, at the end.
        """
        kept = (MASKS.include, MASKS.keep)
        set_masks(0, kept[1] & ~_HIDDEN)
        entries = self.entries
        steps, batch = (None, None) if plan is None else (plan.steps, plan.batch)
        try:
            if batch is not None:
                self._batch(batch)
            elif steps is None:
                for i, entry in enumerate(entries):
                    if entry is not None:
                        self._one(entry)
                        self._launched(entry)
                        entries[i] = entry = None
            else:
                for i, step in enumerate(steps):
                    if step is not None:
                        self._step(step)
                        steps[i] = None
        finally:
            self._collected.clear()
            for entry in entries:  # left over where an interrupt came between
                if entry is not None:
                    self._launched(entry)
            for s in self._marked:
                if s.pending.__class__ is not Failed:
                    s.pending = None
            set_masks(*kept)
        if self.first is not None:
            raise self.first

    def _launched(self, entry: Entry) -> None:
        """Remember which memory is no longer pending. It is marked so when all ops are done."""
        for t in entry[3]:
            s = t._storage
            if s is not None and s.pending is not None:  # not one that a kernel has made
                self._marked.append(s)

    # ---- one op --------------------------------------------------------------------------------

    def _one(self, entry: Entry) -> None:
        op, args, kwargs, outs = entry[:4]
        try:
            if self._any_failed:
                inherited = _inherited(args, kwargs)
                if inherited is not None:
                    self._fail(outs, inherited)
                    return
            for t in args:
                if t.__class__ is Tensor:
                    if t._data is None:
                        _ready(t)
                elif t.__class__ is list or t.__class__ is tuple:
                    for each in tensors_of(t):
                        _ready(each)
            result = op.impl(*args, **kwargs) if op.plan is None else op.plan(*args, **kwargs)()
            settle(outs, result)
        except Unsent as unsent:  # the kernel had to wait for what came before
            self._fail(outs, self._unsent(unsent))
        except Exception as cause:  # noqa: BLE001 (whatever a kernel raises is reported)
            self._failed(entry, cause)

    def _failed(self, entry: Entry, cause: Exception) -> None:
        error = _error(entry, cause)
        error.__cause__ = cause
        self.first = self.first or error
        self._fail(entry[3], error)

    def _fail(self, outs: tuple[Tensor, ...], error: PipelineError) -> None:
        self._any_failed = True
        for t in outs:
            t._own_storage().pending = Failed(error)

    # ---- ops whose work is collected -----------------------------------------------------------

    def _batch(self, batch: Batch) -> None:
        """Run all kernels while a batch collects what they launch, then send it.

        An entry's arguments go as soon as its kernel has run: what was collected is sent in the same
        order, so that memory may serve again before.
        """
        entries = self.entries
        batch.start()
        try:
            for i, entry in enumerate(entries):
                if entry is not None:
                    batch.position = i
                    self._one(entry)
                    self._launched(entry)
                    self._collected.append(_Collected(i, entry))
                    entries[i] = entry = None
            try:
                batch.send()
            except Unsent as unsent:
                self._unsent(unsent)
        finally:
            batch.stop()

    def _unsent(self, unsent: Unsent) -> PipelineError:
        """Mark what a batch did not send as failed."""
        lost = [c for c in self._collected if c.position >= unsent.position]
        cause = unsent.cause
        error = lost[0].error(cause)
        error.__cause__ = cause
        self.first = self.first or error
        for collected in lost:
            self._fail(collected.results(), error)
        self._collected = [c for c in self._collected if c.position < unsent.position]
        return error

    # ---- several ops at once -------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        entries = [e for i in step.entries if (e := self.entries[i]) is not None]
        try:
            self._several(step, entries)
        finally:
            for i, entry in zip(step.entries, entries, strict=True):
                self._launched(entry)
                self.entries[i] = None

    def _several(self, step: Step, entries: list[Entry]) -> None:
        compute = step.compute
        if compute is None or (
            self._any_failed and any(_inherited(e[1], e[2]) is not None for e in entries)
        ):
            for entry in entries:
                self._one(entry)
            return
        try:
            for entry in entries:
                for t in tensors_of(entry[1]):
                    if t._data is None and not _made_by(t, entries):
                        _ready(t)
            results = compute()
        except Exception as cause:  # noqa: BLE001
            for entry in entries:
                self._failed(entry, cause)
            return
        for entry, result in zip(entries, results, strict=True):
            if result is not None:
                settle(entry[3], result)


class _Collected:
    """An op that a batch may hold: what an error says of it, and its results that are still alive."""

    __slots__ = ("_inputs", "_op", "_results", "_where", "position")

    def __init__(self, position: int, entry: Entry) -> None:
        op, args, kwargs, outs, *where = entry
        self.position = position
        self._op = op
        self._where = where
        self._results = [weakref.ref(t) for t in outs]
        operands = tensors_of((*args, *kwargs.values())) if kwargs else tensors_of(args)
        self._inputs = [(t._shape, t._dtype) for t in operands]

    def results(self) -> tuple[Tensor, ...]:
        """The results that somebody still holds."""
        return tuple(t for ref in self._results if (t := ref()) is not None)

    def error(self, cause: Exception) -> PipelineError:
        """What is said if it could not be sent."""
        return _error_of(self._op, self._inputs, self._where, cause)


def _made_by(t: Tensor, entries: list[Entry]) -> bool:
    return any(t is out for e in entries for out in e[3])


def _inherited(args: tuple[Any, ...], kwargs: dict[str, Any]) -> PipelineError | None:
    """The failure of an op that this one depends on."""
    for t in tensors_of((*args, *kwargs.values())):
        s = t._storage
        if s is not None and isinstance(s.pending, Failed):
            return s.pending.error
    return None


def _ready(t: Tensor) -> None:
    """Give a tensor its payload, if it was made while its memory was pending."""
    if t._data is None and t._storage is not None:
        t._fill(t._storage)


# ---- settling ----------------------------------------------------------------------------------


def settle(outs: tuple[Tensor, ...], result: Any) -> None:
    """Move results into the tensors that were handed out for them."""
    if len(outs) == 1 and result.__class__ is Tensor:
        if result is not outs[0]:
            _move(outs[0], result)
        return
    results = result if isinstance(result, tuple | list) else (result,)
    if len(results) != len(outs):
        results = [r for r in results if r is not None]
    for t, r in zip(outs, results, strict=True):
        if r is not t:
            _move(t, r)


def _move(t: Tensor, r: Any) -> None:
    shape = t._shape
    if not isinstance(r, Tensor) or r._shape != shape or r._dtype is not t._dtype:
        gave = f"{show(r._shape)} {r._dtype}" if isinstance(r, Tensor) else repr(r)
        raise RuntimeError(
            f"the kernel gave {gave} where its meta function had said {show(shape)} {t._dtype}"
        )
    s = t._storage
    if s is None or s.memory is not None:  # a view, over memory that is there
        t._data = r._data
        return
    if len(shape) > 1:
        strides = contiguous_strides(shape) if t._layout is None else t._layout[0]
        if r._geometry() != (strides, 0) and numel(shape):
            from ...operators.define import fn

            r = fn.empty_strided(shape, strides, dtype=t._dtype, device=t._device).copy_(r)
    t._data = r._data
    if not s.version and held_once(t, 1):
        # Nobody shares the storage that was handed out; the result may have none at all.
        own_storage = t._storage = r._storage
        if own_storage is not None:
            own_storage.version = 0
        return
    own = r._own_storage()
    s.memory, s.size_bytes = own.memory, own.size_bytes


# ---- what nobody needs -------------------------------------------------------------------------


def drop_dead(entries: list[Entry | None]) -> int:
    """Replace entries whose results nobody can see any more by None; returns how many.

    From the last to the first: without an entry its arguments may have no other user either. A
    result is dead if only the entry refers to it, and only the result to its storage (a node of
    autograd may have saved the storage, or a view share it).
    """
    dropped = 0
    for i in range(len(entries) - 1, -1, -1):
        entry = entries[i]
        if entry is not None and entry[0].pure and _dead(entry[3]):
            entries[i] = None
            dropped += 1
        del entry
    return dropped


def _dead(outs: tuple[Tensor, ...]) -> bool:
    for t in outs:
        if _getrefcount(t) > _UNSEEN:
            return False
        s = t._storage
        if s is None or s.memory is not None or not held_once(t, 1):
            return False
    return True


def _references_of_an_unseen_result() -> int:
    """What `sys.getrefcount` says in `_dead` of a tensor that only its entry holds."""

    def probe(outs: tuple[Any, ...]) -> int:
        for t in outs:
            return _getrefcount(t)
        return 0

    return probe((Storage.__new__(Storage),))


_UNSEEN = _references_of_an_unseen_result()


def _error(entry: Entry, cause: Exception) -> PipelineError:
    op, args, kwargs, _, *where = entry
    operands = [(t._shape, t._dtype) for t in tensors_of((*args, *kwargs.values()))]
    return _error_of(op, operands, where, cause)


def _error_of(
    op: RecordedOp, operands: list[tuple[Any, Any]], where: list[Any], cause: Exception
) -> PipelineError:
    location = location_of(*where)
    inputs = ", ".join(f"{show(shape)} {d}" for shape, d in operands)
    return PipelineError(
        f"{op.name} failed when the pipeline launched it: {type(cause).__name__}: {cause}\n"
        f"  recorded at: {location}\n"
        f"  inputs: {inputs or 'none'}",
        op=op.name,
        location=location,
    )
