"""A small convolutional network, and an op of its own."""

from typing import Any

import mindtorch as torch
import mindtorch.nn.functional as F
from mindtorch import nn


@torch.library.custom_op("typed_project::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    """The input, times a number."""
    return x * factor


@scaled.register_fake
def _(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.empty_like(x)


def _gradient(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
    return grad * ctx.factor, None


def _keep(ctx: Any, inputs: tuple[torch.Tensor, float], output: torch.Tensor) -> None:
    ctx.factor = inputs[1]


scaled.register_autograd(_gradient, setup_context=_keep)


class Block(nn.Module):
    """Convolution, normalisation and activation."""

    def __init__(self, width_in: int, width_out: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(width_in, width_out, kernel_size=3, padding=1)
        self.norm = nn.BatchNorm2d(width_out)
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.norm(self.convolution(x))
        return F.relu(made) * self.gain


class Network(nn.Module):
    """Two blocks, a pool and a linear layer."""

    scale: torch.Tensor

    def __init__(self, classes: int = 4, *, dropout: float = 0.1) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(1, 4), nn.MaxPool2d(2), Block(4, 8))
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(8, classes)
        self.register_buffer("scale", torch.tensor(0.5))
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.blocks(x)
        pooled = F.adaptive_avg_pool2d(hidden, 1).flatten(1)
        logits: torch.Tensor = self.head(self.drop(scaled(pooled, 2.0) * self.scale))
        return logits
