"""A copy of a model that holds the average of its states."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..modules.module import Module
from .averages import get_swa_multi_avg_fn

__all__ = ["AveragedModel"]


class AveragedModel(Module):
    """A copy of a model that holds the average of its states.

    Args:
        model: the model.
        device: where the copy lives.
        avg_fn: gives an average of the kept tensor, the new one, and how many are in it.
        multi_avg_fn: the same for lists, in place.
        use_buffers: whether buffers are averaged too, or copied.

    Raises:
        AssertionError: if both functions are given.

    Example:
        >>> model = torch.nn.Linear(1, 1, bias=False)
        >>> average = torch.optim.swa_utils.AveragedModel(model)
        >>> for value in (1.0, 3.0):
        ...     _ = torch.nn.init.constant_(model.weight, value)
        ...     average.update_parameters(model)
        >>> average.module.weight.tolist()
        [[2.0]]
    """

    n_averaged: Tensor

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model gives."""
        return self.module(*args, **kwargs)

    @torch.no_grad()
    def update_parameters(self, model: Any) -> None:
        """Take the state of a model into the average."""
        kept, new = self._tensors(self.module), self._tensors(model)
        pairs = [(a.detach(), _on(b.detach(), a.device)) for a, b in zip(kept, new, strict=False)]
        count = int(self.n_averaged)
        if count == 0:
            for a, b in pairs:
                a.copy_(b)
        elif self.avg_fn is not None:
            for a, b in pairs:
                a.copy_(self.avg_fn(a, b, _on(self.n_averaged, a.device)))
        else:
            average = self.multi_avg_fn or get_swa_multi_avg_fn()
            alike: dict[Any, list[tuple[Tensor, Tensor]]] = {}
            for a, b in pairs:
                alike.setdefault((a.device, a.dtype), []).append((a, b))
            for (device, _), found in alike.items():
                ours, theirs = map(list, zip(*found, strict=True))
                average(ours, theirs, _on(self.n_averaged, device))
        if not self.use_buffers:
            for a, b in zip(self.module.buffers(), model.buffers(), strict=True):
                a.detach().copy_(b.detach())
        self.n_averaged += 1

    def _tensors(self, model: Any) -> Iterable[Tensor]:
        if self.use_buffers:
            return itertools.chain(model.parameters(), model.buffers())
        found: Iterable[Tensor] = model.parameters()
        return found


def _on(t: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device; a pipeline is asked for its value only where it moves."""
    return t if t.device == device else t.to(device)
