"""Train a digit classifier, with every number on a device of your choice.

The data are scikit-learn's 1,797 scans of handwritten digits, 8 x 8 pixels each. The model has two
linear layers and learns by stochastic gradient descent with momentum. Nothing here names a device:
``--device`` does, and its backend does the work.

    python examples/digits.py                       on the CPU
    python examples/digits.py --pipeline            each training step recorded, then run at once
    python examples/digits.py --device npu          on an NPU, once mindtorch-npu is installed
    mindtorch run -n 2 examples/digits.py           in 2 processes, with mindtorch-mpi

It prints the accuracy on held-out digits and draws the curves and the mistakes into ``--output``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import workbench
from sklearn.datasets import load_digits
from tqdm import tqdm

import mindtorch as torch
from mindtorch import nn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

F = nn.functional
Tensor = torch.Tensor

HELD_OUT = 360  # digits kept for testing, a fifth of them
HIDDEN = 128
MOMENTUM = 0.9
SIDE = 8  # an image has SIDE x SIDE pixels


class Split(NamedTuple):
    """Images as rows of pixels from -1 (paper) to 1 (ink), and their labels."""

    images: Tensor
    labels: Tensor


@dataclass
class History:
    """What is drawn afterwards: the loss of every step, the accuracies after every epoch."""

    losses: list[float] = field(default_factory=list)
    training: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)


# ---- data ---------------------------------------------------------------------------------------


def load(device: torch.device) -> tuple[Split, Split]:
    """The digits on a device, shuffled and split into training and held-out ones."""
    pixels, digits = load_digits(return_X_y=True)
    images = torch.tensor(pixels, dtype=torch.float32, device=device) / 8 - 1
    labels = torch.tensor(digits, dtype=torch.int64, device=device)
    order = torch.randperm(len(labels), device=device)
    held_out, training = order[:HELD_OUT], order[HELD_OUT:]
    return Split(images[training], labels[training]), Split(images[held_out], labels[held_out])


def batches(data: Split, size: int) -> Iterator[Split]:
    """The data in a new random order, ``size`` at a time."""
    order = torch.randperm(len(data.labels), device=data.labels.device)
    for rows in order.split(size):
        yield Split(data.images[rows], data.labels[rows])


# ---- model --------------------------------------------------------------------------------------


class Model(nn.Module):
    """Two linear layers with a relu between them: one score for each of the ten digits, per image."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(SIDE * SIDE, HIDDEN), nn.Linear(HIDDEN, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Scores (images, 10) of images (images, pixels)."""
        return self.outer(self.inner(images).relu())

    def predict(self, images: Tensor) -> Tensor:
        """The most likely digit of each image."""
        with torch.no_grad():
            return self(images).argmax(1)


def accuracy(model: Model, data: Split) -> float:
    """Share of the images that are recognised."""
    return (model.predict(data.images) == data.labels).float().mean().item()


