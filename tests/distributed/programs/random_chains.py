"""Chains of functional collectives in random programs: eagerly, in blocks and captured; with gradients."""

from contextlib import nullcontext

import numpy as np
from random_steps import FUNCTIONAL, same

import mindtorch_core as torch

KINDS = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "permute"]


class Link:
    """One call of a chain: what it makes of all members' values, and of their gradients.

    Args:
        p: the program.
        shape: of what goes in.
    """

    def __init__(self, p, shape):
        n = self.n = len(p.ranks)
        self.place, self.group = p.place, p.group
        self.kind = p.rng.choice(KINDS)
        self.dim = p.rng.randrange(len(shape))
        self.op = p.rng.choice(["sum", "avg"])
        self.root = p.rng.randrange(n)
        self.order = p.rng.sample(range(n), n)
        self.scale = p.rng.choice([1.0, -2.0, 0.5])
        if self.kind == "reduce_scatter" and shape[self.dim] % n:
            self.kind = "all_gather" if shape[self.dim] < 6 else "all_reduce"
        if self.kind == "all_gather" and shape[self.dim] > 12:
            self.kind = "all_reduce"
        self.even = self.root > 0 and shape[0] % n == 0

    def call(self, x):
        """The call on this rank's tensor."""
        f, g, x = FUNCTIONAL, self.group or torch.distributed.group.WORLD, x * self.scale
        if self.kind == "all_reduce":
            return f.all_reduce(x, self.op, g)
        if self.kind == "all_gather":
            return f.all_gather_tensor(x, self.dim, g)
        if self.kind == "reduce_scatter":
            return f.reduce_scatter_tensor(x, self.op, self.dim, g)
        if self.kind == "broadcast":
            return f.broadcast(x, self.root, g)
        if self.kind == "permute":
            return f.permute_tensor(x, self.order, g)
        if self.even:
            return f.all_to_all_single(x, None, None, g)
        # Each sends all of its rows to the next one.
        sent, received = [0] * self.n, [0] * self.n
        sent[(self.place + 1) % self.n] = x.shape[0]
        received[(self.place - 1) % self.n] = x.shape[0]
        return f.all_to_all_single(x.contiguous(), received, sent, g)

    def forward(self, rows):
        """All members' results."""
        rows, n = [r * self.scale for r in rows], self.n
        share = n if self.op == "avg" else 1
        if self.kind == "all_reduce":
            return [sum(rows) / share] * n
        if self.kind == "all_gather":
            return [np.concatenate(rows, self.dim)] * n
        if self.kind == "reduce_scatter":
            return np.split(sum(rows) / share, n, self.dim)
        if self.kind == "broadcast":
            return [rows[self.root]] * n
        if self.kind == "permute":
            return [rows[self.order.index(r)] for r in range(n)]
        return self._exchanged(rows)

    def _exchanged(self, rows, back=False):
        n = self.n
        if self.even:
            parts = [np.split(r, n) for r in rows]
            return [np.concatenate([parts[s][r] for s in range(n)]) for r in range(n)]
        return [rows[(r + (1 if back else -1)) % n] for r in range(n)]

    def backward(self, grads):
        """The gradients of what went in, if the loss is the sum of all members'."""
        n, share = self.n, self.n if self.op == "avg" else 1
        if self.kind == "all_reduce":
            found = [sum(grads) / share] * n
        elif self.kind == "all_gather":
            found = np.split(sum(grads), n, self.dim)
        elif self.kind == "reduce_scatter":
            found = [np.concatenate(grads, self.dim) / share] * n
        elif self.kind == "broadcast":
            found = [sum(grads) if r == self.root else 0 * grads[0] for r in range(n)]
        elif self.kind == "permute":
            found = [grads[self.order[r]] for r in range(n)]
        else:
            found = self._exchanged(grads, back=True)
        return [g * self.scale for g in found]


def chain(p):
    """A chain of calls; each rank's values, and gradients of the sum of all ranks' losses."""
    dtype = p.dtype(kinds=[torch.float32, torch.float64])
    shape = tuple(p.rng.randrange(1, 5) for _ in range(p.rng.randrange(1, 4)))
    way = p.rng.choice(["eager", "block", "repeated", "captured"])
    trains = p.rng.random() < 0.6
    links, at = [], shape
    for _ in range(p.rng.randrange(1, 4)):
        links.append(Link(p, at))
        at = links[-1].forward([np.zeros(at) for _ in p.ranks])[0].shape
    p.log[-1] += f" {way} {trains} {shape} {[(each.kind, each.dim, each.op) for each in links]}"

    def compute(x, weight):
        y = x + 1
        for link in links:
            y = link.call(y)
        y = y * 2
        return y.detach(), torch.autograd.grad((y * weight).sum(), x)[0] if trains else y.detach()

    if way == "captured":
        compute = torch.pipeline.capture(compute)
    for _ in range(1 if way in ("eager", "block") else 4):
        rows, weights = p.values(shape, dtype), p.values(at, dtype)
        x, weight = p.lay(rows[p.place], dtype), p.lay(weights[p.place], dtype)
        if way == "captured":  # which takes memory that lies alike
            x, weight = (t.clone(memory_format=torch.contiguous_format) for t in (x, weight))
        if p.here:
            x.requires_grad_(trains)
            with torch.pipeline() if way in ("block", "repeated") else nullcontext():
                y, grad = compute(x, weight)
            check(links, y, grad, trains, rows, weights)


def check(links, y, grad, trains, rows, weights):
    """Check a chain's value and gradient."""
    values = [r + 1.0 for r in rows]
    for link in links:
        values = link.forward(values)
    place = links[0].place
    same(y, 2 * values[place], "value")
    if trains:
        grads = [2.0 * w for w in weights]
        for link in reversed(links):
            grads = link.backward(grads)
        same(grad, grads[place], "gradient")
