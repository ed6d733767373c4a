"""`DefaultSavePlanner` and `DefaultLoadPlanner`: options of saving and loading."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


@dataclass
class DefaultSavePlanner:
    """How a state is written.

    Attributes:
        flatten_state_dict: accepted; nested states always become one table.
        flatten_sharded_tensors: accepted.
        dedup_replicated_tensors: accepted; of copies one is written.
        dedup_save_to_lowest_rank: accepted; the rank that has least to write writes it.
        enable_plan_caching: accepted.
    """

    flatten_state_dict: bool = True
    flatten_sharded_tensors: bool = True
    dedup_replicated_tensors: bool | None = None
    dedup_save_to_lowest_rank: bool = False
    enable_plan_caching: bool = False


@dataclass
class DefaultLoadPlanner:
    """How a state is filled.

    Attributes:
        flatten_state_dict: accepted; nested states always become one table.
        flatten_sharded_tensors: accepted.
        allow_partial_load: whether names that the checkpoint lacks keep their values.
    """

    flatten_state_dict: bool = True
    flatten_sharded_tensors: bool = True
    allow_partial_load: bool = False
