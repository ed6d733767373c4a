"""Train a small GPT, letter by letter, on Python's own documentation, and let it write.

    python examples/gpt.py                       about a minute on a CPU
    python examples/gpt.py --prompt "A class "   how what it writes shall begin
    python examples/gpt.py --device npu          on an NPU, once mindtorch-npu is installed
    mindtorch run -n 2 examples/gpt.py           in 2 processes, with mindtorch-mpi; each has half of a batch

The text is the reference manual's chapters that ``help()`` shows. The model is a decoder of
transformer blocks: each letter looks back at up to ``--context`` letters and predicts the next.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pydoc_data.topics import topics

import workbench

import mindtorch as torch
from mindtorch import nn

F = nn.functional
Tensor = torch.Tensor


class Letters:
    """The text's letters as numbers; there may be 256 of them."""

    def __init__(self, text: str) -> None:
        self.alphabet = sorted(set(text))
        self.numbers = {letter: i for i, letter in enumerate(self.alphabet)}

    def encode(self, text: str) -> Tensor:
        """The numbers of a text's letters; letters that were never seen are left out."""
        known = bytearray(self.numbers[x] for x in text if x in self.numbers)
        return torch.frombuffer(known, dtype=torch.uint8).long()

    def decode(self, numbers: Tensor) -> str:
        """The text of numbers."""
        return "".join(self.alphabet[i] for i in numbers.tolist())


class Attention(nn.Module):
    """Each letter gathers from itself and those before it, with several heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.gather = nn.Linear(width, 3 * width)
        self.give = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Of a batch of texts, (texts, letters, width), the same shape."""
        parts = self.gather(x).chunk(3, dim=-1)
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.give(seen.transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention, then two layers for each letter by itself; both add to what comes in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.think = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Of a batch of texts, (texts, letters, width), the same shape."""
        x = x + self.attention(self.norm1(x))
        return x + self.think(self.norm2(x))


class GPT(nn.Module):
    """Scores of the next letter at each place of a text.

    Args:
        letters: size of the alphabet.
        context: how many letters it sees at most.
        width: numbers that stand for a letter.
        layers: how many blocks.
        heads: how many heads each attention has.
    """

    def __init__(self, letters: int, context: int, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.context = context
        self.letter = nn.Embedding(letters, width)
        self.place = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, letters, bias=False)
        self.apply(self._start)
        self.scores.weight = self.letter.weight  # what stands for a letter also predicts it

    @staticmethod
    def _start(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, text: Tensor) -> Tensor:
        """Scores (texts, letters, alphabet) for numbers (texts, letters)."""
        places = torch.arange(text.shape[1], device=text.device)
        return self.scores(self.norm(self.blocks(self.letter(text) + self.place(places))))

    def write(self, start: Tensor, length: int, temperature: float) -> Tensor:
        """Go on with a text of numbers (letters,), one drawn letter after the other."""
        text = start
        with torch.no_grad():
            for _ in range(length):
                scores = self(text[None, -self.context :])[0, -1] / temperature
                drawn = torch.multinomial(scores.softmax(-1).cpu(), 1)
                text = torch.cat((text, drawn.to(text.device)))
        return text


def build(letters: int, args: argparse.Namespace) -> GPT:
    """The model that the command line asks for."""
    return GPT(letters, args.context, args.width, args.layers, args.heads).to(args.device)


def train(model: GPT, text: Tensor, args: argparse.Namespace) -> list[float]:
    """Train on random pieces of the text; returns the loss of each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.99))
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, args.steps + 1)
    span = torch.arange(args.context + 1)
    learner = workbench.parallel(model)
    own, weight = workbench.share(args.batch_size)

    def step() -> Tensor:
        starts = torch.randint(len(text) - args.context, (args.batch_size, 1))
        pieces = text[starts[own] + span].to(args.device)
        scores = learner(pieces[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), pieces[:, 1:].flatten()) * weight
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        return loss.detach()

    return workbench.run(step, args)


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = workbench.parser(__doc__, steps=900, lr=4e-3)
    sizes = {"batch-size": 12, "context": 64, "width": 96, "layers": 3, "heads": 4}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="default: %(default)s")
    parser.add_argument("--prompt", default="The ", help="what is written first")
    parser.add_argument("--length", type=int, default=400, help="letters to write: %(default)s")
    parser.add_argument("--temperature", type=float, default=0.7, help="default: %(default)s")
    return workbench.options(parser, argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    text = "\n\n".join(topics.values())
    letters = Letters(text)
    with workbench.group() as first:
        model = build(len(letters.alphabet), args)
        size = sum(p.numel() for p in model.parameters())
        print(f"{size:,} parameters, {len(text):,} letters of {len(letters.alphabet)} kinds")
        losses = train(model, letters.encode(text), args)
    if not first:
        return losses
    start = letters.encode(args.prompt or "\n").to(args.device)
    written = model.write(start, args.length, args.temperature)
    print("-" * 80, letters.decode(written), "-" * 80, sep="\n")
    if drawing := workbench.canvas(1):
        figure, (axes,) = drawing
        workbench.losses_drawn(axes, losses)
        workbench.save(figure, args.output)
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
