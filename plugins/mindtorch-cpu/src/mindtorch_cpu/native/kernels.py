"""The compiled kernels of this process: found, loaded from disk, or compiled behind the program's back.

A kernel is asked for at each launch. The second launch of a program, or a first large one, loads it from
disk at once, or has it compiled in a thread that lives as long as there is something to compile; NumPy
serves meanwhile. Loading takes milliseconds of Python: behind the program's back it would take a second,
and the program would run half as fast again, as each wakes the other whenever it lets go of the
interpreter's lock. Before a kernel is used it computes numbers that are hard, and is compared with NumPy:
if a bit differs, nothing compiled is used any more.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import mmap
import os
import threading
import time
from collections import Counter
from queue import Empty, SimpleQueue
from typing import Any, Final

from mindtorch_core.backend import fork_safe, note_work

from ..bound_calls import CALLS, LATER, LOOPS
from . import compiler, store
from .codegen import ir_of
from .loops import loop_of
from .program import Program
from .rowcode import ir_of_rows
from .schedule import schedule
from .walks import WALKS, Walk, WalkKernel, text_of_walk, wrong_walk

__all__ = ["KERNELS", "Kernel", "Kernels", "WrongKernel", "made_from"]

# Elements times operations from which a program is compiled at its first launch.
_LARGE: Final = 1 << 22
_MOST: Final = 4096
_SEEN: Final = 8192
# Bytes that there must be for LLVM: it ends the process where it finds none.
_ROOM: Final = 64 << 20
_NAMED: Final = 4  # operations in the name of a kernel
# Where functions are `quick` a kernel is waited for: bits would change in mid-run otherwise.
_MODES: Final = {"0": "off", "off": "off", "1": "on", "on": "on", "now": "now", "fast": "now"}
_CALL: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


class WrongKernel(Exception):
    """A kernel does not compute what NumPy does; the text says where."""


class Kernel:
    """A compiled program.

    Attributes:
        program: what it computes.
        name: its first operations, and a few digits that tell it from others.
        address: the function's, see `codegen`.
        call: the function; it releases the interpreter's lock.
        loops: address of the table of NumPy's loops.
        slots: strips of eight-byte elements of scratch memory that it needs.
        seconds: how long it took to make.
        source: ``compiled`` or ``disk``.
    """

    __slots__ = (
        "_code",
        "_table",
        "address",
        "call",
        "loops",
        "name",
        "program",
        "seconds",
        "slots",
        "source",
    )

    def __init__(self, program: Program, code: compiler.Loaded, source: str) -> None:
        plan = schedule(program)
        pairs: list[int] = []
        for name, codes in plan.loops:
            found = loop_of(name, codes)
            if found is None:
                raise RuntimeError(f"NumPy has no loop of {name} for {codes}")
            pairs += found
        self._table = (ctypes.c_int64 * max(len(pairs), 1))(*pairs)
        self.program = program
        ops = list(dict.fromkeys(node.op for node in program.graph.nodes))
        self.name = "_".join(
            [*ops[:_NAMED], hashlib.sha256(repr(program).encode()).hexdigest()[:6]]
        )
        self._code = code
        self.address = code.address
        self.call: Any = _CALL(code.address)
        self.loops = ctypes.addressof(self._table)
        self.slots = plan.slots
        self.seconds = 0.0
        self.source = source


class Kernels:
    """What is compiled, and what waits for it.

    Attributes:
        mode: ``on``, ``off``, or ``now`` to compile at the first launch and wait for it, for tests. The
            variable ``MINDTORCH_NATIVE`` sets it.
        broken: why nothing compiled is used any more, or None.
        failures: how often what could not be compiled, by reason.
    """

    def __init__(self) -> None:
        self._mode = _MODES.get(os.environ.get("MINDTORCH_NATIVE", "on").lower(), "on")
        self._broken: str | None = None
        self.failures: Counter[str] = Counter()
        self._ready: bool | None = None
        self._kernels: dict[Program | Walk, Any] = {}
        self._seen: Counter[Program | Walk] = Counter()
        self._waiting: set[Program | Walk] = set()
        self.forget()

    def forget(self) -> None:
        """Drop what waits: after a fork its thread is not there."""
        self._lock = fork_safe(threading.RLock())
        self._queue: SimpleQueue[Program | Walk] = SimpleQueue()
        self._waiting = set()
        self._busy = False
        self._thread: threading.Thread | None = None

    def finish(self) -> None:
        """Compile nothing more, and wait for what is being compiled.

        A daemon thread that is still at work when the interpreter ends is killed wherever it next wants
        to run Python; within LLVM's or NumPy's code that corrupts the heap, and the process aborts.
        """
        thread = self._thread
        self.mode = "off"
        self.forget()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    @property
    def mode(self) -> str:  # noqa: D102 (see the class)
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self._mode = mode
        CALLS.clear()
        LOOPS.clear()

    @property
    def broken(self) -> str | None:  # noqa: D102 (see the class)
        return self._broken

    @broken.setter
    def broken(self, reason: str | None) -> None:
        self._broken = reason
        CALLS.clear()
        LOOPS.clear()

    @property
    def enabled(self) -> bool:
        """Whether kernels are used."""
        if self.mode == "off" or self.broken is not None:
            return False
        if self._ready is None:
            self._ready = compiler.ready() is None
        return self._ready

    @property
    def usable(self) -> bool:
        """Whether kernels are used now; where memory is too scarce for the compiler it is not loaded."""
        if self._ready is None and not _has_room():
            return False
        return self.enabled

    @property
    def reason(self) -> str | None:
        """Why kernels are not used, or None."""
        if self.mode == "off":
            return "switched off by MINDTORCH_NATIVE"
        if self._ready is None:
            return "the compiler is being loaded"
        return self.broken or compiler.ready()

    def get(self, program: Program | Walk, work: int, *, at_once: bool = False) -> Any:
        """The kernel of a program, or None if it is not there yet.

        Args:
            program: what to compute.
            work: elements times operations of the launch.
            at_once: compile it if need be, and wait for it.
        """
        found = self._kernels.get(program, self)
        if found is not self:
            return found
        if at_once or self.mode == "now":
            self._make(program)
            return self._kernels.get(program)
        if len(self._seen) >= _SEEN:
            self._seen.clear()
        self._seen[program] += 1
        if (self._seen[program] < 2 and work < _LARGE) or program in self._waiting:
            return None
        if store.load(_key(program)) is not None:
            self._make(program)
            return self._kernels.get(program)
        self._ask(program)
        return None

    def _ask(self, program: Program | Walk) -> None:
        """Have a program compiled."""
        with self._lock:
            if program in self._waiting or program in self._kernels:
                return
            self._waiting.add(program)
            self._queue.put(program)
            if self._busy:
                return
            self._busy = True
        try:
            thread = threading.Thread(target=self._serve, name="mindtorch-compiler", daemon=True)
            thread.start()
            self._thread = thread
        except BaseException as error:
            self._busy = False
            if not isinstance(error, RuntimeError):  # which says that the interpreter is ending
                raise

    def _serve(self) -> None:
        """Compile until nothing is left."""
        while True:
            with self._lock:
                try:
                    program = self._queue.get_nowait()
                except Empty:
                    self._busy = False
                    return
            try:
                self._make(program)
            except BaseException:  # whoever asks again starts another thread
                with self._lock:
                    self._waiting.discard(program)
                    self._busy = False
                raise

    def wait(self) -> None:
        """Wait until nothing is being compiled; for tests and benchmarks."""
        while self._busy:
            time.sleep(0.001)

    def _make(self, program: Program | Walk) -> None:
        """Make a kernel and publish it, or None where that fails; later where memory is scarce."""
        if not _has_room():
            with self._lock:
                self._waiting.discard(program)
            return
        made = None
        start = time.perf_counter()
        try:
            if len(self._kernels) < _MOST:
                made = made_from(program)
        except WrongKernel as error:
            self.broken = f"a compiled kernel does not agree with NumPy: {error}"
        except Exception as error:  # noqa: BLE001 (LLVM may raise anything; NumPy serves on)
            self.failures[f"{type(error).__name__}: {error}"] += 1
        if made is not None:
            verb = "compile" if made.source == "compiled" else "load"
            note_work(f"{verb} kernel {made.name}", start, time.perf_counter())
        with self._lock:
            self._waiting.discard(program)
            self._seen.pop(program, None)
            self._kernels[program] = None if self.broken else made
        LATER.clear()

    def kernels(self) -> list[Any]:
        """All that are there."""
        return [k for k in list(self._kernels.values()) if k is not None]

    def stats(self) -> dict[str, Any]:
        """What was compiled, and what could not be."""
        made = self.kernels()
        return {
            "enabled": self.enabled,
            "reason": self.reason,
            "kernels": len(made),
            "from_disk": sum(k.source == "disk" for k in made),
            "seconds": sum(k.seconds for k in made),
            "waiting": len(self._waiting),
            "failures": dict(self.failures),
        }


def _has_room() -> bool:
    try:  # of pages that nobody touches, and no tool counts as memory in use
        mmap.mmap(-1, _ROOM).close()
    except (OSError, MemoryError):
        return False
    return True


def made_from(program: Program | Walk) -> Kernel | WalkKernel:
    """A program's or walk's kernel from the disk, or compiled and kept there.

    Raises:
        RuntimeError: if LLVM refuses it, or NumPy may compute otherwise, and does.
        WrongKernel: if it does not compute what NumPy does.
    """
    start = time.perf_counter()
    if isinstance(program, Program) and "f2" in _dtypes(program) and not compiler.has_half():
        raise RuntimeError("the processor does not convert to half precision")
    key = _key(program)
    source, code = "disk", store.load(key)
    if code is None:
        source, code = "compiled", compiler.compiled(text_of(program))
    kernel: Kernel | WalkKernel
    if isinstance(program, Walk):
        kernel = WalkKernel(program, compiler.loaded(code), source)
        trouble = wrong_walk(kernel)
        if trouble is not None and WALKS[program.name].optional:
            raise RuntimeError(f"{trouble}: NumPy adds in another order")
    else:
        from .checking import wrong

        kernel = Kernel(program, compiler.loaded(code), source)
        trouble = wrong(kernel)
    if trouble is not None:
        raise WrongKernel(trouble)
    if source == "compiled":
        store.save(key, code)
    kernel.seconds = time.perf_counter() - start
    return kernel


def _key(program: Program | Walk) -> str:
    """Under which a program's object lies on disk."""
    text = f"{compiler.fingerprint()} {program!r} {_summed(program)}"
    return hashlib.sha256(text.encode()).hexdigest()


def _summed(program: Program | Walk) -> list[str]:
    """The dtypes whose sums a program makes in BLAS's order, which is known, without calls of BLAS."""
    if isinstance(program, Walk) or not program.rows:
        return []
    nodes = program.graph.nodes
    codes = sorted({node.dtype for node in nodes if node.op in ("row_sum", "row_dot")})
    return [code for code in codes if KERNELS.get(Walk("row_dots", code), 0, at_once=True)]


def text_of(program: Program | Walk) -> str:
    """LLVM's text of a kernel."""
    if isinstance(program, Walk):
        return text_of_walk(program)
    return ir_of_rows(program, _summed(program)) if program.rows else ir_of(program)


def _dtypes(program: Program) -> set[str]:
    graph = program.graph
    return {*graph.inputs, *graph.constants, *(node.dtype for node in graph.nodes)}


KERNELS: Final = Kernels()


def _finish() -> None:
    """Let the process end only when nothing is compiled: LLVM must not work while it is taken down."""
    KERNELS.finish()
    compiler.LOCK.acquire()  # other threads than ours may compile too


atexit.register(_finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=KERNELS.forget)
