"""What the pipeline gains: programs run eagerly, in a pipeline, and by peers.

    python benchmarks/pipeline.py                  measure, print, write results/pipeline.json, .png
    python benchmarks/pipeline.py --cases chain    only cases whose name contains a text

Each library runs in a process of its own with the same number of threads; they take turns, and the
figure is the median over rounds of the ratio of two libraries' fastest turns (wall time). Compile
time is the first call's, measured once, with caches of compiled code that were empty when the script
started. Peak memory is a fresh process's growth of its resident set while it runs the program three times.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import processes
from pipeline_cases import CASES, Case, jax_adam

from mindtorch_core.measuring.peers import installed, machine

RESULTS = Path(__file__).parent / "results" / "pipeline.json"
PEERS = ("mindtorch", "eager", "torch", "compile", "jax", "numpy")
MODULES = {"mindtorch": "mindtorch_core", "eager": "mindtorch_core", "compile": "torch"}


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


def measure(
    case: Case, peers: Sequence[str], threads: int, rounds: int, folder: str
) -> dict[str, Any]:
    """Everything about one case."""
    wanted = [p for p in peers if case.peers is None or p in case.peers]
    found = processes.measure({p: [__file__] for p in wanted}, case.name, threads, rounds, folder)
    others = [p for p in found.turns if p != "mindtorch"]
    return {
        "seconds": {p: statistics.median(turns) for p, turns in found.turns.items()},
        "ratio": {p: processes.ratio(found.turns, "mindtorch", p) for p in others},
        "first_call_seconds": {p: round(one, 4) for p, one in found.first.items()},
        "peak_bytes": found.peak,
    }


def show(results: dict[str, Any]) -> str:
    """The tables."""
    shown = (("wall time, ms", "seconds", 1e3), ("mindtorch's over", "ratio", 1),
             ("peak memory, MB", "peak_bytes", 1e-6),
             ("first call, ms", "first_call_seconds", 1e3))  # fmt: skip
    return "\n".join(
        processes.table(title, {n: m[key] for n, m in results["cases"].items()}, PEERS, scale)
        for title, key, scale in shown
    )


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
        cases = {case.name: case for case in CASES}
        processes.serve(lambda name: runner(options.serve, cases[name]))
        return
    modules = {p: MODULES.get(p, p) for p in PEERS}
    peers = options.peers or [p for p in PEERS if installed([modules[p]])]
    results: dict[str, Any] = {
        "machine": machine(),
        "settings": {"threads": options.threads, "rounds": options.rounds},
        "cases": {},
    }
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if options.cases in case.name:
                print(f"{case.name} ...", file=sys.stderr, flush=True)
                measured = measure(case, peers, options.threads, options.rounds, folder)
                results["cases"][case.name] = measured
    print(show(results))
    if not options.cases and options.peers is None:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        plot(results, RESULTS.with_suffix(".png"))


if __name__ == "__main__":
    main()
