"""When labels were said: the likeliest path of connectionist temporal classification through them."""

from __future__ import annotations

from mindtorch_core import Tensor, tensor

__all__ = ["forced_align"]


def forced_align(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int
) -> tuple[Tensor, Tensor]:
    """The likeliest label of each frame, if the labels that are not blank spell the targets.

    Args:
        log_probs: of each frame's labels, 1 x frames x labels.
        targets: the labels, 1 x their number.
        input_lengths: how many frames count.
        target_lengths: how many targets count.
        blank: the label that stands for none.

    Returns:
        The labels, 1 x frames, and the log probabilities themselves: torchaudio takes the path's of them.

    Raises:
        RuntimeError: for more than one row, and for targets that do not fit in the frames.
    """
    if log_probs.dim() != 3 or log_probs.shape[0] != 1 or targets.shape[0] != 1:
        raise RuntimeError("The batch dimension for log_probs and targets must be 1.")
    frames, number = int(input_lengths[0]), int(target_lengths[0])
    labels = [blank]
    for label in targets[0, :number].tolist():
        labels += [label, blank]
    repeats = sum(a == b for a, b in zip(labels[1::2], labels[3::2], strict=False))
    if frames < number + repeats:
        raise RuntimeError(
            f"targets length is too long for CTC. Found log_probs length: {frames}, targets length: "
            f"{number}, and number of repeats: {repeats}"
        )
    path = _likeliest(log_probs[0, :frames].tolist(), labels, blank)
    path += [blank] * (log_probs.shape[1] - frames)
    return tensor([path], dtype=targets.dtype, device=targets.device), log_probs.clone()


def _likeliest(rows: list[list[float]], labels: list[int], blank: int) -> list[int]:
    """Labels of the frames on the likeliest path, found from the last frame back."""
    worst = float("-inf")
    best = [rows[0][label] if s < 2 else worst for s, label in enumerate(labels)]
    steps: list[list[int]] = []
    for row in rows[1:]:
        step, reached = [], []
        for s, label in enumerate(labels):
            by_one = best[s - 1] if s else worst
            leaps = s > 1 and label != blank and label != labels[s - 2]
            by_two = best[s - 2] if leaps else worst
            taken = 2 if by_two > max(by_one, best[s]) else int(by_one > best[s])
            step.append(taken)
            reached.append((best[s], by_one, by_two)[taken] + row[label])
        steps.append(step)
        best = reached
    at = len(labels) - 1
    if at and best[at] <= best[at - 1]:
        at -= 1
    path = [labels[at]]
    for step in reversed(steps):
        at -= step[at]
        path.append(labels[at])
    return path[::-1]
