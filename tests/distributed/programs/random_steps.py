"""The steps of random programs: what is drawn, what every rank must have by NumPy, and the call itself.

All ranks draw the same numbers, also for groups that they are not in.
"""

import copy
import random
import warnings

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

warnings.simplefilter("ignore", FutureWarning)
DEVICE = "cpu"  # on which the tensors are
Op = dist.ReduceOp
WHOLE = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
HOW = {
    Op.SUM: lambda x: x.sum(0),
    Op.PRODUCT: lambda x: x.prod(0),
    Op.MIN: lambda x: x.min(0),
    Op.MAX: lambda x: x.max(0),
    Op.BAND: np.bitwise_and.reduce,
    Op.BOR: np.bitwise_or.reduce,
    Op.BXOR: np.bitwise_xor.reduce,
    Op.AVG: None,  # see `reduced`
}
BITS = (Op.BAND, Op.BOR, Op.BXOR)
FUNCTIONAL = dist._functional_collectives


def reductions(dtype):
    """Those that a dtype has."""
    if dtype.is_complex:
        return [Op.SUM, Op.AVG]
    if dtype in FLOATING:
        return [op for op in HOW if op not in BITS]
    return [op for op in HOW if dtype is not torch.bool or op is not Op.AVG]


def reduced(op, rows, dtype):
    """The reduction of rows, one for each rank."""
    if op is Op.AVG:
        total = rows.sum(0)
        if dtype.is_floating_point or dtype.is_complex:
            return total / len(rows)
        return np.trunc(total / len(rows)).astype(total.dtype)
    found = HOW[op](rows)
    return (found != 0).astype(rows.dtype) if dtype is torch.bool else found


class Program:
    """A program: groups, steps, and works that are waited for later.

    Args:
        seed: of what is drawn.
    """

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.groups = [(tuple(range(self.size)), None)]
        self.waiting = []
        self.log = []

    def said(self):
        """The last steps."""
        return " | ".join(self.log[-12:])

    def run(self):
        """Make groups, run steps, wait for all."""
        for _ in range(self.rng.randrange(3)):
            self.make_group()
        for _ in range(self.rng.randrange(5, 40)):
            self.ranks, self.group = self.rng.choice(self.groups)
            self.here = self.rank in self.ranks
            self.place = self.ranks.index(self.rank) if self.here else -1
            step = self.rng.choice(STEPS)
            self.log.append(f"{step.__name__} {list(self.ranks)}")
            step(copy.copy(self))  # keeps the group, for what is checked later
            if self.rng.random() < 0.3:
                self.wait(self.rng.randrange(4))
        self.wait(len(self.waiting))
        for _, group in self.groups[1:]:
            if isinstance(group, dist.ProcessGroup):
                dist.destroy_process_group(group)

    def make_group(self):
        """Make groups in one of the ways there are."""
        way = self.rng.choice(["new", "local", "order", "split", "subgroups"])
        ranks = self.rng.sample(range(self.size), self.rng.randrange(1, self.size + 1))
        self.log.append(f"{way} {ranks}")
        if way == "split":
            rest = [r for r in range(self.size) if r not in ranks]
            parts = [each for each in (ranks, rest) if each]
            own = dist.split_group(split_ranks=parts)
            self.groups += [(tuple(sorted(p)), own if self.rank in p else None) for p in parts]
            return
        if way == "subgroups":
            count = self.rng.choice([n for n in (1, 2, self.size) if self.size % n == 0])
            _, every = dist.new_subgroups(count)
            self.groups += [
                (tuple(range(i * count, (i + 1) * count)), g) for i, g in enumerate(every)
            ]
            return
        if way == "order":
            made = dist.new_group(ranks, sort_ranks=False)
        else:
            ranks = sorted(ranks)
            made = dist.new_group(ranks, use_local_synchronization=way == "local")
        self.groups.append((tuple(ranks), made))

    # ---- values ----------------------------------------------------------------------------------

    def dtype(self, *, kinds=None):
        """A dtype."""
        return self.rng.choice(kinds or [torch.bool, *WHOLE, *FLOATING, *COMPLEX])

    def shape(self, most=3):
        """A shape; of no dimension, empty, small, or of many elements."""
        kind = self.rng.random()
        if kind < 0.1:
            return ()
        if kind < 0.2:
            return self.rng.choice([(0,), (3, 0), (0, 2)])
        if kind < 0.25:
            return (self.rng.choice([1000, 20_000, 70_001]),)
        return tuple(self.rng.randrange(1, 5) for _ in range(self.rng.randrange(1, most + 1)))

    def values(self, shape, dtype, count=None):
        """Small whole numbers of each member of the group, so that all sums and products are exact."""
        shape = (len(self.ranks) if count is None else count, *shape)
        low = 0 if dtype in (torch.bool, torch.uint8) else -2
        found = self.numbers.integers(low, 2 if dtype is torch.bool else 4, shape)
        if dtype.is_complex:
            return found + 1j * self.numbers.integers(-2, 4, shape)
        return found.astype(np.float64) if dtype.is_floating_point else found

    def lay(self, values, dtype):
        """Values as a tensor, in one of the ways in which memory can lie."""
        t = torch.as_tensor(np.array(values)).to(dtype).to(DEVICE)
        way = self.rng.choice(["plain", "plain", "turned", "stepped", "part", "view"])
        if way == "turned":
            dims = tuple(reversed(range(t.ndim)))
            return t.permute(dims).contiguous().permute(dims)
        if way == "stepped" and t.ndim:
            wide = torch.zeros((*t.shape[:-1], 2 * t.shape[-1]), dtype=dtype, device=DEVICE)
            wide[..., ::2] = t
            return wide[..., ::2]
        if way == "part":
            whole = torch.zeros(t.numel() + 3, dtype=dtype, device=DEVICE)
            part = whole[2 : 2 + t.numel()].view(t.shape)
            return part.copy_(t)
        if way == "view" and dtype.is_complex:
            return t.conj().resolve_conj().conj()
        if way == "view" and dtype in (torch.float32, torch.float64):
            return torch.complex(torch.zeros_like(t), -t).conj().imag
        return t

    def empty(self, shape, dtype):
        """A tensor to write into, with other values."""
        return self.lay(np.full(shape, 1), dtype)

    def later(self, work, check, *, wait=None):
        """Check a call's result: at once, or when its work is waited for."""
        if work is None:
            check()
        else:
            self.waiting.append((work, check))

    def wait(self, count):
        """Wait for some works, in any order; all ranks draw alike, whatever they have."""
        order = self.rng.random(), self.rng.random()
        for _ in range(min(count, len(self.waiting))):
            work, check = self.waiting.pop(int(order[0] * len(self.waiting)))
            if order[1] < 0.2:
                while not work.is_completed():
                    pass
            elif order[1] < 0.4:
                work.get_future().wait()
            else:
                work.wait()
            check()


