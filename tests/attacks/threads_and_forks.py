"""Threads that do everything at once, and processes that begin in the midst of it.

Run as a script. Each job computes something whose value is known, and says what was wrong.
"""

import faulthandler
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import MASKS
from mindtorch_core.plugins import loader

SHARED = torch.arange(1000.0)
LARGE = torch.ones(300_000)  # beyond the size from which pipelines are planned
JOBS = {}
COUNT = {}


def job(run):
    JOBS[run.__name__] = run
    return run


def expect(found, wanted):
    assert found == wanted, f"{found} and not {wanted}"


@job
def eager(chance):
    k = chance.randrange(1, 9)
    expect((SHARED * k - SHARED).sum().item(), 499_500.0 * (k - 1))
    expect(torch.cat([SHARED, SHARED[:k]]).shape[0], 1000 + k)
    expect(SHARED.flip(0)[:2].tolist(), [999.0, 998.0])


@job
def pipelines(chance):
    k = chance.randrange(1, 9)
    with torch.pipeline(max_ops=chance.choice([1, 5, 1000])) as pipe:
        y = SHARED * k
        with torch.pipeline():
            z = (y + 1).relu()
        if chance.random() < 0.5:
            pipe.flush()
        y.add_(z)
        total = y.sum()
    expect(total.item(), 499_500.0 * 2 * k + 1000)
    assert current_pipeline() is None


@job
def planned(chance):
    k = chance.randrange(1, 9)
    with torch.pipeline():
        y = ((LARGE * k + 1).relu() - LARGE).sum()
    expect(y.item(), 300_000.0 * k)


HANDED = []  # tensors that other threads have recorded, their values


@job
def pending_from_others(chance):
    if HANDED and chance.random() < 0.7:
        t, wanted = HANDED[chance.randrange(len(HANDED))]
        expect(t.sum().item(), wanted)
        return
    k, kept = chance.randrange(1, 9), torch.zeros(10)
    with torch.pipeline():
        HANDED.append((SHARED[:10] + k, 45.0 + 10 * k))
        HANDED.append((kept.add_(k), 10.0 * k))
        del HANDED[:-20]
        time.sleep(0)


LEAF = torch.ones(50, requires_grad=True)


@job
def backward_on_a_shared_leaf(chance):
    k = chance.randrange(1, 9)
    (gradient,) = torch.autograd.grad((LEAF * k * LEAF).sum(), [LEAF])
    expect(gradient.sum().item(), 100.0 * k)
    own = torch.ones(50, requires_grad=True)
    (own * LEAF).sum().backward(inputs=[own])
    expect(own.grad.tolist(), [1.0] * 50)
    with torch.no_grad():
        assert not (LEAF * 2).requires_grad
    assert torch.is_grad_enabled()


