"""Train an LSTM to go on with a chaotic series.

The series is Mackey and Glass' (1977): the number of blood cells, where what is made today depends on
how many there were some days ago. It never repeats itself, and small errors grow. The LSTM reads the
past and says the next value; in the end it goes on by itself, from its own words.

    python examples/forecast.py                   under a minute on a CPU
    python examples/forecast.py --device npu      on an NPU, once mindtorch-npu is installed
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import workbench

import mindtorch as torch
from mindtorch import nn

F = nn.functional
Tensor = torch.Tensor

WARM_UP, AHEAD = 200, 100  # values read before a forecast, values forecast


def series(length: int, delay: int = 17) -> list[float]:
    """The Mackey-Glass series, a value each six tenths of a day; what it starts with is left out."""
    fine = 10  # steps of Euler's method in a day
    values = [1.2] * (delay * fine + 1)
    while len(values) < 6 * (length + 200):
        late = values[-1 - delay * fine]
        values.append(values[-1] + (0.2 * late / (1 + late**10) - 0.1 * values[-1]) / fine)
    return values[-6 * length :: 6]


class Forecaster(nn.Module):
    """An LSTM of two layers that says how the series changes next."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.memory = nn.LSTM(1, width, num_layers=2, batch_first=True)
        self.change = nn.Linear(width, 1)

    def forward(
        self, values: Tensor, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The next value at each place, (series, values, 1), and the state at the end."""
        seen, state = self.memory(values, state)
        return values + self.change(seen) / 10, state

    def go_on(self, values: Tensor, length: int) -> Tensor:
        """Forecasts (series, length, 1), each made from the ones before."""
        with torch.no_grad():
            guesses, state = self(values)
            found = [guesses[:, -1:]]
            while len(found) < length:
                guess, state = self(found[-1], state)
                found.append(guess)
        return torch.cat(found, dim=1)


def train(model: Forecaster, past: Tensor, args: argparse.Namespace) -> list[float]:
    """Train on random windows of the past; returns the loss of each step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    windows = past.unfold(0, args.window + 1, 1)

    def step() -> Tensor:
        rows = torch.randint(len(windows), (args.batch_size,))
        batch = windows[rows, :, None].to(args.device)
        guesses, _ = model(batch[:, :-1])
        loss = F.mse_loss(guesses, batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        rate.step()
        return loss.detach()

    return workbench.run(step, args)


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = workbench.parser(__doc__, steps=600, lr=5e-3)
    sizes = {"batch-size": 16, "window": 60, "width": 48}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="default: %(default)s")
    return workbench.options(parser, argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    values = torch.tensor(series(3000)) - 0.9
    end = len(values) - 10 * AHEAD - WARM_UP  # what comes after this is not learnt from
    model = Forecaster(args.width).to(args.device)
    losses = train(model, values[:end], args)

    windows = values[end:].unfold(0, WARM_UP + AHEAD, AHEAD)[..., None]
    known, truth = windows[:, :WARM_UP], windows[:, WARM_UP:]
    guesses = model.go_on(known.to(args.device), AHEAD).cpu()
    spread = values.std().item()
    errors = (guesses - truth).square().mean((0, 2)).sqrt() / spread
    for ahead in (1, 10, 50):
        print(f"error {ahead:2d} ahead: {100 * errors[ahead - 1].item():.2f} % of the spread")
    if drawing := workbench.canvas(2):
        figure, (left, right) = drawing
        workbench.losses_drawn(left, losses)
        left.set(yscale="log")
        ahead = {"the series": truth[0, :, 0].tolist(), "forecast": guesses[0, :, 0].tolist()}
        workbench.curves(right, ahead, "From its own words", xlabel="values ahead")
        workbench.save(figure, args.output)
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
