"""`fully_shard`: modules whose parameters lie in parts in the processes of a mesh."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn
from weakref import WeakKeyDictionary

import mindtorch_core as torch
from mindtorch_core import Tensor

from ...modules.container import ModuleDict, ModuleList
from ...modules.module import Module
from .group import ParameterGroup
from .module import FSDPModule, UnshardHandle, share_comm_ctx
from .parameter import ShardedParameter
from .policies import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy
from .state import ShardingState

__all__ = [
    "FSDPModule",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
    "share_comm_ctx",
]

_CLASSES: Final[dict[type, type]] = {}
_NEAR: Final[WeakKeyDictionary[Any, dict[int, Any]]] = WeakKeyDictionary()


def fully_shard(
    module: Any,
    *,
    mesh: Any = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[Any], Any] | None = None,
    mp_policy: MixedPrecisionPolicy = MixedPrecisionPolicy(),  # noqa: B008 (it cannot change)
    offload_policy: OffloadPolicy = OffloadPolicy(),  # noqa: B008 (nothing writes it)
    ignored_params: set[Any] | None = None,
    dp_mesh_dims: Any = None,
) -> Any:
    """Cut a module's parameters into parts, one for each process. Call it for inner modules first.

    The parameters become DTensors. They are put together before forward, given up after it, got again in
    backward, where their gradients are averaged over the processes and each keeps its part. All parameters
    of a call that no inner call has taken travel in one message.

    Args:
        module: changed in place; of several modules in a list the parameters travel together.
        mesh: the ranks. Of two dimensions, parts lie along the second and are repeated along the first.
            By default all ranks.
        reshard_after_forward: whether parameters are given up after forward. By default for all but the
            outermost module. A number: until backward each so many processes have the parameters among them.
        shard_placement_fn: gives for a parameter the `Shard` along which it is cut, or None for the first
            dimension. Other dimensions are cut into parts of one size.
        mp_policy: the dtypes to compute in.
        offload_policy: `CPUOffloadPolicy()` keeps parts in host memory.
        ignored_params: parameters that stay as they are.
        dp_mesh_dims: refused.

    Returns:
        The module or the list; classes of modules are derived from `FSDPModule` now.

    Raises:
        TypeError: for what is no module.
        ValueError: for containers without a forward, meshes and parameters that cannot be used so.
        NotImplementedError: for parts of different sizes along another dimension than the first.
    """
    modules = list(module) if isinstance(module, list | tuple) else [module]
    for each in modules:
        _check_module(each)
    if dp_mesh_dims is not None:
        raise NotImplementedError(
            "dp_mesh_dims is for DTensors of other parallelisms: give the mesh"
        )
    ignored = {id(p) for p in ignored_params or ()}
    managed = _managed(modules)
    places = _places(managed, ignored)
    mesh = _default_mesh(places) if mesh is None else mesh
    _check_mesh(mesh)
    pieces = mesh.size(mesh.ndim - 1)
    reshards, count = _reshards(reshard_after_forward, pieces)
    device = _device(mesh)
    offloaded = isinstance(offload_policy, CPUOffloadPolicy)
    made = []
    for whole, found in places:
        dim = _dimension(whole, shard_placement_fn)
        made.append(ShardedParameter(whole, found, mesh, dim, device, offloaded=offloaded))
    for p, (whole, _) in zip(made, places, strict=True):
        p.show(p.part)
        whole._has_parts = True  # a module that shares it finds out
    for each in managed:
        for name, buffer in each._buffers.items():
            if buffer is not None and buffer.device.type not in (device.type, "meta"):
                each._buffers[name] = buffer.to(device)
    group = ParameterGroup(made, mesh, mp_policy, reshards=reshards, near=_near(mesh, count))
    state = ShardingState(modules, group, mp_policy, automatic=reshard_after_forward is None)
    for each in modules:
        each._sharding_state = state
        each.register_state_dict_pre_hook(_to_parts)
        each.register_load_state_dict_pre_hook(_to_parts)
        each.__class__ = _sharded_class(type(each))
    return module


def _to_parts(module: Any, *_: Any) -> None:
    module.reshard()


# ---- what is refused -------------------------------------------------------------------------------


def _check_module(module: Any) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"fully_shard expects modules, got {type(module).__name__}")
    if isinstance(module, ModuleList | ModuleDict) and type(module).forward is Module.forward:
        raise ValueError(
            f"fully_shard does not support containers that do not implement forward: {module}"
        )
    if isinstance(module, FSDPModule):
        raise AssertionError(
            "Each distinct composable distributed API can only be applied to a module once. fully_shard "
            f"has already been applied to the following module:\n{module}"
        )


def _check_mesh(mesh: Any) -> None:
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    if mesh.ndim == 2 and mesh.mesh_dim_names is None:
        raise AssertionError("Please init the 2D mesh for HSDP with mesh_dim_names specified")


def _reshards(wanted: Any, pieces: int) -> tuple[bool, int]:
    """Whether parameters are given up after forward, and among how many processes they are then cut.

    Raises:
        ValueError: for anything but a bool or a divisor of the number of parts.
    """
    if wanted is None or isinstance(wanted, bool):
        return wanted is not False, pieces
    if not isinstance(wanted, int):
        raise ValueError(
            "reshard_after_forward should be a bool or an int representing the group size to reshard to, "
            f"not {wanted}"
        )
    if wanted < 1 or wanted > pieces or pieces % wanted:
        raise ValueError(
            f"If passing reshard_after_forward as an int, it should be a factor of {pieces}, not {wanted}"
        )
    return wanted > 1, wanted


def _near(mesh: Any, count: int) -> Any:
    """The part of the processes among which parameters are cut after forward; None if that is all or one."""
    group = mesh.get_group(mesh.ndim - 1)
    if count in (1, group.size()):
        return None
    made = _NEAR.setdefault(group, {})
    if count not in made:
        first = group.rank() // count * count
        ranks = torch.distributed.get_process_group_ranks(group)[first : first + count]
        made[count] = torch.distributed.new_group(
            ranks, use_local_synchronization=True, sort_ranks=False
        )
    return made[count]


def _device(mesh: Any) -> torch.device:
    if mesh.device_type == "cpu":
        return torch.device("cpu")
    return torch.device(mesh.device_type, torch.accelerator.current_device_index())


def _default_mesh(places: list[tuple[Any, Any]]) -> Any:
    """All ranks, on the device that the parameters are on."""
    dist = torch.distributed
    if not dist.is_initialized():
        dist.init_process_group()
    found = [whole.device.type for whole, _ in places if whole.device.type != "meta"]
    return dist.init_device_mesh(found[0] if found else "cpu", (dist.get_world_size(),))


# ---- whose parameters ------------------------------------------------------------------------------


def _managed(roots: list[Any]) -> list[Any]:
    """Modules of the call: those below the roots, without those that another call has taken."""
    found: dict[int, Any] = {}

    def walk(module: Any, *, is_root: bool) -> None:
        if id(module) in found or (isinstance(module, FSDPModule) and not is_root):
            return
        found[id(module)] = module
        for child in module.children():
            walk(child, is_root=False)

    for root in roots:
        walk(root, is_root=True)
    return list(found.values())


def _places(modules: Iterable[Any], ignored: set[int]) -> list[tuple[Any, list[tuple[Any, str]]]]:
    """Each parameter with the modules that have it and its names there.

    Raises:
        ValueError: for parameters without dimensions, and those that another call has cut.
    """
    found: dict[int, tuple[Any, list[tuple[Any, str]]]] = {}
    for module in modules:
        for name, p in module._parameters.items():
            if p is None or id(p) in ignored:
                continue
            if not p.ndim:
                raise ValueError(
                    f"fully_shard doesn't support scalar parameters. Change {name} to a 1D tensor with "
                    f"numel equal to 1."
                )
            if getattr(p, "_has_parts", False):
                raise ValueError(
                    f"{type(module).__name__}.{name} is shared with a module that fully_shard was applied "
                    f"to before, and would be a parameter of its own now: apply fully_shard to both at "
                    f"once, as in fully_shard([a, b]), or to a module that holds both"
                )
            found.setdefault(id(p), (p, []))[1].append((module, name))
    return list(found.values())


def _dimension(whole: Tensor, choose: Callable[[Any], Any] | None) -> int:
    """The dimension along which a parameter is cut.

    Raises:
        ValueError: if something else than a Shard was chosen, or there is no such dimension.
    """
    chosen = None if choose is None else choose(whole)
    if chosen is None:
        return 0
    if not isinstance(chosen, torch.distributed.tensor.Shard):
        raise ValueError(f"shard_placement_fn must return a Shard or None, got {chosen!r}")
    if not -whole.ndim <= chosen.dim < whole.ndim:
        raise ValueError(
            f"shard_placement_fn chose {chosen} for a parameter of shape {list(whole.shape)}"
        )
    dim: int = chosen.dim
    return dim % whole.ndim


# ---- classes and methods ---------------------------------------------------------------------------


def _no_copy(self: Any, memo: Any) -> NoReturn:
    raise AssertionError("FSDP does not support deepcopy. Please use state dict for serialization.")


def _sharded_class(cls: type) -> type:
    """The class of a module that is cut."""
    made = _CLASSES.get(cls)
    if made is None:
        members = {"__deepcopy__": _no_copy, "__module__": cls.__module__}
        made = _CLASSES[cls] = type(f"FSDP{cls.__name__}", (FSDPModule, cls), members)
    return made


def register_fsdp_forward_method(module: Any, method_name: str) -> None:
    """Have a method find the module's parameters, as ``forward`` does.

    Args:
        module: nothing is done for one that `fully_shard` was not applied to.
        method_name: of the method.

    Raises:
        ValueError: if there is no such method.
    """
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    own = getattr(module, method_name)

    @functools.wraps(own)
    def with_parameters(*args: Any, **kwargs: Any) -> Any:
        return module._run_with_parameters(own, args, kwargs)

    setattr(module, method_name, with_parameters)
