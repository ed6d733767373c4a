"""What calls on 65,536 elements cost by dtype and by how they lie, here and in PyTorch, in one thread.

    python benchmarks/layouts.py                       all dtypes and layouts; shows the dearest
    python benchmarks/layouts.py bfloat16/transposed   those whose name, dtype/layout/call, has one of these
    python benchmarks/layouts.py --shown 2000          all of them

NumPy takes elements of some dtypes one after the other, and begins its loops anew with each short row:
such calls stand out here.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from everyday import least, show

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")
# What is made of a row-major square.
LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "dense": lambda T, x: x,
    "transposed": lambda T, x: x.t(),
    "every second": lambda T, x: T.cat((x, x), 1)[:, ::2],
}
CALLS = r"""
x+y | x*2 | x+1 | 1-x | x/3 | 1/x | x//2 | x%2 | x**2 | x**3 | x*row | row*x | x+col | x-col | -x | x>0
x==y | abs(x) | x.exp() | x.sqrt() | x.rsqrt() | x.sin() | x.tanh() | x.sigmoid() | x.relu() | x.floor()
x.round() | x.sign() | x.square() | x.reciprocal() | x.isnan() | x.clamp(0,1) | x.clamp(min=0) | x.erf()
F.gelu(x) | F.silu(x) | F.softplus(x) | F.hardswish(x) | F.leaky_relu(x) | F.elu(x) | F.dropout(x,0.1)
F.normalize(x) | x.sum() | x.sum(0) | x.sum(1) | x.mean(0) | x.mean(1) | x.var(1) | x.norm() | x.amax(0)
x.amax(1) | x.max(0) | x.max(1) | x.argmax(0) | x.argmax(1) | x.prod(1) | x.any() | x.all(1) | x.cumsum(0)
x.cumsum(1) | x.sort(1) | x.topk(4) | x.median(1) | x.logsumexp(1) | x.softmax(0) | x.softmax(1)
x.log_softmax(1) | x.nonzero() | x.count_nonzero() | x.clone() | x.contiguous() | x.reshape(-1)
x.to(T.float32) | x.to(T.bfloat16) | x.to(T.int64) | x.flip(1) | x.roll(1,1) | x.tril() | x.repeat(2,1)
F.pad(x,(1,1)) | T.cat((x,y)) | T.cat((x,y),1) | T.stack((x,y)) | x[i] | x[:,i] | x[b] | x.gather(1,j)
x.index_select(0,i) | x.masked_fill(b,0) | T.where(b,x,y) | T.where(b,x,0) | T.maximum(x,row)
T.lerp(x,y,0.3) | T.addcmul(x,x,y) | F.mse_loss(x,y) | F.smooth_l1_loss(x,y)
F.binary_cross_entropy_with_logits(x,y) | x@y.t() | T.outer(row,row) | T.nan_to_num(x) | x.diff()
x.add_(row) | x.mul_(1) | x.copy_(row) | x.fill_(1) | x.zero_() | x.clamp_(0,1) | x.exp_()
x.masked_fill_(b,0) | x.__setitem__((slice(None),0),0) | x.scatter_(1,j,0) | x.scatter_add_(1,j,y)
x.index_add_(0,i,y)
"""


def operands(lib: Any, dtype: str, layout: str) -> dict[str, object]:
    """What calls name."""
    d = getattr(lib, dtype)
    numbers = (lib.arange(256 * 256).reshape(256, 256) * 7919 % 1009).float() / 500 - 1
    if not (d.is_floating_point or d.is_complex):
        numbers = numbers * 50
    x, y = (LAYOUTS[layout](lib, each.to(d)) for each in (numbers, numbers.flip(0) + 0.01))
    i = lib.arange(256) * 5 % 256
    found = {"T": lib, "F": lib.nn.functional, "x": x, "y": y, "row": numbers[0].to(d), "i": i}
    return found | {"col": numbers[:, :1].to(d), "b": numbers > 0, "j": i[:, None].expand(-1, 8)}


def answers(call: Callable[[], object]) -> bool:
    """Whether a call does not refuse its operands."""
    try:
        call()
    except (RuntimeError, TypeError, ValueError):
        return False
    return True


def measured(parts: list[str], rounds: int) -> Iterator[tuple[float, str, float, float]]:
    """Ratio, name, microseconds here and there of each call that both serve."""
    import torch as pt

    import mindtorch_core as torch

    libs = (torch, pt)
    for lib in libs:
        lib.set_num_threads(1)
    calls = [call.strip() for line in CALLS.strip().splitlines() for call in line.split(" | ")]
    for dtype in DTYPES:
        for layout in LAYOUTS:
            for call in calls:
                name = f"{dtype}/{layout}/{call}"
                if parts and not any(part in name for part in parts):
                    continue
                both = [eval(f"lambda: {call}", operands(lib, dtype, layout)) for lib in libs]
                if all(map(answers, both)):
                    least(both, 20)
                    time.sleep(0.1)  # kernels are compiled meanwhile
                    here, there = least(both, rounds)
                    yield here / there, name, here, there


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="of names of calls; all calls without any")
    parser.add_argument("--shown", type=int, default=60, help="how many are shown")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    show([*measured(options.parts, options.rounds)], (3, 6, 15), options.shown)


if __name__ == "__main__":
    main()
