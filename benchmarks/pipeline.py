"""What the pipeline gains: programs run eagerly, in a pipeline, and by peers.

    python benchmarks/pipeline.py                  measure, print, write results/pipeline.json, .png
    python benchmarks/pipeline.py --cases chain    only cases whose name contains a text

Each library runs in a process of its own with the same number of threads; they take turns, and the
figure is the median over rounds of the ratio of two libraries' fastest turns (wall time). Compile
time is the first call's, measured once. Peak memory is a fresh process's growth of its resident set
while it runs the program three times.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline_cases import CASES, Case, jax_adam

from mindtorch_core.measuring.peers import installed, machine

RESULTS = Path(__file__).parent / "results" / "pipeline.json"
PEERS = ("mindtorch", "eager", "torch", "compile", "jax", "numpy")
MODULES = {"mindtorch": "mindtorch_core", "eager": "mindtorch_core", "compile": "torch"}


# ---- in the process of one library --------------------------------------------------------------


def runner(peer: str, case: Case) -> Callable[[], Any]:
    """A function that runs the program once and waits for its result."""
    import numpy as np

    rng = np.random.default_rng(0)
    arrays = [np.abs(rng.standard_normal(s, dtype=np.float32)) * 0.5 for s in case.inputs]
    if peer == "numpy":
        program = case.numpy or case.program
        return lambda: program(np, *arrays)
    if peer == "jax":
        return _jax_runner(case, arrays)
    if peer in ("torch", "compile"):
        import torch
    else:
        import mindtorch_core as torch
    inputs = [torch.from_numpy(a) for a in arrays]
    leaves = inputs[: case.grad]
    for leaf in leaves:
        leaf.requires_grad_()

    def once() -> Any:
        for leaf in leaves:
            leaf.grad = None
        result = case.program(torch, *inputs)
        if leaves:
            result.backward()
        return result

    if peer == "compile":
        import torch._dynamo

        compiled = torch.compile(lambda *given: case.program(torch, *given))

        def compiled_once() -> Any:
            for leaf in leaves:
                leaf.grad = None
            result = compiled(*inputs)
            if leaves:
                result.backward()
            return result

        return compiled_once
    if peer == "mindtorch":

        def piped() -> Any:
            with torch.pipeline():
                return once()

        return piped
    return once


def _jax_runner(case: Case, arrays: Sequence[Any]) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    class Names:
        """PyTorch's names for what JAX calls otherwise."""

        relu = staticmethod(jax.nn.relu)
        exp, tanh, sqrt, rsqrt = jnp.exp, jnp.tanh, jnp.sqrt, jax.lax.rsqrt

        @staticmethod
        def amax(x: Any, axis: int, keepdim: bool = False) -> Any:
            return jnp.max(x, axis, keepdims=keepdim)

        @staticmethod
        def sum(x: Any, axis: int, keepdim: bool = False) -> Any:
            return jnp.sum(x, axis, keepdims=keepdim)

    program = jax_adam if case.name.startswith("Adam") else case.program
    inputs = [jnp.asarray(a) for a in arrays]

    def whole(*given: Any) -> Any:
        return program(Names, *given)

    fn = jax.value_and_grad(whole, tuple(range(case.grad))) if case.grad else whole
    compiled = jax.jit(fn)
    return lambda: jax.block_until_ready(compiled(*inputs))


def serve(peer: str) -> None:
    """Answer requests on standard input: a case's number, and what to measure."""
    runners: dict[int, Callable[[], Any]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        number = request["case"]
        if request["what"] == "first":
            runners = {number: runner(peer, CASES[number])}
            start = time.perf_counter()
            runners[number]()
            answer: Any = time.perf_counter() - start
        elif request["what"] == "turn":
            answer = _turn(runners[number], request["seconds"])
        else:
            answer = _peak(runner(peer, CASES[number]))
        print(json.dumps(answer), flush=True)


def _turn(run: Callable[[], Any], seconds: float) -> float:
    """The fastest call within about some seconds."""
    best = math.inf
    end = time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        run()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


def _peak(run: Callable[[], Any]) -> int:
    """Bytes by which the resident set's peak grows over three calls."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        run()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


# ---- in the process that compares ---------------------------------------------------------------


class Peer:
    """A library's process."""

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        count = str(threads)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                 "MINDTORCH_NUM_THREADS")  # fmt: skip
        flags = f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={count}"
        env = {**os.environ, **dict.fromkeys(names, count), "XLA_FLAGS": flags.split()[0]}
        env |= {"OMP_WAIT_POLICY": "PASSIVE", "JAX_PLATFORMS": "cpu"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=env,
        )  # fmt: skip

    def ask(self, case: int, what: str, **more: Any) -> float | None:
        """One measurement; None if the library failed."""
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None or self.process.poll() is not None:
            return None
        stdin.write(json.dumps({"case": case, "what": what, **more}) + "\n")
        stdin.flush()
        line = stdout.readline()
        return float(json.loads(line)) if line else None

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=60)


