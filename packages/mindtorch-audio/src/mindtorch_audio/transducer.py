"""The loss of recurrent transducers, and its gradient."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["rnnt_loss_forward"]


def rnnt_loss_forward(
    logits: Tensor,
    targets: Tensor,
    logit_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    clamp: float,
    fused_log_softmax: bool,
) -> tuple[Tensor, Tensor]:
    """What the targets cost, summed over all ways to say them, and the gradient for the logits.

    Args:
        logits: batch x frames x (targets + 1) x labels.
        targets: the labels, batch x targets.
        logit_lengths: how many frames of each row count.
        target_lengths: how many targets of each row count.
        blank: the label that goes on to the next frame.
        clamp: the largest size of a gradient; any if negative.
        fused_log_softmax: whether the logits have still to be made log probabilities.

    Returns:
        The costs, one a row, and the gradient, as the logits.
    """
    with torch.enable_grad():
        leaf = logits.detach().requires_grad_()
        probs = leaf.log_softmax(-1) if fused_log_softmax else leaf
        costs = torch.stack(
            [
                _cost(probs[row], targets[row], int(frames), int(number), blank)
                for row, (frames, number) in enumerate(
                    zip(logit_lengths.tolist(), target_lengths.tolist(), strict=True)
                )
            ]
        )
        (gradient,) = torch.autograd.grad(costs.sum(), leaf)
    if clamp > 0:
        gradient = gradient.clamp(-clamp, clamp)
    return costs.detach().to(logits.dtype), gradient


def _cost(probs: Tensor, targets: Tensor, frames: int, number: int, blank: int) -> Tensor:
    """Of one row: from each frame to the next, how likely so many of the targets were said."""
    wait = probs[:frames, : number + 1, blank]
    said = targets[:number].long().expand(frames, -1).unsqueeze(-1)
    say = probs[:frames, :number].gather(-1, said).squeeze(-1)
    # Within a frame a sum over where it was entered: told apart by what was said since the frame's start.
    before: Any = torch.nn.functional.pad(say.cumsum(1), (1, 0))
    reached = before[0]
    for t in range(1, frames):
        reached = before[t] + (reached + wait[t - 1] - before[t]).logcumsumexp(0)
    cost: Tensor = -(reached[number] + wait[frames - 1, number])
    return cost
