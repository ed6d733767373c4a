"""What all pipes of a graph are told: the names of ``torch.utils.data.graph_settings``."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import warn_user

from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import Graph, traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph: Graph) -> list[Any]:
    """All pipes of a graph, each once."""
    found: dict[int, Any] = {}

    def walk(part: Graph) -> None:
        for key, (pipe, inner) in part.items():
            if key not in found:
                found[key] = pipe
                walk(inner)

    walk(graph)
    return [*found.values()]


def _with(datapipe: Any, *methods: str) -> list[Any]:
    pipes = get_all_graph_pipes(traverse_dps(datapipe))
    return [p for p in pipes if all(callable(getattr(type(p), name, None)) for name in methods)]


def apply_sharding(
    datapipe: Any,
    num_of_instances: int,
    instance_id: int,
    sharding_group: SHARDING_PRIORITIES = SHARDING_PRIORITIES.DEFAULT,
) -> Any:
    """Have each ``sharding_filter`` take one share of several; returns the pipe.

    Raises:
        RuntimeError: if one stands behind another.
    """

    def walk(graph: Graph, before: Any) -> None:
        for pipe, inner in graph.values():
            last = before
            if callable(getattr(type(pipe), "apply_sharding", None)):
                if before is not None:
                    raise RuntimeError(
                        "Sharding twice on a single pipeline is likely unintended and will cause data loss. "
                        f"Sharding already applied to {before} while trying to apply to {pipe}"
                    )
                pipe.apply_sharding(num_of_instances, instance_id, sharding_group=sharding_group)
                last = pipe
            walk(inner, last)

    walk(traverse_dps(datapipe), None)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Tell all pipes that shuffle whether to do so; nothing for None.

    Returns:
        The pipe, shuffled at its end if it is to be and had no pipe for that.
    """
    if shuffle is None:
        return datapipe
    shufflers = _with(datapipe, "set_shuffle", "set_seed")
    if not shufflers and shuffle:
        warn_user(
            "`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. "
            "Be aware that the default buffer size might not be sufficient for your task."
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for each in shufflers:
        each.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: Any) -> Any:
    """Give all pipes that draw numbers seeds of a generator; returns the pipe."""
    for each in _with(datapipe, "set_seed"):
        each.set_seed(int(torch.empty((), dtype=torch.int64).random_(generator=rng).item()))
    return datapipe


def apply_shuffle_seed(datapipe: Any, rng: Any) -> Any:
    """`apply_random_seed` under a name of old."""
    warn_user("`apply_shuffle_seed` is deprecated: use `apply_random_seed`", FutureWarning)
    return apply_random_seed(datapipe, rng)
