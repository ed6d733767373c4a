"""What a call costs: small ops, backward, a training step, meta tensors and the import.

    python benchmarks/call_cost.py                 measure, print, write results/call_cost.json
    python benchmarks/call_cost.py --compare       measure and show the change against that file
    python benchmarks/call_cost.py --profile eager/add

See `benchmarks/README.md` for how to read the figures.
"""

from __future__ import annotations

import argparse
import cProfile
import importlib
import os
import pstats
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import harness
from harness import OURS, Case, Group, Measured, Namespace, Results, Schedule

RESULTS = Path(__file__).parent / "results" / "call_cost.json"
PEERS = {OURS: "mindtorch_core", "numpy": "numpy", "torch": "torch"}


def same(name: str, statement: str, numpy: str = "") -> Case:
    """A case with one text for mindtorch and PyTorch, and perhaps one for NumPy."""
    both = {OURS: statement, "torch": statement}
    return Case(name, {**both, "numpy": numpy} if numpy else both)


# ---- small ops ----------------------------------------------------------------------------------


def small(peer: str, *, requires_grad: bool = False, device: str = "cpu") -> Namespace:
    """Two-element vectors a, b, c and 2x2 matrices m, n."""
    vectors, matrices = {"a": [1.0, 2.0], "b": [3.0, 4.0]}, {"m": [[1.0, 2.0], [3.0, 4.0]]}
    values = {**vectors, "c": [0.0, 0.0], **matrices, "n": [[0.5, 0.0], [0.0, 0.5]]}
    library = importlib.import_module(PEERS[peer])
    if peer == "numpy":
        return {"np": library, **{k: library.array(v, library.float32) for k, v in values.items()}}
    made = {k: library.tensor(v, device=device) for k, v in values.items()}
    if requires_grad:
        made = {k: t if k == "c" else t.requires_grad_() for k, t in made.items()}
    return {"torch": library, **made}


OPS = (
    same("add", "a + b", "a + b"),
    same("mul", "a * b", "a * b"),
    same("relu", "torch.relu(a)", "np.maximum(a, 0)"),
    same("sum", "a.sum()", "a.sum()"),
    same("matmul", "m @ n", "m @ n"),
    same("reshape", "a.reshape(2, 1)", "a.reshape(2, 1)"),
    same("transpose", "m.transpose(0, 1)", "m.swapaxes(0, 1)"),
    same("index", "m[0]", "m[0]"),
    same("cat", "torch.cat((a, b))", "np.concatenate((a, b))"),
    same("exp", "torch.exp(a)", "np.exp(a)"),
    same("comparison", "a < b", "a < b"),
    same("in-place add", "c.add_(b)", "np.add(c, b, c)"),
)


def recorded(case: Case) -> Case:
    """A small op as it is measured with gradients."""
    if case.name == "in-place add":  # on one tensor the history would grow with every call
        return same("clone, in-place add", "a.clone().add_(b)")
    return same(case.name, case.statements[OURS])


# ---- training -----------------------------------------------------------------------------------


def mlp(peer: str) -> Namespace:
    """One step of training 64 -> 128 -> 10 on a batch of 64, as the function ``step``."""
    torch = importlib.import_module(PEERS[peer])
    functional = importlib.import_module(f"{PEERS[peer]}.nn.functional")
    torch.manual_seed(0)
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    w1, w2 = torch.randn(128, 64) * 0.1, torch.randn(10, 128) * 0.1
    weights = [t.requires_grad_() for t in (w1, torch.zeros(128), w2, torch.zeros(10))]
    velocities = [torch.zeros_like(w) for w in weights]

    def step() -> None:
        for w in weights:
            w.grad = None
        w1, b1, w2, b2 = weights
        hidden = functional.linear(x, w1, b1).relu()
        functional.cross_entropy(functional.linear(hidden, w2, b2), y).backward()
        with torch.no_grad():
            for w, v in zip(weights, velocities, strict=True):
                v.mul_(0.9).add_(w.grad)
                w.sub_(v, alpha=1e-4)

    return {"step": step}


# ---- ops of third parties -----------------------------------------------------------------------


