"""States of models and optimizers by the names of parameters, whatever the number of processes."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...frontend.creation import tensor as make
from ...gradients.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ...values.dtypes import DTYPES, FLOAT8
from ..collectives import broadcast
from ..membership import get_rank
from ..objects import broadcast_object_list
from .state_options import (
    StateDictOptions,
    checked,
    clean,
    cut_like,
    in_parts,
    listed,
    names_of_parameters,
    nothing_here,
    prefixes_of,
    told,
)

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]

# ---- models ----------------------------------------------------------------------------------------


def get_model_state_dict(
    model: Any, *, submodules: set[Any] | None = None, options: StateDictOptions | None = None
) -> dict[str, Any]:
    """A model's state, by names without those of wrappers.

    Args:
        model: perhaps sharded, or wrapped for data parallel training. All ranks call it together.
        submodules: whose states alone are wanted.
        options: what is wanted of them.
    """
    wanted = checked(options)
    frozen: set[str] = set()
    if wanted.ignore_frozen_params:
        frozen = {clean(model, n) for n, p in model.named_parameters() if not p.requires_grad}
    with no_grad(), in_parts(model):
        found = {clean(model, name): value for name, value in model.state_dict().items()}
        found = {name: told(v, wanted) for name, v in found.items() if name not in frozen}
    if submodules is not None:
        found = _below(model, submodules, found, wanted)
    return {} if nothing_here(wanted) else found


def _below(
    model: Any, submodules: set[Any], found: dict[str, Any], wanted: StateDictOptions
) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for prefix in prefixes_of(model, submodules):
        for name, value in found.items():
            if name.startswith(prefix):
                kept = name if wanted.keep_submodule_prefixes else name.removeprefix(prefix)
                chosen[kept] = value
    return chosen


def set_model_state_dict(
    model: Any, model_state_dict: dict[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Have a model take over a state. All ranks call it together.

    Args:
        model: perhaps sharded, or wrapped.
        model_state_dict: by names without those of wrappers.
        options: ``full_state_dict`` for whole tensors.

    Returns:
        The names that are missing, and those that are unexpected.
    """
    wanted = checked(options)
    given = dict(model_state_dict)
    with in_parts(model):
        own = model.state_dict()
    anew = wanted.full_state_dict and any(isinstance(t, Tensor) and t.is_meta for t in own.values())
    with no_grad():
        if wanted.broadcast_from_rank0:
            names = _from_first(sorted(given))
            given = {name: _sent(given.get(name)) for name in names}
        named = {clean(model, name): name for name in own}
        found = {}
        for name, value in given.items():
            target = own.get(named.get(name, name))
            if wanted.full_state_dict and isinstance(target, Tensor):
                value = cut_like(value, target)
            found[named.get(name, name)] = value
    more = {"assign": True} if anew else {}  # else meta tensors would swallow the values
    return model.load_state_dict(found, strict=wanted.strict, **more)


def _from_first(value: Any) -> Any:
    """Rank 0's value."""
    held = [value]
    broadcast_object_list(held, src=0)
    return held[0]


def _sent(value: Any) -> Any:
    """Rank 0's value: tensors by a message of their own."""
    what = None
    if get_rank() == 0:
        tensor = isinstance(value, Tensor)
        what = (tuple(value.shape), value.dtype.name) if tensor else (None, value)
    shape, rest = _from_first(what)
    if shape is None:
        return rest
    t = (
        value.detach().contiguous()
        if get_rank() == 0
        else fn.empty(shape, dtype=(DTYPES | FLOAT8)[rest])
    )
    broadcast(t, src=0)
    return t


# ---- optimizers ------------------------------------------------------------------------------------


