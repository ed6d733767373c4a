"""Modules that are computed in several processes, as a plan says."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch

from mindtorch_core.distributed.device_mesh import DeviceMesh, _mesh_resources  # type: ignore[attr-defined]
from mindtorch_core.utils._own_frames import warn_user

from ...modules.module import Module
from .styles import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | Mapping[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Have a module computed in several processes. All ranks of the mesh call it together.

    Args:
        module: changed in place, and returned.
        device_mesh: the ranks, of one dimension; by default that of the block around the call.
        parallelize_plan: a style, or styles by the paths of submodules, whose parts may be patterns such
            as ``layers.*.up``; an empty path is the module itself.
        src_data_rank: whose parameters count, see `distribute_tensor`.

    Raises:
        TypeError: for another plan.
    """
    if parallelize_plan is None:
        warn_user(
            "No parallelize_plan is provided and auto-parallel is not supported at the moment, so this "
            "parallelize_module call will do nothing."
        )
        return module
    mesh = _mesh_resources.get_current_mesh() if device_mesh is None else device_mesh
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, Mapping):
        raise TypeError(
            f"Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )
    for path, style in parallelize_plan.items():
        found = _matching(module, path)
        if not found:
            warn_user(
                f"Parallelize plan key '{path}' could not be resolved: no submodule matches it in "
                f"{type(module).__name__}, skipping this plan entry."
            )
        for each in found:
            parallelize_module(each, mesh, style, src_data_rank=src_data_rank)
    return module


def _matching(module: Module, path: str) -> list[Module]:
    """The submodules that a path of patterns names."""
    if not path:
        return [module]
    first, _, rest = path.partition(".")
    children = [child for name, child in module.named_children() if fnmatch(name, first)]
    return [each for child in children for each in _matching(child, rest)]
