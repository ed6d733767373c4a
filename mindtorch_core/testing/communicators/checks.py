"""What a communicator must do: results that each rank computes for itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from ... import distributed as dist
from ...communication.groups import default_group
from ...dispatch.functions import fn
from ...frontend.creation import tensor as make
from ...tensors.tensor import Tensor
from ...values import dtypes

__all__ = ["CHECKS", "Check", "check"]

Check = Callable[[int, int], None]
CHECKS: Final[dict[str, Check]] = {}


def check(function: Check) -> Check:
    """Decorator: a check, which is called with rank and number of ranks."""
    CHECKS[function.__name__] = function
    return function


_DTYPES: Final = (
    dtypes.float32, dtypes.float64, dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.float16,
    dtypes.bfloat16, dtypes.bool_, dtypes.complex64,
)  # fmt: skip
_SHAPES: Final = ((), (0,), (5,), (2, 3), (70_000,))


def given(rank: int, shape: tuple[int, ...], dtype: Any) -> Tensor:
    """The tensor of a rank: other small whole numbers at each place."""
    count = 1
    for size in shape:
        count *= size
    numbers = fn.arange(count) * (rank + 1) + rank
    return (numbers % 5).reshape(shape).to(dtype)


def same(found: Tensor, expected: Tensor, what: str) -> None:
    """Compare exactly.

    Raises:
        AssertionError: saying what differs.
    """
    if found.shape != expected.shape or not bool(fn.equal(found, expected.to(found.dtype))):
        at = _first_difference(found, expected.to(found.dtype))
        a, b = (t.flatten()[at : at + 6].tolist() for t in (found, expected))
        raise AssertionError(
            f"{what}: {a} instead of {b}" + (f" from element {at} on" if at else "")
        )


def _first_difference(found: Tensor, expected: Tensor) -> int:
    """The first element that differs; 0 where the shapes do."""
    if found.shape != expected.shape:
        return 0
    return int((found != expected).flatten().to(dtypes.uint8).argmax())


def _every(size: int) -> Iterator[tuple[Any, tuple[int, ...], list[Tensor]]]:
    for dtype in _DTYPES:
        for shape in _SHAPES:
            yield dtype, shape, [given(r, shape, dtype) for r in range(size)]


@check
def reductions(rank: int, size: int) -> None:
    """Sums, products, extremes and bits, on all ranks and on one, whose others keep their values."""
    ops = dist.ReduceOp
    for dtype, shape, every in _every(size):
        wide = [t.to(dtypes.int64 if not t.is_complex() else dtype) for t in every]
        kinds = [ops.SUM] if dtype.is_complex else [ops.SUM, ops.MAX, ops.MIN]
        if not (dtype.is_floating_point or dtype.is_complex or dtype is dtypes.bool_):
            kinds += [ops.BAND, ops.BOR, ops.BXOR]
        for op in kinds:
            expected = _reduced(wide, op, dtype)
            t = every[rank].clone()
            dist.all_reduce(t, op)
            same(t, expected, f"all_reduce {op.name} of {dtype} {shape}")
        t = every[rank].clone()
        dist.reduce(t, size - 1)
        kept = _reduced(wide, ops.SUM, dtype) if rank == size - 1 else every[rank]
        same(t, kept, f"reduce of {dtype} {shape}")


def _reduced(every: list[Tensor], op: Any, dtype: Any) -> Tensor:
    ops = dist.ReduceOp
    functions = {
        ops.SUM: fn.add, ops.MAX: fn.maximum, ops.MIN: fn.minimum,
        ops.BAND: fn.bitwise_and, ops.BOR: fn.bitwise_or, ops.BXOR: fn.bitwise_xor,
    }  # fmt: skip
    total = every[0]
    for other in every[1:]:
        total = functions[op](total, other)
    return total.to(dtype)


@check
def copies(rank: int, size: int) -> None:
    """Broadcasts, gathers and scatters put each rank's tensor where it belongs, and change no input."""
    for dtype, shape, every in _every(size):
        what = f"of {dtype} {shape}"
        mine = every[rank].clone()
        for root in range(size):
            t = every[rank].clone()
            dist.broadcast(t, root)
            same(t, every[root], f"broadcast from {root} {what}")
        rows = [fn.empty_like(mine) for _ in range(size)]
        dist.all_gather(rows, mine)
        for r, row in enumerate(rows):
            same(row, every[r], f"place {r} of all_gather {what}")
        rows = [fn.empty_like(mine) for _ in range(size)]
        dist.gather(mine, rows if rank == size - 1 else None, dst=size - 1)
        for r, row in enumerate(rows if rank == size - 1 else []):
            same(row, every[r], f"place {r} of gather {what}")
        part = fn.empty_like(mine)
        dist.scatter(part, every if rank == 0 else None, src=0)
        same(part, every[rank], f"scatter {what}")
        same(mine, every[rank], f"the input of a gather {what}")


@check
def exchanges(rank: int, size: int) -> None:
    """Parts, also of different sizes, reach the rank at their place."""
    sent = fn.cat([make([10 * rank + r]).repeat(rank + 1) for r in range(size)])
    found = make([0]).repeat(sum(range(1, size + 1)))
    dist.all_to_all_single(found, sent, [r + 1 for r in range(size)], [rank + 1] * size)
    expected = fn.cat([make([10 * r + rank]).repeat(r + 1) for r in range(size)])
    same(found, expected, "all_to_all_single with sizes")
    whole = fn.arange(3 * size) * (rank + 1)
    part = make([0]).repeat(3)
    dist.reduce_scatter_single(part, whole)
    total = sum(range(1, size + 1))
    same(part, (fn.arange(3 * size) * total)[3 * rank : 3 * rank + 3], "reduce_scatter_tensor")


