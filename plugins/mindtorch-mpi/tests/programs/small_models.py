"""Models that programs of this folder train."""

import mindtorch_core as torch
from mindtorch_core import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.feed = nn.Sequential(
            nn.Linear(width, 3 * width), nn.GELU(), nn.Linear(3 * width, width)
        )

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.feed(x)


class Transformer(nn.Module):
    """The weights of the embedding and of the last layer are one parameter."""

    def __init__(self, words=11, width=6, depth=2):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.last = nn.Linear(width, words, bias=False)
        self.last.weight = self.embedding.weight

    def forward(self, words):
        x = self.embedding(words)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def perceptron():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 7), nn.Tanh(), nn.Linear(7, 3))
