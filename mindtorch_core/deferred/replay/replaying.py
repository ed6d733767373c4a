"""The end of a trace that was followed: what was compiled is called, and its results are settled."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from ...dispatch.keys import ACTIVE, ADINPLACE, AUTOGRAD, MASKS, DispatchKey
from ...tensors.tensor import Tensor
from ...values.devices import TABLE
from ...values.dtypes import DEFAULT
from ...values.references import LOOK
from ...values.shapes import numel
from ..aliases import without_aliases
from ..counts import Counts
from ..failures import Failed, error_of
from ..frames import user_line
from ..owners import Owners
from ..planning import warn_of_plan
from ..programs.checks import Check, Checked, Unchecked, verify
from ..programs.payloads import fitting
from ..programs.program import Executable, Program
from ..settling import move
from ..trace import Entry
from .following import Following, entries_of
from .identities import Before, Identities
from .known import END, NOTHING, Known, Ready, are_apart, partition
from .matching import retraced
from .retold import Retold
from .sites import HOPELESS, Site

__all__ = ["Replaying", "computed"]

_BELOW: Final = ~int(
    AUTOGRAD | ADINPLACE | DispatchKey.Inference | DispatchKey.Pipeline | DispatchKey.Python
)
_BY: Final = "the executable"
_UNCOUNTED: Final = 16  # replays
_NONE: Final[list[Any]] = []  # the values where nothing is followed; never written
_getrefcount = sys.getrefcount
_place_of = attrgetter("_autograd")
_clock = time.perf_counter


class Replaying(Following):
    """The part of a pipeline that learns traces, and computes those that were followed to the end.

    Attributes:
        place: where its blocks begin; None for that of the statement.
        entered_last: where a statement has entered it last.
        site: where the open block began; None where nothing is replayed.
        part: how often the block has flushed.
        walks: backward passes that this part of the block has recorded and that may be replayed.
        identities: of the part before, where it was recorded.
        before: what the part before has left, where it was replayed.
        came: the trace that the part before was, where it was replayed or learned.
        retold: what an executable has given that could not be settled at once; the first of the entries
            are its ops.
        usual: whether bounds and the like are those of most pipelines: it may serve for several blocks.
        uncounted: what replays have done, as `Counts.replayed` takes it, until somebody asks.
        walked: how many backward passes were followed meanwhile.
    """

    __slots__ = (
        "_unprepared", "before", "came", "counted", "entered_last", "identities", "part", "place",
        "retold", "site", "taken", "through_backward", "uncounted", "usual", "walked", "walks",
    )  # fmt: skip

    through_backward: bool

    def __init__(self) -> None:
        super().__init__()
        self.usual = False
        self.uncounted: tuple[tuple[Any, ...], ...] = ()
        self.walked = 0
        self.counted: Counts | None = None
        self.place: Site | None = None
        self.entered_last: Site | None = None
        self.site: Site | None = None
        self.part = 0
        self.walks: Sequence[Any] = ()
        self.identities: Identities | None = None
        self.before: Before | None = None
        self.came: Known | None = None
        self.retold: Retold | None = None
        self.taken = 0  # how often entries were taken
        self._unprepared: tuple[Known, tuple[int, ...]] | None = None

    @property
    def counts(self) -> Counts:
        """What it has done so far."""
        counts = self.counted
        if counts is None:
            counts = self.counted = Counts()
        uncounted, walked = self.uncounted, self.walked
        if uncounted or walked:
            self.uncounted, self.walked = (), 0
            for did in uncounted:
                counts.replayed(*did)
            counts.walks += walked
        return counts

    def follow_part(self, site: Site) -> None:
        """Follow what is known of the part of the block that begins."""
        came, known = self.came, None
        if came is not None and came.part == self.part - 1:
            known = came.next_part
        if known is None and (known := site.known.get(self.part)) is not None:
            known = known.next_time or known
        if known is None or known.default is not DEFAULT[0]:
            return
        if site.missed >= HOPELESS:
            site.forget()
            return
        try:
            values = known.spare.pop()  # with tensors that may be handed out again
        except IndexError:
            values = known.blank.copy()
        numbers = known.no_numbers.copy()
        # Together: a handler may have recorded something, or followed it, wherever something is called.
        if self.expected is NOTHING and not self.recorded:
            self.values, self.numbers = values, numbers
            self.known, self.skipped = known, ()
            self.expected = known.first
            if self.tried:
                self.tried = ()

    def others(self) -> Sequence[Known]:
        """Traces that may come in the stead of the one that is followed."""
        site, default = self.site, DEFAULT[0]
        if site is None or len(site.traces.get(self.part, ())) < 2:
            return ()
        others = site.others(self.part, self.tried)
        return [each for each in others if each.default is default and each is not self.known]

    def end_of_part(self) -> None:
        """What the block has recorded was launched: its next part begins."""
        self.walks = ()
        self.part += 1
        if self.site is not None:
            self.follow_part(self.site)

    def learn(self, count: int) -> None:
        """Remember what a block that has come again records, or have it compiled.

        Args:
            count: how many of the entries are a part of the block.
        """
        site, unprepared, self._unprepared = self.site, self._unprepared, None
        came, self.came = self.came, None
        walks, self.walks = (
            self.walks,
            (),
        )  # a handler that has this part launched must not place them
        self.identities = self.before = None
        learns = site is not None and site.entered >= 2 and not site.hopeless
        if learns or self.through_backward:
            self.drop_aliases(count)
        entries = self.recorded[:count]
        if site is None or not learns or len(entries) < count:
            return
        try:
            if unprepared is not None:
                known, seen = unprepared
                if _are_all(known, entries) and known.prepare(seen, entries):
                    site.came(known)
                    self._comes_after(came, known)
                    return
            site.missed += self.part in site.known
            if (learned := site.learn(self.part, entries, walks)) is not None:
                self._comes_after(came, learned)
                self.identities, learned.identities = learned.identities, None
                if self.identities is not None:
                    self.identities.known = learned
        except Exception as error:  # noqa: BLE001 (nothing is lost: the ops are launched as always)
            site.give_up()
            warn_of_plan(entries[0].op.device, error)

    def _comes_after(self, came: Known | None, known: Known) -> None:
        """Note which trace has come after that of the part before."""
        self.came = known
        if (
            came is not None and came.part == known.part - 1
        ):  # else a handler has launched what came
            came.next_part = known

    def drop_aliases(self, count: int) -> None:
        """Have entries read what earlier ones have handed out: other tensors over it look like users."""
        turn = self.taken
        found = without_aliases(self.recorded[:count])
        if self.taken == turn:  # else a handler or finaliser has launched them
            self.recorded[:count] = found

    def forget_site(self) -> None:
        """Follow and learn nothing more in this block."""
        if self.expected is not NOTHING:
            self.unfold()
        self.site = self.before = self.identities = None

    def leave_to(self, outer: Replaying) -> None:
        """Have what an interrupt has left over recorded by the pipeline around this one."""
        outer.unfold()
        for entry in self.recorded:
            for t in entry.outs:
                outer.adopt(t)
        at = len(outer.recorded)
        outer.aliases += self.aliases
        outer.recorded[at:] = self.recorded  # together with the next line
        del self.recorded[:]

    def adopt(self, t: Tensor) -> None:
        """Let a pending tensor of another pipeline wait for this one."""
        s = t._own_storage()
        if s.pending.__class__ is not Failed:
            s.pending = self
        self.nbytes += numel(t._shape) * t._dtype.itemsize

    # ---- launching -----------------------------------------------------------------------------

    def replay(self, reason: str, *, ends: bool = False) -> bool:
        """Compute what was followed, if it was followed to its end; the lock is held.

        Args:
            reason: why now.
            ends: whether the block ends, which it does at the line where it has begun.

        Returns:
            Whether it was. Otherwise what was followed is to be unfolded.
        """
        if (e := self.expected) is not END and e is not NOTHING and self.turn(e, ends=True):
            return False
        known, site, values, numbers = self.known, self.site, self.values, self.numbers
        if self.expected is not END or known is None or site is None or self.recorded:
            return False  # a handler may have come where an op was just being recorded
        if self.skipped:
            site.missed -= 1  # it will fit, now that this is known
            return False
        if known.sharing is not None and not self._fits(known, site, values):
            return False
        ready = known.ready.get(seen := known.seen(values))
        if ready is None:
            self._miss(known, site, seen)
            return False
        start = _clock()
        # Nothing is called until it is taken: a handler or finaliser that has recorded something, or has
        # launched it all, has ended what was followed; what it follows now is still to be launched.
        if self.expected is not END or self.values is not values:
            return False
        self.expected, self.values, self.known, self.nbytes = NOTHING, _NONE, None, 0
        self.taken += 1
        found, wrong, raised, retold, interrupt = None, False, None, None, None
        try:
            inputs = [*ready.inputs(values)]
            for t in inputs:
                if t._payload is None:
                    t._settled()
            run = ready.executable
            found = computed(run, inputs, numbers) if ready.calls_ops else run(inputs, numbers)
        except BaseException as error:  # noqa: BLE001 (raised when nothing is half done)
            wrong, raised = True, error
        while True:
            try:
                if wrong:
                    if retold is None:
                        self.make_all(known, END, values)
                        retold = Retold(known, ready, values, numbers, found, raised)
                    self._retell(known, retold, interrupt)
                elif ready.plain and found.__class__ is list and not self.aliases:
                    _settle(values, ready.program.outputs, found)
                else:
                    self._settle_all(known, ready, seen, values, numbers, found)
                break
            except Exception:
                if wrong:
                    raise
                wrong = True  # it is found again, op by op
            except BaseException as error:  # noqa: BLE001
                interrupt = error
        if retold is not None:
            del values[:], found, raised, interrupt, retold  # only entries refer to results
            return False
        did = reason, (site.place if ends else None) or user_line(), ready.did, _clock() - start
        self._note(known, site, values, numbers, did)
        known.keep_spare(ready, values)
        if interrupt is not None:
            raise interrupt
        return True

    def _note(
        self,
        known: Known,
        site: Site,
        values: list[Any],
        numbers: list[Any],
        did: tuple[Any, ...],
    ) -> None:
        """Keep what the next part of the block, or the next run of it, has use for; count what was done."""
        self.uncounted += (did,)
        if len(self.uncounted) >= _UNCOUNTED:
            _ = self.counts
        if len(site.known) > 1 or self.before is not None:
            self._keep_for_backward(known, site, values, numbers)
        if site.missed > -HOPELESS:
            site.missed -= 1
        if known.next_time is not None or site.known.get(known.part) is not known:
            site.came(known)
        came, self.came = self.came, known
        if came is not None and came.part == known.part - 1:
            came.next_part = known

    def _miss(self, known: Known, site: Site, seen: tuple[int, ...]) -> None:
        """There is nothing to call where these results can be seen: it is made, unless that was tried."""
        if seen in known.ready:
            site.give_up()
        else:
            self._unprepared = known, seen

    def _retell(self, known: Known, retold: Retold, interrupt: BaseException | None) -> None:
        """Have whoever comes next launch what has failed, as what is not replayed; may be called again."""
        if retold.entries:
            self.recorded[:0] = retold.entries  # together with the rest
            self.nbytes += known.nbytes
        self.retold, retold.entries, retold.interrupt = retold, [], interrupt
        self.came = self.identities = self.before = None

    def _settle_all(
        self,
        known: Known,
        ready: Ready,
        seen: tuple[int, ...],
        values: list[Any],
        numbers: list[Any],
        found: Any,
    ) -> None:
        """Settle what an executable gave; may be called again."""
        program = ready.program
        results, checks = found if found.__class__ is Checked else (found, ())
        if checks:
            self.make_all(known, END, values)
        if not ready.trusted:
            _look_at(program, values, results)
        if checks:
            checks = verify(checks, program)
        _settle(values, program.outputs, results)
        if not ready.trusted:
            Owners.hand_out(values[n] for n in program.outputs)
        for n in known.written:
            values[n]._own_storage().pending = None
        if known.views:
            for n in known.shown:  # views of them were pending
                if (storage := values[n]._own_storage()).pending is self:
                    storage.pending = None
            for n in seen:
                if n in known.views:
                    _fill(values[n])
        if self.aliases:
            self.fill_aliases()
        if checks:
            _announce(known, ready, values, numbers, checks)

    def _keep_for_backward(
        self, known: Known, site: Site, values: list[Any], numbers: list[Any]
    ) -> None:
        """Keep what was computed, if a backward pass of the next part of the block uses it."""
        self.before = None
        for each in site.traces.get(self.part + 1, ()):
            if each.reads_before:
                # What nobody holds loses its place in the graph when it is kept for the next run.
                self.before = Before(known, values, [*map(_place_of, values)], numbers)
                break

    def _fits(self, known: Known, site: Site, values: list[Any]) -> bool:
        """Whether operands share memory as they did, or what was compiled does not care."""
        if site.floating and all(r is None or r.in_order for r in known.ready.values()):
            return True
        inputs = [values[n] for n in known.inputs]
        if known.alone:
            return are_apart(inputs)
        return partition(inputs) == known.sharing


def _are_all(known: Known, entries: Sequence[Entry]) -> bool:
    """Whether entries are all of a trace, and no more: a handler may have recorded something since."""
    found = retraced(known, entries)
    return found is not None and found[0] is END


def _fill(t: Tensor) -> None:
    """Give a view its payload, if the memory is there."""
    storage = t._storage
    if t._payload is None and storage is not None and storage.memory is not None:
        t._fill(storage)


def _announce(
    known: Known, ready: Ready, values: list[Any], numbers: list[Any], checks: Sequence[Check]
) -> None:
    """Have whoever uses a value whose check is under way wait for its answer."""
    entries, program = entries_of(known, END, values, numbers), ready.program
    for check in checks:
        error = error_of(entries[program.positions[check.instruction]], check.error)
        depending = [values[n] for n in program.depending_on(check.instruction)]
        Unchecked(check.passed, error, depending)


def computed(executable: Executable, inputs: list[Any], numbers: list[Any]) -> Any:
    """What an executable gives, below Autograd and the pipeline."""
    own, active = MASKS.__dict__, ACTIVE
    include, kept, blocked = own["include"], own["keep"], own["blocked"]
    announce = kept == -1 and include == 0
    try:  # as `with_masks`, without its calls
        if announce:
            active += (1,)
        own["include"] = 0
        own["keep"] = kept & _BELOW
        return executable(inputs, numbers)
    finally:
        own["include"] = include
        own["keep"] = kept
        own["blocked"] = blocked
        if announce:
            del active[-1:]


def _look_at(program: Program, values: list[Any], results: Sequence[Any]) -> None:
    """Find what is wrong with results before any is settled.

    Raises:
        RuntimeError: if something is; what it is is found again, op by op.
    """
    if len(results) != len(program.outputs):  # before they are taken one by one, which may be once
        raise RuntimeError(f"{_BY} gave {len(results)} results")
    owners = Owners([values[n] for n in program.inputs])
    for n, result in zip(program.outputs, results, strict=True):
        t = values[n]
        found = fitting(result, t._shape, t._dtype, t._device, t._strided)
        if found.__class__ is not Tensor:
            raise RuntimeError(f"{_BY} gave what is no tensor")
        owners.claim(found, _BY)


def _settle(values: list[Any], places: Sequence[int], results: Sequence[Any]) -> None:
    """Move results into the tensors that were handed out for them; may be called again."""
    for at, n in enumerate(places):
        t, result = values[n], results[at]
        storage = t._storage
        if storage is None or storage.memory is not None:
            continue  # it was settled before an interrupt
        if result.__class__ is Tensor:
            move(t, result, _BY)
        elif not storage.version and _getrefcount(storage) <= 1 + LOOK:
            t._payload = result  # nothing comes between these two lines
            t._storage = None
        else:
            t._payload = result
            own = TABLE[t._device.type].runtime.storage_of(t)
            storage.memory, storage.size_bytes = own.memory, own.size_bytes
        if storage.memory is not None:
            storage.pending = None