@job
def deferred_backward(chance):
    with torch.pipeline():
        own = torch.ones(5, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(torch.exp, own * 0, use_reentrant=False)
        y.sum().backward()
    expect(own.grad.tolist(), [0.0] * 5)


@job
def registering(chance):
    """Ops come and go while others call theirs."""
    space = f"own{threading.get_ident()}"
    library = torch.library.Library(space, "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeImplicitAutograd")
    try:
        expect(getattr(torch.ops, space).twice(SHARED).sum().item(), 999_000.0)
    finally:
        library._destroy()


@job
def a_device_comes_and_goes(chance):
    with LOADING:  # one thread at a time, as a program would
        plugins.load("visitor")
        expect((torch.ones(3, device="visitor") + 1).tolist(), [2.0, 2.0, 2.0])
        plugins.unload("visitor")


LOADING = threading.Lock()


@job
def modes(chance):
    with torch.inference_mode():
        assert (SHARED + 1).is_inference()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expect((torch.ones(2, 2) @ torch.ones(2, 2)).dtype, torch.bfloat16)
    expect((torch.ones(2, 2) @ torch.ones(2, 2)).dtype, torch.float32)


@job
def drawing(chance):
    seed = chance.randrange(1000)
    found = [torch.rand(5, generator=torch.Generator().manual_seed(seed)).tolist() for _ in "ab"]
    expect(found[0], found[1])
    torch.randn(10)


@job
def a_child(chance):
    """Computes, by itself, whatever the other threads were doing when it began."""
    expect(forked(), 0)


def forked():
    """The exit code of a child that computes something of each kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of threads
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.alarm(30)
            assert current_pipeline() is None
            expect((SHARED * 2).sum().item(), 999_000.0)
            with torch.pipeline():
                y = LARGE * 2 + 1
            expect(y.sum().item(), 900_000.0)
            own = torch.ones(5, requires_grad=True)
            (own * own).sum().backward()
            expect(own.grad.tolist(), [2.0] * 5)
            registering(chance=None)
            torch.rand(3)
            code = 0
        except BaseException:  # noqa: BLE001 (of a child, which must end here)
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def locks():
    """All locks that modules hold, or objects that live as long as they."""
    kinds = (type(threading.Lock()), type(threading.RLock()))
    for name, module in list(sys.modules.items()):
        if name.startswith("mindtorch"):
            for value in list(vars(module).values()):
                inside = getattr(value, "__dict__", {}) if not isinstance(value, type) else {}
                yield from (v for v in (value, *inside.values()) if isinstance(v, kinds))


def fork_while_all_is_locked():
    """As if another thread were everywhere at once."""
    faulthandler.register(signal.SIGALRM, chain=True)
    torch.set_num_threads(2)
    for run in (planned, deferred_backward, registering):
        run(random.Random(0))
    held, locked, done = {id(lock): lock for lock in locks()}, threading.Event(), threading.Event()
    if (compiler := sys.modules.get("mindtorch_cpu.native.compiler")) is not None:
        del held[id(compiler.LOCK)]  # a fork waits until LLVM has done what it does
    assert len(held) > 4, held

    def hold():
        for lock in held.values():
            assert lock.acquire(timeout=10)
        locked.set()
        done.wait(90)
        for lock in held.values():
            lock.release()

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(60)
    code = forked()
    done.set()
    thread.join()
    expect(code, 0)


def compute(k):
    """What a spawned process does."""
    return (torch.arange(10.0) * k).sum().item()


def spawned():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        expect(pool.apply_async(compute, (3,)).get(100), 135.0)


# ---- all at once --------------------------------------------------------------------------------


def work(seed, end, wrong, forks):
    chance = random.Random(seed)
    names = [n for n in JOBS if n != "a_child" or forks]
    while time.monotonic() < end and not wrong:
        name = chance.choice(names)
        if name == "a_child" and chance.random() < 0.8:
            continue
        try:
            JOBS[name](chance)
            assert (MASKS.include, MASKS.keep, torch.is_grad_enabled()) == (0, -1, True)
        except BaseException:  # noqa: BLE001 (told by the main thread)
            wrong.append(f"{name} in the thread of seed {seed}\n{traceback.format_exc()}")
        COUNT[name] = COUNT.get(name, 0) + 1


def main(seed, seconds):
    sys.path.insert(0, tempfile.mkdtemp())
    install_visitor(Path(sys.path[0]))
    loader.rediscover()
    torch.set_num_threads(2)
    faulthandler.register(signal.SIGALRM, chain=True)  # says where a child hangs
    sys.setswitchinterval(1e-4)  # threads change more often than they would
    wrong = []
    for forks in (False, True):
        end = time.monotonic() + seconds / 2
        threads = [
            threading.Thread(target=work, args=(seed + i, end, wrong, forks), daemon=True)
            for i in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 90)
        assert wrong or not any(t.is_alive() for t in threads), "a thread hangs"
        assert not wrong, wrong[0]
    assert LEAF.grad is None
    print(sum(COUNT.values()), "jobs:", COUNT)


def install_visitor(folder):
    """A toy backend that can be loaded and unloaded."""
    toy = Path(__file__).parents[1] / "toy_backend" / "plugin.py"
    package = folder / "mindtorch_visitor"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "config.py").write_text("DEVICE, KEY, API = 'visitor', None, 2\n")
    (package / "plugin.py").write_text(toy.read_text())
    info = folder / "mindtorch_visitor-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mindtorch-visitor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[mindtorch.backends]\nvisitor = mindtorch_visitor.plugin\n"
    )
