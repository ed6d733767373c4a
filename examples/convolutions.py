"""Train a convolutional network on scanned digits.

The data are scikit-learn's 1,797 scans, 8 x 8 pixels each. In training they are shifted by up to a
pixel, so that the network learns shapes and not places.

    python examples/convolutions.py                   seconds on a CPU
    python examples/convolutions.py --device npu      on an NPU, once mindtorch-npu is installed
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import workbench
from sklearn.datasets import load_digits

import mindtorch as torch
from mindtorch import nn

F = nn.functional
Tensor = torch.Tensor
data = torch.utils.data

HELD_OUT = 360  # digits kept for testing, a fifth of them


def network() -> nn.Module:
    """Scores for ten digits, (images, 10), of images (images, 1, 8, 8)."""
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU()),
        nn.MaxPool2d(2),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2)),
        *(nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, 10)),
    )


def load() -> tuple[data.TensorDataset, data.TensorDataset]:
    """Training and held-out digits: images with pixels from -1 (paper) to 1 (ink), and labels."""
    pixels, digits = load_digits(return_X_y=True)
    images = torch.from_numpy(pixels).float().reshape(-1, 1, 8, 8) / 8 - 1
    labels = torch.from_numpy(digits).long()
    order = torch.randperm(len(labels))
    training, held_out = order[HELD_OUT:], order[:HELD_OUT]
    return (
        data.TensorDataset(images[training], labels[training]),
        data.TensorDataset(images[held_out], labels[held_out]),
    )


def shifted(images: Tensor) -> Tensor:
    """The images, all moved by the same random -1 to 1 pixels down and to the right."""
    down, right = torch.randint(3, (2,)).tolist()
    return F.pad(images, (1, 1, 1, 1), value=-1.0)[:, :, down : down + 8, right : right + 8]


def train(model: nn.Module, digits: data.TensorDataset, args: argparse.Namespace) -> list[float]:
    """Train; returns the loss of each step."""
    optimizer = torch.optim.SGD(
        model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-3, nesterov=True
    )
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    loader = data.DataLoader(digits, args.batch_size, shuffle=True, drop_last=True)
    batches = iter(loader)

    def step() -> Tensor:
        nonlocal batches
        batch = next(batches, None)
        if batch is None:
            batches = iter(loader)
            batch = next(batches)
        images, labels = batch
        scores = model(shifted(images).to(args.device))
        loss = F.cross_entropy(scores, labels.to(args.device), label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()
        return loss.detach()

    model.train()
    return workbench.run(step, args)


def predict(model: nn.Module, digits: data.TensorDataset, device: torch.device) -> Tensor:
    """The most likely digit of each image."""
    model.eval()
    with torch.no_grad():
        parts = [model(x.to(device)).argmax(1).cpu() for x, _ in data.DataLoader(digits, 256)]
    return torch.cat(parts)


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = workbench.parser(__doc__, steps=450, lr=0.05)
    parser.add_argument("--batch-size", type=int, default=64, help="default: %(default)s")
    return workbench.options(parser, argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    training, held_out = load()
    model = network().to(args.device)
    losses = train(model, training, args)
    predicted, labels = predict(model, held_out, args.device), held_out.tensors[1]
    print(f"held-out accuracy: {(predicted == labels).float().mean().item():.4f}")
    if drawing := workbench.canvas(2):
        figure, (left, right) = drawing
        workbench.losses_drawn(left, losses)
        table = torch.zeros(10, 10).index_put((labels, predicted), torch.ones(HELD_OUT), True)
        right.imshow(table.sqrt().tolist(), cmap="Blues")
        right.set(title="Held-out digits", xlabel="read as", ylabel="is")
        right.set(xticks=range(10), yticks=range(10))
        workbench.save(figure, args.output)
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
