"""What a captured function does in the call that is recorded: its ops, and what it looks at."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from threading import get_ident
from typing import Any

from ..communication.listening import CALLED
from ..deferred import Pipeline
from ..deferred.dependence import memory_of
from ..deferred.frames import request, user_line
from ..deferred.observers import BESIDE
from ..deferred.programs.describing import Description, Undescribable
from ..deferred.programs.program import Program
from ..deferred.trace import location_of
from ..dispatch.dispatcher import dispatch
from ..dispatch.keys import MASKS, DispatchKey, with_masks
from ..dispatch.masks import without_gradients
from ..random import BEFORE_POSITION, default_generator
from ..tensors.autograd_state import BORN, GRADS_USED
from ..tensors.storage import BEFORE_LOOK, Storage
from ..tensors.tensor import Tensor
from ..values.devices import concrete
from ..values.dtypes import dtype
from .captured_grads import Touched
from .captured_outside import Outside
from .captured_step import Constant

__all__ = ["Recorder"]


class Recorder(Pipeline):
    """A pipeline that remembers the only launch of its block, and who looks at values.

    Attributes:
        constants: the tensors that were made of Python's data.
        shared: memory of arrays, and the like, that tensors were made around.
        looks: lines that looked at the value of a tensor that was there before.
        grads: by id of a tensor, what it has done with the grad of that.
        beside: what it has computed outside of the block.
        reentered: the captured functions that it has called although they were just running.
        sent: calls of other processes that no op stands for.
        moved: lines that asked for the position of a generator of random numbers, or set it.
        returns_to_position: whether the CPU's generator is where it was before.
        others_draw: whose random numbers it has drawn besides: Python's, or NumPy's.
        copying: whether a tensor is just copied, by kernels that may make some of their own.
        outside: what it has asked of the machine.
    """

    captures = True

    def __init__(self) -> None:
        super().__init__(max_ops=1 << 40, max_bytes=1 << 62, through_backward=True)
        self.launches = 0
        self.description: Description | None = None
        self.program: Program | None = None
        self.undescribable = False
        self.constants: list[Constant] = []
        self.shared: list[Tensor] = []
        self.looks: list[str] = []
        self.grads: dict[int, Touched] = {}
        self.beside: list[str] = []
        self.reentered: list[str] = []
        self.sent: list[str] = []
        self.moved: list[str] = []
        self.others_draw = ""
        self.copying = False
        self.returns_to_position = True
        self.outside = Outside()

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
        self._own = get_ident()
        self._others = {t.ident for t in threading.enumerate()}
        watching: list[tuple[list[Any], Callable[..., None]]] = [
            (BEFORE_POSITION, self._move), (BEFORE_LOOK, self._look), (BORN, self._make),
            (GRADS_USED, self._use_grad), (BESIDE, self._pass),
            (CALLED, self._send),
        ]  # fmt: skip
        drawn, position = _positions_elsewhere(), _position()
        with self:
            for told, watch in watching:
                told.append(watch)
            try:
                with self.outside:
                    return fn(*args, **kwargs)
            finally:
                for told, watch in watching:
                    told.remove(watch)
                now = _positions_elsewhere()
                self.returns_to_position = not self.moved or _position() == position
                self.others_draw = " and ".join(n for n, at in drawn.items() if now.get(n) != at)

    def _look(self, storage: Storage, kind: dtype | None, there: Tensor | None) -> None:
        if get_ident() == self._own and not any(
            memory_of(c.tensor) is storage.root for c in self.constants
        ):
            self.looks.append(f"{request()} at {location_of(*user_line(2))}")

    def _make(self, t: Tensor, own: bool) -> None:
        if get_ident() != self._own or t._pending or self.launching or self.copying:
            return
        if not own:
            self.shared.append(t)
            return
        keep = MASKS.keep & ~DispatchKey.Pipeline
        self.copying = True
        try:
            before = with_masks(MASKS.include, keep, without_gradients, dispatch, "clone", None, t)
        finally:
            self.copying = False
        t._own_storage()
        self.constants.append(Constant(t, before))

    def _use_grad(self, t: Tensor, use: str) -> None:
        if get_ident() == self._own and t.is_leaf:
            touched = self.grads.get(id(t))
            if touched is None or touched.leaf() is not t:
                touched = self.grads[id(t)] = Touched(t)
            touched.uses.add(use)
            touched.first = touched.first or use

    def _pass(self, what: str) -> None:
        if get_ident() == self._own:
            self.beside.append(f"{what} at {location_of(*user_line(2))}")
        elif get_ident() not in self._others:
            self.beside.append(f"{what} in a thread that it has started")

    def _send(self, op: str) -> None:
        if get_ident() == self._own and not self.launching:
            self.sent.append(f"{op}() at {location_of(*user_line(2))}")

    def _move(self) -> None:
        if get_ident() == self._own:
            self.moved.append(f"{request()} at {location_of(*user_line(2))}")

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
        if self.sent:
            return (
                f"it calls other processes, which a recording would not do again: "
                f"{', '.join(dict.fromkeys(self.sent))}. Ops can be recorded that do so: those of "
                f"torch.distributed._functional_collectives"
            )
        looked += self.looks
        if self.others_draw:
            return (
                f"it draws random numbers of {self.others_draw}, which are other ones in each call"
            )
        if self.outside.asked:
            asked = ", ".join(dict.fromkeys(self.outside.asked))
            return f"it asks what may have another answer in each call: {asked}"
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
