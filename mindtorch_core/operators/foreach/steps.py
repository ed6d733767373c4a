"""``torch._fused_*_``: a step of an optimizer over all its parameters as one op.

The compositions here run on every device. Where a step's number or the learning rate is known to the
host they compute with Python numbers, else with tensors, so that nobody waits for a device. They are
made of ops that are recorded, so a step can be differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.keys import is_grad_enabled
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from .lists import Tensors, check_lists

__all__ = ["check_step", "skipped", "step_number"]


def check_step(name: str, self: Tensors, *lists: Tensors) -> None:
    """Refuse lists that do not fit together, before anything is written.

    Args:
        name: of the lists, in the words of an error.
        self: the parameters.
        *lists: gradients and states, with the shapes of the parameters.

    Raises:
        RuntimeError: if they differ in number, shape, dtype or device.
    """
    check_lists(self, *lists)
    for i, p in enumerate(self):
        d, on, shape = p._dtype, p._device, p._shape
        for each in lists:
            other = each[i]
            if other._dtype is not d or (other._device is not on and other._device != on):
                raise RuntimeError(f"{name} must have same dtype, device, and layout")
            if other._shape != shape:
                raise RuntimeError(
                    f"{name} must have the shapes of the parameters, got {list(other._shape)} for a "
                    f"parameter of {list(shape)}"
                )


def _rule(name: str, first: int, lists: int, *, optional: str = "") -> Callable[..., tuple[()]]:
    """What refuses lists that do not fit; nothing is made.

    Args:
        name: of the lists, in the words of an error.
        first: how many lists after the parameters always have their shapes.
        lists: how many lists after the parameters there are before the options, those of numbers of steps
            too.
        optional: the option without which list ``first`` is empty; "" if there is no such list.
    """

    def rule(self: Tensors, *given: Tensors, **options: Any) -> tuple[()]:
        shaped = first + bool(optional and options[optional])
        check_step(name, self, *given[:shaped])
        check_lists(self, *given[first + bool(optional) : lists])
        return ()

    return rule


def step_number(step: Any) -> Any:
    """A tensor of one number as a Python number, where that costs no waiting; else the tensor."""
    if not hasattr(step, "_keys"):
        return step
    if step.device.type != "cpu" or step._pending or (step.requires_grad and is_grad_enabled()):
        return step
    return step.item()


def skipped(found_inf: Any) -> bool:
    """Whether a scaler found gradients that are not finite: the step is left out."""
    return found_inf is not None and found_inf.item() == 1


def _unless_infinite(
    step: Callable[..., None], rule: Callable[..., tuple[()]], counted: bool
) -> Callable[..., None]:
    """A step that is left out where a scaler found gradients that are not finite.

    Where that is still to be computed nobody waits for it: what the step has written is taken back.

    Args:
        step: makes the step.
        rule: refuses lists that do not fit.
        counted: whether the last list is one of numbers of steps, which are not written.
    """

    def made(self: Tensors, grads: Tensors, *states: Tensors, **options: Any) -> None:
        rule(self, grads, *states, **options)
        found_inf = options.pop("found_inf", None)
        if found_inf is None or not found_inf._pending:
            if not skipped(found_inf):
                step(self, grads, *states, **options)
            return
        of_steps = states[: len(states) - counted]
        written = [t for each in (self, grads, *of_steps) for t in each]
        before = [t.clone() for t in written]
        step(self, grads, *states, **options)
        skip = found_inf == 1
        for t, was in zip(written, before, strict=True):
            t.copy_(fn.where(skip, was, t))

    return made


def _scaled(grads: Tensors, grad_scale: Any) -> None:
    """Take the scaler's factor out of gradients, in place."""
    if grad_scale is not None:
        for g in grads:
            g.div_(grad_scale)


def _root(x: Any) -> Any:
    return x.sqrt() if hasattr(x, "_keys") else math.sqrt(x)


def _add_quotient(p: Tensor, numerator: Tensor, denominator: Tensor, factor: Any) -> None:
    """``p -= factor * numerator / denominator`` for a factor that is a number or a tensor."""
    if is_grad_enabled():  # later steps write what this one saves
        numerator = numerator.clone()
    if hasattr(factor, "_keys"):
        p.sub_(numerator / denominator * factor)
    else:
        p.addcdiv_(numerator, denominator, value=-factor)


_ADAM_RULE: Final = _rule("params, grads, exp_avgs, and exp_avg_sqs", 3, 5, optional="amsgrad")
_SGD_RULE: Final = _rule("params, grads, and momentum_buffer_list", 1, 2, optional="momentum")
_ADAGRAD_RULE: Final = _rule("params, grads, and state_sums", 2, 3)

