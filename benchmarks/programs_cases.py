"""The programs of `programs.py` and `ways.py`: training steps in torch style, one text for every library."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

Step = Callable[[], None]


class Training(NamedTuple):
    """What a step is made of."""

    loss: Callable
    optimizer: object

    def step(self) -> None:
        """Gradients of the loss, and AdamW."""
        self.optimizer.zero_grad()
        self.loss().backward()
        self.optimizer.step()


def training(torch: ModuleType, model, loss: Callable) -> Training:
    """AdamW on a loss that is a function of the model."""
    return Training(lambda: loss(model), torch.optim.AdamW(model.parameters(), lr=1e-4))


def gpt_model(torch: ModuleType, width: int = 128, layers: int = 4, letters: int = 65):
    """A decoder of transformer blocks as in nanoGPT, for 64 letters."""
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.gather, self.give = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            parts = self.gather(self.norm1(x)).split(width, 2)
            q, k, v = (p.view(*p.shape[:2], 4, -1).transpose(1, 2) for p in parts)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.give(seen.transpose(1, 2).reshape(x.shape))
            return x + self.narrow(F.gelu(self.wide(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(64, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(width)
            self.scores = nn.Linear(width, letters, bias=False)

        def forward(self, text):
            x = self.letter(text) + self.place(torch.arange(text.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.scores(self.norm(x))

    return GPT()


def gpt(torch: ModuleType) -> Training:
    """12 texts of 64 letters, 4 blocks of width 128 with 4 heads."""
    text = torch.randint(65, (12, 65))
    cross_entropy = torch.nn.functional.cross_entropy

    def loss(model):
        return cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())

    return training(torch, gpt_model(torch), loss)


def adamw(torch: ModuleType) -> Step:
    """AdamW alone, on the parameters of ``gpt``."""
    model = gpt_model(torch)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return torch.optim.AdamW(model.parameters(), lr=1e-4).step


def cnn(torch: ModuleType) -> Training:
    """Two convolutions and two linear layers on 64 images of 28 x 28."""
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5)),
        nn.Linear(128, 10),
    )
    images, labels = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
    return training(torch, model, lambda m: nn.functional.cross_entropy(m(images), labels))


def lstm(torch: ModuleType) -> Training:
    """A language model: two LSTM layers of 128 over 32 texts of 35 words."""
    nn = torch.nn

    class Language(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(200, 128)
            self.memory = nn.LSTM(128, 128, 2, dropout=0.2, batch_first=True)
            self.scores = nn.Linear(128, 200)

        def forward(self, text):
            return self.scores(self.memory(self.words(text))[0])

    text = torch.randint(200, (32, 36))
    cross_entropy = nn.functional.cross_entropy

    def loss(model):
        return cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())

    return training(torch, Language(), loss)


def transformer(torch: ModuleType) -> Training:
    """nn.TransformerEncoder in training: 2 layers of width 128 on 16 sequences of 50."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    inputs = torch.randn(16, 50, 128)
    return training(torch, model, lambda m: m(inputs).square().mean())


TRAININGS: dict[str, Callable[[ModuleType], Training]] = {
    "gpt": gpt,
    "cnn": cnn,
    "lstm": lstm,
    "transformer": transformer,
}
