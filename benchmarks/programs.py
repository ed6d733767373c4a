"""What training costs: programs of modules and optimizers, and the import of all that they use.

    python benchmarks/programs.py                  measure, print, write results/programs.json
    python benchmarks/programs.py gpt adamw        some programs; writes nothing
    python benchmarks/programs.py --compare        the change against results/programs.json
    python benchmarks/programs.py --profile gpt    cProfile of one program's step

See `benchmarks/README.md` for how to read the figures.
"""

from __future__ import annotations

import cProfile
import gc
import importlib
import pstats
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import harness
from harness import Results

from mindtorch_core.measuring.imports import run_python
from mindtorch_core.measuring.peers import installed, pytorch
from mindtorch_core.measuring.turns import (
    OURS,
    Group,
    Measured,
    Schedule,
    interleaved,
    summarise,
)

RESULTS = Path(__file__).parent / "results" / "programs.json"
PEERS = {OURS: "mindtorch", "torch": "torch"}
PARTS = ("nn", "optim", "utils.data", "distributions")

Step = Callable[[], None]


def training(torch: ModuleType, model, loss: Callable, rate: float = 1e-4) -> Step:
    """A step of AdamW on a loss that is a function of the model."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)

    def step() -> None:
        optimizer.zero_grad()
        loss(model).backward()
        optimizer.step()

    return step


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


def gpt(torch: ModuleType) -> Step:
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
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    return lambda: optimizer.step()


def cnn(torch: ModuleType) -> Step:
    """Two convolutions and two linear layers on 64 images of 28 x 28."""
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Dropout(0.25), nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5)),
        nn.Linear(128, 10),
    )
    images, labels = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
    return training(torch, model, lambda m: nn.functional.cross_entropy(m(images), labels))


def lstm(torch: ModuleType) -> Step:
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


def transformer(torch: ModuleType) -> Step:
    """nn.TransformerEncoder in training: 2 layers of width 128 on 16 sequences of 50."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    inputs = torch.randn(16, 50, 128)
    return training(torch, model, lambda m: m(inputs).square().mean())


PROGRAMS: dict[str, tuple[Callable[[ModuleType], Step], float]] = {
    "gpt": (gpt, 1.5),
    "cnn": (cnn, 1.2),
    "lstm": (lstm, 1.5),
    "adamw": (adamw, 1.0),
    "transformer": (transformer, 1.3),
}
IMPORT_TARGET = 0.35


def made(name: str, peer: str) -> Step:
    """A program's step in a library, seeded."""
    torch = importlib.import_module(PEERS[peer])
    torch.manual_seed(0)
    return PROGRAMS[name][0](torch)


def timer(step: Step) -> Callable[[], float]:
    """Seconds of processor time of a step; two at least, and 20 ms."""
    step()

    def timed() -> float:
        count, start = 0, time.process_time()
        while (taken := time.process_time() - start) < 0.02 or count < 2:
            step()
            count += 1
        return taken / count

    return timed


def measure_import(peers: Sequence[str], schedule: Schedule) -> Measured:
    """A fresh interpreter that imports all, less the start of a bare one."""
    lines = {
        p: "; ".join(f"import {PEERS[p]}{part}" for part in ("", *(f".{x}" for x in PARTS)))
        for p in peers
    }
    turns = {
        p: lambda line=line: run_python(line) - run_python("pass") for p, line in lines.items()
    }
    for turn in turns.values():
        turn()  # write byte code, fill the file cache
    return interleaved(turns, Schedule(schedule.rounds, 2))


def measure(wanted: Sequence[str], schedule: Schedule) -> Results:
    """Measure the wanted programs, printing each as it is done."""
    peers = [p for p in PEERS if installed([PEERS[p]])]
    pytorch()  # in one thread
    results = harness.begin(schedule)
    for name in (*PROGRAMS, "import"):
        if wanted and name not in wanted:
            continue
        if name == "import":
            target, measured = IMPORT_TARGET, measure_import(peers, schedule)
        else:
            target, timers = PROGRAMS[name][1], {p: timer(made(name, p)) for p in peers}
            gc.collect()
            gc.freeze()
            measured = interleaved(timers, schedule)
        cases = {"import of everything" if name == "import" else "a step": measured}
        summary = summarise(Group(name, target, ()), cases)
        results.groups[name], results.summary[name] = cases, summary
        print(harness.table(name, cases, summary), end="\n\n", flush=True)
    return results


def profile(name: str, steps: int = 20) -> None:
    """Profile a program's step in mindtorch.

    Raises:
        SystemExit: if there is no such program; the text lists them all.
    """
    if name not in PROGRAMS:
        raise SystemExit(f"no program {name!r}; there are {', '.join(PROGRAMS)}")
    step = made(name, OURS)
    step()
    profiler = cProfile.Profile()
    profiler.runcall(lambda: [step() for _ in range(steps)])
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


def main() -> None:
    """Read the command line and do what it says."""
    harness.run(
        __doc__, RESULTS, measure,
        names=[*PROGRAMS, "import"], what="programs", profile=profile, profiled="PROGRAM", turns=3,
    )  # fmt: skip


if __name__ == "__main__":
    main()
