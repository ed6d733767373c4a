"""Training steps in every way to run them: eager, in a block, captured; PyTorch, torch.compile, jax.jit.

    python benchmarks/ways.py                  measure, print, write results/ways.json and .png
    python benchmarks/ways.py gpt --threads 1  some programs; writes nothing

The programs are those of `programs.py`, and a small GPT-2 of transformers where that is installed. Each
way has a process of its own, with as many threads; they take turns, and the figure is the fastest call (wall
time).
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import processes
from programs_cases import TRAININGS, Training, training

from mindtorch_core.measuring.peers import installed, machine

RESULTS = Path(__file__).parent / "results" / "ways.json"
OURS = ("eager", "block", "captured")
WAYS = {  # and what they need
    **dict.fromkeys(OURS, "mindtorch_core"), "torch": "torch", "compile": "torch", "jax": "jax"
}  # fmt: skip
TRANSFORMERS = "gpt2 of transformers"
JAX = ("gpt", "cnn")
NAMES = {"eager": "mindtorch", "block": "mindtorch, block", "captured": "mindtorch, captured",
         "torch": "PyTorch", "compile": "torch.compile", "jax": "jax.jit"}  # fmt: skip


def gpt2(torch: Any) -> Training:
    """4 texts of 32 words through 2 blocks of width 64 with 4 heads."""
    transformers = importlib.import_module("transformers")
    sizes = {"vocab_size": 64, "n_positions": 64, "n_embd": 64, "n_layer": 2, "n_head": 4}
    config = transformers.GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
    text = torch.randint(64, (4, 32))
    model = transformers.GPT2LMHeadModel(config)
    return training(torch, model, lambda m: m(input_ids=text, labels=text).loss)


CASES: dict[str, Callable[[Any], Training]] = {**TRAININGS, TRANSFORMERS: gpt2}


def runner(way: str, name: str) -> processes.Run:
    """A function that takes one step in some way."""
    if way == "jax":
        return importlib.import_module("jax_cases").STEPS[name]()
    torch = importlib.import_module("torch")  # mindtorch, where `mindtorch run` started the process
    torch.manual_seed(0)
    made = CASES[name](torch)
    if way == "block":
        return partial(in_block, torch, made.step)
    if way == "captured":
        return torch.pipeline.capture(made.step)
    if way == "compile":
        return Training(torch.compile(made.loss), made.optimizer).step
    return made.step


def in_block(torch: Any, step: processes.Run) -> None:
    """A step in a block of its own."""
    with torch.pipeline(through_backward=True):
        step()


def measure(name: str, ways: Sequence[str], threads: int, rounds: int, folder: str) -> Any:
    """Everything about a program with so many threads."""
    commands = {
        way: ["-m", "mindtorch_core", "run", __file__] if way in OURS else [__file__]
        for way in ways
        if way != "jax" or name in JAX
    }
    found = processes.measure(commands, name, threads, rounds, folder)
    for way in set(commands) - set(found.turns):
        print(f"{NAMES[way]} failed at {name}", file=sys.stderr)
    return {
        "seconds": {w: statistics.median(turns) for w, turns in found.turns.items()},
        "ratio": {w: processes.ratio(found.turns, w, "torch") for w in found.turns}
        if "torch" in found.turns
        else {},
        "first_call_seconds": {w: round(one, 3) for w, one in found.first.items()},
        "warming_seconds": {w: round(more, 3) for w, more in found.warming.items()},
        "peak_bytes": found.peak,
    }


def show(cases: dict[str, Any]) -> str:
    """The tables."""
    shown = (("a step, ms", "seconds", 1e3), ("over PyTorch's", "ratio", 1),
             ("first call, s", "first_call_seconds", 1), ("warming up, s", "warming_seconds", 1),
             ("peak memory, MB", "peak_bytes", 1e-6))  # fmt: skip
    return "\n".join(
        processes.table(title, {n: m[key] for n, m in cases.items()}, list(WAYS), scale)
        for title, key, scale in shown
    )


def plot(cases: dict[str, Any], path: Path) -> None:
    """Bars of each program's ways, as ratios to PyTorch."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(12, 4.5), layout="constrained")
    width = 0.8 / len(WAYS)
    for place, way in enumerate(WAYS):
        bars = [(i, m["ratio"][way]) for i, m in enumerate(cases.values()) if way in m["ratio"]]
        if bars:
            at, heights = zip(*bars, strict=True)
            axes.bar([i + place * width for i in at], heights, width, label=NAMES[way])
    labels = [n.replace(", ", "\n").replace(" of ", "\nof ") for n in cases]
    axes.set_xticks([i + 0.4 - width / 2 for i in range(len(cases))], labels)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set(ylabel="time of a step / PyTorch's", title="Training steps")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="programs", help=f"of {', '.join(CASES)}")
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--serve", metavar="WAY", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.serve:
        processes.serve(partial(runner, options.serve))
        return
    if unknown := set(options.names) - set(CASES):
        parser.error(f"unknown programs {sorted(unknown)}; there are {', '.join(CASES)}")
    ways = [w for w in options.ways if installed([WAYS[w]])]
    names = [n for n in CASES if n != TRANSFORMERS or installed(["transformers"])]
    for missing in (*(NAMES[w] for w in options.ways if w not in ways), *(CASES.keys() - names)):
        print(f"{missing} is left out: it is not installed")
    cases = {}
    for threads in options.threads:
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                if not options.names or name in options.names:
                    case = f"{name}, {threads} thread{'s'[: threads - 1]}"
                    print(f"{case} ...", file=sys.stderr, flush=True)
                    cases[case] = measure(name, ways, threads, options.rounds, folder)
    print(show(cases))
    if not options.names and options.threads == [1, 2] and options.ways == list(WAYS):
        settings = {"threads": options.threads, "rounds": options.rounds}
        results = {"machine": machine(), "settings": settings, "cases": cases}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        plot(cases, RESULTS.with_suffix(".png"))


if __name__ == "__main__":
    main()
