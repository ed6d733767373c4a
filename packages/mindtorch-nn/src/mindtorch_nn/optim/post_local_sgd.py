"""An optimizer that now and then takes the means of all processes' parameters."""

from __future__ import annotations

from typing import Any

from mindtorch_core.utils._own_frames import warn_user

from .optimizer import Optimizer

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Steps by another optimizer, and lets an averager have the parameters after each step.

    Args:
        optim: what steps.
        averager: a `torch.distributed.algorithms.model_averaging.averagers.ModelAverager`.
    """

    def __init__(self, optim: Any, averager: Any) -> None:
        self.optim = optim
        self.param_groups = optim.param_groups
        self.averager = averager

    @property
    def state(self) -> Any:  # type: ignore[override]
        """The other optimizer's."""
        return self.optim.state

    def __repr__(self) -> str:
        """The other optimizer's."""
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """The other optimizer's, and the averager's ``step``."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state over; without ``step`` the averager begins anew, with a warning."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warn_user(
                "Loaded state dict does not contain a step counter for an averager. Setting step counter "
                "to 0.",
            )
        self.averager.step = state_dict.get("step", 0)

    def step(self) -> None:  # type: ignore[override]
        """Update the parameters, and take means if it is time."""
        self.optim.step()
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Let go of the gradients, or set them to zero."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with options of their own."""
        self.optim.add_param_group(param_group)
