"""A call that several ranks make together: what it is called with, and until when it may wait.

An engine exchanges the calls' fingerprints before any data, so that ranks that call different things
hear of it instead of reading each other's memory.
"""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType
from typing import Any, Final

from ..deferred.observers import ASIDES, note_work
from .errors import DistributedError

__all__ = ["FINGERPRINT", "MONITORS", "REPORT", "Call", "Place", "Whole"]

FINGERPRINT: Final = 16  # bytes
REPORT: Final = 1024  # bytes, of the description that follows where fingerprints differ

# What else an attribute says of a call: the ranks of a group that is made, or what is gathered.
_MEANT: Final = {
    ("new_group", "shape"): "ranks",
    ("split_group", "reduction"): "ranks",
    **{
        (f"all_gather{each}", "reduction"): "carrying"
        for each in ("_into_tensor", "_into_tensor_coalesced", "_coalesced")
    },
}

# Where code is calling: the code, and how far it has come.
Place = tuple[CodeType, int]

_HASHES: Final[dict[tuple[Any, ...], bytes]] = {}
# Asked by `Call.check` whether anything has happened to a rank; `failures` fills it.
MONITORS: Final[list[Callable[[Call], DistributedError | None]]] = []


class Whole:
    """What the calls of a list have in common, which are one call to the ranks.

    None is made after one that differs.

    Attributes:
        count: how many there are.
        begun: how many of them have been made.
        number: which call of the group they are; 0 before the first.
        error: of the first that differed.
    """

    __slots__ = ("begun", "count", "error", "number")

    def __init__(self, count: int) -> None:
        self.count = count
        self.begun = 0
        self.number = 0
        self.error: DistributedError | None = None

    def next(self) -> str:
        """What the next one carries, in words that no other one's are."""
        self.begun += 1
        return f"tensor {self.begun} of {self.count}"


