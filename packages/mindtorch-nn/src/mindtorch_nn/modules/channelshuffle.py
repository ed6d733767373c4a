"""Shuffling of channels between groups."""

from __future__ import annotations

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Takes channels from all groups in turn (Zhang et al., 2018)."""

    _told = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        return F.channel_shuffle(input, self.groups)
