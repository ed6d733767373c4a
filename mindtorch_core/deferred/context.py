"""Pipelines and the stack of open ones in each thread."""

from __future__ import annotations

import os
import sys
import time
import weakref
from _thread import RLock  # what `threading.RLock()` makes, behind a function of Python's
from collections.abc import Sequence
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final

from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.errors import PipelineError
from .blocks import (
    RESUMED,
    STACK,
    Block,
    End,
    Exit,
    block_of,
    current_pipeline,
    flush_current,
    resume_all,
)  # fmt: skip
from .bounds import check_bound, size_of
from .demand import Claim, claim_key, release_key
from .dependence import bound_to_order, divided, memory_of, needed_for
from .failures import Failed
from .frames import request
from .launch import Launch
from .observers import BESIDE, PICTURES, TRACING
from .planning import plan_parts
from .remaking.recorded import make_again
from .replay.known import END, NOTHING
from .replay.replaying import Replaying
from .replay.sites import SITES, site_here
from .shown import html_of, text_of
from .trace import Entry
from .unseen import drop_dead

if TYPE_CHECKING:
    from .pictures.graph import Graph

__all__ = ["MAX_BYTES", "MAX_OPS", "USED_ELSEWHERE", "Pipeline"]

MAX_OPS: Final = 100_000
MAX_BYTES: Final = 4 << 30
# Why a pipeline flushes when an op in another one takes its results, or may write what its ops read.
USED_ELSEWHERE: Final = "another pipeline"
END_OF_BLOCK: Final = "end of block"
_getframe: Final = sys._getframe