class Call:
    """One call of a group's collective operation, or of a message, by one rank.

    Attributes:
        op: the function's name.
        number: which call of the group it is, from 1; messages are counted apart.
        group: the group's name.
        ranks: the members' ranks in the default group, in the group's order.
        rank: which of them this process is: a position.
        partners: the ranks that it goes to or comes from, of which one is enough; None if it needs all.
        tag: of a message.
        dtype, shape: of the tensor that every rank must have alike.
        reduction: such as ``sum``; of ops that reduce nothing what they carry, or empty.
        root: the position of the rank that sends to all or hears from all, or -1.
        where: the user's line, ``file:line``; it is looked up when somebody asks.
        seconds: how long it may take.
        deadline: when that is over, as `time.monotonic` counts.
        waits: whether the caller waits for it at once.
        whole: of a list whose calls are one.
        behind: why this rank's device has not come to it, in an engine's words; else empty.
    """

    __slots__ = (
        "_print", "_where", "behind", "deadline", "dtype", "group", "number", "op", "partners", "rank",
        "ranks", "reduction", "root", "seconds", "shape", "tag", "waits", "whole",
    )  # fmt: skip

    def __init__(
        self,
        op: str,
        number: int,
        group: str,
        ranks: tuple[int, ...],
        rank: int,
        *,
        dtype: str = "",
        shape: tuple[int, ...] = (),
        reduction: str = "",
        root: int = -1,
        where: str | Place = "",
        seconds: float,
        waits: bool = True,
        partners: tuple[int, ...] | None = None,
        tag: int = 0,
        whole: Whole | None = None,
    ) -> None:
        self.op = op
        self.number = number
        self.group = group
        self.ranks = ranks
        self.rank = rank
        self.partners = partners
        self.tag = tag
        self.dtype = dtype
        self.shape = shape
        self.reduction = reduction
        self.root = root
        self._where = where
        self._print: bytes | None = None
        self.seconds = seconds
        self.waits = waits
        self.whole = whole
        self.behind = ""
        self.deadline = time.monotonic() + seconds

    @property
    def where(self) -> str:
        """The user's line."""
        if isinstance(self._where, str):
            return self._where
        code, at = self._where
        lines = (line for start, end, line in code.co_lines() if start <= at < end)
        return f"{code.co_filename}:{next(lines, None) or code.co_firstlineno}"

    # ---- what other ranks must have alike --------------------------------------------------------

    def _facts(self) -> tuple[Any, ...]:
        return self.op, self.dtype, self.shape, self.reduction, self.root, self.group

    def fingerprint(self) -> bytes:
        """`FINGERPRINT` bytes that are the same on all ranks exactly if their calls go together.

        Raises:
            DistributedError: if a call before it in a list did not: no rank makes the others.
        """
        if self.whole is not None and self.whole.error is not None:
            raise self.whole.error
        if self._print is not None:
            return self._print
        facts = self._facts()
        found = _HASHES.get(facts)
        if found is None:
            if len(_HASHES) > 10_000:
                _HASHES.clear()
            text = repr(facts).encode()
            found = zlib.crc32(text).to_bytes(4, "little") + zlib.adler32(text).to_bytes(
                4, "little"
            )
            _HASHES[facts] = found
        whole = self._print = self.number.to_bytes(8, "little") + found
        return whole

    def agrees(self, fingerprints: bytes | bytearray) -> bool:
        """Whether all ranks' fingerprints, one after the other, are this call's."""
        return fingerprints == self.fingerprint() * (len(fingerprints) // FINGERPRINT)

    def report(self) -> bytes:
        """What is told to other ranks where fingerprints differ: `REPORT` bytes."""
        where = self.where[-300:]
        row = (self.op, self.dtype, self.shape[:16], self.reduction, self.root, self.number, where)
        return json.dumps(row).encode()[:REPORT].ljust(REPORT)

    def mismatch(self, reports: bytes) -> DistributedError:
        """The error about ranks that called different things.

        Args:
            reports: of all ranks in the group's order.
        """
        rows = [json.loads(bytes(reports[i : i + REPORT])) for i in range(0, len(reports), REPORT)]
        facts = [tuple(map(str, row[:6])) for row in rows]
        usual = max(facts, key=facts.count)
        odd = next((i for i, each in enumerate(facts) if each != usual), 0)
        names = ("op", "dtype", "shape", "reduction", "root", "number of the call")
        pairs = zip(names, facts[odd], usual, strict=True)
        differs = [
            f"{_MEANT.get((usual[0], name), name)} {own} instead of {common}"
            for name, own, common in pairs
            if own != common
        ]
        if facts[odd][0] != usual[0]:  # the rest follows from that
            differs = differs[:1]
        said = {self.ranks[i]: _described(*row) for i, row in enumerate(rows)}
        text = f"rank {self.ranks[odd]} made another call than the others: {', '.join(differs)}"
        error = self.error(text, self.ranks[odd], said)
        if self.whole is not None:
            self.whole.error = error
        return error

    def unlike(self, peer: int, sent: bytes, expected: bytes) -> DistributedError | None:
        """The error about a message that is not what its receiver expects, or None.

        Args:
            peer: the position of the other rank.
            sent: the sender's `report`.
            expected: the receiver's.
        """
        a, b = json.loads(sent), json.loads(expected)
        if a[1] == b[1] and math.prod(a[2]) == math.prod(b[2]):
            return None
        mine = json.loads(self.report())
        other = b if a == mine else a
        text = f"a message of {a[1]} {a[2]} meets a receiver of {b[1]} {b[2]}"
        rank = self.ranks[peer]
        return self.error(text, rank, {rank: _described(*other)})

    def unlike_parts(
        self, rows: Sequence[Sequence[int]], reports: bytes = b""
    ) -> DistributedError | None:
        """The error about parts that one rank sends and another does not expect, or None.

        Args:
            rows: of each rank in the group's order how many elements it sends to each, then how many it
                expects from each.
            reports: of all ranks in that order, which say where each has called.
        """
        size = len(rows)
        for sender in range(size):
            for receiver in range(size):
                sent, expected = rows[sender][receiver], rows[receiver][size + sender]
                if sent != expected:
                    a, b = self.ranks[sender], self.ranks[receiver]
                    text = f"rank {a} sends {sent} elements to rank {b}, which expects {expected}"
                    return self.error(text, a, self._parts_by_rank(rows, reports))
        return None

    def _parts_by_rank(self, rows: Sequence[Sequence[int]], reports: bytes) -> dict[int, str]:
        said = {}
        for place, row in enumerate(rows):
            own = self.described() if place == self.rank else self.op
            if reports:
                at = place * REPORT
                own = _described(*json.loads(reports[at : at + REPORT]))
            sent, expected = list(row[: len(rows)]), list(row[len(rows) :])
            said[self.ranks[place]] = f"{own}, sends {sent} elements and expects {expected}"
        return said

    # ---- words -----------------------------------------------------------------------------------

    def described(self) -> str:
        """What was called, in words, and why this rank's device has not come to it."""
        row = self.op, self.dtype, self.shape, self.reduction, self.root, self.number, self.where
        text = _described(*row, self.tag)
        return f"{text}: {self.behind}" if self.behind else text

    def error(
        self, text: str, rank: int | None, by_rank: Mapping[int, str] | None = None
    ) -> DistributedError:
        """An error of this call.

        Args:
            text: what happened.
            rank: whose fault it is, in the default group.
            by_rank: what is known of others.
        """
        known = {self.ranks[self.rank]: self.described(), **(by_rank or {})}
        message = f"{self.op}, call {self.number} of the group {self.group!r}: {text}"
        return DistributedError(message, rank=rank, op=self.op, number=self.number, by_rank=known)

    # ---- traces ----------------------------------------------------------------------------------

    def ended(self, engine: str, start: float) -> None:
        """Have profiles show the call, on a row of its group; engines say so when it is over.

        Args:
            engine: whose name begins the span's, as in ``mpi:all_reduce``.
            start: when the ranks began with it, on the clock of `time.perf_counter`.
        """
        if ASIDES:
            row = f"{engine}, group {self.group}"
            note_work(f"{engine}:{self.op}", start, time.perf_counter(), row)

    # ---- waiting ---------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise if waiting is of no use any more; engines ask this while they wait.

        Raises:
            DistributedError: if the time is over, or something has happened to a rank of the group.
        """
        late = time.monotonic() > self.deadline  # before monitors look: they know whose fault it is
        for monitor in MONITORS:
            found = monitor(self)
            if found is not None:
                raise found
        if late:
            raise self.error(f"not done after {self.seconds:g} s", None)


def _described(
    op: str,
    dtype: str,
    shape: Iterable[int],
    reduction: str,
    root: int,
    number: int,
    where: str,
    tag: int = 0,
) -> str:
    options: Sequence[str] = [
        *([reduction] if reduction else []),
        *([f"root {root}"] if root >= 0 else []),
        *([f"tag {tag}"] if tag else []),
    ]
    of = f" of {dtype} {list(shape)}" if dtype else ""
    return f"{op}({', '.join(options)}){of}, call {number}, at {where or 'an unknown line'}"
