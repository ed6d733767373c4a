"""States of wrapped modules and of their optimizers: by the names of the module, whole or as DTensors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..inner_names import CHECKPOINTED, SHARDED
from .options import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    OptimStateDictConfig,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

__all__ = ["States", "keep_states"]

_FULL: Final = StateDictType.FULL_STATE_DICT
_CONFIGS: Final[dict[StateDictType, tuple[Any, Any]]] = {
    StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
    StateDictType.SHARDED_STATE_DICT: (ShardedStateDictConfig, ShardedOptimStateDictConfig),
}


class States:
    """What `FullyShardedDataParallel` has for states."""

    _settings: StateDictSettings

    @staticmethod
    def _set(
        module: Any,
        kind: StateDictType,
        config: StateDictConfig | None,
        optim_config: OptimStateDictConfig | None,
    ) -> StateDictSettings:
        if kind not in _CONFIGS:
            raise NotImplementedError(
                "LOCAL_STATE_DICT is memory of several parameters, which there is none of: use "
                "SHARDED_STATE_DICT"
            )
        own, of_optim = _CONFIGS[kind]
        config = own() if config is None else config
        optim_config = of_optim() if optim_config is None else optim_config
        if not (isinstance(config, own) and isinstance(optim_config, of_optim)):
            raise RuntimeError(
                f"Expected state_dict_config of type {own} and {of_optim} but got {type(config)} and "
                f"{type(optim_config)}"
            )
        before = States.get_state_dict_type(module)
        for each in _wrappers(module):
            each._settings = StateDictSettings(kind, config, optim_config)
        return before

    @staticmethod
    def get_state_dict_type(module: Any) -> StateDictSettings:
        """How the wrappers in a module give states."""
        found = [each._settings for each in _wrappers(module)]
        return found[0] if found else StateDictSettings()

    @staticmethod
    @contextmanager
    def _as_parts(module: Any) -> Iterator[None]:
        """A block in which states have DTensors, for `torch.distributed.checkpoint.state_dict`."""
        before = States._set(module, StateDictType.SHARDED_STATE_DICT, None, None)
        try:
            yield
        finally:
            for each in _wrappers(module):
                each._settings = before

    # ---- optimizers ------------------------------------------------------------------------------

    @staticmethod
    def optim_state_dict(
        model: Any, optim: Any, optim_state_dict: dict[str, Any] | None = None, group: Any = None
    ) -> dict[str, Any]:
        """An optimizer's state by the names of parameters, as `set_state_dict_type` says.

        Args:
            model: whose parameters it optimizes.
            optim: the optimizer.
            optim_state_dict: its ``state_dict()``, where that was changed.
            group: accepted.
        """
        settings = States.get_state_dict_type(model)
        config: Any = settings.optim_state_dict_config
        given = optim
        if optim_state_dict is not None:
            own = optim_state_dict
            given = SimpleNamespace(
                state=own["state"] or optim.state,
                param_groups=optim.param_groups,
                state_dict=lambda: own,
            )
        full = settings.state_dict_type is _FULL
        found = _states().get_optimizer_state_dict(model, [given], options=_options(full=full))
        if full and config.rank0_only and torch.distributed.get_rank():
            return {}
        state = {
            name: {key: _apart(v, host=config.offload_to_cpu) for key, v in row.items()}
            for name, row in found["state"].items()
        }
        return {"state": state, "param_groups": found["param_groups"]}

    @staticmethod
    def optim_state_dict_to_load(
        model: Any,
        optim: Any,
        optim_state_dict: dict[str, Any],
        is_named_optimizer: bool = False,
        load_directly: bool = False,
        group: Any = None,
    ) -> dict[str, Any]:
        """What the optimizer's ``load_state_dict`` takes, of what `optim_state_dict` gave.

        Where states are whole and on rank 0 alone, the others give an empty one.
        """
        settings = States.get_state_dict_type(model)
        full = settings.state_dict_type is _FULL
        first = full and getattr(settings.optim_state_dict_config, "rank0_only", False)
        options = _options(full=full, broadcast_from_rank0=bool(first))
        return _taken_by(model, optim, optim_state_dict, options)

    @staticmethod
    def full_optim_state_dict(
        model: Any, optim: Any, optim_input: Any = None, rank0_only: bool = True, group: Any = None
    ) -> dict[str, Any]:
        """An optimizer's state with whole tensors; empty on other ranks than the first, if so asked."""
        found = _states().get_optimizer_state_dict(model, optim, options=_options(full=True))
        return {} if rank0_only and torch.distributed.get_rank() else dict(found)

    @staticmethod
    def sharded_optim_state_dict(model: Any, optim: Any, group: Any = None) -> dict[str, Any]:
        """An optimizer's state with DTensors."""
        return dict(_states().get_optimizer_state_dict(model, optim))

    @staticmethod
    def scatter_full_optim_state_dict(
        full_optim_state_dict: dict[str, Any] | None,
        model: Any,
        optim_input: Any = None,
        optim: Any = None,
        group: Any = None,
    ) -> dict[str, Any]:
        """What the optimizer's ``load_state_dict`` takes, of the whole state that rank 0 has."""
        options = _options(full=True, broadcast_from_rank0=True)
        return _taken_by(model, optim, full_optim_state_dict or {}, options)

    @staticmethod
    def shard_full_optim_state_dict(
        full_optim_state_dict: dict[str, Any],
        model: Any,
        optim_input: Any = None,
        optim: Any = None,
    ) -> dict[str, Any]:
        """What the optimizer's ``load_state_dict`` takes, of the whole state that all ranks have."""
        return _taken_by(model, optim, full_optim_state_dict, _options(full=True))