# ---- Adam ---------------------------------------------------------------------------------------


def _adam(decoupled: bool) -> Callable[..., None]:
    def step(
        self: Tensors,
        grads: Tensors,
        exp_avgs: Tensors,
        exp_avg_sqs: Tensors,
        max_exp_avg_sqs: Tensors,
        state_steps: Tensors,
        *,
        lr: Any,
        beta1: float,
        beta2: float,
        weight_decay: float,
        eps: float,
        amsgrad: bool,
        maximize: bool,
        grad_scale: Tensor | None = None,
    ) -> None:
        _scaled(grads, grad_scale)
        lr = step_number(lr)
        for i, p in enumerate(self):
            g, average, square = grads[i], exp_avgs[i], exp_avg_sqs[i]
            if maximize:
                g = -g
            if decoupled and weight_decay:
                p.mul_(1 - lr * weight_decay)
            elif weight_decay:
                g = g.add(p, alpha=weight_decay)
            average.lerp_(g, 1 - beta1)
            square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            if amsgrad:
                most = max_exp_avg_sqs[i]
                before = most.clone() if is_grad_enabled() else most  # which backward reads
                square = most.copy_(fn.maximum(before, square))
            t = step_number(state_steps[i])
            denominator = (square.sqrt() / _root(1 - beta2**t)).add_(eps)
            _add_quotient(p, average, denominator, lr / (1 - beta1**t))

    return step


# ---- SGD and Adagrad ----------------------------------------------------------------------------


def _sgd(
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    *,
    weight_decay: float,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None = None,
) -> None:
    _scaled(grads, grad_scale)
    lr = step_number(lr)
    for i, p in enumerate(self):
        g = -grads[i] if maximize else grads[i]
        if weight_decay:
            g = g.add(p, alpha=weight_decay)
        if momentum:
            buffer = momentum_buffer_list[i]
            if is_first_step:
                buffer.copy_(g)
            else:
                buffer.mul_(momentum).add_(g, alpha=1 - dampening)
            g = g.add(buffer, alpha=momentum) if nesterov else buffer
        if hasattr(lr, "_keys"):
            p.sub_(g * lr)
        else:
            p.add_(g, alpha=-lr)


def _adagrad(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    *,
    lr: Any,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: Tensor | None = None,
) -> None:
    _scaled(grads, grad_scale)
    lr = step_number(lr)
    for i, p in enumerate(self):
        g = -grads[i] if maximize else grads[i]
        if weight_decay:
            g = g.add(p, alpha=weight_decay)
        state_sums[i].addcmul_(g, g)
        rate = lr / (1 + (step_number(state_steps[i]) - 1) * lr_decay)
        _add_quotient(p, g, state_sums[i].sqrt().add(eps), rate)


# ---- the rows -----------------------------------------------------------------------------------

_SCALER: Final = "Tensor? grad_scale=None, Tensor? found_inf=None"
_MOMENTS: Final = (
    "Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, "
    "Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, {lr}, float beta1, float beta2, "
    f"float weight_decay, float eps, bool amsgrad, bool maximize, {_SCALER}"
)
_BUFFERS: Final = (
    "Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, "
    "float weight_decay, float momentum, {lr}, float dampening, bool nesterov, bool maximize, "
    f"bool is_first_step, {_SCALER}"
)
_SUMS: Final = (
    "Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, {steps} state_steps, *, {lr}, "
    f"float lr_decay, float weight_decay, float eps, bool maximize, {_SCALER}"
)
_STEPS: Final[Sequence[tuple[str, str, Callable[..., tuple[()]], Callable[..., None]]]] = (
    ("adam", _MOMENTS, _ADAM_RULE, _adam(decoupled=False)),
    ("adamw", _MOMENTS, _ADAM_RULE, _adam(decoupled=True)),
    ("sgd", _BUFFERS, _SGD_RULE, _sgd),
    ("adagrad", _SUMS, _ADAGRAD_RULE, _adagrad),
)
for _name, _arguments, _checked, _run in _STEPS:
    for _overload, _lr in (("", "float lr"), (".tensor_lr", "Tensor lr")):
        _steps = "Tensor[]" if _overload else "Tensor(d!)[]"
        op(
            f"_fused_{_name}_{_overload}({_arguments.format(lr=_lr, steps=_steps)}) -> ()",
            doc=f"A step of `{_name}` on every parameter, in place.",
            rule=_checked,
            decomposition=_unless_infinite(_run, _checked, counted="state_steps" in _arguments),
            namespaces=("torch",),
        )