def same(t, expected, note=""):
    """Check a tensor's values."""
    found = t.detach().cpu().resolve_conj().resolve_neg()
    found = found.to(torch.complex128 if found.is_complex() else torch.float64).numpy()
    expected = np.asarray(expected)
    assert found.shape == expected.shape, (note, found.shape, expected.shape)
    wide = t.dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128)
    close = 1e-6 if wide else 1e-2
    assert np.allclose(found, expected, rtol=close, atol=0), (note, t.dtype, found, expected)


def drawn(p, op=True, shape=None):
    """What most steps draw: dtype, shape, reduction, members' values, root, whether to wait."""
    dtype = p.dtype()
    shape = p.shape() if shape is None else shape
    how = p.rng.choice(reductions(dtype))
    return dtype, shape, how, p.values(shape, dtype), p.rng.randrange(len(p.ranks)), p.rng.random() < 0.5  # fmt: skip


# ---- collective operations ---------------------------------------------------------------------------


def all_reduce(p):
    """In place, of all reductions; also of several tensors as one call."""
    dtype, _shape, how, rows, _, later = drawn(p)
    expected, t = reduced(how, rows, dtype), p.lay(rows[p.place], dtype)
    if p.here:
        p.later(dist.all_reduce(t, how, p.group, later), lambda: same(t, expected, how))


def all_reduce_coalesced(p):
    """Several tensors, by the function and in a block."""
    dtype, _, how, _, _, later = drawn(p)
    rows = [p.values(p.shape(), dtype) for _ in range(p.rng.randrange(1, 4))]
    tensors = [p.lay(each[p.place], dtype) for each in rows]
    block = p.rng.random() < 0.5
    if not p.here:
        return

    def check():
        for t, each in zip(tensors, rows, strict=True):
            same(t, reduced(how, each, dtype))

    if not block:
        p.later(dist.all_reduce_coalesced(tensors, how, p.group, later), check)
        return
    with dist._coalescing_manager(p.group, async_ops=later) as manager:
        for t in tensors:
            dist.all_reduce(t, how, p.group, async_op=later)
    manager.wait()
    check()


def reduce(p):
    """Into one rank's; the others' stay."""
    dtype, _shape, how, rows, root, later = drawn(p)
    t = p.lay(rows[p.place], dtype)
    expected = reduced(how, rows, dtype) if p.place == root else rows[p.place]
    if p.here:
        work = dist.reduce(t, op=how, group=p.group, async_op=later, group_dst=root)
        p.later(work, lambda: same(t, expected, how))


