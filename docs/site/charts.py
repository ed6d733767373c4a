"""The page of benchmarks: pictures of the committed results, drawn anew with each build."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

INTRODUCTION: Final = """\
# Benchmarks

Drawn from the results that are committed, `benchmarks/results/`; `benchmarks/README.md` says how each is
measured and how to repeat it. {machine}

Bars show a time as a ratio to PyTorch's, measured in turns in one run. The line is PyTorch: left of it
(below 1) is faster, right of it slower. The scale is logarithmic.
"""
# Result file: heading, sentence.
RATIOS: Final = {
    "call_cost": (
        "What a call costs",
        "Tiny tensors, one thread: what is measured is the framework.",
    ),
    "replay": (
        "Blocks that come again",
        "Small statements in a pipeline, one thread; PyTorch's side is eager.",
    ),
    "programs": ("Training steps", "One thread, processor time."),
    "large_ops": ("Large ops", "A million elements and more, one thread, processor time."),
    "large_ops_2": ("Large ops with two threads", "The same, wall time."),
    "registration": ("Registering ops", "1,000 ops; PyTorch's side is `torch.library`."),
}
NAMES: Final = {
    "mindtorch": "mindtorch, pipeline",
    "eager": "mindtorch",
    "torch": "PyTorch",
    "compile": "torch.compile",
    "jax": "jax.jit",
    "numpy": "NumPy",
}
WAYS: Final = {
    "eager": "mindtorch",
    "block": "mindtorch, block",
    "captured": "mindtorch, captured",
    "torch": "PyTorch",
    "compile": "torch.compile",
    "jax": "jax.jit",
}


def page(results: Path) -> str:
    """The page's Markdown."""
    first = json.loads((results / "call_cost.json").read_text("utf-8"))
    machine = ", ".join(f"{k} {v}" for k, v in first["machine"].items())
    parts = [INTRODUCTION.format(machine=f"The machine: {machine}.")]
    for name, (title, sentence) in RATIOS.items():
        found = json.loads((results / f"{name}.json").read_text("utf-8"))
        parts.append(f"## {title}\n\n{sentence}\n")
        for group, cases in found["groups"].items():
            ratios = {c: v["ratio"]["torch"] for c, v in cases.items() if "torch" in v["ratio"]}
            if ratios:
                parts.append(f"### {group}\n\n{bars(ratios)}\n")
    parts += _pipelines(json.loads((results / "pipeline.json").read_text("utf-8")))
    parts += _processes(results)
    if (ways := results / "ways.json").exists():
        parts += _ways(json.loads(ways.read_text("utf-8")))
    if (memory := results / "memory.json").exists():
        parts += _memory(json.loads(memory.read_text("utf-8")))
    return "\n".join(parts)


def _memory(found: Mapping[str, Any]) -> Iterator[str]:
    """Peaks of networks: a table."""
    ways = {"program": "one program", "block": "a block", "eager": "mindtorch", "torch": "PyTorch"}
    yield "## Peak memory of forward and backward pass\n\nMegabytes beyond what the process held.\n"
    rows = [
        (case, *(f"{row['peak_bytes'][way] / 1e6:.0f}" for way in ways))
        for case, row in found["cases"].items()
    ]
    yield _table(("network", *ways.values()), rows)


def _ways(found: Mapping[str, Any]) -> Iterator[str]:
    """Training steps in every way to run them: tables."""
    yield "## Training steps in every way\n\nWall time; a block goes through backward.\n"
    shown = (
        ("Milliseconds of a step", "seconds", _milliseconds),
        ("Seconds of the first call", "first_call_seconds", _number),
        ("Seconds of warming up", "warming_seconds", _number),
        ("Megabytes at the peak", "peak_bytes", lambda n: _number(n and n / 1e6)),
    )
    for title, key, text in shown:
        rows = [
            (case, *(text(row[key].get(way)) for way in WAYS))
            for case, row in found["cases"].items()
        ]
        yield f"\n### {title}\n\n" + _table(("program", *WAYS.values()), rows)


def _processes(results: Path) -> Iterator[str]:
    """What two processes take: tables of what has been measured."""
    if (path := results / "overlap.json").exists():
        yield (
            "## Computing beside collective operations\n\nThe share of the time that collective operations "
            "are under way in which a process computes, from traces of two processes.\n"
        )
        cases = json.loads(path.read_text("utf-8"))["steps"]
        names = {"ddp": "DistributedDataParallel", "fsdp": "fully_shard"}
        yield _table(
            ("step", "mindtorch, MPI", "PyTorch, gloo"),
            [
                (names[case], *(_number(row[each]["share"]) for each in ("mindtorch", "torch")))
                for case, row in cases.items()
            ],
        )
    if (path := results / "checkpoints.json").exists():
        yield (
            "## Checkpoints\n\nMegabytes a second of a state of which two processes have half each; "
            "`blocked` is what training waits for in `async_save`, `plain` the disk's part.\n"
        )
        rates = json.loads(path.read_text("utf-8"))["megabytes a second"]
        yield _table(
            ("", "mindtorch", "PyTorch"),
            [
                (kind, *(f"{rates[each][kind]:.0f}" for each in ("mindtorch", "torch")))
                for kind in rates["mindtorch"]
            ],
        )


def _pipelines(found: Mapping[str, Any]) -> Iterator[str]:
    """Programs in a pipeline: a table of milliseconds, and bars against PyTorch."""
    threads = found["settings"]["threads"]
    cases = found["cases"]
    yield f"## Pipelines\n\nPrograms that record their ops, {threads} threads, wall time.\n"
    yield "### Against PyTorch\n\n" + bars(
        {case: row["ratio"]["torch"] for case, row in cases.items()}
    )
    yield "\n### Milliseconds\n\n" + _table(
        ("program", *NAMES.values()),
        [
            (case, *(_milliseconds(row["seconds"].get(name)) for name in NAMES))
            for case, row in cases.items()
        ],
    )
    yield "\n### Seconds of the first call\n\n" + _table(
        ("program", *NAMES.values()),
        [
            (case, *(_number(row["first_call_seconds"].get(name)) for name in NAMES))
            for case, row in cases.items()
        ],
    )


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.3g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ("---", *("---:",) * (len(head) - 1)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def bars(ratios: Mapping[str, float]) -> str:
    """Bars from the line at 1, on a logarithmic scale, as HTML that narrow screens can break."""
    low = min(0.5, *ratios.values())
    high = max(2.0, *ratios.values())

    def place(ratio: float) -> float:
        """Percent of the room, of which a tenth at the right is for the number."""
        return 90 * math.log(ratio / low) / math.log(high / low)

    one = place(1.0)
    parts = ['<div class="bars">']
    for case, ratio in ratios.items():
        end = place(ratio)
        kind = "slower" if ratio > 1 else "faster"
        parts.append(
            f"<div><span>{escape(case)}</span><span>"
            f'<i class="{kind}" style="left:{min(one, end):.1f}%;width:{abs(end - one):.1f}%"></i>'
            f'<i class="one" style="left:{one:.1f}%"></i>'
            f'<b style="left:{max(one, end):.1f}%">{ratio:.2f}</b></span></div>'
        )
    return "".join([*parts, "</div>"])
