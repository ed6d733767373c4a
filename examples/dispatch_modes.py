"""Watch one training step: log every op, and count the floating-point operations.

Both are dispatch modes. A mode is handed every op that is called while it is active, below autograd,
so it sees the ops of the backward pass too, and nothing in the network has to know of it. The
network is a multi-layer perceptron; on the meta device it is counted without being computed.

    python examples/dispatch_modes.py                              log and count on the CPU
    python examples/dispatch_modes.py --no-log --batch 256         the counts alone
    python examples/dispatch_modes.py --no-log --device meta --widths 12288 49152 12288
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from math import prod
from typing import Any

import mindtorch_core as torch

F = torch.nn.functional
Tensor = torch.Tensor
Shape = Sequence[int]


class Scopes:
    """Named parts of a program, one inside the other, so that modes can say where an op was called.

    Attributes:
        names: the parts that are being run, outermost first.
        entered: called with the depth and the name of each part that begins.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.entered: Callable[[int, str], None] = lambda depth, name: None

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Give a part of the program a name: ``with scopes("forward"):``."""
        self.entered(len(self.names), name)
        self.names.append(name)
        try:
            yield
        finally:
            self.names.pop()


# ---- a mode that logs ---------------------------------------------------------------------------


class OpLogger(torch.DispatchMode):
    """Prints every op with the dtypes and shapes it is called with and returns.

    Args:
        scopes: lines are indented by how deep they are inside these.
        write: prints one line.
    """

    def __init__(self, scopes: Scopes, write: Callable[[str], object] = print) -> None:
        self.scopes = scopes
        self.write = write
        scopes.entered = lambda depth, name: write(f"{'  ' * depth}{name}")

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the op and print it."""
        result = func(*args, **(kwargs or {}))
        given = [shown(a) for a in args]
        given += [f"{name}={shown(value)}" for name, value in (kwargs or {}).items()]
        indent = "  " * len(self.scopes.names)
        self.write(f"{indent}{func}({', '.join(given)}) -> {shown(result)}")
        return result