def broadcast(p):
    """One rank's."""
    dtype, _shape, _, rows, root, later = drawn(p)
    t = p.lay(rows[p.place], dtype)
    if p.here:
        p.later(dist.broadcast(t, p.ranks[root], p.group, later), lambda: same(t, rows[root]))


def all_gather(p):
    """Into a list, stacked, and one after the other."""
    dtype, shape, _, rows, _, later = drawn(p)
    way = p.rng.choice(["list", "stacked", "joined"])
    t = p.lay(rows[p.place], dtype)
    outputs = [p.empty(shape, dtype) for _ in p.ranks]
    joined = (len(p.ranks), *shape) if way == "stacked" else (len(p.ranks) * max(1, *shape[:1], 0), *shape[1:])  # fmt: skip
    if way == "joined" and shape and not shape[0]:
        joined = shape
    whole = p.empty(joined, dtype)
    if not p.here:
        return
    if way == "list":

        def check():
            for each, row in zip(outputs, rows, strict=True):
                same(each, row)
            same(t, rows[p.place])

        p.later(dist.all_gather(outputs, t, p.group, later), check)
    else:
        work = dist.all_gather_into_tensor(whole, t, p.group, later)
        p.later(work, lambda: same(whole, rows.reshape(joined)))


def all_gather_coalesced(p):
    """Lists of several tensors."""
    dtype, _, _, _, _, later = drawn(p)
    rows = [p.values(p.shape(), dtype) for _ in range(p.rng.randrange(1, 3))]
    tensors = [p.lay(each[p.place], dtype) for each in rows]
    lists = [[p.empty(each.shape[1:], dtype) for each in rows] for _ in p.ranks]

    def check():
        for r, row in enumerate(lists):
            for t, each in zip(row, rows, strict=True):
                same(t, each[r])

    if p.here:
        p.later(dist.all_gather_coalesced(lists, tensors, p.group, later), check)


def gather(p):
    """Into one rank's list."""
    dtype, shape, _, rows, root, later = drawn(p)
    t, outputs = p.lay(rows[p.place], dtype), [p.empty(shape, dtype) for _ in p.ranks]
    if not p.here:
        return
    own = outputs if p.place == root else None

    def check():
        for each, row in zip(own or [], rows, strict=False):
            same(each, row)

    work = dist.gather(t, own, group=p.group, async_op=later, group_dst=root)
    p.later(work, check)


def scatter(p):
    """From one rank's list."""
    dtype, shape, _, rows, root, later = drawn(p)
    out, parts = p.empty(shape, dtype), [p.lay(row, dtype) for row in rows]
    if p.here:
        own = parts if p.place == root else None
        work = dist.scatter(out, own, p.ranks[root], p.group, later)
        p.later(work, lambda: same(out, rows[p.place]))


def reduce_scatter(p):
    """Of a list, and of one tensor."""
    dtype, shape, how, _, _, later = drawn(p)
    whole = p.values((len(p.ranks), *shape), dtype)  # [sender, receiver, ...]
    single = p.rng.random() < 0.5
    out = p.empty(shape, dtype)
    parts = [p.lay(each, dtype) for each in whole[p.place]]
    one = p.lay(whole[p.place], dtype)
    if not p.here:
        return
    expected = reduced(how, whole[:, p.place], dtype)
    if single:
        work = dist.reduce_scatter_tensor(out, one, how, p.group, later)
    else:
        work = dist.reduce_scatter(out, parts, how, p.group, later)

    def check():
        same(out, expected, how)
        same(one, whole[p.place])

    p.later(work, check)


def all_to_all(p):
    """Lists of tensors of any shapes, and parts of one tensor."""
    dtype, shape, _, _, _, later = drawn(p)
    n = len(p.ranks)
    single, equal = p.rng.random() < 0.5, p.rng.random() < 0.3
    rest = tuple(shape[1:])
    counts = [[p.rng.randrange(3) for _ in range(n)] for _ in range(n)]
    if equal:
        counts = [[2] * n for _ in range(n)]
    sent = [[p.values((c, *rest), dtype, 1)[0] for c in row] for row in counts]
    mine = [p.lay(each, dtype) for each in sent[p.place]]
    outputs = [p.empty((row[p.place], *rest), dtype) for row in counts]
    whole = p.lay(np.concatenate(sent[p.place]), dtype)
    column = [row[p.place] for row in sent]
    into = p.empty((sum(len(each) for each in column), *rest), dtype)
    if not p.here:
        return
    if single:
        sizes = (None, None) if equal else ([len(e) for e in column], counts[p.place])
        work = dist.all_to_all_single(into, whole, *sizes, p.group, later)
        p.later(work, lambda: same(into, np.concatenate(column)))
        return

    def check():
        for each, expected in zip(outputs, column, strict=True):
            same(each, expected)

    p.later(dist.all_to_all(outputs, mine, p.group, later), check)


