"""Connectionist temporal classification (Graves et al., 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...dispatch.functions import fn
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import int64
from ...values.shapes import numel, show
from .reducing import MEAN, SUM, check_whole, reduction_of

_NEVER = float("-inf")


class _Task(NamedTuple):
    """A batch of sequences: labels (N, 2 S + 1) with blanks between, and lengths (N,)."""

    labels: Any
    steps: Any
    sizes: Any
    repeats: Any


def _lengths(given: Any, name: str, batch: int, like: Any) -> Any:
    if hasattr(given, "_keys"):
        if given._dtype.category > 1:
            raise RuntimeError(f"{name} must be integral")
        if numel(given._shape) != batch:
            raise RuntimeError(
                f"{name} must be of size batch_size {batch}, but got {show(given._shape)}"
            )
        return given.to(device=like._device, dtype=int64).reshape(batch)
    if len(given) != batch:
        raise RuntimeError(f"{name} must be of size batch_size {batch}, but got {len(given)}")
    out = fn.zeros((batch,), dtype=int64, device=like._device)
    for i, value in enumerate(given):
        out.narrow(0, i, 1).fill_(value)
    return out


def _numbers(lengths: Any) -> list[int]:
    return [
        int(n) for n in (lengths.reshape(-1).tolist() if hasattr(lengths, "_keys") else lengths)
    ]


def _longest(count: int, targets: Any, input_lengths: Any, target_lengths: Any) -> int:
    """Check lengths, and return how many labels to lay out.

    As many as there is room for where lengths are still to be computed, so that nobody need look at them.
    What is out of range fails then where it is used.
    """
    waits = any(getattr(t, "_pending", False) for t in (input_lengths, target_lengths))
    if waits and len(targets._shape) == 2:
        return int(targets._shape[1])
    given = _numbers(input_lengths)
    if any(not 0 <= n <= count for n in given):
        raise RuntimeError(
            f"Expected input_lengths to have value at least 0 and at most {count}, but got {given}"
        )
    wanted = _numbers(target_lengths)
    if any(n < 0 for n in wanted):
        raise RuntimeError(f"Expected target_lengths to be at least 0, but got {wanted}")
    longest = max(wanted, default=0)
    if len(targets._shape) == 1 and targets._shape[0] < sum(wanted):
        raise RuntimeError(f"targets has {targets._shape[0]} labels, but lengths say {sum(wanted)}")
    return longest


def _task(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int,
    longest: int | None = None,
) -> _Task:  # fmt: skip
    """Check the arguments of the loss and lay out the labels: ``longest`` of each, if that is known."""
    if len(log_probs._shape) != 3:
        raise RuntimeError(
            f"log_probs must be of shape (time, batch, classes), got {show(log_probs._shape)}"
        )
    count, batch, classes = log_probs._shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range [0, {classes}), got {blank}")
    check_whole(log_probs._dtype, "ctc_loss_cpu")
    steps = _lengths(input_lengths, "input_lengths", batch, log_probs)
    sizes = _lengths(target_lengths, "target_lengths", batch, log_probs)
    if len(targets._shape) not in (1, 2):
        raise RuntimeError(f"targets must have 1 or 2 dimensions, got {len(targets._shape)}")
    if longest is None:
        longest = _longest(count, targets, input_lengths, target_lengths)
    at = fn.arange(0, longest, 1, device=log_probs._device)
    if len(targets._shape) == 2:
        if targets._shape[0] != batch or targets._shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size "
                f"{show(targets._shape)}"
            )
        rows = targets.to(int64).narrow(1, 0, longest)
    else:
        first = sizes.cumsum(0) - sizes
        index = (first.unsqueeze(1) + at).clamp(max=max(targets._shape[0] - 1, 0))
        rows = targets.to(int64).index_select(0, index.reshape(-1)).view(batch, longest)
    rows = fn.where(at < sizes.unsqueeze(1), rows, blank)
    labels = fn.full((batch, longest, 2), blank, dtype=int64, device=log_probs._device)
    labels.select(2, 1).copy_(rows)
    end = fn.full((batch, 1), blank, dtype=int64, device=log_probs._device)
    labels = fn.cat([labels.view(batch, 2 * longest), end], 1)
    shifted = fn.cat([labels.new_full((batch, 2), blank), labels], 1).narrow(1, 0, labels._shape[1])
    # A label may follow the one before it without a blank only if it is another one.
    repeats = (labels == blank) | (labels == shifted)
    return _Task(labels, steps, sizes, repeats)


def _log_sum(*terms: Any) -> Any:
    """Logarithm of the sum of exponentials; minus infinity of nothing."""
    largest = terms[0]
    for t in terms[1:]:
        largest = largest.maximum(t)
    base = fn.where(largest == _NEVER, 0.0, largest)
    total: Any = 0
    for t in terms:
        total = total + (t - base).exp()
    return total.log() + base


def _behind(alpha: Any, by: int) -> Any:
    """Elements moved to the right, minus infinity put in."""
    size = alpha._shape[1]
    return fn.constant_pad_nd(alpha, (by, 0), _NEVER).narrow(1, 0, size)


def _scores(log_probs: Any, labels: Any) -> Any:
    """The log probability of each label at each time: (time, batch, labels)."""
    index = labels.unsqueeze(0).expand(log_probs._shape[0], *labels._shape)
    return log_probs.gather(2, index)


def _forward(
    log_probs: Tensor, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    task = _task(log_probs, targets, input_lengths, target_lengths, blank)
    scores = _scores(log_probs, task.labels)
    count, batch, width = scores._shape
    place = fn.arange(0, width, 1, device=log_probs._device)
    started = (place < 2) & (place <= 2 * task.sizes.unsqueeze(1))
    rows = []
    for t in range(count):
        if t == 0:
            alpha = fn.where(started, scores[0], _NEVER)
        else:
            skip = _behind(alpha, 2).masked_fill(task.repeats, _NEVER)
            alpha = _log_sum(alpha, _behind(alpha, 1), skip) + scores[t]
        rows.append(alpha)
    alphas = fn.stack(rows, 1) if rows else scores.new_full((batch, 0, width), _NEVER)
    loss = -_ending(alphas, task)
    if zero_infinity:
        loss = fn.where(loss == float("inf"), 0.0, loss)
    return loss, alphas


def _ending(alphas: Any, task: _Task) -> Any:
    """Log probability of all paths that end with the last label or the blank behind it."""
    batch, count, width = alphas._shape
    if not count:
        return fn.where(task.sizes == 0, 0.0, alphas.new_full((batch,), _NEVER))
    ends = fn.where(task.steps == 0, 0, task.steps - 1)
    at = ends.view(batch, 1, 1).expand(batch, 1, width)
    last = alphas.gather(1, at).squeeze(1)
    end = (2 * task.sizes).unsqueeze(1)
    final = last.gather(1, end).squeeze(1)
    label = last.gather(1, (end - 1).clamp(min=0)).squeeze(1)
    total = _log_sum(final, fn.where(task.sizes > 0, label, _NEVER))
    # A sequence without any step can only be of no labels.
    nothing = fn.where(task.sizes == 0, 0.0, fn.full_like(total, _NEVER))
    return fn.where(task.steps > 0, total, nothing)


def _betas(scores: Any, task: _Task) -> Any:
    """Log probabilities of what follows each label at each time: (batch, time, labels)."""
    count, batch, width = scores._shape
    place = fn.arange(0, width, 1, device=scores._device)
    end = (2 * task.sizes).unsqueeze(1)
    last = (place == end) | ((place == end - 1) & (place >= 0))
    never = scores.new_full((batch, width), _NEVER)
    beta, rows = never, []
    reversed_repeats = fn.cat([task.repeats, task.repeats.new_ones((batch, 2))], 1)
    skips = reversed_repeats.narrow(1, 2, width)
    for t in reversed(range(count)):
        ahead = fn.constant_pad_nd(beta, (0, 2), _NEVER)
        skip = ahead.narrow(1, 2, width).masked_fill(skips, _NEVER)
        onward = _log_sum(beta, ahead.narrow(1, 1, width), skip)
        first = (task.steps - 1 == t).unsqueeze(1)
        beta = fn.where(first, fn.where(last, 0.0, never), onward) + scores[t]
        rows.append(beta)
    return fn.stack(rows[::-1], 1)


def _backward(
    grad: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
    neg_log_likelihood: Any, log_alpha: Any, blank: int, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    longest = log_alpha._shape[2] // 2
    task = _task(log_probs, targets, input_lengths, target_lengths, blank, longest)
    count, batch, _ = log_probs._shape
    if not count or not batch:
        return fn.zeros_like(log_probs)
    scores = _scores(log_probs, task.labels)
    loss = -_ending(log_alpha, task)
    both = log_alpha + _betas(scores, task) + loss.view(batch, 1, 1)
    share = (both - scores.transpose(0, 1)).exp()
    share = fn.where(both == _NEVER, 0.0, share)
    index = task.labels.unsqueeze(1).expand(share._shape)
    classes = log_probs.transpose(0, 1)
    used = fn.zeros_like(classes).scatter_add(2, index, share)
    made = (classes.exp() - used) * grad.view(batch, 1, 1)
    time = fn.arange(0, count, 1, device=log_probs._device).view(1, count, 1)
    made = fn.where(time < task.steps.view(batch, 1, 1), made, 0.0)
    if zero_infinity:
        made = fn.where((loss == float("inf")).view(batch, 1, 1), 0.0, made)
    return made.transpose(0, 1).contiguous()


def _no_second_gradient(g: Any) -> Any:
    raise NotImplementedError(
        "the second derivative of ctc_loss is not implemented; compute first gradients without "
        "create_graph=True"
    )


_HEAD = "Tensor log_probs, Tensor targets"
for _overload, _kind in (("", "int[]"), (".Tensor", "Tensor")):
    _lens = f"{_kind} input_lengths, {_kind} target_lengths"
    op(
        f"_ctc_loss{_overload}({_HEAD}, {_lens}, int blank=0, bool zero_infinity=False) -> (Tensor, "
        f"Tensor)",
        doc="Negative log likelihoods of label sequences, and log probabilities of their beginnings.",
        grad={
            "log_probs": lambda grads, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity: (  # noqa: E501
                fn._ctc_loss_backward(
                    grads[0], log_probs, targets, input_lengths, target_lengths, result0, result1,
                    blank, zero_infinity,
                )
            )
        },
        output_differentiability=(True, False),
        decomposition=_forward,
        crosses_devices="as they are",  # lengths are read on the host
        namespaces=("torch",),
        tags=frozenset({"dynamic_output_shape"}),
    )  # fmt: skip
    op(
        f"_ctc_loss_backward{_overload}(Tensor grad, {_HEAD}, {_lens}, Tensor neg_log_likelihood, "
        f"Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
        doc="Gradient of `_ctc_loss` for log probabilities that a log-softmax made.",
        grad={"grad": _no_second_gradient, "log_probs": _no_second_gradient},
        decomposition=_backward,
        crosses_devices="as they are",
        namespaces=("torch",),
    )


def _ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: int = MEAN, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    single = len(log_probs._shape) == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        if hasattr(input_lengths, "_keys"):
            input_lengths = input_lengths.reshape(-1)
            target_lengths = target_lengths.reshape(-1)
        targets = targets.unsqueeze(0) if len(targets._shape) == 1 else targets
    loss = fn._ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)[0]
    if reduction == MEAN:
        sizes = _lengths(target_lengths, "target_lengths", loss._shape[0], loss)
        return (loss / sizes.clamp(min=1).to(loss._dtype)).mean()
    if reduction == SUM:
        return loss.sum()
    return loss.squeeze(0) if single else loss


_OPTIONS = "int blank=0, int reduction=1, bool zero_infinity=False"
for _overload, _kind in (("IntList", "int[]"), ("Tensor", "Tensor")):
    op(
        f"ctc_loss.{_overload}({_HEAD}, {_kind} input_lengths, {_kind} target_lengths, {_OPTIONS}) "
        f"-> Tensor",
        doc="Loss of label sequences without alignment, for log probabilities (time, batch, classes).",
        decomposition=_ctc_loss,
        crosses_devices="as they are",
        namespaces=("torch",),
    )


@public("nn")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Loss of label sequences whose alignment with the input is not known (Graves et al., 2006).

    Args:
        log_probs: log probabilities (time, batch, classes) or (time, classes).
        targets: labels (batch, longest), or those of all sequences in one row.
        input_lengths: steps of each sequence.
        target_lengths: labels of each sequence.
        blank: the class that stands for no label.
        reduction: ``none``; ``sum``; or ``mean``, of the losses divided by the labels' number.
        zero_infinity: count sequences too short for their labels as 0, without gradient.

    Returns:
        A tensor without dimensions; with ``none`` one loss for each sequence.

    Raises:
        RuntimeError: if lengths do not fit.

    Example:
        >>> logs = torch.full((4, 1, 3), 1 / 3).log()
        >>> torch.nn.functional.ctc_loss(logs, torch.tensor([[1, 2]]), [4], [2])
        tensor(0.8432)
    """
    code = reduction_of(reduction)
    return fn.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, code, zero_infinity
    )
