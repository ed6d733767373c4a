"""Programs that say ``import torch``: mindtorch and PyTorch, each in processes of its own.

    python benchmarks/dropin.py                    ratios of processor time
    python benchmarks/dropin.py --pytorch PYTHON   with an interpreter of its own for PyTorch
    python benchmarks/dropin.py --profile train    cProfile of one program on mindtorch

It wants transformers beside mindtorch and PyTorch. `mindtorch run` makes the one the other; both take turns.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

TARGETS = {"train": 1.5, "generate": 1.5, "import": 0.7}

MODEL = """
import time, torch, transformers
torch.set_num_threads(1)
torch.manual_seed(0)
model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_positions=64, n_embd=32,
    n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0))
ids = torch.randint(1, 64, (4, 32))
"""
BODIES = {
    "train": """
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
def play():
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "generate": """
model.eval()
def play():
    model.generate(ids[:1, :8], attention_mask=torch.ones(1, 8, dtype=torch.long), max_new_tokens=16,
                   do_sample=False, pad_token_id=0)
""",
}
MEASURE = """
def once():
    start = time.process_time()
    play()
    return time.process_time() - start
for _ in range(3): play()
"""
BEST = "print(min(once() for _ in range(15)))"
PROFILE = """
import cProfile
with cProfile.Profile() as taken:
    for _ in range(15): play()
import pstats
pstats.Stats(taken).sort_stats('tottime').print_stats(25)
"""
IMPORT = "import time, transformers.models.gpt2.modeling_gpt2\nprint(time.process_time())"


def run(command: list[str], text: str) -> str:
    """What a text prints, by one of both."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [*command, "-c", text], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def seconds(command: list[str], text: str) -> float:
    """The last number that a text prints."""
    return float(run(command, text).split()[-1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pytorch", default=sys.executable, help="an interpreter that has PyTorch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", choices=sorted(BODIES))
    given = parser.parse_args()
    ours, theirs = [sys.executable, "-m", "mindtorch_core", "run"], [given.pytorch]
    if given.profile:
        print(run(ours, MODEL + BODIES[given.profile] + MEASURE + PROFILE))
        return
    texts = {name: MODEL + body + MEASURE + BEST for name, body in BODIES.items()}
    texts["import"] = IMPORT
    print(f"{'program':10} {'mindtorch':>12} {'PyTorch':>12} {'ratio':>7} {'target':>7}")
    for name, text in texts.items():
        seconds(ours, text)  # files that are compiled are so from here on
        turns = [(seconds(ours, text), seconds(theirs, text)) for _ in range(given.rounds)]
        here, there = (min(column) for column in zip(*turns, strict=True))
        row = f"{name:10} {here * 1e3:9.2f} ms {there * 1e3:9.2f} ms {here / there:7.2f}"
        print(f"{row} {TARGETS[name]:7.1f}", flush=True)


if __name__ == "__main__":
    main()