@cache
def third_party(peer: str) -> Namespace:
    """An op with a kernel in Python, a custom op with a gradient, and a mode that hands ops on."""
    names = small(peer)
    torch = names["torch"]
    library = importlib.import_module(f"{PEERS[peer]}.library")
    utils = importlib.import_module(f"{PEERS[peer]}.utils._python_dispatch")
    lib = library.Library("call_cost", "DEF")
    lib.define("kernel(Tensor x) -> Tensor")
    lib.impl("kernel", lambda x: x.clone(), "CPU")
    custom = library.custom_op(
        "call_cost::custom", lambda x: x.clone(), mutates_args=(), schema="(Tensor x) -> Tensor"
    )
    custom.register_autograd(lambda ctx, g: g)

    class HandOn(utils.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    recorded = torch.tensor([1.0, 2.0], requires_grad=True)
    return {**names, "lib": lib, "custom": custom, "mode": HandOn(), "r": recorded}


THIRD_PARTY = (
    same("overload", "torch.ops.aten.add.Tensor(a, b)"),
    same("packet", "torch.ops.aten.add(a, b)"),
    same("kernel in Python", "torch.ops.call_cost.kernel(a)"),
    same("custom op", "custom(a)"),
    same("custom op, recorded", "custom(r)"),
    same("under a mode", "with mode: a + b; a * b; a + b; a * b"),
)


BACKWARD = "a.grad = b.grad = None; ((a * b + b).relu()).sum().backward()"

GROUPS = (
    Group("eager", 1.0, OPS, small),
    Group("requires_grad", 1.1, tuple(map(recorded, OPS)), partial(small, requires_grad=True)),
    Group(
        "backward",
        0.65,
        (same("four ops, forward+backward", BACKWARD),),
        partial(small, requires_grad=True),
    ),
    Group("library", 0.6, THIRD_PARTY, third_party),
    Group("training", 1.0, (same("MLP step, batch 64", "step()"),), mlp),
    Group(
        "meta",
        0.06,
        (same("add", "a + b"), same("matmul", "m @ n"), same("sum", "a.sum()")),
        partial(small, device="meta"),
    ),
)


# ---- import -------------------------------------------------------------------------------------

IMPORT_TARGET = 0.2
IMPORTS = {
    "nothing": "pass",
    "core": "import mindtorch_core",
    OURS: "import mindtorch_core.plugins as p; p.load_all()",
    "numpy": "import numpy",
    "torch": "import torch",
}


def run_python(code: str) -> float:
    """Seconds of processor time a fresh interpreter takes for a line of code."""
    # Installed packages have their byte code beside them, so a checkout may write it too.
    unwanted = ("MINDTORCH_BACKENDS", "PYTHONDONTWRITEBYTECODE")
    environment = {k: v for k, v in os.environ.items() if k not in unwanted}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_imports(peers: Sequence[str], schedule: Schedule) -> dict[str, Measured]:
    """Import times less the start of the interpreter: the core alone, and with all plugins."""
    names = ["nothing", "core", *peers]
    for name in names:
        run_python(IMPORTS[name])  # write byte code, fill the file cache
    best: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(schedule.rounds):
        for name in names:
            best[name].append(min(run_python(IMPORTS[name]) for _ in range(2)))
    taken = {n: [t - bare for t, bare in zip(best[n], best["nothing"], strict=True)] for n in names}

    def row(ours: str) -> Measured:
        rounds = {n: iter(taken[ours if n == OURS else n]) for n in peers}
        turns: dict[str, Callable[[], float]] = {n: partial(next, t) for n, t in rounds.items()}
        return harness.interleaved(turns, Schedule(schedule.rounds, turns=1))

    return {"core alone": row("core"), "core and plugins": row(OURS)}


# ---- running ------------------------------------------------------------------------------------


def measure(wanted: Sequence[str], schedule: Schedule) -> Results:
    """Measure the wanted groups, printing each as it is done."""
    peers = [p for p in PEERS if harness.installed([PEERS[p]])]
    if "torch" in peers:
        importlib.import_module("torch").set_num_threads(1)
    results = Results(harness.machine(), {"threads": 1, "rounds": schedule.rounds})
    print(", ".join(f"{k} {v}" for k, v in results.machine.items()) + "; one thread\n")
    for group in (*GROUPS, Group("import", IMPORT_TARGET, ())):
        if wanted and group.name not in wanted:
            continue
        if group.name == "import":
            measured = measure_imports(peers, schedule)
            summary = harness.summarise(group, {"": measured["core and plugins"]})
        else:
            measured = harness.measure_group(group, peers, schedule)
            summary = harness.summarise(group, measured)
        results.groups[group.name], results.summary[group.name] = measured, summary
        print(harness.table(group.name, measured, summary), end="\n\n", flush=True)
    return results


def profile(name: str, seconds: float = 1.0) -> None:
    """Profile one case of mindtorch, given as ``group/case``.

    Raises:
        SystemExit: if there is no such case; the text lists them all.
    """
    cases = {f"{g.name}/{c.name}": (g, c) for g in GROUPS for c in g.cases}
    if name not in cases:
        raise SystemExit(f"no case {name!r}; there are:\n  " + "\n  ".join(cases))
    group, case = cases[name]
    names = group.make(OURS)
    code = compile(f"for _ in range(100):\n    {case.statements[OURS]}", f"<{name}>", "exec")
    exec(code, names)
    profiler = cProfile.Profile()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        profiler.runctx(code, names, names)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [*(g.name for g in GROUPS), "import"]
    parser.add_argument("groups", nargs="*", help=f"groups to measure, of {', '.join(names)}")
    parser.add_argument("--compare", action="store_true", help="against the committed results")
    parser.add_argument("--profile", metavar="GROUP/CASE", help="profile one case of mindtorch")
    parser.add_argument("--rounds", type=int, default=Schedule.rounds)
    options = parser.parse_args()
    if unknown := set(options.groups) - set(names):
        parser.error(f"unknown groups {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    harness.one_thread()
    if options.profile:
        profile(options.profile)
        return
    results = measure(options.groups, Schedule(options.rounds))
    part = "groups" if options.groups else ""
    harness.conclude(results, RESULTS, compare=options.compare, part=part)


if __name__ == "__main__":
    main()