class Pipeline(Replaying):
    """Ops recorded in one ``with torch.pipeline():`` block.

    Attributes:
        max_ops: number of recorded ops at which it flushes by itself.
        max_bytes: size of the recorded results, in bytes, at which it flushes by itself.
        nbytes: size of the results recorded since the last flush.
        through_backward: whether `backward()` and `grad()` are recorded as well, instead of flushing.
        captures: whether what is recorded is all that later calls of a captured function do.
        observer: what follows it, if it is traced.
        announced: what ends the block that is entered next.
        end: what ends the next block, where that is there already.
        launching: whether its ops are just being run.
    """

    __slots__ = (
        "__weakref__", "_blocks", "_stack", "_thread", "announced", "claim", "end", "launching",
        "max_bytes", "max_ops", "observer",
    )  # fmt: skip
    captures = False

    def __init__(
        self,
        max_ops: int = MAX_OPS,
        max_bytes: int = MAX_BYTES,
        trace: bool = False,
        *,
        through_backward: bool = False,
    ) -> None:
        super().__init__()
        self.announced: weakref.ref[End] | None = None
        self.end: End | None = None
        self.claim: Claim | None = None  # while blocks are open, or ops are left over
        self.launching = False
        self._blocks = 0  # how many are open: a pipeline may be entered again
        self._thread = 0  # which one has entered it last, and the pipelines that are open there
        self._stack: Sequence[Pipeline] = ()
        if max_ops is not MAX_OPS or max_bytes is not MAX_BYTES:
            check_bound("max_ops", max_ops)
            check_bound("max_bytes", max_bytes)
        observer = TRACING[-1]() if TRACING else PICTURES.observer() if trace else None
        self.observer = observer
        self.recorded: list[Entry] = [] if observer is None else observer.entries
        self.max_ops, self.max_bytes, self.through_backward = max_ops, max_bytes, through_backward
        self.lock = RLock()  # the claim has forked children find it free

    # ---- flushing ------------------------------------------------------------------------------

    def break_off(self, reason: str, operands: Sequence[Tensor] | None = None) -> None:
        """Flush before an op that cannot be deferred, and count it.

        Args:
            reason: what it is counted under.
            operands: all that the op may read or write, if that is all it does: a pipeline that goes
                through backward launches no more than has to come before.
        """
        self.counts.break_off(reason)
        chosen = None
        if self.through_backward and operands is not None:
            self.forget_site()
            memory = [memory_of(t) for t in operands]
            chosen = needed_for(self.recorded, memory, memory)
        self.flush_because(f"break: {reason}", chosen, ordered=True)

    def make_room(self) -> None:
        """Flush because a bound is reached."""
        self.flush_because("max_ops" if len(self.recorded) >= self.max_ops else "max_bytes")

    def flush(self) -> None:
        """Launch everything recorded so far. Any thread may call it.

        Raises:
            PipelineError: if a recorded op failed; the rest was still computed.
        """
        if self.claim is None:
            return  # nothing is left, and nothing under way
        with self.lock:  # also where nothing is left to launch: it may be under way
            if self.recorded or self.expected is not NOTHING:
                self.flush_because(request() if get_ident() == self._thread else "another thread")

    def flush_for(self, storage: Storage) -> None:
        """Launch what the values in a storage wait for: everything, while a block is open.

        Raises:
            PipelineError: if a recorded op failed.
            RuntimeError: if they are just being computed, by this thread.
        """
        with self.lock:
            if storage.memory is not None and (self.launching or self._comes_later()):
                return  # a kernel wants what is there before the writes that are still recorded
            if self._blocks and self.through_backward:
                self._flush_what(storage)
            elif self._blocks:
                self.flush()
            else:
                self.resume([storage.root])
            pending = storage.pending
            if isinstance(pending, Failed):
                pending.flush_for(storage)
            if pending is self and storage.memory is None and storage.size_bytes:
                raise RuntimeError(
                    "this value is just being computed: a signal handler or a finaliser that "
                    "interrupts the launch cannot have it, nor a process that was forked meanwhile"
                )

    def _comes_later(self) -> bool:
        """Whether an outer block is launching: its ops come before ours."""
        stack = self._stack
        nested = len(stack) > 1 and get_ident() == self._thread and self in stack
        return nested and any(outer.launching for outer in stack[: stack.index(self)])

    def _flush_what(self, storage: Storage) -> None:
        """Launch what one value waits for, and leave the rest for a plan of all of it."""
        if storage.memory is not None and not self.writes_to(storage.root):
            return  # only views of it were recorded
        reason = request() if get_ident() == self._thread else "another thread"
        self.forget_site()
        chosen = needed_for(self.recorded, [storage.root])
        if chosen:
            self.counts.break_off(reason)
            self.flush_because(reason, chosen)

    def resume(self, read: Sequence[object], written: Sequence[object] = ()) -> None:
        """Launch what an interrupt has left over, as far as it has to run before what comes now.

        What fails raises when somebody asks for its value, not here.

        Args:
            read: memory, as `memory_of` gives it, whose values are wanted.
            written: memory that will be overwritten.
        """
        with self.lock, suppress(PipelineError):
            while chosen := needed_for(self.recorded, read, written):
                self.flush_because(RESUMED, chosen)

    def flush_because(
        self, reason: str, chosen: Sequence[int] | None = None, *, ordered: bool = False
    ) -> None:
        """Launch everything recorded so far, and count what made it necessary.

        Where an interrupt comes, what has not run stays recorded.

        Args:
            reason: what made it necessary.
            chosen: positions of the ops to launch; None for all.
            ordered: whether all that outer blocks have recorded has to come before in any case.

        Raises:
            PipelineError: if a recorded op failed; the rest was still computed.
        """
        stack = self._stack
        if len(stack) > 1 and (ordered or bound_to_order(self.recorded)) and self in stack:
            try:
                for outer in stack[: stack.index(self)]:
                    outer.flush_because(USED_ELSEWHERE)
            except PipelineError:
                self._flush(reason, chosen)
                raise
        self._flush(reason, chosen)

    def _flush(self, reason: str, chosen: Sequence[int] | None) -> None:
        """As `flush_because`, of this pipeline only."""
        with self.lock:  # another thread that has it must not take what it sees for launched
            before = self.launching
            try:
                self.launching = True
                self._flush_own(reason, chosen)
            finally:
                self.launching = before

    def _flush_own(self, reason: str, chosen: Sequence[int] | None) -> None:
        with self.lock:
            if self.expected is not NOTHING:
                nothing = self.known is not None and self.expected is self.known.first
                if nothing and not self.recorded:
                    return
                if chosen is None and self.replay(reason):
                    self.end_of_part()
                    return
                self.unfold()
            while True:
                turn, retold = self.taken, self.retold
                # What is appended meanwhile, by the thread that owns the pipeline, stays for later.
                recorded = self.recorded
                count = len(recorded)
                if not count:
                    return
                if chosen is None and retold is None:
                    self.learn(count)
                entries, others = divided(recorded[:count], chosen if retold is None else None)
                launch = Launch(entries)
                # Nothing is called from here until they are taken, so nothing comes between. A
                # handler or finaliser that has launched them before must not have them run twice.
                if self.taken == turn:
                    break
                if chosen is not None:
                    return
            interrupt: BaseException | None = None
            try:
                recorded[:count] = others
                self.taken += 1
                if retold is not None:
                    launch.under_way, launch.running = retold.positions, True
                    launch.retold, interrupt, self.retold = retold, retold.interrupt, None
                if self.observer is not None:
                    launch = self.observer.launch(entries, reason)
                self._launch(launch, reason)
            except BaseException as error:  # noqa: BLE001 (raised when nothing is half done)
                interrupt = error
            while True:
                try:
                    self._finish(launch, interrupt)
                    break
                except Exception:
                    raise
                except BaseException as error:  # noqa: BLE001
                    interrupt = error
            first, launch.first = launch.first, None
            if chosen is None:
                self.end_of_part()
        try:
            if interrupt is not None:
                raise interrupt
            if first is not None:
                raise first
        finally:
            del interrupt, first  # their tracebacks hold this frame

    def _launch(self, launch: Launch, reason: str) -> None:
        """Plan and run a launch."""
        counts, entries = self.counts, launch.entries
        nbytes = size_of(entries) if self.recorded else self.nbytes
        self.nbytes -= nbytes
        counts.flush(reason)
        start = time.perf_counter()
        counts.dropped += drop_dead(entries, abandoned=reason == RESUMED)
        retold = launch.retold
        counts.made_again(*make_again(launch, nbytes))
        parts = plan_parts(entries, nbytes) if retold is None else retold.parts(entries, nbytes)
        for part in parts:
            if part.plan is not None:
                counts.plan(part.plan)
        planned = time.perf_counter()
        counts.planning += planned - start
        try:
            launch.run(parts)
        finally:
            counts.launching += time.perf_counter() - planned

    def _finish(self, launch: Launch, interrupt: BaseException | None) -> None:
        """Settle what a launch has done, and take back what it has not; may be called again."""
        launch.finish(interrupt)
        rest = [] if interrupt is None else launch.left_over()
        # What was not chosen may write memory of which this launch has made views.
        waiting = {id(memory_of(t)) for e in (*rest, *self.recorded) for t in e.outs}
        launch.settle_marked(waiting)
        launch.announce_checks()
        self.fill_aliases()
        launched = len(launch.entries) - len(launch.again) - len(rest)
        nbytes = size_of(rest)
        # Together: no interrupt comes between lines that call nothing.
        self.recorded[:0] = rest
        self.nbytes += nbytes
        self.counts.launched += launched
        del launch.entries[:]
        self._let_go()

    def _let_go(self) -> None:
        """Do without the Pipeline key where nothing is open or left over."""
        if not self._blocks and not self.recorded and self.claim is not None:
            release_key(self.claim)
            self.claim = None

    # ---- what it shows -------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        """Counts so far.

        Returns:
            ``recorded`` and ``launched`` ops, ``pending`` and ``dropped`` ones (nobody could see
            their results), ``replayed`` ops, and ``replayed_walks``: backward passes that were one item,
            ``flushes`` and what made them necessary: ``flush_reasons``, and
            ``flush_lines`` with the line that asked, ``fused_groups`` and ``fused_ops``,
            ``group_notes`` (how the groups were computed, as the backend says), ``kernels`` (the
            compiled ones they ran, by name: ``launches``, ``operations``, the ``seconds`` they took to
            make, and their ``source``),
            ``plan_cache_hits``, ``peak_bytes`` (of results and of what is computed between them,
            known before launch), ``remade`` values (made again where late ops read them; by that
            ``remade_bytes`` less are held), ``seconds`` per stage (of recording: from the first op to the
            last, only where it is traced), and ``breaks``: how many ops were not deferred, by reason.
        """
        recording = None if self.observer is None else self.observer.recording
        return self.counts.as_dict(len(self.recorded) + self.followed, recording)

    @property
    def graph(self) -> Graph:
        """The recorded ops as a graph, to be printed and drawn.

        It shows what is pending, and of a pipeline with ``trace=True`` also what was launched.
        """
        with self.lock:
            self.unfold()
            return PICTURES.graph(self)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write when ops were recorded, planned and launched, for a viewer of Chrome traces.

        Viewers are Perfetto and ``chrome://tracing``. A name that ends in ``.gz`` is compressed.

        Raises:
            RuntimeError: if the pipeline was not opened with ``trace=True``.
        """
        PICTURES.export(self, path)

    __repr__, _repr_html_ = text_of, html_of

    # ---- blocks --------------------------------------------------------------------------------

    def __enter__(self) -> Pipeline:
        own = STACK.__dict__
        if own["left"]:
            resume_all()
        stack = own["open"]
        if self._blocks and current_pipeline() is not self:
            flush_current()  # so that what is recorded before comes before
        end = None if self.announced is None else self.announced()
        if end is None or (block := end.spare) is None or BESIDE:
            block = block_of(self, own, end)
        else:
            block.stack, block.left = stack, own["left"]
        try:
            if self.claim is None:
                block.claim = self.claim = claim_key(self.lock, block.claim)
            if self._stack is not stack:
                self._thread, self._stack = own["thread"], stack
            if self.observer is not None:
                self.observer.entered()
            elif not stack:
                user, site = _getframe(1), self.entered_last
                if self.place is not None:
                    site = self.place
                else:
                    key = id(user.f_code), user.f_lasti, self.max_ops, self.max_bytes
                    if site is None or site.key != key:
                        site = SITES.get(key) or site_here(self.max_ops, self.max_bytes)
                        self.entered_last = site
                self.site = site
                if site is not None:
                    site.entered += 1
                    if site.known:
                        self.follow_part(site)
            if end is not None:
                end.block = block
            block.open = True  # from here on together
            self._blocks += 1
            stack.append(self)
        except BaseException:
            if block.open:
                block.open = False
                self._blocks -= 1
                del stack[-1]
            if not self._blocks:
                self.forget_site()
            self._let_go()
            raise
        return self

    __exit__ = Exit()

    def leave(self, block: Block | None) -> None:
        """Launch what was recorded, and end a block.

        Args:
            block: the block; None for the innermost of this thread.

        Raises:
            PipelineError: if a recorded op failed; the rest was still computed.
            RuntimeError: if this thread has no open block of the pipeline.
        """
        if self not in (stack := STACK.__dict__["open"]):
            raise RuntimeError(
                "this pipeline has no open block in this thread: a block of torch.pipeline() ends in "
                "the thread in which it began, once for each time it was entered"
            )
        if block is None:
            block = block_of(self, STACK.__dict__, open=True)
        interrupt: BaseException | None = None
        try:
            # The values of tensors that outlive the block are computed also when its body raised.
            done = self.expected is NOTHING and not self.recorded
            if self.expected is END and len(stack) == 1:
                with self.lock:
                    done = self.replay(END_OF_BLOCK, ends=True)
                    if done:  # as most blocks that come again
                        self._close(block)
                        return
            if not done:
                self.flush_because(END_OF_BLOCK)
        except BaseException as error:  # noqa: BLE001 (raised when the block is closed)
            interrupt = error
        while True:
            try:
                self.close(block)
                break
            except Exception:
                raise
            except BaseException as error:  # noqa: BLE001
                interrupt = error
        try:
            if interrupt is not None:
                raise interrupt
        finally:
            del interrupt

    def close(self, block: Block) -> None:
        """End a block without launching anything; may be called again where it was interrupted."""
        with self.lock:
            self._close(block)

    def _close(self, block: Block) -> None:
        if block.open:
            stack, at = block.stack, -1
            while stack[at] is not self:
                at -= 1
            if self._blocks == 1:
                if self.expected is not NOTHING:
                    self.unfold()
                self.site = self.before = self.identities = self.came = None
                self.part, self.walks = 0, ()
            if self.observer is not None:
                self.observer.left()
            block.open = False  # from here on together
            self._blocks -= 1
            del stack[at]
        # What an interrupt has left over comes before what the thread does next.
        if self.recorded and not self._blocks:
            if block.stack:
                self.leave_to(block.stack[-1])
            else:
                block.left.append(weakref.ref(self))
        if self.claim is not None and not (self._blocks or self.recorded):
            release_key(self.claim)
            self.claim = None