def train(model: Model, training: Split, held_out: Split, args: argparse.Namespace) -> History:
    """Train with the options of the command line, showing a progress bar."""
    history = History()
    steps = args.epochs * -(-len(training.labels) // args.batch_size)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=MOMENTUM)
    learner = workbench.parallel(model)
    with tqdm(total=steps, unit="step", disable=None) as bar:
        for _ in range(args.epochs):
            for batch in batches(training, args.batch_size):
                own, weight = workbench.share(len(batch.labels))
                with torch.pipeline() if args.pipeline else nullcontext():
                    loss = F.cross_entropy(learner(batch.images[own]), batch.labels[own]) * weight
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                history.losses.append(workbench.mean(loss))
                bar.update()
            history.training.append(accuracy(model, training))
            history.held_out.append(accuracy(model, held_out))
            bar.set_postfix(
                loss=f"{history.losses[-1]:.3f}", accuracy=f"{history.held_out[-1]:.3f}"
            )
    return history


# ---- picture ------------------------------------------------------------------------------------


def draw(history: History, model: Model, held_out: Split, path: str) -> None:
    """Draw the curves, and the held-out digits that were mistaken, into a PNG file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 9})
    mpl.rcParams.update({f"figure.constrained_layout.{side}_pad": 0.09 for side in "wh"})
    figure = plt.figure(figsize=(10, 6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(3, 2), hspace=0.05)
    draw_curves(*top.subplots(1, 2), history)
    draw_mistakes(bottom, model.predict(held_out.images), held_out)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_curves(left: Axes, right: Axes, history: History) -> None:
    """The loss of each step and its mean over each epoch; the accuracy after each epoch."""
    pale, dark = "#b3c5de", "#1f4e8c"
    size = len(history.losses) // len(history.held_out)  # steps in an epoch
    starts = range(0, len(history.losses), size)
    left.plot(history.losses, color=pale, linewidth=0.8, label="each step")
    left.plot(
        [start + size / 2 for start in starts],
        [sum(history.losses[start : start + size]) / size for start in starts],
        color=dark, marker=".", label="mean of an epoch",
    )  # fmt: skip
    left.set(title="Training loss", xlabel="step", yscale="log")
    left.legend(frameon=False)

    epochs = range(1, len(history.held_out) + 1)
    right.plot(epochs, history.training, color=pale, marker=".", label="training digits")
    right.plot(epochs, history.held_out, color=dark, marker=".", label="held-out digits")
    right.set(title="Accuracy", xlabel="epoch")
    right.xaxis.get_major_locator().set_params(integer=True)
    right.legend(frameon=False, loc="lower right")
    for axes in (left, right):
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
        axes.set_axisbelow(True)


def draw_mistakes(area: SubFigure, predicted: Tensor, held_out: Split) -> None:
    """A grid of misclassified digits, each with what it is and what it was taken for."""
    wrong = (predicted != held_out.labels).nonzero().flatten()
    rows = 1 if len(wrong) <= 8 else 2
    columns = min(max(-(-len(wrong) // rows), 1), 8)
    shown = wrong[: rows * columns]
    images = held_out.images[shown].reshape(-1, SIDE, SIDE).tolist()
    labels, guesses = held_out.labels[shown].tolist(), predicted[shown].tolist()
    title = f"{len(wrong)} of {len(held_out.labels)} held-out digits were mistaken"
    area.suptitle(title if len(shown) == len(wrong) else f"{title}; the first {len(shown)}")
    grid = list(area.subplots(rows, columns, squeeze=False).flat)
    for axes in grid:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
    for axes, image, label, guess in zip(grid, images, labels, guesses, strict=False):
        axes.imshow(image, cmap="gray_r", vmin=-1, vmax=1)
        axes.set_title(f"{label} read as {guess}", color="#a3271c")
        axes.spines[:].set(visible=True, color="#d0d0d0")


# ---- command line -------------------------------------------------------------------------------


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Train a digit classifier with mindtorch.")
    parser.add_argument("--device", default="cpu", help="where to compute, default: %(default)s")
    parser.add_argument("--pipeline", action="store_true", help="defer the ops of each step")
    parser.add_argument("--epochs", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--batch-size", type=int, default=32, help="default: %(default)s")
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate, default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--output", default="digits.png", help="picture, default: %(default)s")
    parsed = parser.parse_args(argv)
    if parsed.epochs < 1 or parsed.batch_size < 1:
        parser.error("--epochs and --batch-size must be at least 1")
    return parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Run the example; returns the exit code."""
    args = options(argv)
    try:
        probe = torch.zeros((), device=args.device)
        probe.item()  # the meta device has no numbers to compute with
    except RuntimeError as error:  # a BackendUnavailableError, or a string that names no device
        print(f"digits.py: cannot compute on {args.device!r}: {error}", file=sys.stderr)
        return 2
    torch.manual_seed(args.seed)
    training, held_out = load(probe.device)
    with workbench.group() as first:
        model = Model().to(probe.device)
        start = time.perf_counter()
        history = train(model, training, held_out, args)
        seconds = time.perf_counter() - start
    if not first:
        return 0
    draw(history, model, held_out, args.output)
    print(f"trained on {probe.device} in {seconds:.1f} s; picture: {args.output}")
    print(f"held-out accuracy: {history.held_out[-1]:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