def _begun(optimizer: Any) -> None:
    """Have an optimizer's states, by a step that changes nothing; where there are gradients, it has none."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in params):
        return
    rates = [group["lr"] for group in optimizer.param_groups if "lr" in group]
    for p in params:
        if p.requires_grad:
            p.grad = fn.zeros_like(p)
    for group in optimizer.param_groups:
        if "lr" in group:
            group["lr"] = make(0.0) if isinstance(group["lr"], Tensor) else 0.0
    try:
        optimizer.step(closure=None)
    finally:
        for group, rate in zip(
            [g for g in optimizer.param_groups if "lr" in g], rates, strict=True
        ):
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)


def get_optimizer_state_dict(
    model: Any,
    optimizers: Any,
    *,
    submodules: set[Any] | None = None,
    options: StateDictOptions | None = None,
) -> dict[str, Any]:
    """The states of a model's optimizers, by the names of parameters. All ranks call it together.

    Args:
        model: whose parameters they optimize.
        optimizers: one, or several.
        submodules: whose parameters' states alone are wanted.
        options: what is wanted of them.
    """
    wanted = checked(options)
    names = names_of_parameters(model)
    prefixes = None if submodules is None else tuple(prefixes_of(model, submodules))
    state: dict[str, Any] = {}
    groups: list[dict[str, Any]] = []
    for optimizer in listed(optimizers):
        _begun(optimizer)
        own = optimizer.state_dict()
        params = [p for group in optimizer.param_groups for p in group["params"]]
        named = [_name_of(p, names) for p in params]
        for number, value in own["state"].items():
            state[named[number]] = value
        first = 0
        for group in own["param_groups"]:
            count = len(group["params"])
            groups.append({**group, "params": named[first : first + count]})
            first += count
    if prefixes is not None:
        state = {name: v for name, v in state.items() if name.startswith(prefixes)}
        for group in groups:
            group["params"] = [name for name in group["params"] if name.startswith(prefixes)]
    with no_grad():
        state = {name: told(value, wanted) for name, value in state.items()}
    if nothing_here(wanted):
        return {}
    found = {"state": state, "param_groups": groups}
    return _flat(found) if wanted.flatten_optimizer_state_dict else found


def _name_of(p: Tensor, names: dict[Tensor, str]) -> str:
    if p not in names:
        raise RuntimeError(
            "the optimizer has a parameter that the model does not have: make it of model.parameters() after "
            "the model was sharded"
        )
    return names[p]


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    """One table of a state: ``state.NAME.KEY`` and ``param_groups.NAME.KEY``."""
    table: dict[str, Any] = {}
    for name, values in found["state"].items():
        table |= {f"state.{name}.{key}": value for key, value in values.items()}
    for group in found["param_groups"]:
        for name in group["params"]:
            rest = {key: value for key, value in group.items() if key != "params"}
            table |= {f"param_groups.{name}.{key}": value for key, value in rest.items()}
    return table


def _nested(table: dict[str, Any], optimizer: Any, names: dict[Tensor, str]) -> dict[str, Any]:
    """A table as an optimizer has it."""
    state: dict[str, Any] = {}
    groups = []
    for group in optimizer.param_groups:
        named = [_name_of(p, names) for p in group["params"]]
        for name in named:
            start = f"state.{name}."
            values = {k.removeprefix(start): v for k, v in table.items() if k.startswith(start)}
            if values:
                state[name] = values
        rest = {
            key: table.get(f"param_groups.{named[0]}.{key}", value) if named else value
            for key, value in group.items()
            if key != "params"
        }
        groups.append({**rest, "params": named})
    return {"state": state, "param_groups": groups}


def set_optimizer_state_dict(
    model: Any,
    optimizers: Any,
    optim_state_dict: dict[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Have a model's optimizers take over states. All ranks call it together.

    Args:
        model: whose parameters they optimize.
        optimizers: one, or several.
        optim_state_dict: what `get_optimizer_state_dict` gave, or a checkpoint was loaded into.
        options: ``full_state_dict`` for whole tensors.

    Raises:
        RuntimeError: if there is no state of a parameter, or an optimizer has others.
    """
    wanted = checked(options)
    names = names_of_parameters(model)
    given = optim_state_dict
    if wanted.broadcast_from_rank0:
        with no_grad():
            given = _all_sent(given)
    for optimizer in listed(optimizers):
        _begun(optimizer)
        one = _nested(given, optimizer, names) if "param_groups" not in given else given
        optimizer.load_state_dict(_numbered(one, optimizer, names, wanted))


def _all_sent(given: dict[str, Any]) -> dict[str, Any]:
    """Rank 0's state, on all ranks."""
    groups = _from_first(given.get("param_groups"))
    if groups is None:
        return {name: _sent(given.get(name)) for name in _from_first(sorted(given))}
    state = given.get("state", {})
    keys = _from_first([(name, key) for name, values in state.items() for key in values])
    found: dict[str, Any] = {}
    for name, key in keys:
        found.setdefault(name, {})[key] = _sent(state.get(name, {}).get(key))
    return {"state": found, "param_groups": groups}


def _numbered(
    given: dict[str, Any], optimizer: Any, names: dict[Tensor, str], wanted: StateDictOptions
) -> dict[str, Any]:
    """A state by names as the optimizer numbers its parameters."""
    of_name = {name: group for group in given["param_groups"] for name in group["params"]}
    state: dict[int, Any] = {}
    groups: list[dict[str, Any]] = []
    number = 0
    for group in optimizer.param_groups:
        numbers = []
        rest: dict[str, Any] = {key: v for key, v in group.items() if key != "params"}
        for p in group["params"]:
            name = _name_of(p, names)
            if name not in of_name:
                raise RuntimeError(
                    f"the state has nothing of the parameter {name}, which the optimizer has"
                )
            rest |= {key: v for key, v in of_name[name].items() if key != "params"}
            if name in given["state"]:
                state[number] = _fitting(given["state"][name], p, wanted)
            numbers.append(number)
            number += 1
        groups.append({**rest, "params": numbers})
    return {"state": state, "param_groups": groups}


def _fitting(values: dict[str, Any], p: Tensor, wanted: StateDictOptions) -> dict[str, Any]:
    """The state of a parameter, lying as it does."""
    if not wanted.full_state_dict:
        return dict(values)
    with no_grad():
        return {
            key: cut_like(v, p) if isinstance(v, Tensor) and v.shape == p.shape and p.ndim else v
            for key, v in values.items()
        }


# ---- both ------------------------------------------------------------------------------------------


def get_state_dict(
    model: Any,
    optimizers: Any,
    *,
    submodules: set[Any] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`get_model_state_dict` and `get_optimizer_state_dict`."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def set_state_dict(
    model: Any,
    optimizers: Any,
    *,
    model_state_dict: dict[str, Any],
    optim_state_dict: dict[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """`set_model_state_dict` and `set_optimizer_state_dict`."""
    found = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return found
