"""Train a graph network to tell who takes whose side in a karate club.

In the 1970s Wayne Zachary noted which of a club's 34 members met outside of it; then the club split.
The network is told the side of two of them, the instructor and the president. All others it has to
tell from who meets whom: in each layer every member takes up what its friends know.

    python examples/graph.py                   seconds on a CPU
    python examples/graph.py --device npu      on an NPU, once mindtorch-npu is installed
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import networkx
import workbench

import mindtorch as torch
from mindtorch import nn

F = nn.functional
Tensor = torch.Tensor

TOLD = (0, 33)  # the instructor and the president
SIDES = ("Mr. Hi", "Officer")  # as networkx calls them


class Edges(nn.Module):
    """Who takes up what of whom: both ways along each edge, and each member of itself.

    An edge counts less the more edges its ends have (Kipf and Welling, 2016).
    """

    def __init__(self, pairs: Tensor, size: int) -> None:
        super().__init__()
        loops = torch.arange(size).expand(2, size)
        sources, targets = torch.cat((pairs, pairs.flip(0), loops), dim=1)
        degrees = torch.bincount(targets, minlength=size).float()
        self.register_buffer("sources", sources)
        self.register_buffer("targets", targets)
        self.register_buffer("shares", (degrees[sources] * degrees[targets]).rsqrt()[:, None])

    def forward(self, x: Tensor) -> Tensor:
        """Of what each member knows, (members, width), what it then takes up."""
        return torch.zeros_like(x).index_add(0, self.targets, x[self.sources] * self.shares)


class Network(nn.Module):
    """Scores of the two sides, per member; to begin with, a member knows who it is."""

    def __init__(self, edges: Edges, size: int, width: int) -> None:
        super().__init__()
        self.edges = edges
        self.members = nn.Embedding(size, width)
        self.between, self.sides = nn.Linear(width, width), nn.Linear(width, len(SIDES))

    def forward(self, members: Tensor) -> Tensor:
        """Scores (members, sides) for the numbers of all members."""
        x = F.relu(self.between(self.edges(self.members(members))))
        return self.sides(self.edges(F.dropout(x, 0.3, self.training)))


def load() -> tuple[networkx.Graph, Tensor]:
    """The club, and the side that each member took."""
    club = networkx.karate_club_graph()
    return club, torch.tensor([SIDES.index(club.nodes[member]["club"]) for member in club])


def train(
    model: Network, members: Tensor, sides: Tensor, args: argparse.Namespace
) -> tuple[list[float], list[float]]:
    """Train on the members that are `TOLD`; returns losses and shares of members told right."""
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=5e-3)
    told = torch.tensor(TOLD, device=args.device)
    right: list[float] = []

    def step() -> Tensor:
        scores = model(members)
        loss = F.cross_entropy(scores[told], sides[told])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not args.pipeline:  # looking at a value would end the pipeline
            right.append((scores.argmax(1) == sides).float().mean().item())
        return loss.detach()

    return workbench.run(step, args), right


def draw(axes: Any, club: networkx.Graph, chances: Sequence[float], sides: Sequence[int]) -> None:
    """Draw the club: filled with what was told, framed with what was."""
    places = networkx.spring_layout(club, seed=4)
    colours = ("#1f4e8c", "#a3271c")
    networkx.draw_networkx_edges(club, places, ax=axes, edge_color="#d0d0d0")
    networkx.draw_networkx_nodes(
        club, places, ax=axes, node_color=chances, cmap="coolwarm", vmin=0, vmax=1,
        edgecolors=[colours[side] for side in sides], linewidths=2, node_size=220,
    )  # fmt: skip
    networkx.draw_networkx_labels(club, places, ax=axes, font_size=7)
    axes.set(title="Fill: what the network tells; rim: what was")
    axes.axis("off")


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = workbench.parser(__doc__, steps=200, lr=0.01)
    parser.add_argument("--width", type=int, default=16, help="default: %(default)s")
    return workbench.options(parser, argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    club, sides = load()
    size = len(sides)
    edges = Edges(torch.tensor(list(club.edges)).T, size)
    model = Network(edges, size, args.width).to(args.device)
    members = torch.arange(size, device=args.device)
    losses, right = train(model, members, sides.to(args.device), args)
    model.eval()
    with torch.no_grad():
        chances = model(members).softmax(1)[:, 1].cpu()
    correct = (chances.round() == sides).sum().item()
    print(f"{correct} of {size} members told right, of whom {len(TOLD)} were known")
    if drawing := workbench.canvas(2, width=6, height=4.5):
        figure, (left, middle) = drawing
        lines = {"told right": right, "loss": losses} if right else {"loss": losses}
        workbench.curves(left, lines, "Training")
        draw(middle, club, chances.tolist(), sides.tolist())
        workbench.save(figure, args.output)
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