def _states() -> Any:
    return torch.distributed.checkpoint.state_dict


def _options(*, full: bool, **more: Any) -> Any:
    return _states().StateDictOptions(full_state_dict=full, **more)


def _taken_by(model: Any, optim: Any, given: dict[str, Any], options: Any) -> dict[str, Any]:
    """The state of an optimizer that has taken over another one, whatever gradients there are."""
    params = [p for group in optim.param_groups for p in group["params"]]
    grads = [p.grad for p in params]
    for p in params:
        p.grad = None
    try:
        _states().set_optimizer_state_dict(model, optim, given, options=options)
    finally:
        for p, grad in zip(params, grads, strict=True):
            p.grad = grad
    found: dict[str, Any] = optim.state_dict()
    return found


def _wrappers(module: Any) -> list[Any]:
    return [each for each in module.modules() if isinstance(each, States)]


def _in_host_memory(value: Any) -> Any:
    return value.to("cpu") if isinstance(value, Tensor) and value.device.type != "cpu" else value


def _apart(value: Any, *, host: bool) -> Any:
    """A value that an optimizer which takes it does not share with this one."""
    if not isinstance(value, Tensor):
        return value
    return _in_host_memory(value) if host and value.device.type != "cpu" else value.clone()


# ---- modules ---------------------------------------------------------------------------------------


def keep_states(wrapper: Any) -> None:
    """Have a wrapper's states named as the module's."""
    wrapper._settings = StateDictSettings()
    wrapper._register_state_dict_hook(_given)
    wrapper.register_load_state_dict_pre_hook(_taken)
    wrapper.register_load_state_dict_post_hook(_renamed)


def _named(found: Iterator[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """Tensors by the names that states have for them."""
    return {name.replace(CHECKPOINTED, ""): t for name, t in found}


def _given(wrapper: Any, state: Any, prefix: str, metadata: Any) -> None:
    """Give what is inside without the wrapper's name, whole or as DTensors."""
    settings = wrapper._settings
    config: Any = settings.state_dict_config
    full = settings.state_dict_type is _FULL
    left_out = full and config.rank0_only and torch.distributed.get_rank() != 0
    kinds = {id(owner._buffers[name]): dtype for owner, name, dtype in wrapper._own_buffers}
    own = _named(wrapper.module.named_buffers())
    inside = prefix + SHARDED
    for key in [key for key in state if key.startswith(inside)]:
        value, rest = state.pop(key), key.removeprefix(inside)
        if isinstance(value, Tensor):
            with torch.no_grad():
                if full and hasattr(value, "full_tensor"):
                    value = value.full_tensor()
                if rest in own:
                    value = value.to(kinds.get(id(own[rest]), value.dtype))
                value = _in_host_memory(value) if config.offload_to_cpu else value
        if not left_out:
            state[prefix + rest] = value


def _taken(wrapper: Any, state: Any, prefix: str, *_: Any) -> None:
    """Take what is named without the wrapper, whole or as DTensors."""
    inside = prefix + SHARDED
    own = _named(wrapper.module.named_parameters())
    for key in [key for key in state if key.startswith(prefix) and not key.startswith(inside)]:
        value, rest = state.pop(key), key.removeprefix(prefix)
        part = own.get(rest)
        if (
            hasattr(part, "full_tensor")
            and type(value) is not type(part)
            and isinstance(value, Tensor)
        ):
            value = _cut(value, part)
        state[inside + rest] = value


def _cut(value: Tensor, like: Any) -> Tensor:
    """A whole tensor as a DTensor that lies as another does."""
    if value.shape != like.shape:
        return value  # which loading refuses
    tensors = torch.distributed.tensor
    mesh, local = like.device_mesh, value.detach().to(like._local_tensor.device)
    with torch.no_grad():
        found: Tensor = tensors.DTensor.from_local(
            local, mesh, [tensors.Replicate()] * mesh.ndim, run_check=False
        ).redistribute(placements=like.placements)
    return found


def _renamed(wrapper: Any, keys: Any) -> None:
    for names in (keys.missing_keys, keys.unexpected_keys):
        names[:] = [name.replace(SHARDED, "") for name in names]
