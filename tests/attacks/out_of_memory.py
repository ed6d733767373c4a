"""Programs that run out of memory somewhere: what they leave, and what works afterwards.

Run as a script, in a process whose address space is limited again and again to a random size. Tensors
are so large that the C library gets each from the system; Python's own objects fit in any case.
"""

import contextlib
import gc
import io
import os
import random
import resource
import sys
import time
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import ACTIVE, MASKS
from mindtorch_core.values.devices import row_of

F = torch.nn.functional
N = 1 << 20
LEAST = 5 << 19  # bytes that are left for Python

PROGRAMS = {}


def program(run):
    """A program: it gets operands, and gives a list of results."""
    PROGRAMS[run.__name__] = run
    return run


class Operands:
    """What programs use; a program may write into ``w`` only."""

    def __init__(self):
        self.a = torch.arange(float(N)).remainder(7) - 3
        self.b = torch.arange(float(N)).remainder(5) - 2
        self.square = self.a.reshape(1024, 1024)
        self.leaf = (self.b * 0.5).requires_grad_()
        self.places = torch.arange(N).flip(0)
        self.w = torch.ones(N)

    def bits(self):
        """All that must stay."""
        kept = (self.a, self.b, self.leaf, self.places)
        return [t.detach().numpy().tobytes() for t in kept]


@program
def eager(o):
    return [(o.a * 2 + o.b).relu().exp().sum(), (o.a - o.b).abs()]


@program
def functions(o):
    joined = torch.cat([o.a, o.b])
    return [joined.sort().values, o.a[o.places], torch.where(o.a > 0, o.a, o.b), o.a[o.a > 1]]


@program
def numbers(o):
    return [F.gelu(o.a), F.softmax(o.square, -1), o.square.var(0)]  # OpenBLAS ends a process


@program
def copies(o):
    return [o.square.t().contiguous(), o.a.double().to(torch.int32), torch.tensor(o.b.numpy())]


@program
def pipeline(o):
    with torch.pipeline():
        c = (o.a * 2 + o.b).relu()
        d = torch.cat([c, o.b]).sort().values
        return [c.sum(), c, d, o.square.t() + c.view(1024, 1024)]


@program
def nested_pipelines(o):
    with torch.pipeline():
        c = o.a * 3
        with torch.pipeline() as pipe:
            d = c[o.places] + 1
            pipe.flush()
        return [c - d, d.nonzero().sum()]


@program
def backward(o):
    ((o.leaf * o.a).tanh() * o.leaf).sum().backward()
    return [o.leaf.grad]


@program
def backward_with_hooks(o):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t + 0):
        y = torch.utils.checkpoint.checkpoint(torch.exp, o.leaf * 0.1, use_reentrant=False) * o.a
    y.register_hook(lambda g: g * 2)
    return list(torch.autograd.grad(y.sum(), [o.leaf]))


@program
def backward_of_a_pipeline(o):
    with torch.pipeline():
        loss = ((o.leaf * o.a).sigmoid() + o.leaf).sum()
        return list(torch.autograd.grad(loss, [o.leaf]))


@program
def update(o):
    with torch.no_grad():
        momentum = o.a * 0.9
        momentum.add_(o.b, alpha=0.1)
        o.w.sub_(momentum / (o.b.square().sqrt() + 1), alpha=0.5)
    return [o.w]


@program
def writes(o):
    o.w[o.a > 0] = 3
    o.w.copy_(o.w.view(1024, 1024).t().reshape(-1))
    torch.add(o.w, o.a, out=o.w)
    return [o.w]


@program
def saving_and_loading(o):
    file = io.BytesIO()
    torch.save({"a": o.a, "b": [o.b]}, file)
    file.seek(0)
    found = torch.load(file)
    return [found["a"], found["b"][0]]


@program
def drawing(o):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return [torch.rand(N), torch.randn(N).abs(), torch.randperm(N)]


def whole(value):
    return value.detach().numpy().tobytes()


def used():
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def at_most(room):
    """No more memory than there is now and some bytes; nothing is kept for reuse."""
    gc.collect()
    row_of("cpu").runtime.empty_cache()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used() + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def caused(error):
    """Whether an error says that memory is short, and by its one name."""
    while isinstance(error, torch.PipelineError):
        error = error.__cause__
    return isinstance(error, torch.OutOfMemoryError)


def state():
    torch.ones(1) + 1  # the first call after the results of a failed pipeline have gone tidies up
    drawn = torch.get_rng_state().tolist()
    return (
        torch.is_grad_enabled(),
        MASKS.include,
        MASKS.keep,
        len(ACTIVE),
        current_pipeline(),
        drawn,
    )


def tried(run, o, room):
    """Whether a program ran out of memory; nothing else may happen to it."""
    try:
        with at_most(room):
            run(o)
    except (torch.OutOfMemoryError, torch.PipelineError) as error:
        if not caused(error):
            raise
        return True
    return False


def attack(run, chance, wanted, needs):
    o = Operands()
    before, state_before = o.bits(), state()
    failed = tried(run, o, LEAST + chance.randrange(needs))
    gc.collect()
    assert state() == state_before, (state(), state_before)
    assert o.bits() == before, "an operand has changed"
    assert o.leaf.grad is None or not failed or whole(o.leaf.grad), "half a gradient"
    o.w = torch.ones(N)
    o.leaf.grad = None
    assert [whole(t) for t in run(o)] == wanted, "the next run gives other numbers"
    return failed


def room_for(run):
    """Bytes with which a program just runs."""
    room = 4 << 20
    while tried(run, Operands(), LEAST + room):
        room += room // 3
    return room


def main(first, seconds):
    torch.set_num_threads(2)
    wanted = {name: [whole(t) for t in run(Operands())] for name, run in PROGRAMS.items()}
    needs = {name: room_for(run) for name, run in PROGRAMS.items()}
    counts = dict.fromkeys(PROGRAMS, 0)
    seed, end = first, time.monotonic() + seconds
    names = [*PROGRAMS]
    while time.monotonic() < end and (seed == first or "ATTACK_SEED" not in os.environ):
        chance, name = random.Random(seed), names[seed % len(names)]
        try:
            counts[name] += attack(PROGRAMS[name], chance, wanted[name], needs[name])
        except BaseException:
            print(f"in {name} (ATTACK_SEED={seed} repeats it)", file=sys.stderr, flush=True)
            raise
        seed += 1
    print(seed - first, "runs; out of memory:", counts)
    assert seed < first + 200 or all(counts.values()), counts


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
