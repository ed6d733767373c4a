"""Steps of optimizers, here and in PyTorch: milliseconds of processor time in one thread, in turns.

    python benchmarks/optimizers.py                 AdamW on several sets of parameters
    python benchmarks/optimizers.py SGD RMSprop     other optimizers

PyTorch is asked for its default step, and for the fused one where there is one. `here / torch` is against
the default.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np
import torch as pt

import mindtorch_core as torch

ROUNDS = 15
_BLOCK = [(768, 768), (768, 3072), (768,), (3072,)]
SETS = {
    "4 million in one": [(2048, 2048)],
    "100 of 256 x 256": [(256, 256)] * 100,
    "a transformer": _BLOCK * 4 + [(768,)] * 40,
    "200 of 100": [(100,)] * 200,
    "2 of 10": [(10,), (10,)],
}


def stepper(lib, name: str, shapes: Sequence[tuple[int, ...]], **options):
    """An optimizer's ``step`` on parameters with gradients."""
    rng = np.random.default_rng(0)
    params = [lib.tensor(rng.random(s, np.float32)).requires_grad_(True) for s in shapes]
    for p in params:
        p.grad = lib.tensor(rng.random(tuple(p.shape), np.float32))
    return getattr(lib.optim, name)(params, **options).step


def main(names: Sequence[str]) -> None:
    """Measure and print."""
    pt.set_num_threads(1)
    torch.set_num_threads(1)
    print(f"{'':32}{'torch':>10}{'fused':>10}{'here':>10}{'here / torch':>14}")
    for name in names:
        for label, shapes in SETS.items():
            steps = [stepper(pt, name, shapes), None, stepper(torch, name, shapes)]
            if name in ("Adam", "AdamW", "SGD", "Adagrad"):
                steps[1] = stepper(pt, name, shapes, fused=True)
            best = [float("inf")] * 3
            for _ in range(ROUNDS):
                for i, step in enumerate(steps):
                    if step is not None:
                        start = time.process_time()
                        step()
                        best[i] = min(best[i], time.process_time() - start)
            shown = "".join(f"{t * 1e3:10.3f}" if np.isfinite(t) else f"{'-':>10}" for t in best)
            print(f"{name + ', ' + label:32}{shown}{best[2] / best[0]:14.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["AdamW"])
