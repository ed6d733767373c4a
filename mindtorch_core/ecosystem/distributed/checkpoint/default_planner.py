"""``torch.distributed.checkpoint.default_planner``."""

from __future__ import annotations

from ....communication.checkpoint.planners import (
    DefaultLoadPlanner,
    DefaultSavePlanner,
    EmptyStateLoadPlanner,
    create_default_global_load_plan,
    create_default_global_save_plan,
    create_default_local_load_plan,
    create_default_local_save_plan,
)

__all__ = [
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "create_default_global_load_plan",
    "create_default_global_save_plan",
    "create_default_local_load_plan",
    "create_default_local_save_plan",
]

_EmptyStateDictLoadPlanner = EmptyStateLoadPlanner