@check
def order(rank: int, size: int) -> None:
    """Asynchronous calls run in their order, and are done when waiting for them ends."""
    t = make([float(rank)])
    works = [dist.all_reduce(t, async_op=True) for _ in range(3)]
    for work in reversed(works):
        work.wait()
    same(t, make([float(sum(range(size)) * size * size)]), "three sums in a row")
    begun = dist.all_reduce(make([1.0]), async_op=True)
    end = time.monotonic() + default_group().timeout.total_seconds()
    while begun is not None and not begun.is_completed():
        if time.monotonic() > end:
            raise AssertionError("a call that nobody waits for is never said to be done")
        time.sleep(0.001)
    large = [given(rank, (200_000 + n,), dtypes.float32) for n in range(4)]
    works = [dist.all_reduce(each, async_op=True) for each in large]
    for n, work in enumerate(works):
        work.wait()
        expected = given(0, (200_000 + n,), dtypes.float32)
        for r in range(1, size):
            expected = expected + given(r, (200_000 + n,), dtypes.float32)
        same(large[n], expected, f"large sum {n}")


@check
def barriers(rank: int, size: int) -> None:
    """No rank leaves a barrier before all have come."""
    store = default_group().store
    others = [f"barrier/{n}/{r}" for n in range(5) for r in range(size - 1)]
    for n in range(5):
        comes, left = f"barrier/{n}/last", f"barrier/{n}/left"
        if rank == size - 1:  # the others are there, and had time to leave without it
            store.wait(others[n * rank : (n + 1) * rank], default_group().timeout)
            end = time.monotonic() + 0.05 * 2**n
            while not store.check([left]) and time.monotonic() < end:
                time.sleep(0.002)
            store.set(comes, "")
        else:
            store.set(others[n * (size - 1) + rank], "")
        dist.barrier()
        came = store.check([comes])
        store.set(left, "")
        if not came:
            raise AssertionError(
                f"rank {rank} has left barrier {n}, to which rank {size - 1} has not come"
            )


@check
def messages(rank: int, size: int) -> None:
    """Messages come in order, by tag, from anybody, and both ways at once."""
    if size == 1:
        return
    right, left = (rank + 1) % size, (rank - 1) % size
    a, b, c = (make([-1.0]) for _ in range(3))
    works = [dist.irecv(a, left, tag=1), dist.irecv(b, left, tag=2), dist.irecv(c, left, tag=2)]
    works += [dist.isend(make([20.0 + rank]), right, tag=2)]
    works += [dist.isend(make([30.0 + rank]), right, tag=2)]
    works += [dist.isend(make([10.0 + rank]), right, tag=1)]
    for work in works:
        work.wait()
    found = [a.item(), b.item(), c.item()]
    if found != [10.0 + left, 20.0 + left, 30.0 + left]:
        raise AssertionError(f"messages by tags from rank {left}: {found}")
    large = given(rank, (300_000,), dtypes.float32)
    got = fn.empty_like(large)
    for work in [dist.isend(large, right), dist.irecv(got, left)]:
        work.wait()
    same(got, given(left, (300_000,), dtypes.float32), "a large message")
    if rank:
        dist.send(make([rank]), 0, tag=3)
        return
    seen = {}
    for _ in range(size - 1):
        number = make([0])
        sender = dist.recv(number, tag=3)
        seen[sender] = number.item()
    if seen != {r: r for r in range(1, size)}:
        raise AssertionError(f"messages from anybody, by sender: {seen}")


@check
def groups(rank: int, size: int) -> None:
    """Groups have their members alone, in the order that was asked for, and work side by side."""
    if size == 1:
        return
    whole = dist.new_group(list(reversed(range(size))), sort_ranks=False)
    rows = [make([0]) for _ in range(size)]
    dist.all_gather(rows, make([rank]), group=whole)
    if [int(row) for row in rows] != list(reversed(range(size))):
        raise AssertionError(f"all_gather of a reversed group: {[int(row) for row in rows]}")
    own, _ = dist.new_subgroups_by_enumeration([range(0, size, 2), range(1, size, 2)])
    t, u = make([rank]), make([1])
    works = [dist.all_reduce(t, group=own, async_op=True), dist.all_reduce(u, async_op=True)]
    for work in reversed(works):
        work.wait()
    same(t, make([sum(range(rank % 2, size, 2))]), "the sum of a part of the ranks")
    same(u, make([size]), "the sum of all ranks beside it")


@check
def threads(rank: int, size: int) -> None:
    """Threads may call different groups at a time."""
    made = [dist.new_group() for _ in range(2)]
    wrong: list[str] = []

    def work(group: Any) -> None:
        for n in range(20):
            t = make([n + rank])
            dist.all_reduce(t, group=group)
            if t.item() != size * n + sum(range(size)):
                wrong.append(f"sum {n}: {t.item()}")

    running = [threading.Thread(target=work, args=(group,)) for group in made]
    for each in running:
        each.start()
    for each in running:
        each.join()
    if wrong:
        raise AssertionError(wrong[0])