def shown(value: Any) -> str:
    """A tensor as dtype and shape; other values as they are."""
    if isinstance(value, Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return repr(value)


# ---- a mode that counts -------------------------------------------------------------------------


def product_flops(a: Shape, b: Shape) -> int:
    """Operations of a product of matrices: a multiplication and an addition for each pair.

    Vectors count as a row and a column, and leading dimensions broadcast.
    """
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    batch = torch.broadcast_shapes(tuple(left[:-2]), tuple(right[:-2]))
    return 2 * prod(batch) * left[-2] * left[-1] * right[-1]


def linear_flops(x: Shape, weight: Shape, bias: Shape | None = None) -> int:
    """Operations of ``x @ weight.T``. As is usual, the bias is not counted."""
    return product_flops(x, weight[::-1])


def added_flops(_: Shape, a: Shape, b: Shape) -> int:
    """Operations of a product that is added to something, which is not counted."""
    return product_flops(a, b)


# What the ops that matter cost, by the shapes of their arguments. All else is cheap beside them.
FORMULAS: Mapping[str, Callable[..., int]] = {
    "aten::mm": product_flops,
    "aten::bmm": product_flops,
    "aten::matmul": product_flops,
    "aten::mv": product_flops,
    "aten::dot": product_flops,
    "aten::addmm": added_flops,
    "aten::baddbmm": added_flops,
    "aten::linear": linear_flops,
}


class FlopCounter(torch.DispatchMode):
    """Counts the floating-point operations of matrix products, by op and by part of the program.

    Args:
        scopes: an op counts for the outermost of these that it is called in.

    Attributes:
        flops: operations by op and part.
        calls: calls by op and part.
    """

    def __init__(self, scopes: Scopes | None = None) -> None:
        self.scopes = scopes or Scopes()
        self.flops: Counter[tuple[str, str]] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the op and count it."""
        formula = FORMULAS.get(func.name().partition(".")[0])
        if formula is not None:
            shapes = (a.shape if isinstance(a, Tensor) else None for a in args)
            part = self.scopes.names[0] if self.scopes.names else "all"
            self.flops[str(func.overloadpacket), part] += formula(*shapes)
            self.calls[str(func.overloadpacket), part] += 1
        return func(*args, **(kwargs or {}))

    def total(self, part: str | None = None) -> int:
        """Operations of a part of the program, or of all of it."""
        return sum(n for (_, p), n in self.flops.items() if part in (None, p))

    def table(self) -> str:
        """A row for each op and a column for each part."""
        parts = list(dict.fromkeys(part for _, part in self.flops))
        rows = [["op", "calls", *parts, "total"]]
        for op in dict.fromkeys(op for op, _ in self.flops):
            calls = sum(n for (o, _), n in self.calls.items() if o == op)
            counts = [self.flops[op, part] for part in parts]
            rows.append([op, str(calls), *map(quantity, [*counts, sum(counts)])])
        totals = [self.total(part) for part in parts]
        calls = sum(self.calls.values())
        rows.append(["total", str(calls), *map(quantity, [*totals, self.total()])])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                f"{cell:>{w}}" if i else f"{cell:{w}}"
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )


def quantity(n: float) -> str:
    """A count of operations with three digits and a unit."""
    for unit in ("", "K", "M", "G"):
        if n < 1000:
            return f"{n:.3g} {unit}FLOP"
        n /= 1000
    return f"{n:.4g} TFLOP"


# ---- what is watched ----------------------------------------------------------------------------


class Network:
    """Linear layers with relus between them.

    Attributes:
        layers: weight and bias of each.
    """

    def __init__(self, widths: Sequence[int], device: Any) -> None:
        self.layers: list[tuple[Tensor, Tensor]] = []
        for inputs, outputs in pairwise(widths):
            weight = torch.randn(outputs, inputs, device=device) * (2 / inputs) ** 0.5
            bias = torch.zeros(outputs, device=device)
            self.layers.append((weight.requires_grad_(), bias.requires_grad_()))

    def step(self, x: Tensor, labels: Tensor, scopes: Scopes, lr: float = 0.1) -> Tensor:
        """One step of gradient descent; returns the loss."""
        with scopes("forward"):
            for i, (weight, bias) in enumerate(self.layers):
                with scopes(f"layer {i}"):
                    x = F.linear(x if i == 0 else x.relu(), weight, bias)
            with scopes("loss"):
                loss = F.cross_entropy(x, labels)
        with scopes("backward"):
            loss.backward()
        with scopes("update"), torch.no_grad():
            for parameter in (p for layer in self.layers for p in layer):
                parameter.sub_(parameter.grad, alpha=lr)
                parameter.grad = None
        return loss.detach()


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Log and count the ops of a training step.")
    parser.add_argument("--device", default="cpu", help="where to compute, default: %(default)s")
    parser.add_argument("--batch", type=int, default=32, help="images, default: %(default)s")
    parser.add_argument(
        "--widths",
        type=int,
        nargs="+",
        default=[784, 128, 64, 10],
        help="features of the input, of each layer and of the output, default: 784 128 64 10",
    )
    parser.add_argument("--no-log", action="store_true", help="count only")
    parsed = parser.parse_args(argv)
    if parsed.batch < 1 or min(parsed.widths) < 1 or len(parsed.widths) < 2:
        parser.error("--batch and --widths must be at least 1, and --widths at least two numbers")
    return parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Run the example; returns the exit code."""
    args = options(argv)
    try:
        x = torch.randn(args.batch, args.widths[0], device=args.device)
    except RuntimeError as error:  # a BackendUnavailableError, or a string that names no device
        print(f"dispatch_modes.py: cannot use {args.device!r}: {error}", file=sys.stderr)
        return 2
    labels = torch.zeros(args.batch, dtype=torch.int64, device=args.device)
    network = Network(args.widths, args.device)
    scopes = Scopes()
    counter = FlopCounter(scopes)
    with nullcontext() if args.no_log else OpLogger(scopes), counter:
        network.step(x, labels, scopes)
    if not args.no_log:
        print()
    print(f"A training step on {args.batch} images of {args.widths[0]} pixels ({args.device}):\n")
    print(counter.table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
