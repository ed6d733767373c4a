"""What most optimizers have in common: a step updates one parameter after the other.

What can be refused is refused before the first parameter changes, and states that were made for a step
that did not happen are taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._at_once import at_once
from mindtorch_core.utils._own_frames import refusing

from .optimizer import Closure, Optimizer, global_hooks

__all__ = ["Member", "Stepping", "add_quotient", "check", "check_lr", "root", "value_of"]

State = dict[str, Any]


def check(ok: Any, message: str) -> None:
    """Refuse an option.

    Raises:
        ValueError: with the message, unless ``ok``.
    """
    if not ok:
        raise ValueError(message)


@refusing
def check_lr(lr: Any, text: str = "Invalid learning rate: ") -> None:
    """Refuse learning rates that are negative, NaN, or tensors of several elements.

    Raises:
        ValueError: if it is one.
        TypeError: if it is no number.
    """
    check(not isinstance(lr, Tensor) or lr.numel() == 1, "Tensor lr must be 1-element")
    if not hasattr(lr, "__float__"):
        raise TypeError(f"{text}it must be a number or a Tensor, not {type(lr).__name__}")
    check(lr >= 0.0, f"{text}{lr}")


@refusing
def check_betas(betas: Any) -> None:
    """Refuse shares that are not below 1.

    Raises:
        ValueError: if one is.
        TypeError: if they are not two numbers.
    """
    if not isinstance(betas, tuple | list) or len(betas) < 2:
        raise TypeError(f"Invalid beta parameters: betas must be a pair of numbers, got {betas!r}")
    for i in (0, 1):
        check(0.0 <= betas[i] < 1.0, f"Invalid beta parameter at index {i}: {betas[i]}")


def scalar_dtype(fused: Any = None) -> torch.dtype:
    """Of the tensors that hold one number of a parameter's state."""
    double = torch.get_default_dtype() is torch.float64 and not fused
    return torch.float64 if double else torch.float32


def value_of(step: Any) -> Any:
    """A tensor of one number as a Python number."""
    return step.item() if isinstance(step, Tensor) else step


def no_dimensions(value: Any) -> Any:
    """An option as it is computed with: tensors of one element lose their dimensions."""
    return value.squeeze() if isinstance(value, Tensor) and value.dim() else value


def root(x: Any) -> Any:
    """Square root of a number or a tensor."""
    return x**0.5


def add_quotient(p: Tensor, numerator: Tensor, denominator: Tensor, factor: Any) -> None:
    """``p += factor * numerator / denominator`` for a factor that is a number or a tensor."""
    numerator, denominator = lasting(numerator), lasting(denominator)
    if isinstance(factor, Tensor):
        p.add_(numerator / denominator * factor)
    else:
        p.addcdiv_(numerator, denominator, value=factor)


def lasting(state: Tensor) -> Tensor:
    """A state as it is now: later steps write it, which a recorded step must not see."""
    return state.clone() if torch.is_grad_enabled() else state


class Member:
    """A parameter in a step.

    Attributes:
        p: the parameter; of a complex one, its parts as a real tensor.
        own_p: the parameter itself.
        g: its gradient, likewise; negated where the loss is maximised.
        state: what the optimizer keeps of it, likewise.
        own: the state as it is kept.
        apart: what to be in while numbers of the state are read and written, see `at_once`.
    """

    __slots__ = ("apart", "g", "own", "own_p", "p", "state")

    apart: Callable[[], AbstractContextManager[object]]

    def __init__(self, p: Tensor, g: Tensor, state: State) -> None:
        self.own, self.own_p = state, p
        self.apart = nullcontext
        if p.is_complex():
            p, g = torch.view_as_real(p), torch.view_as_real(g)
            state = {
                k: torch.view_as_real(v) if isinstance(v, Tensor) and v.is_complex() else v
                for k, v in state.items()
            }
        self.p, self.g, self.state = p, g, state


