"""``docs/random.md``: which random numbers are PyTorch's to the bit, which nearly.

PyTorch has to be installed. `tests/random` looks at the same calls; the file of numbers that it compares with
where PyTorch is missing is written here, too.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "oracle"))

import torch as oracle  # noqa: TID251 (the page says what PyTorch draws)

import mindtorch_core as torch
import random_cases as cases

SEEDS = (0, 1, 42, -1, 1 << 40)

INTRODUCTION = """\
# Random numbers

Written by `docs/make.py`. Do not edit.

On the CPU the seed that a program gives decides the same numbers as in PyTorch {version}. The generator
is the Mersenne Twister MT19937, and each function takes from it what PyTorch's takes, in the same
order.

```python
import mindtorch_core as torch

torch.manual_seed(0)
torch.rand(2)                          # tensor([0.4963, 0.7682]), as in PyTorch
g = torch.Generator().manual_seed(7)   # a stream of its own
torch.randperm(5, generator=g)
state = g.get_state()                  # 5056 bytes, which PyTorch's set_state() takes too
```

## What holds

- **Seeds.** `torch.manual_seed(n)` takes what fits 64 bits, signed or not; the stream depends on the
  lower 32 bits. A generator that nobody seeded starts from {first_seed}, the default one from anywhere.
- **Positions.** `get_state()` gives the bytes that PyTorch gives at this place of the stream, with the
  second number of a pair of normal ones if one is left. `set_state()` takes them from either. Bytes
  that are no position are refused, and the generator stays where it is. `torch.save` and `pickle` keep
  positions as well.
- **Order.** A tensor is filled in the order in which its elements lie in memory, so a transposed one
  gets other numbers than a contiguous one. Results of `bernoulli(P)`, `poisson(P)` and `normal(mean,
  std)` are contiguous whatever their arguments are. 0 elements take nothing.
- **Calls that fail** take nothing: everything is checked before the first draw.
- **Pipelines.** Deferred draws come in program order, whatever is fused. A draw whose result nobody
  needs still takes its numbers. Reading or setting a position, and seeding, launches what was recorded
  first.
- **Checkpoints and forks.** `torch.utils.checkpoint` repeats the numbers of the first run;
  `torch.random.fork_rng()` leaves no trace. Both keep the number that is left of a pair.
- **Threads** may share a generator: each number is drawn once, in an order of chance. How many threads
  compute does not matter to the numbers.
- **Other devices** have streams of their own, see the [pages on them](backend_reference.md). Numbers on
  the meta device take nothing from anybody.

## What it costs

Uniform and normal numbers, integers, `bernoulli` and what is made of them are computed for whole
arrays, and most take up to twice as long as in PyTorch, those of 64 bits less. Float32 normal numbers
take four to five times as long, since every rounding of PyTorch's fused instructions is repeated, and
100 microseconds if there are few. `poisson` and `binomial` of one rate or share for all elements take
three to nine times as long; where parameters differ, and for gamma numbers, elements are drawn one
after the other, a microsecond each. Float64 functions have the last bit of the C library's; where
NumPy's own differ on a processor, the C library's are called, which takes 50 ns an element.

## Function by function

Seeds {seeds}; sizes from 1 to some thousand, and layouts as the calls say. *Equal* means all bits of
the result and the generator's position after it. Differing results come from the same numbers.

| function | dtypes | result |
| --- | --- | --- |
"""

END = """
`poisson` of rates beyond 2^63 gives the count where PyTorch's overflows. Half precision in `rrelu`,
which PyTorch's CPU lacks, draws as bfloat16 does. Numbers of PyTorch on processors without AVX2 differ
in the last place.
"""


def verdict(case: Any, dtype: str) -> str:
    """What is said of a function in a dtype.

    Raises:
        AssertionError: if results differ by more than the case allows, or draw otherwise.
    """
    worst = 0.0
    for n in case.sizes:
        for seed in SEEDS:
            (ours, shown, state), (theirs, their_shown, their_state) = (
                cases.drawn(lib, case, dtype, n, seed) for lib in (torch, oracle)
            )
            if (shown, state) != (their_shown, their_state):
                raise AssertionError(f"{case.name} of {dtype} draws otherwise than PyTorch's")
            worst = max(
                [worst, *(cases.steps(a, b, dtype) for a, b in zip(ours, theirs, strict=True))]
            )
    allowed = case.apart.get(dtype, 0)
    if allowed is None:
        return f"same distribution: {case.reason}"
    if worst > allowed:
        raise AssertionError(f"{case.name} of {dtype} differs by {worst} units")
    return f"within {allowed} units in the last place: {case.reason}" if allowed else "equal"


def files() -> dict[str, str | None]:
    """The page."""
    rows = []
    for case in cases.CASES:
        found: dict[str, list[str]] = {}
        for dtype in case.dtypes:
            found.setdefault(verdict(case, dtype), []).append(dtype)
        rows += [f"| `{case.name}` | {', '.join(d)} | {said} |" for said, d in found.items()]
    head = INTRODUCTION.format(
        version=oracle.__version__.partition("+")[0],
        first_seed=torch.Generator().initial_seed(),
        seeds=", ".join(map(str, SEEDS)),
    )
    kept = cases.RECORDED.relative_to(Path(__file__).parents[2]).as_posix()
    return {
        "docs/random.md": head + "\n".join(rows) + "\n" + END,
        kept: cases.recorded(oracle),
    }
