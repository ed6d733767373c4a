"""What of models and optimizers is asked for: `StateDictOptions`, and names without wrappers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from ...tensors.tensor import Tensor
from ...values.user_warnings import warn_user
from ..groups import default_group
from ..membership import get_rank, is_initialized
from ..sharded.dtensor import DTensor
from ..sharded.layouts import DTensorSpec, laid_out
from ..sharded.placements import Replicate

__all__ = [
    "StateDictOptions",
    "clean",
    "cut_like",
    "in_parts",
    "listed",
    "names_of_parameters",
    "told",
]

# Parts of names that wrappers add: DistributedDataParallel, compiled modules, checkpointing ones.
_WRAPPERS: Final = ("module", "_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module")


@dataclass
class StateDictOptions:
    """What is given, and how it is taken.

    Attributes:
        full_state_dict: whole plain tensors in place of DTensors.
        cpu_offload: tensors in host memory; of whole ones only on rank 0, and nothing on others.
        ignore_frozen_params: leave out parameters that do not require grad.
        keep_submodule_prefixes: whether names below ``submodules`` begin at the model.
        strict: as of ``load_state_dict``.
        broadcast_from_rank0: rank 0 has the whole state to be taken, the others nothing.
        flatten_optimizer_state_dict: one table in place of ``state`` and ``param_groups``.
        dsd_fqn_modifiers: accepted.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def checked(options: StateDictOptions | None) -> StateDictOptions:
    """Options, or the defaults.

    Raises:
        ValueError: for those that contradict each other.
    """
    found = options or StateDictOptions()
    if found.broadcast_from_rank0 and not found.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return found


def clean(model: Any, name: str) -> str:
    """A name of a state dict without what wrappers add to it."""
    kept: list[str] = []
    for part in name.split("."):
        inside = getattr(model, "_modules", {}) if model is not None else {}
        wraps = part in _WRAPPERS and part in inside and len(inside) == 1
        if not (wraps and (part != "module" or _is_wrapper(model))):
            kept.append(part)
        model = inside.get(part)
    return ".".join(kept)


def _is_wrapper(model: Any) -> bool:
    return any(
        k.__name__ in ("DistributedDataParallel", "DataParallel") for k in type(model).__mro__
    )


def names_of_parameters(model: Any) -> dict[Tensor, str]:
    """The clean names of a model's parameters; of several the first."""
    _parts_again(model)
    found: dict[Tensor, str] = {}
    for name, p in model.named_parameters():
        found.setdefault(p, clean(model, name))
    return found


def _parts_again(model: Any) -> None:
    """Have modules that were sharded show their parts."""
    for module in model.modules():
        if hasattr(module, "_sharding_state"):
            module.reshard()


def in_parts(model: Any) -> AbstractContextManager[None]:
    """A block in which the states of wrapped modules have DTensors, as those of others do."""
    for module in model.modules():
        if hasattr(type(module), "_as_parts"):
            found: AbstractContextManager[None] = module._as_parts(model)
            return found
    return nullcontext()


def listed(optimizers: Any) -> list[Any]:
    """One optimizer or several as a list."""
    return list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]


def prefixes_of(model: Any, submodules: Any) -> Iterator[str]:
    """The clean names of submodules, with a dot.

    Raises:
        ValueError: if the model does not have one.
    """
    if submodules:
        warn_user(
            "Getting submodules only model/optim state_dict is deprecated and will be removed in 2.5. This "
            "feature can be achieved by manually filtering out the state_dict returned from get_state_dict.",
            FutureWarning,
        )
    names = {id(m): clean(model, name) for name, m in model.named_modules()}
    for each in submodules:
        if id(each) not in names:
            raise ValueError(f"{type(each).__name__} is no submodule of the model")
        yield f"{names[id(each)]}."


def told(value: Any, options: StateDictOptions) -> Any:
    """A value as it is asked for: whole, in host memory."""
    if isinstance(value, dict):
        return {key: told(each, options) for key, each in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)([told(each, options) for each in value])
    if not isinstance(value, Tensor):
        return value
    if options.full_state_dict and isinstance(value, DTensor):
        value = value._whole()
        if options.cpu_offload and get_rank() != 0:
            return None
    return value.to("cpu") if options.cpu_offload and value.device.type != "cpu" else value


def nothing_here(options: StateDictOptions) -> bool:
    """Whether this rank is given nothing."""
    return (
        options.full_state_dict
        and options.cpu_offload
        and is_initialized()
        and default_group().position != 0
    )


def cut_like(value: Any, like: Tensor) -> Any:
    """A whole tensor as a DTensor that lies as another does, or a DTensor whole for a plain one."""
    if isinstance(like, DTensor) and isinstance(value, Tensor) and not isinstance(value, DTensor):
        mesh = like.device_mesh
        spec = DTensorSpec(mesh, (Replicate(),) * mesh.ndim, like._spec.tensor_meta)
        value = value.detach()
        if not like.is_meta:
            value = value.to(like._local_tensor.device)
        local = laid_out(value, spec, like.placements)
        return DTensor(local, like._spec.like(like._spec.shape, local.dtype), requires_grad=False)
    if isinstance(value, DTensor) and not isinstance(like, DTensor):
        return value._whole()
    return value
