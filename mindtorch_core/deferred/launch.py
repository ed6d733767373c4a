"""Launching recorded ops."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from ..dispatch.keys import ADINPLACE, AUTOGRAD, MASKS, DispatchKey, with_masks
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.errors import PipelineError
from .collected import Collected, Omitted
from .failures import FAILURES, PIPELINE, Failed, error_from, error_of, failure_in
from .owners import Owners, owners_of
from .planning import Part, backend_of, warn_of_plan
from .programs.checks import Unchecked
from .settling import move, settle
from .trace import (
    TENSORS,
    Batch,
    Entry,
    Step,
    StepFailed,
    StepStopped,
    Unsent,
    tensors_of,
)
from .unseen import held_outside

if TYPE_CHECKING:
    from .remaking.recorded import Remade
    from .replay.retold import Retold

__all__ = ["Launch", "recorded_by"]

# Keys that the ops which kernels call during a launch must not meet: all of it was seen already.
_HIDDEN: Final = int(
    AUTOGRAD | ADINPLACE | DispatchKey.Pipeline | DispatchKey.Python | DispatchKey.Inference
)

# How often a batch is asked to stop: an interrupt may end each of it, but a backend that does so never stops.
_PATIENCE: Final = 100


class Launch:
    """One launch of recorded ops, in program order, below Autograd and the pipeline itself.

    An op that fails does not stop those that do not depend on it. What was launched is let go at
    once, so that results that only later ops use do not outlive them. An interrupt (Ctrl-C, or any
    other exception that is no `Exception`) does stop it, at any instant; `finish` says what is left.

    Attributes:
        entries: the ops; None stands for one that nobody needs, or that was launched.
        first: the first failure.
        marked: memory that is no longer pending when all is done, as far as somebody still has it.
        under_way: positions of what is running, or has just run: nobody knows how far it came.
        running: whether it is running.
        retold: what has run before, and is settled by this launch.
        again: positions of the ops that make a value again.
    """

    retold: Retold | None = None
    again: frozenset[int] = frozenset()

    def __init__(self, entries: list[Entry | None]) -> None:
        self.entries = entries
        self.first: PipelineError | None = None
        self._any_failed = bool(FAILURES)
        self.marked: list[weakref.ref[Storage]] = []
        self._collected: list[Collected] = []  # ops whose kernels ran and that a batch may hold
        self.under_way: tuple[int, ...] = ()
        self.running = False
        self._donated = False  # whether what runs may have overwritten what it reads
        self._failures = 0  # of ops themselves, not of what depends on them
        self._early: set[int] = set()  # launched before their step, for one that had borrowed them
        # What steps gave no value for: storages, ops, and where those were recorded.
        self._omitted: list[Omitted] = []
        # Checks on data that are under way, and what depends on them.
        self._checks: list[tuple[Callable[[], bool], PipelineError, list[weakref.ref[Tensor]]]] = []

    def take(self, found: Remade) -> None:
        """Launch ops of which some make values again, in the place of those that there are."""
        self.entries[:] = found.entries
        self.again = found.again

    def run(self, parts: Sequence[Part]) -> None:
        """Launch all entries, each part in the way of its backend's plan if there is one."""
        with_masks(0, MASKS.keep & ~_HIDDEN, self._run, parts)

    def _run(self, parts: Sequence[Part]) -> None:
        for positions, plan, forgotten in parts:
            for i in forgotten:
                self._forgotten(i)
            if plan is not None and plan.batch is not None:
                with plan.batch.lock:
                    self._batch(plan.batch, positions)
            elif plan is None or plan.steps is None:
                entries = self.entries
                for i in positions:
                    if (entry := entries[i]) is not None:
                        self._one(i, entry)
                        entry = None
            else:
                steps = plan.steps
                for i, step in enumerate(steps):
                    if step is not None:
                        self._step(step)
                        steps[i] = step = None
        # What a plan still holds for other steps of its own would look as if somebody saw it.
        if self._omitted:
            self._check_omitted()

    def finish(self, interrupt: BaseException | None) -> None:
        """Say what has failed because an interrupt came while it ran; may be called again.

        What was running may run again if it only makes results, or nothing of it has reached the
        device. Elsewhere it has failed: whether it has written memory, and what else it did, nobody
        knows. So has what a batch did not send.

        Args:
            interrupt: what ended the launch; None if it came to its end.
        """
        under_way = [(i, e) for i in self.under_way if (e := self.entries[i]) is not None]
        if interrupt is not None:
            self._lose(0, interrupt)
            if self.running and (self._donated or not all(e.op.pure for _, e in under_way)):
                for _, entry in under_way:
                    self._failed(entry, interrupt)
                self.running = False
        if not self.running:
            for i, entry in under_way:
                self._mark(entry)
                self.entries[i] = None
        self.under_way = ()

    def settle_marked(self, waiting: set[int]) -> None:
        """Have memory pend no more, as far as somebody still has it.

        Args:
            waiting: ids of the memory that others are still to write.
        """
        for ref in self.marked:
            s = ref()
            if s is not None and s.pending.__class__ is not Failed and id(s) not in waiting:
                s.pending = None

    def announce_checks(self) -> None:
        """Have whoever uses a value whose check is under way wait for its answer."""
        while self._checks:
            passed, error, depending = self._checks[0]
            Unchecked(passed, error, [t for ref in depending if (t := ref()) is not None])
            del self._checks[0]

    def left_over(self) -> list[Entry]:
        """The ops that have neither run nor failed."""
        return [
            entry
            for entry in self.entries
            if entry is not None
            and not any(t._own_storage().pending.__class__ is Failed for t in entry.outs)
        ]

    def _mark(self, entry: Entry) -> None:
        """Remember which memory is no longer pending. It is marked so when all ops are done."""
        for t in entry.outs:
            s = t._storage
            # Not one that a kernel has made, nor one that a step has left out.
            if s is not None and s.pending is not None and s.memory is not None:
                self.marked.append(weakref.ref(s.root))

    # ---- one op --------------------------------------------------------------------------------

    def _one(self, i: int, entry: Entry) -> None:
        op, args, kwargs, outs = entry[:4]  # twice as fast as by name
        try:
            failed = failure_in(args, kwargs) if self._any_failed else None
            if failed is not None:
                self._fail(outs, failed)
            else:
                for t in (*args, *kwargs.values()) if kwargs else args:
                    if TENSORS[t.__class__]:
                        if t._payload is None:
                            _ready(t)
                    elif t.__class__ is list or t.__class__ is tuple:
                        for each in tensors_of(t):
                            if each._payload is None:
                                _ready(each)
                self.under_way = (i,)
                self.running = True
                result = op.impl(*args, **kwargs) if op.plan is None else op.plan(*args, **kwargs)()
                if len(outs) == 1 and result.__class__ is Tensor:  # as `settle`
                    t = outs[0]
                    if result is not t and (t._payload is None or op.writes or op.view):
                        move(t, result)
                else:
                    settle(op, outs, result)
        except Unsent as unsent:  # the kernel had to wait for what came before
            if not self._lose(unsent.position, unsent.cause):
                self._failed(entry, unsent.cause)
        except Exception as cause:  # noqa: BLE001 (whatever a kernel raises is reported)
            self._failed(entry, cause)
        self.running = False
        for t in outs:  # as `_mark`
            s = t._storage
            if s is not None and s.pending is not None:
                self.marked.append(weakref.ref(s.root))
        self.entries[i] = None

    def _failed(
        self, entry: Entry, cause: BaseException, others: int = 0, by: str = PIPELINE
    ) -> Failed:
        error = error_of(entry, cause, others, by)
        self._failures += 1
        self.first = self.first or error
        failed = Failed(error)
        self._fail(entry.outs, failed)
        return failed

    def _fail(self, outs: tuple[Tensor, ...], failed: Failed) -> None:
        self._any_failed = True
        for t in outs:
            s = t._own_storage()
            if s.pending.__class__ is not Failed:  # the first failure is the cause of the others
                s.pending = failed

    # ---- ops whose work is collected -----------------------------------------------------------

    def _batch(self, batch: Batch, positions: Sequence[int]) -> None:
        """Run all kernels while a batch collects what they launch, then send it.

        An entry's arguments go as soon as its kernel has run: what was collected is sent in the same
        order, so that memory may serve again before.
        """
        interrupt: BaseException | None = None
        refused: Exception | None = None
        try:
            try:
                batch.start()
            except Exception as error:  # noqa: BLE001 (whatever a backend raises is reported)
                refused = error
            else:
                self._collect(batch, positions)
        except BaseException as error:  # noqa: BLE001 (raised below, once the batch has stopped)
            interrupt = error
        for _ in range(_PATIENCE):
            try:
                if interrupt is not None and not isinstance(interrupt, Exception):
                    self._send(batch, interrupted=True)
                batch.stop()
                break
            except Exception as error:  # noqa: BLE001
                interrupt = interrupt or error
                break
            except BaseException as error:  # noqa: BLE001 (it is to stop all the same)
                interrupt = error
        if interrupt is not None:
            try:
                raise interrupt
            finally:
                del interrupt
        if refused is not None:
            device = ""
            for i in positions:
                if (entry := self.entries[i]) is not None:
                    device = entry.op.device
                    self._one(i, entry)
                    entry = None
            warn_of_plan(device, refused)

    def _collect(self, batch: Batch, positions: Sequence[int]) -> None:
        """Run kernels and send what they launch."""
        for i in positions:
            if (entry := self.entries[i]) is not None:
                batch.position = i
                self._collected.append(Collected(i, entry))
                self._one(i, entry)
                entry = None
        self._send(batch)

    def _send(self, batch: Batch, *, interrupted: bool = False) -> None:
        """Send what a batch holds; of a kernel that an interrupt has ended, nothing."""
        try:
            if interrupted and self.running and batch.forget():
                self.under_way = ()
                self.running = False
            batch.send()
        except Unsent as unsent:
            self._lose(unsent.position, unsent.cause)
        except Exception as cause:  # noqa: BLE001 (whatever a backend raises is reported)
            self._lose(0, cause)
        self._collected.clear()

    def _lose(self, position: int, cause: BaseException) -> bool:
        """Mark what a batch did not send as failed: everything collected from a position on.

        Returns:
            Whether something was collected.
        """
        if not self._collected:
            return False
        if self._collected[-1].position < position:  # which says nothing of what was sent
            position = 0
        lost = [c for c in self._collected if c.position >= position]
        error = lost[0].error(cause)
        self.first = self.first or error
        failed = Failed(error)
        for collected in lost:
            self._fail(collected.results(), failed)
        self._collected = [c for c in self._collected if c.position < position]
        return True

    # ---- several ops at once -------------------------------------------------------------------

    def _forgotten(self, i: int) -> None:
        """Mark an op as failed that its backend's plan covers with no step."""
        entry = self.entries[i]
        if entry is not None:
            who = backend_of(entry.op.device)
            self._failed(entry, RuntimeError(f"the plan of {who} has no step for it"))
            self.entries[i] = None

    def _step(self, step: Step) -> None:
        present = [i for i in step.entries if self.entries[i] is not None]
        entries = [e for i in present if (e := self.entries[i]) is not None]
        failures, raised = self._failures, None
        whole = self._early.isdisjoint(step.entries)
        if entries and whole and step.compute is not None and self._computable(step, entries):
            raised = self._compute(step, entries, step.compute)
            self.running = self._donated = False
            if raised is None:
                for i, entry in zip(present, entries, strict=True):
                    self._mark(entry)
                    self.entries[i] = None
                return
        self._early.update(step.borrowed)
        for i in sorted((*present, *step.borrowed)) if step.borrowed else present:
            if (left := self.entries[i]) is not None:
                self._one(i, left)
        if raised is not None and self._failures == failures:
            warn_of_plan(entries[0].op.device, raised)

    def _computable(self, step: Step, own: list[Entry]) -> bool:
        """Whether a step's operands are there, but for those that it makes itself."""
        entries = [*own, *(e for i in step.borrowed if (e := self.entries[i]) is not None)]
        if self._any_failed and any(failure_in(e.args, e.kwargs) is not None for e in entries):
            return False
        made = {id(t) for e in entries for t in e.outs}
        for entry in entries:
            for t in tensors_of((*entry.args, *entry.kwargs.values())):
                if t._payload is None and id(t) not in made and not _filled(t):
                    return False  # another tensor over memory that the step makes
        return True

    def _compute(
        self, step: Step, entries: list[Entry], compute: Callable[[], Sequence[Any]]
    ) -> Exception | None:
        """Compute a step and settle its results.

        Returns:
            What it raised if nothing is lost by that: its entries are to be launched one by one.
        """
        who = f"the plan of {backend_of(entries[0].op.device)}"
        try:
            self._donated = getattr(compute, "donated", False)
            self.under_way = step.entries
            self.running = True
            given: Any = compute()
            if isinstance(given, Tensor) or not hasattr(given, "__iter__"):
                gave = "None" if given is None else f"an object of {type(given).__qualname__}"
                raise TypeError(f"{who} gave {gave} for the results of a step")
            results = list(given)
            if len(results) > len(entries):
                raise RuntimeError(f"{who} gave {len(results)} results for {len(entries)} entries")
        except StepStopped as stopped:
            return self._stopped(step, stopped, who)
        except Exception as error:  # noqa: BLE001 (whatever a backend raises is reported)
            pure = all(e.op.pure for e in entries) and not self._donated
            at, cause = None, error
            if isinstance(error, StepFailed):
                at, cause = step.position(error.entry, self.entries), error.cause
            named = None if at is None else self.entries[at]
            failed = None if named is None else self._failed(named, cause)
            if not pure:  # what the step has written, nobody knows
                for entry in entries:
                    if failed is None:
                        self._failed(entry, cause, len(entries) - 1, who)
                    else:
                        self._fail(entry.outs, failed)
                return None
            if at is not None and named is not None:
                self._mark(named)
                self.entries[at] = None
            return cause
        owners = owners_of(compute, entries)
        for i, entry in enumerate(entries):
            try:
                if i >= len(results):
                    gave = f"{len(results)} results for the {len(entries)} entries of a step"
                    raise RuntimeError(f"{who} gave {gave}, none for this one")
                self._settle(entry, results[i], who, owners)
            except Exception as cause:  # noqa: BLE001
                self._failed(entry, cause)
        for at, check, depending in getattr(compute, "checks", ()):
            if (named := self.entries[at]) is not None:
                told = error_of(named, check.error)
                self._checks.append((check.passed, told, [*map(weakref.ref, depending)]))
        return None

    def _stopped(self, step: Step, stopped: StepStopped, who: str) -> Exception | None:
        """Settle what a step had computed when it stopped; the rest is launched one by one."""
        present = [i for i in step.entries if self.entries[i] is not None]
        done, rest = present[: stopped.count], present[stopped.count :]
        owners = owners_of(step.compute, [e for i in done if (e := self.entries[i]) is not None])
        for i, result in zip(done, stopped.results, strict=True):
            if (entry := self.entries[i]) is not None and i not in stopped.again:
                try:
                    self._settle(entry, result, who, owners)
                except Exception as cause:  # noqa: BLE001 (nothing else is lost by it)
                    self._failed(entry, cause)
                self._mark(entry)
                self.entries[i] = None
        under_way = rest[: stopped.under_way]
        self.under_way = tuple(under_way)
        if not isinstance(stopped.cause, Exception):
            raise stopped.cause
        for i in under_way:
            if (entry := self.entries[i]) is not None:
                self._failed(entry, stopped.cause)
                self.entries[i] = None
        return stopped.cause

    def _settle(self, entry: Entry, result: Any, who: str, owners: Owners | None) -> None:
        """Settle what a step gave for an entry, and note what it left out."""
        op, outs = entry.op, entry.outs
        if owners is not None:
            result = owners.accept(entry, result, who)
        if result is not None:
            settle(op, outs, result, who)
            if owners is not None:
                owners.hand_out(outs)
        for t in outs:
            s = t._storage
            if t._payload is not None or s is None:
                continue
            if s.memory is not None:  # a view of what the step has made
                t._fill(s)
            else:
                where = entry.code, entry.instruction
                self._omitted.append(Omitted(op, where, weakref.ref(t), weakref.ref(s)))

    def _check_omitted(self) -> None:
        """Mark results as failed that steps have left out though somebody can see them.

        What only entries hold, which a plan may have kept, is marked too, but is no failure.
        """
        for op, where, tensor, storage in self._omitted:
            t, s = tensor(), storage()
            if s is None or s.memory is not None or s.pending.__class__ is Failed:
                continue
            who = f"the plan of {backend_of(op.device)}"
            cause = RuntimeError(f"{who} left out a result that somebody can see")
            error = error_from(op, None, where, cause)
            s.pending = Failed(error)
            if t is not None and held_outside(t):
                self.first = self.first or error
        self._omitted.clear()


def _filled(t: Tensor) -> bool:
    """Give a tensor its payload if its memory is there now; whether it needs none or has it."""
    s = t._storage
    if s is None:
        return True
    t._fill(s)  # the payload may be None
    return s.memory is not None or s.pending is None


def _ready(t: Tensor) -> None:
    """Give an operand its payload, if it was made while its memory was pending.

    Raises:
        RuntimeError: if its memory was not made.
    """
    if not _filled(t):
        raise RuntimeError(
            f"an operand has no value yet: the plan of {backend_of(t._device.type)} launches this op before "
            f"the one that makes it, or has left that out"
        )


def recorded_by(frame: FrameType) -> tuple[CodeType, int] | None:
    """Where the op was recorded that a frame of this module launches; None if it launches none."""
    entry = frame.f_locals.get("entry") if frame.f_code is Launch._one.__code__ else None
    return None if entry is None else (entry.code, entry.instruction)
