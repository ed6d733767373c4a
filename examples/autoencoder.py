"""Train a variational autoencoder on scanned digits, and let it draw new ones.

Each of scikit-learn's 1,797 scans is squeezed into the mean and spread of a few hidden numbers, from
which the scan is to be restored. Hidden numbers drawn at random then give digits nobody wrote.

    python examples/autoencoder.py                   seconds on a CPU
    python examples/autoencoder.py --device npu      on an NPU, once mindtorch-npu is installed
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import workbench
from sklearn.datasets import load_digits

import mindtorch as torch
from mindtorch import nn

F = nn.functional
Tensor = torch.Tensor

SIDE = 8  # an image has SIDE x SIDE pixels


class Autoencoder(nn.Module):
    """Kingma and Welling, 2013, for images as rows of ``SIDE * SIDE`` pixels between 0 and 1."""

    def __init__(self, hidden: int, width: int = 128) -> None:
        super().__init__()
        self.hidden = hidden
        self.squeeze = nn.Sequential(
            nn.Linear(SIDE * SIDE, width), nn.SiLU(), nn.Linear(width, 2 * hidden)
        )
        self.restore = nn.Sequential(
            nn.Linear(hidden, width), nn.SiLU(), nn.Linear(width, SIDE * SIDE)
        )

    def forward(self, images: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the restored pixels, and the divergence of the hidden numbers, per image.

        Args:
            images: (images, pixels).
            noise: (images, hidden), normal random numbers.
        """
        mean, log_variance = self.squeeze(images).chunk(2, dim=1)
        divergence = (mean.square() + log_variance.exp() - 1 - log_variance).sum(1) / 2
        return self.restore(mean + noise * (log_variance / 2).exp()), divergence

    def draw(self, hidden: Tensor) -> list[list[list[float]]]:
        """Images of hidden numbers (images, hidden), as lists of rows."""
        with torch.no_grad():
            pixels: list[list[list[float]]] = (
                self.restore(hidden).sigmoid().reshape(-1, SIDE, SIDE).tolist()
            )
        return pixels


def train(model: Autoencoder, images: Tensor, args: argparse.Namespace) -> list[float]:
    """Train; returns the loss of each step, the bound on the evidence per image."""
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    def step() -> Tensor:
        rows = torch.randint(len(images), (args.batch_size,))
        noise = torch.randn(args.batch_size, model.hidden)  # on the CPU: the same on all devices
        batch = images[rows].to(args.device)
        logits, divergence = model(batch, noise.to(args.device))
        missed = F.binary_cross_entropy_with_logits(logits, batch, reduction="sum")
        loss = missed / args.batch_size + divergence.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return workbench.run(step, args)


def show(axes: Any, images: Sequence[Sequence[Sequence[float]]], columns: int, title: str) -> None:
    """Draw images as one grid."""
    rows = [images[i : i + columns] for i in range(0, len(images), columns)]
    grid = [[x for image in row for x in image[y]] for row in rows for y in range(SIDE)]
    axes.imshow(grid, cmap="gray_r", vmin=0, vmax=1)
    axes.set(title=title, xticks=[], yticks=[])


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = workbench.parser(__doc__, steps=1500, lr=2e-3)
    parser.add_argument("--batch-size", type=int, default=64, help="default: %(default)s")
    parser.add_argument("--hidden", type=int, default=8, help="hidden numbers: %(default)s")
    return workbench.options(parser, argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    pixels, _ = load_digits(return_X_y=True)
    images = torch.from_numpy(pixels).float() / 16
    model = Autoencoder(args.hidden).to(args.device)
    losses = train(model, images, args)
    last = losses[-100:]
    print(f"loss of the last {len(last)} steps: {sum(last) / len(last):.3f}")
    if drawing := workbench.canvas(3, width=4):
        figure, (left, middle, right) = drawing
        workbench.losses_drawn(left, losses)
        pairs = images[:50].to(args.device)
        with torch.no_grad():
            mean = model.squeeze(pairs)[:, : args.hidden]
        before, after = pairs.reshape(-1, SIDE, SIDE).tolist(), model.draw(mean)
        both = [x for i in range(0, 50, 10) for x in before[i : i + 10] + after[i : i + 10]]
        show(middle, both, 10, "Digits, and below them as restored")
        new = torch.randn(100, args.hidden).to(args.device)
        show(right, model.draw(new), 10, "Drawn from random numbers")
        workbench.save(figure, args.output)
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
