"""What the programs of this folder share: options, the device, progress, a picture of the curves.

And data parallel training: `group`, `parallel`, `share` and `mean` do nothing in one process. In several,
each holds a copy of the model and learns from its rows of every batch; the copies learn what one would.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import Any

import mindtorch as torch


def parser(program: str, steps: int, lr: float) -> argparse.ArgumentParser:
    """A command line with the options that all programs have.

    Args:
        program: docstring of the program, its help; it starts with a line by itself.
        steps: default of ``--steps``.
        lr: default of ``--lr``.
    """
    made = argparse.ArgumentParser(
        description=program, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--device", default="cpu", help="where to compute, default: %(default)s")
    made.add_argument("--pipeline", action="store_true", help="defer the ops of each step")
    made.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    made.add_argument("--steps", type=int, default=steps, help="default: %(default)s")
    made.add_argument("--lr", type=float, default=lr, help="learning rate, default: %(default)s")
    made.add_argument("--output", metavar="FILE", help="picture, default: the program's name.png")
    return made


def options(made: argparse.ArgumentParser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line, open the device and seed; ends the program where one is no good."""
    args = made.parse_args(argv)
    if args.steps < 1:
        made.error("--steps must be at least 1")
    try:
        probe = torch.zeros((), device=args.device)
        probe.item()  # the meta device has no numbers to compute with
    except RuntimeError as error:  # a BackendUnavailableError, or a string that names no device
        made.exit(2, f"{made.prog}: cannot compute on {args.device!r}: {error}\n")
    args.device = probe.device
    args.output = args.output or made.prog.removesuffix(".py") + ".png"
    torch.manual_seed(args.seed)
    return args


def run(step: Callable[[], torch.Tensor], args: argparse.Namespace) -> list[float]:
    """Call a training step ``--steps`` times, and report on the way.

    Args:
        step: learns from one batch and gives its loss.
        args: of `options`.

    Returns:
        The loss of every step.
    """
    losses: list[float] = []
    report = _report(args.steps)
    start = time.perf_counter()
    for _ in range(args.steps):
        with torch.pipeline() if args.pipeline else nullcontext():
            loss = step()
        losses.append(mean(loss))
        report(losses)
    seconds = time.perf_counter() - start
    each = 1e3 * seconds / args.steps
    print(f"trained on {args.device} in {seconds:.1f} s, {each:.1f} ms a step")
    return losses


@contextmanager
def group() -> Iterator[bool]:
    """The group of the processes that a launcher has started; whether this one prints and draws for all."""
    if "WORLD_SIZE" not in os.environ:  # torchrun's variable
        yield True
        return
    torch.distributed.init_process_group()
    first = torch.distributed.get_rank() == 0
    with open(os.devnull, "w") as nowhere, nullcontext() if first else redirect_stdout(nowhere):
        yield first
    torch.distributed.destroy_process_group()


def _several() -> bool:
    return "WORLD_SIZE" in os.environ and torch.distributed.is_initialized()


def parallel(model: torch.nn.Module) -> torch.nn.Module:
    """The model, which in several processes averages its gradients over them."""
    return torch.nn.parallel.DistributedDataParallel(model) if _several() else model


def share(count: int) -> tuple[Any, float]:
    """This process's part of a batch, the same in all processes.

    Args:
        count: rows of the batch; any number.

    Returns:
        An index of its rows, and what to multiply their mean loss by: where shares are unequal, the average
        over the processes is the batch's mean loss all the same.
    """
    if not _several():
        return slice(None), 1.0
    from mindtorch.utils.data.distributed import DistributedSampler

    rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
    own = len(range(rank, count, size))
    rows = list(DistributedSampler(range(count), shuffle=False))
    # The sampler repeats rows until all shares are equal; one without a row keeps such a row, for nothing.
    return rows[: max(own, 1)], own * size / count


def mean(loss: torch.Tensor) -> float:
    """The average of the processes' losses."""
    if _several():
        loss = loss.detach().clone()
        torch.distributed.all_reduce(loss, torch.distributed.ReduceOp.AVG)
    return loss.item()


def _report(steps: int) -> Callable[[list[float]], None]:
    """What shows the progress: tqdm's bar on a terminal that has it, else ten lines."""
    try:
        from tqdm import tqdm
    except ImportError:
        shown = None
    else:
        shown = tqdm(total=steps, unit="step") if sys.stderr.isatty() else None

    def report(losses: list[float]) -> None:
        done = len(losses)
        if shown is not None:
            shown.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
            shown.update()
            if done == steps:
                shown.close()
        elif done % max(steps // 10, 1) == 0:
            print(f"step {done:5d}  loss {losses[-1]:.4f}", flush=True)

    return report


def smooth(values: Sequence[float], width: int) -> list[float]:
    """Means of the last ``width`` values, at each place."""
    return [sum(values[max(i - width, 0) : i]) / min(i, width) for i in range(1, len(values) + 1)]


def canvas(columns: int, width: float = 5, height: float = 3.6) -> Any:
    """A matplotlib figure and a list of its axes, side by side; None without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("matplotlib is not installed, so nothing is drawn")
        return None
    from matplotlib.figure import Figure

    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9})
    figure = Figure((width * columns, height), layout="constrained")  # no window, nothing to close
    return figure, list(figure.subplots(1, columns, squeeze=False).flat)


def curves(
    axes: Any, lines: Mapping[str, Iterable[float]], title: str, xlabel: str = "step"
) -> None:
    """Draw named lines with a legend, the first one pale."""
    for (name, line), colour in zip(lines.items(), ("#b3c5de", "#1f4e8c", "#a3271c"), strict=False):
        axes.plot(
            list(line), color=colour, linewidth=0.8 if colour == "#b3c5de" else 1.5, label=name
        )
    axes.set(title=title, xlabel=xlabel)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    if len(lines) > 1:
        axes.legend(frameon=False)


def losses_drawn(axes: Any, losses: Sequence[float]) -> None:
    """Draw the loss of each step and its running mean."""
    width = max(len(losses) // 30, 1)
    curves(axes, {"each step": losses, f"mean of {width}": smooth(losses, width)}, "Training loss")


def save(figure: Any, path: str) -> None:
    """Write a figure of `canvas`, and say so."""
    figure.savefig(path, dpi=130)
    print(f"picture: {path}")