def measure(number: int, peers: Sequence[str], threads: int, rounds: int) -> dict[str, Any]:
    """Everything about one case."""
    case = CASES[number]
    wanted = [p for p in peers if case.peers is None or p in case.peers]
    running = {p: Peer(p, threads) for p in wanted}
    first = {p: running[p].ask(number, "first") for p in wanted}
    alive = [p for p in wanted if first[p] is not None]
    seconds = 0.3
    turns: dict[str, list[float]] = {p: [] for p in alive}
    for _ in range(rounds):
        for p in alive:
            took = running[p].ask(number, "turn", seconds=seconds)
            if took is not None:
                turns[p].append(took)
    for each in running.values():
        each.close()
    memory = {}
    for p in alive:
        fresh = Peer(p, threads)
        memory[p] = fresh.ask(number, "peak")
        fresh.close()
    ours = turns["mindtorch"]
    return {
        "seconds": {p: statistics.median(turns[p]) for p in alive},
        "ratio": {
            p: round(statistics.median(a / b for a, b in zip(ours, turns[p], strict=False)), 4)
            for p in alive
            if p != "mindtorch"
        },
        "first_call_seconds": {p: round(first[p] or 0.0, 4) for p in alive},
        "peak_bytes": memory,
    }


def show(results: dict[str, Any]) -> str:
    """The table."""
    heads = "".join(f"{p + ' ms':>14}" for p in PEERS)
    ratios = "".join(f"{'/ ' + p:>11}" for p in PEERS[1:])
    lines = [f"{'wall time':<24}{heads}{ratios}"]
    for name, m in results["cases"].items():
        times = "".join(
            f"{m['seconds'][p] * 1e3:14.3f}" if p in m["seconds"] else " " * 14 for p in PEERS
        )
        against = "".join(
            f"{m['ratio'][p]:11.3f}" if p in m["ratio"] else " " * 11 for p in PEERS[1:]
        )
        lines.append(f"{name:<24}{times}{against}")
    lines += ["", f"{'peak memory':<24}" + "".join(f"{p + ' MB':>14}" for p in PEERS)]
    for name, m in results["cases"].items():
        lines.append(
            f"{name:<24}"
            + "".join(
                f"{m['peak_bytes'][p] / 1e6:14.1f}" if m["peak_bytes"].get(p) is not None
                else " " * 14
                for p in PEERS
            )
        )  # fmt: skip
    lines += ["", f"{'first call':<24}" + "".join(f"{p + ' ms':>14}" for p in PEERS)]
    for name, m in results["cases"].items():
        first = m["first_call_seconds"]
        lines.append(
            f"{name:<24}"
            + "".join(f"{first[p] * 1e3:14.1f}" if p in first else " " * 14 for p in PEERS)
        )
    return "\n".join(lines)


def plot(results: dict[str, Any], path: Path) -> None:
    """Time of the element-wise chain over its size, for every library."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    chains = {
        int(name.split()[1].replace(",", "")): m
        for name, m in results["cases"].items()
        if name.startswith("chain")
    }
    figure, axes = pyplot.subplots(figsize=(7.5, 4.5), layout="constrained")
    labels = {"mindtorch": "mindtorch, pipeline", "eager": "mindtorch, eager",
              "torch": "PyTorch, eager", "compile": "torch.compile", "jax": "jax.jit",
              "numpy": "NumPy"}  # fmt: skip
    for peer in PEERS:
        points = [(n, m["seconds"][peer] * 1e3) for n, m in sorted(chains.items())
                  if peer in m["seconds"]]  # fmt: skip
        if points:
            style = {"linewidth": 2.5, "color": "black"} if peer == "mindtorch" else {}
            axes.plot(*zip(*points, strict=True), marker="o", label=labels[peer], **style)
    axes.set(xscale="log", yscale="log", xlabel="elements (float32)", ylabel="milliseconds",
             title="tanh(exp(relu((x + y) * x) - y * 0.5))")  # fmt: skip
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", default="", help="only cases whose name contains this text")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--serve", metavar="PEER", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.serve:
        serve(options.serve)
        return
    modules = {p: MODULES.get(p, p) for p in PEERS}
    peers = options.peers or [p for p in PEERS if installed([modules[p]])]
    results: dict[str, Any] = {
        "machine": machine(),
        "settings": {"threads": options.threads, "rounds": options.rounds},
        "cases": {},
    }
    for number, case in enumerate(CASES):
        if options.cases in case.name:
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            results["cases"][case.name] = measure(number, peers, options.threads, options.rounds)
    print(show(results))
    if not options.cases and options.peers is None:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        plot(results, RESULTS.with_suffix(".png"))


if __name__ == "__main__":
    main()