def barrier(p):
    """Wait for all."""
    kind = p.rng.random()
    if p.here and kind < 0.8:
        p.later(dist.barrier(p.group, async_op=kind < 0.4), lambda: None)
    elif p.here:
        dist.monitored_barrier(p.group)


# ---- objects and messages ----------------------------------------------------------------------------


def objects(p):
    """Python's objects, of any size."""
    n, root = len(p.ranks), p.rng.randrange(len(p.ranks))
    way = p.rng.choice(["all_gather", "gather", "broadcast", "scatter"])
    values = [{"of": r, "text": "x" * p.rng.choice([0, 1, 1000]), "list": [p.rng.random()]} for r in range(n)]  # fmt: skip
    if not p.here:
        return
    own, at_root = values[p.place], p.place == root
    found = [None] * n
    if way == "all_gather":
        dist.all_gather_object(found, own, p.group)
        assert found == values
    elif way == "gather":
        dist.gather_object(own, found if at_root else None, group=p.group, group_dst=root)
        assert found == (values if at_root else [None] * n)
    elif way == "broadcast":
        given = [*values] if at_root else [None] * n
        dist.broadcast_object_list(given, p.ranks[root], p.group)
        assert given == values
    else:
        out = [None, 7]
        dist.scatter_object_list(out, values if at_root else None, p.ranks[root], p.group)
        assert out == [own, 7]


def messages(p):
    """A ring, at once or one after the other; objects from one to another."""
    dtype, shape, _, rows, root, later = drawn(p)
    n = len(p.ranks)
    tag = p.rng.randrange(3)
    way = p.rng.choice(["batch", "plain", "any", "objects"])
    step = p.rng.randrange(1, n) if n > 1 else 0
    t, out = p.lay(rows[p.place], dtype), p.empty(shape, dtype)
    if not p.here or n == 1:
        return
    right, left = (root + step) % n, root
    if way in ("batch", "plain"):  # all send to the one `step` places on
        to, of = (p.place + step) % n, (p.place - step) % n
        if way == "batch":
            ops = [
                dist.P2POp(dist.isend, t, group=p.group, tag=tag, group_peer=to),
                dist.P2POp(dist.irecv, out, group=p.group, tag=tag, group_peer=of),
            ]
            works = dist.batch_isend_irecv(ops if later else ops[::-1])
        else:
            works = [dist.irecv(out, p.ranks[of], p.group, tag)]
            works.append(dist.isend(t, p.ranks[to], p.group, tag))
        for work in works:
            work.wait()
        same(out, rows[of])
    elif p.place == left:
        if way == "objects":
            dist.send_object_list([rows[0].shape, "a"], p.ranks[right], p.group)
        else:
            dist.send(t, p.ranks[right], p.group, tag)
    elif p.place == right:
        if way == "objects":
            found = [None, None]
            assert dist.recv_object_list(found, p.ranks[left], p.group) == p.ranks[left]
            assert found == [rows[0].shape, "a"]
        else:
            of = dist.recv(out, None if way == "any" else p.ranks[left], p.group, tag)
            assert of == p.ranks[left]
            same(out, rows[left])


def mismatch(p):
    """One rank makes another call: all hear who, and go on."""
    n, odd = len(p.ranks), p.rng.randrange(len(p.ranks))
    way = p.rng.choice(["shape", "dtype", "op", "call"])
    if not p.here or n == 1:
        return
    t = torch.ones(3, device=DEVICE)
    how, call = Op.SUM, dist.all_reduce
    if p.place == odd:
        t = {"shape": t[:2], "dtype": t.to(torch.int32)}.get(way, t)
        how = Op.MAX if way == "op" else how
        if way == "call":
            call = lambda t, how, group: dist.broadcast(t, group=group, group_src=0)  # noqa: E731
    with pytest.raises(dist.DistributedError) as caught:
        call(t, how, p.group)
    if n > 2:
        assert caught.value.rank == p.ranks[odd], (caught.value, odd)


STEPS = [
    all_reduce, all_reduce, all_reduce_coalesced, reduce, broadcast, all_gather, all_gather_coalesced, gather,
    scatter, reduce_scatter, all_to_all, barrier, objects, messages, mismatch,
]  # fmt: skip
