"""An optimizer whose state is told by the names of parameters."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from .optimizer import Optimizer

__all__ = ["_NamedOptimizer"]


class _NamedOptimizer(Optimizer):
    """Steps by an optimizer that it makes; its states have names of parameters in place of numbers.

    Args:
        named_parameters: names and parameters, such as ``module.named_parameters()``.
        optimizer_class: of the optimizer.
        param_groups: the groups that it gets; by default one of all parameters.
        module: whose parameters these are. Where it is a `FullyShardedDataParallel`, its
            ``optim_state_dict_to_load`` takes states before they are loaded.
        *args: the optimizer's.
        **kwargs: the optimizer's.

    Raises:
        ValueError: if a group has a parameter without a name.
    """

    def __init__(
        self,
        named_parameters: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]],
        optimizer_class: Callable[..., Optimizer],
        param_groups: Iterable[dict[str, Any]] | None = None,
        module: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        self.named_parameters = dict(named_parameters)
        self.module = module
        groups = None if param_groups is None else [_group(each) for each in param_groups]
        given = list(self.named_parameters.values()) if groups is None else groups
        self._optimizer = optimizer_class(given, *args, **kwargs)
        self.ordered_param_keys = list(self.named_parameters)
        if groups is not None:
            warnings.warn(
                "Since we pass in param_groups, we will use param_groups to initialize the optimizer, "
                "not all parameters of the module.",
                stacklevel=2,
            )
            self.ordered_param_keys = self._names(
                groups, "Expect param name {} found in param group but is missing."
            )
        self.param_groups = self._optimizer.param_groups

    def _names(self, groups: Iterable[dict[str, Any]], missing: str) -> list[str]:
        """Names of the groups' parameters.

        Raises:
            ValueError: if one has none.
        """
        known = {id(p): name for name, p in self.named_parameters.items()}
        found = []
        for p in (p for group in groups for p in group["params"]):
            if id(p) not in known:
                raise ValueError(missing.format(p))
            found.append(known[id(p)])
        return found

    @property
    def state(self) -> Any:  # type: ignore[override]
        """The optimizer's, by parameters."""
        return self._optimizer.state

    def step(self, closure: Any = None) -> Any:
        """Update the parameters."""
        return self._optimizer.step(closure=closure)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Let go of the gradients, or set them to zero."""
        self._optimizer.zero_grad(set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters that have names, with options of their own.

        Raises:
            ValueError: if one has no name.
        """
        group = _group(param_group)
        self.ordered_param_keys += self._names([group], "some parameters are not in the module")
        self._optimizer.add_param_group(group)
        self.param_groups = self._optimizer.param_groups

    def init_state(self) -> None:
        """Have the optimizer make its states, by a step with gradients of zeros: they can be loaded then."""
        for p in self.named_parameters.values():
            if p.requires_grad:
                p.grad = torch.zeros_like(p)
        self.step()

    # ---- states ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's state, by names; those of a group are sorted."""
        own, names = self._optimizer.state_dict(), self.ordered_param_keys
        groups = [
            {"params": sorted(names[number] for number in group["params"])}
            | {key: deepcopy(value) for key, value in group.items() if key != "params"}
            for group in own["param_groups"]
        ]
        state = {names[number]: value for number, value in own["state"].items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state over that `state_dict` gave; names that it lacks keep theirs.

        Raises:
            ValueError: before the optimizer has states (see `init_state`), or if the given ones are not like
                them.
        """
        own = self._optimizer.state_dict()
        if not own["state"]:
            raise ValueError(
                "Expects the optim to be initialized before load but found not initialized."
            )
        load = getattr(self.module, "optim_state_dict_to_load", None)
        if load is not None:
            state_dict = load(self.module, self._optimizer, state_dict, is_named_optimizer=True)
        for number, name in enumerate(self.ordered_param_keys):
            if name in state_dict["state"]:
                _fill(own["state"].get(number, {}), state_dict["state"][name], name)
        given = {_key(group["params"]): group for group in state_dict["param_groups"]}
        for group in own["param_groups"]:
            key = _key(self.ordered_param_keys[number] for number in group["params"])
            if key in given:
                _fill_group(group, given[key], key)
        self._optimizer.load_state_dict(own)


def _group(given: Any) -> dict[str, Any]:
    """A group whose parameters are a list of tensors.

    Raises:
        AssertionError: if it is no group.
        TypeError: if a parameter is no tensor.
    """
    if not isinstance(given, dict):
        raise AssertionError("param group must be a dict")
    if "params" not in given:
        raise AssertionError("param group must contain key params")
    params = given["params"]
    given["params"] = params = [params] if isinstance(params, Tensor) else list(params)
    for p in params:
        if not isinstance(p, Tensor):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {torch.typename(p)}"
            )
    return given


def _key(names: Iterable[str]) -> str:
    return "/".join(sorted(names))


def _fill(own: dict[str, Any], given: dict[str, Any], name: str) -> None:
    """Write a parameter's state into the one that it has.

    Raises:
        ValueError: if these are not of the same values.
    """
    if len(given) != len(own):
        raise ValueError(
            f"Expects equal length as {len(own)} for parameter {name} but found: {len(given)}"
        )
    for key, value in own.items():
        if key not in given:
            raise ValueError(f"Expects state {key} for parameter {name} but not found.")
        if isinstance(value, Tensor):
            value.detach().copy_(given[key])
        else:
            own[key] = deepcopy(given[key])


def _fill_group(own: dict[str, Any], given: dict[str, Any], name: str) -> None:
    """Write options into those of a group.

    Raises:
        ValueError: if these are not the same ones.
    """
    if len(given) != len(own):
        raise ValueError(
            f"Expects equal param_group size as {len(own)} for group {name} but found {len(given)}."
        )
    for key, value in given.items():
        if key not in own:
            raise ValueError(
                f"Expects group key {key} to be in group {name} in `state_dict` but is missing."
            )
        if key != "params":
            own[key] = deepcopy(value)
