"""Learn to balance a pole on a cart, by trial and error.

Many carts run at once. An actor pushes each to the left or to the right; a critic says how long the
pole will stay up. The actor learns from how much better or worse it went than the critic had said.

    python examples/actor_critic.py                   under a minute on a CPU
    python examples/actor_critic.py --device npu      on an NPU, once mindtorch-npu is installed
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

import workbench

import mindtorch as torch
from mindtorch import nn

F = nn.functional
Tensor = torch.Tensor

LONGEST = 500  # steps after which a trial ends well
LATER = 0.99  # what a reward is worth a step earlier


class Carts:
    """Carts with poles, as Barto, Sutton and Anderson described them in 1983.

    A state is (place, speed, angle of the pole, its speed). A trial ends when the pole leans more
    than 12 degrees, the cart is 2.4 metres from where it began, or `LONGEST` steps are over.

    Attributes:
        states: the state of each cart, (carts, 4).
        lasted: for how many steps each trial has been going on, (carts,).
        ended: how long the trials that are over lasted, in order.
    """

    def __init__(self, count: int) -> None:
        self.states = self._start(count)
        self.lasted = torch.zeros(count)
        self.ended: list[float] = []

    @staticmethod
    def _start(count: int) -> Tensor:
        return torch.rand(count, 4) / 10 - 0.05

    def push(self, right: Tensor) -> tuple[Tensor, Tensor]:
        """Push each cart to the right (1) or left (0) for a fiftieth of a second.

        Returns:
            Where poles fell, and where trials are over for that or another reason; new ones begin.
        """
        gravity, cart, pole, half, force, seconds = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
        _, speed, angle, turn = self.states.unbind(1)
        sine, cosine = angle.sin(), angle.cos()
        thrust = (force * (2 * right - 1) + pole * half * turn.square() * sine) / (cart + pole)
        torque = (gravity * sine - cosine * thrust) / (
            half * (4 / 3 - pole * cosine.square() / (cart + pole))
        )
        pushed = thrust - pole * half * torque * cosine / (cart + pole)
        changes = torch.stack((speed, pushed, turn, torque), dim=1)
        self.states = self.states + seconds * changes
        self.lasted = self.lasted + 1
        fallen = (self.states[:, 0].abs() > 2.4) | (self.states[:, 2].abs() > math.radians(12))
        over = fallen | (self.lasted >= LONGEST)
        self.ended += self.lasted[over].tolist()
        self.states = torch.where(over[:, None], self._start(len(over)), self.states)
        self.lasted = torch.where(over, 0.0, self.lasted)
        return fallen, over


class ActorCritic(nn.Module):
    """Logits of the two pushes, and how much reward is to come."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.seen = nn.Sequential(
            nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh()
        )
        self.actor, self.critic = nn.Linear(width, 2), nn.Linear(width, 1)

    def forward(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (..., 2) and values (...) of states (..., 4)."""
        seen = self.seen(states)
        return self.actor(seen), self.critic(seen).squeeze(-1)


def play(
    model: ActorCritic, carts: Carts, args: argparse.Namespace
) -> tuple[Tensor, Tensor, Tensor]:
    """Let the actor push for some steps: states, pushes and what rewards came of them.

    The carts and all chance stay on the CPU, so that the same seed plays the same on any device.
    """
    states, pushes, fallen, over = [], [], [], []
    with torch.no_grad():
        for _ in range(args.horizon):
            logits, _ = model(carts.states.to(args.device))
            states.append(carts.states)
            pushes.append(torch.multinomial(logits.cpu().softmax(1), 1)[:, 0])
            fell, ended = carts.push(pushes[-1])
            fallen.append(fell)
            over.append(ended)
        _, rest = model(carts.states.to(args.device))
        _, later = model(torch.stack(states).to(args.device))
    rest, later = rest.cpu(), later.cpu()
    rewards = []
    for i in reversed(range(args.horizon)):
        # A trial that came to its time's end would have gone on about as the critic says.
        goes_on = torch.where(over[i], later[i], rest)
        rest = torch.where(fallen[i], 0.0, 1 - LATER + LATER * goes_on)
        rewards.append(rest)
    return torch.stack(states), torch.stack(pushes), torch.stack(rewards[::-1])


def train(
    model: ActorCritic, carts: Carts, args: argparse.Namespace
) -> tuple[list[float], list[float]]:
    """Train; returns the loss of each step and how long the trials lasted that had ended by then."""
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    lengths: list[float] = []

    def step() -> Tensor:
        states, pushes, rewards = (x.to(args.device) for x in play(model, carts, args))
        logits, values = model(states)
        chances = F.log_softmax(logits, dim=-1)
        better = rewards - values
        praise = better.detach() / (better.detach().std() + 1e-6)
        actor = -(chances.gather(-1, pushes[..., None])[..., 0] * praise).mean()
        critic = better.square().mean()
        doubt = -(chances.exp() * chances).sum(-1).mean()
        loss = actor + 0.5 * critic - 0.01 * doubt
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        last = carts.ended[-args.carts :]
        lengths.append(sum(last) / len(last) if last else 0.0)
        return loss.detach()

    return workbench.run(step, args), lengths


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = workbench.parser(__doc__, steps=250, lr=0.01)
    sizes = {"carts": 32, "horizon": 20, "width": 64}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="default: %(default)s")
    return workbench.options(parser, argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    model, carts = ActorCritic(args.width).to(args.device), Carts(args.carts)
    losses, lengths = train(model, carts, args)
    print(f"the last {args.carts} poles stayed up for {lengths[-1]:.0f} of {LONGEST} steps")
    if drawing := workbench.canvas(2):
        figure, (left, right) = drawing
        workbench.losses_drawn(left, losses)
        workbench.curves(right, {f"last {args.carts}": lengths}, "Steps that poles stayed up")
        workbench.save(figure, args.output)
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
