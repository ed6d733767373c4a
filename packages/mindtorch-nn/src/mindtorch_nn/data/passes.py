"""What pipes are told when a loader begins a pass: their seeds, and in several processes their shares."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from .datapipes.datapipe import IterDataPipe, MapDataPipe
from .graph_settings import apply_random_seed, apply_sharding

__all__ = ["begin_pass"]


def begin_pass(dataset: Any, generator: Any) -> None:
    """Tell pipes what a pass is to be like; all processes of a group have the seed of the first.

    Args:
        dataset: of the loader; nothing is done for one that is no pipe.
        generator: the loader's, which gives the seed.
    """
    if not isinstance(dataset, IterDataPipe | MapDataPipe):
        return
    dist: Any = vars(torch).get("distributed")  # which is not loaded for this
    together = dist is not None and dist.is_initialized() and dist.get_world_size() > 1
    if isinstance(dataset, IterDataPipe):
        seed = torch.empty((), dtype=torch.int64).random_(generator=generator)
        if together:
            dist.broadcast(seed, 0)
        own = torch.Generator()
        own.manual_seed(int(seed.item()))
        apply_random_seed(dataset, own)
    if together:
        apply_sharding(dataset, dist.get_world_size(), dist.get_rank())
