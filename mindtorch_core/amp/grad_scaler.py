"""Scaling of losses, so that small gradients of 16 bits do not become zero."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from ..deferred.blocks import current_pipeline
from ..opdefs.torch_ops import ops
from ..tensors.tensor import Tensor
from ..values.circles import ending
from ..values.devices import device, row_of
from ..values.dtypes import float16, float32, int32
from ..values.errors import BackendUnavailableError
from ..values.user_warnings import warn_user

if TYPE_CHECKING:
    from mindtorch_nn.optim import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """How far an optimizer is in this step."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class _Progress:
    """An optimizer's part of a step: its state, and whether a gradient was not finite."""

    def __init__(self) -> None:
        self.state = OptState.READY
        self.found_inf: list[Tensor] = []


_NEW_SCALE: Final = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
    "requires_grad=False."
)


class GradScaler:
    """Multiplies losses by a factor, divides gradients by it, and skips steps that are not finite.

    The factor grows after ``growth_interval`` steps that were finite, and shrinks after one that was not.

    Args:
        device: the type of the devices that compute. Where it is not there, the scaler is disabled,
            and says so once.
        init_scale: the first factor.
        growth_factor: by which it grows, above 1.
        backoff_factor: by which it shrinks, below 1.
        growth_interval: steps until it grows.
        enabled: False for a scaler that changes nothing.

    Example:
        >>> w = torch.nn.Parameter(torch.ones(1))
        >>> optimizer, scaler = torch.optim.SGD([w], lr=0.5), torch.amp.GradScaler("cpu")
        >>> scaler.scale(w.sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w.tolist()
        [0.5]
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and not _is_there(device):
            warn_user(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available.  "
                "Disabling."
            )
            self._enabled = False
        if self._enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale: float = init_scale
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._progress: WeakKeyDictionary[Any, _Progress] = WeakKeyDictionary()

    # ---- a step --------------------------------------------------------------------------------

    @ending()
    def scale(self, outputs: Any) -> Any:
        """A loss, or tensors in lists and tuples, times the factor.

        Raises:
            ValueError: for what is neither.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            factor = self._factor(outputs.device).to(outputs.device, non_blocking=True)
            return outputs * factor
        if isinstance(outputs, list | tuple):
            scaled = [self.scale(each) for each in outputs]
            if isinstance(outputs, tuple) and hasattr(outputs, "_fields"):
                return type(outputs)(*scaled)
            return type(outputs)(scaled)
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, as `step` would.

        Raises:
            RuntimeError: if it is done already, or the step is over.
            ValueError: for a gradient of float16.
        """
        if not self._enabled:
            return
        progress = self._of(optimizer)
        if progress.state is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.state is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        factor = self._started("unscale_")
        inverse = factor.double().reciprocal().float()
        progress.found_inf = self._divide(optimizer, inverse, allow_fp16=False)
        progress.state = OptState.UNSCALED

    def _divide(self, optimizer: Optimizer, inverse: Tensor, allow_fp16: bool) -> list[Tensor]:
        """Multiply gradients in place; for each device, whether one was not finite."""
        found: dict[device, Tensor] = {}
        gradients = (
            p.grad
            for group in optimizer.param_groups
            for p in group["params"]
            if p.grad is not None
        )
        for grad in gradients:
            if grad.dtype is float16 and not allow_fp16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            factor = inverse.to(grad.device, non_blocking=True)
            bad = (~grad.isfinite().all()).to(float32)
            ops.aten.mul_(grad, factor.to(grad.dtype) if grad.dtype.is_complex else factor)
            known = found.get(grad.device)
            found[grad.device] = bad if known is None else known.maximum(bad)
        return list(found.values())

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Divide the gradients unless that is done, and step, unless one of them is not finite.

        Returns:
            What the optimizer's step returns, None where it was skipped.

        Raises:
            AssertionError: for an optimizer without gradients, or before the first loss.
            RuntimeError: for a closure or a second step.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        factor = self._started("step")
        progress = self._of(optimizer)
        if progress.state is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.state is OptState.READY:
            inverse = factor.double().reciprocal().float()
            progress.found_inf = self._divide(optimizer, inverse, allow_fp16=False)
        if not progress.found_inf:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        progress.state = OptState.STEPPED
        if not (args or kwargs) and _stepped_in_program(optimizer, progress.found_inf):
            return None
        if any(found.item() for found in progress.found_inf):
            return None
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Let the factor grow or shrink; at the end of each step.

        Args:
            new_scale: a factor to take instead.

        Raises:
            AssertionError: if there was no step, or for a tensor on another device, of several elements, or
                that requires grad.
            TypeError: for a factor that is neither a float nor a tensor.
        """
        if not self._enabled:
            return
        factor = self._started("update")
        assert self._growth_tracker is not None
        if new_scale is not None:
            if not isinstance(new_scale, float | Tensor):
                raise TypeError(f"{_NEW_SCALE}, got {type(new_scale)}")
            if isinstance(new_scale, Tensor) and not (
                new_scale.device.type == self._device
                and new_scale.numel() == 1
                and not new_scale.requires_grad
            ):
                raise AssertionError(_NEW_SCALE)
            factor.fill_(float(new_scale))
        else:
            found = [each for progress in self._progress.values() for each in progress.found_inf]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(factor, found)
        self._progress = WeakKeyDictionary()

    def _adapt(self, factor: Tensor, found_inf: list[Tensor]) -> None:
        """Let the factor grow or shrink, without a look at whether a gradient was not finite."""
        tracker = self._growth_tracker
        assert tracker is not None
        aten = ops.aten
        infinite = aten.zeros_like(factor)
        for each in found_inf:
            infinite = infinite.maximum(each.to(factor.device, non_blocking=True))
        skipped = infinite != 0
        count = tracker + 1
        due = count >= self._growth_interval
        grown = factor * self._growth_factor
        kept = aten.where(due & grown.isfinite(), grown, factor)
        factor.copy_(aten.where(skipped, factor * self._backoff_factor, kept))
        tracker.copy_(count.masked_fill(skipped | due, 0))

    # ---- the factor ----------------------------------------------------------------------------

    def _factor(self, on: device) -> Tensor:
        """The factor, made on the device of the first loss."""
        if self._scale is None:
            self._scale = ops.aten.full((), self._init_scale, dtype=float32, device=on)
            self._growth_tracker = ops.aten.full(
                (), self._init_growth_tracker, dtype=int32, device=on
            )
        return self._scale

    def _started(self, name: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                f"scaler.scale(loss or outputs) earlier in the iteration."
            )
        return self._scale

    def _of(self, optimizer: Optimizer) -> _Progress:
        return self._progress.setdefault(optimizer, _Progress())

    def get_scale(self) -> float:
        """The factor, 1 for a disabled scaler."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """By which the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set by which the factor grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By which the factor shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by which the factor shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Steps until the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the steps until the factor grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def is_enabled(self) -> bool:
        """Whether the scaler does anything."""
        return self._enabled

    # ---- state ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The factor and how it changes, to be saved; empty for a disabled scaler."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave.

        Raises:
            RuntimeError: if it is empty, as a disabled scaler's is.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance "
                "of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        if self._progress:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the "
                "end after scaler.update()."
            )
        state = dict(self.__dict__)
        state["_init_scale"] = self.get_scale()
        state["_init_growth_tracker"] = self._get_growth_tracker()
        state["_scale"] = state["_growth_tracker"] = None
        del state["_progress"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._progress = WeakKeyDictionary()


def _stepped_in_program(optimizer: Any, found_inf: list[Tensor]) -> bool:
    """Whether an optimizer has stepped by ops that take its step back if a gradient is not finite.

    So they can be recorded, where a pipeline goes through backward. Whoever cannot has the block broken.
    """
    pipe = current_pipeline()
    waits = any(found._pending for found in found_inf)
    if pipe is None or not pipe.through_backward or not waits:
        return False
    step_unless = getattr(optimizer, "_step_unless", None)
    if step_unless is None:
        why = f"{type(optimizer).__name__} has a step() of its own"
    elif len(found_inf) > 1:
        why = f"{type(optimizer).__name__} has parameters on several devices"
    else:
        why = step_unless(found_inf[0])
        if why is None:
            return True
    pipe.break_off(f"GradScaler.step(): {why}", found_inf)
    return False


def _is_there(type: str) -> bool:
    """Whether a type of devices is there; its backend is loaded to be asked."""
    try:
        row = row_of(device(type).type)
    except BackendUnavailableError:
        return False
    return row.runtime.device_count() > 0