class Stepping(Optimizer):
    """Base of optimizers that update each parameter by itself.

    A subclass gives `_make_state`, and `_update` or `_update_one`.
    """

    # What is said of sparse gradients; "taken" where they are not refused.
    _sparse: ClassVar[str] = ""
    # Whether updates compute with the number of the step as Python knows it.
    _counts: ClassVar[bool] = True
    # Whether `_update` itself negates gradients where the loss is maximised.
    _negates: ClassVar[bool] = False
    _since_then: ClassVar[Mapping[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for (
            group
        ) in self.param_groups:  # numbers of states that were saved before they were tensors
            on_device = group.get("capturable") or group.get("fused")
            for p in group["params"]:
                kept = self.state.get(p) or {}
                for name in self._numbers:
                    if name in kept and not isinstance(kept[name], Tensor):
                        where = p.device if on_device else None
                        kept[name] = torch.tensor(
                            float(kept[name]), dtype=scalar_dtype(group.get("fused")), device=where
                        )

    _numbers: ClassVar[tuple[str, ...]] = ("step",)

    @torch.no_grad()
    def step(self, closure: Closure | None = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: computes the loss again and returns it.

        Returns:
            What the closure returned, or None.

        Raises:
            RuntimeError: if a gradient is refused; nothing has changed then.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.set_grad_enabled(self.defaults.get("differentiable", False)):
            members = self._gather()
            for i, (group, found) in enumerate(zip(self.param_groups, members, strict=True)):
                if not found:
                    continue
                try:
                    for part in _rounds(found):
                        self._update(group, part)
                except BaseException as error:
                    error.add_note(
                        f"{type(self).__name__}.step() stopped in parameter group {i}: groups before it "
                        f"are updated, of this one a part may be"
                    )
                    raise
        return loss

    # ---- steps that may be left out ------------------------------------------------------------

    def _step_unless(self, skip: Tensor) -> str | None:
        """Step unless a tensor is 1, which nobody has looked at: what the step writes stays as it is then.

        Returns:
            Why it cannot, and nothing has changed; None where it has.
        """
        why = self._must_know()
        if why is None:
            self._keep_unless(skip)
        return why

    def _must_know(self) -> str | None:
        """Why a step must know beforehand whether it is left out; None where it need not."""
        name = type(self).__name__
        hooks = self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or global_hooks()
        if hooks or getattr(type(self).step, "__wrapped__", None) is not Stepping.step:
            return f"{name} has a step() or hooks of its own, which are called if the step is made"
        if self.defaults.get("differentiable"):
            return f"{name} records its steps"
        found = [(g, p) for g in self.param_groups for p in g["params"] if p.grad is not None]
        if any(p.grad.layout is not torch.strided for _, p in found):
            return f"{name} steps by sparse gradients"
        if len({p.device for _, p in found}) > 1:
            return f"{name} has parameters on several devices"
        return None

    @torch.no_grad()
    def _keep_unless(self, skip: Tensor) -> None:
        """Step as if it were made, and take back what it has written if a tensor is 1."""
        members = self._gather()
        written = [
            t
            for group in self.param_groups
            for p in group["params"]
            if p.grad is not None
            for t in (p, *self.state[p].values())
            if isinstance(t, Tensor)
        ]
        numbers = [
            t
            for group, found in zip(self.param_groups, members, strict=True)
            for t in self._looked_at(group, found)
        ]
        with at_once(numbers)() if numbers else nullcontext():
            known = {id(t): t.clone() for t in numbers}
        before = [known[id(t)] if id(t) in known else t.clone() for t in written]
        self.step()
        skipped = skip != 0
        for t, was in zip(written, before, strict=True):
            t.copy_(torch.where(skipped.to(t.device), was, t))

    # ---- what a step is made of ----------------------------------------------------------------

    def _gather(self) -> list[list[Member]]:
        """The parameters with gradients, by group; makes the states that are missing."""
        made: list[Any] = []
        try:
            return [
                [self._member(group, p, made) for p in group["params"] if p.grad is not None]
                for group in self.param_groups
            ]
        except BaseException:
            for p in made:
                del self.state[p]
            raise

    def _member(self, group: dict[str, Any], p: Any, made: list[Any]) -> Member:
        g = p.grad
        self._check(group, p, g)
        state = self.state.get(p)
        if not state:
            state = self._make_state(group, p)
            if state:
                made.append(p)
                self.state[p] = state
        if group.get("capturable"):
            self._check_capturable(p, state)
        return Member(p, -g if group.get("maximize") and not self._negates else g, state)

    def _check(self, group: dict[str, Any], p: Any, g: Any) -> None:
        """Refuse a parameter or its gradient.

        Raises:
            RuntimeError: if it is refused.
        """
        if g.layout is not torch.strided and self._sparse != "taken":
            raise RuntimeError(
                self._sparse or f"{type(self).__name__} does not support sparse gradients"
            )

    def _check_capturable(self, p: Any, state: State) -> None:
        step = state.get("step")
        if p.device.type == "cpu" or (step is not None and step.device.type != p.device.type):
            raise AssertionError(
                "If capturable=True, params and state_steps must be on supported devices: all but the "
                "CPU, and steps on the device of their parameter."
            )

    def _make_state(self, group: dict[str, Any], p: Any) -> State:
        """The state of a parameter before its first step."""
        raise NotImplementedError

    def _update(self, group: dict[str, Any], members: list[Member]) -> None:
        """Update the parameters of a group."""
        one = self._one(group)
        if group.get("capturable", False) or not self._counts:
            for member in members:
                step = member.state["step"]
                step += 1
                one(member, step)
            return
        apart = at_once([*self._looked_at(group, members)])
        for member in members:
            member.apart = apart
            with apart():
                step = member.state["step"]
                step += 1
                number = value_of(step)
            one(member, number)

    def _looked_at(self, group: dict[str, Any], members: list[Member]) -> Iterator[Tensor]:
        """The numbers that an update looks at or changes as Python does: no part of what is computed."""
        if self._counts and not group.get("capturable"):
            yield from (m.state[name] for m in members for name in self._numbers if name in m.state)

    def _one(self, group: dict[str, Any]) -> Callable[[Member, Any], None]:
        """What updates one parameter of a group: called with it and with the number of the step."""
        raise NotImplementedError


def _rounds(members: list[Member]) -> list[list[Member]]:
    """Members in parts that have each parameter once: one that was given twice makes two steps in turn."""
    met: set[int] = set()
    parts: list[list[Member]] = [[]]
    for member in members:
        if id(member.own_p) in met:
            met.clear()
            parts.append([])
        met.add(id(member.own_p))
        parts[-1].append(member)
    return parts


def new_step(group: dict[str, Any], p: Tensor, value: float = 0.0) -> Tensor:
    """The counter of a parameter's steps: on the host, unless the step shall not wait for a device."""
    on_device = group.get("capturable") or group.get("fused")
    return new_number(value, scalar_dtype(group.get("fused")), p.device if on_device else "cpu")


def new_number(value: float, dtype: torch.dtype, device: Any) -> Tensor:
    """A tensor of one number, which is there at once."""
    with at_once([])():
        return torch.full((), value, dtype=dtype, device=device)


def zeros(p: Tensor) -> Tensor:
    """Zeros like a parameter, in its layout."""
    return torch.zeros_like(p, memory_format=torch.preserve_format)


def decayed(member: Member, group: dict[str, Any]) -> Tensor:
    """The gradient with the pull of weight decay towards 0."""
    decay = group["weight_decay"]
    return member.g.add(member.p, alpha=decay) if decay != 0 else member.g
