"""Attributes at paths, as ``block.0.weight``, and modules on the way to them."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

__all__ = ["_assign_attr", "_copy_attr", "_del_attr", "_get_attr", "_has_attr"]


def _put(module: Any, name: str, value: Any) -> None:
    """Let a module have an attribute; tensors become buffers."""
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _below(module: Any, name: str) -> Any:
    """A module's attribute, which becomes an empty module if there is none."""
    found = getattr(module, name, None)
    if found is None:
        found = torch.nn.Module()
        setattr(module, name, found)
    return found


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Let one module have another's attribute at a path."""
    *parents, last = target.split(".")
    for name in parents:
        source = getattr(from_module, name)
        if source is getattr(to_module, name, None):
            return  # all that is below it is there with it
        from_module, to_module = source, _below(to_module, name)
    _put(to_module, last, getattr(from_module, last))


def _assign_attr(from_obj: Any, to_module: Any, target: str) -> None:
    """Let a module have something at a path."""
    *parents, last = target.split(".")
    for name in parents:
        to_module = _below(to_module, name)
    _put(to_module, last, from_obj)


def _get_attr(model: Any, attr_name: str) -> Any:
    """The attribute at a path."""
    for name in attr_name.split("."):
        model = getattr(model, name)
    return model


def _has_attr(model: Any, attr_name: str) -> bool:
    """Whether there is an attribute at a path."""
    try:
        _get_attr(model, attr_name)
    except AttributeError:
        return False
    return True


def _del_attr(model: Any, attr_name: str) -> None:
    """Take the attribute at a path away."""
    path, _, last = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, last)
