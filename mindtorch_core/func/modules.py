"""``torch.func``: modules as functions of their parameters."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from ..dispatch.asked_wrongly import guarded
from ..dispatch.functions import fn

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]

_NN = f"{__name__.partition('.')[0]}.nn"


@guarded
def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Any] | Sequence[dict[str, Any]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers than its own.

    Args:
        module: what is called; it stays as it is.
        parameter_and_buffer_dicts: what stands in for them, by path; one dict, or several.
        args: the arguments, a tuple, or the only one.
        kwargs: the keyword arguments.
        tie_weights: whether what replaces one name of a shared tensor replaces all of them.
        strict: whether every parameter and buffer must be given, and nothing else.

    Raises:
        ValueError: if two dicts have one name, or names of one tensor are given several values.

    Example:
        >>> layer = torch.nn.Linear(2, 1)
        >>> values = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
        >>> torch.func.functional_call(layer, values, torch.tensor([1.0, 2.0]))
        tensor([3.])
    """
    if not hasattr(module, "named_parameters"):
        raise TypeError(
            f"functional_call(): argument 'module' must be Module, not {type(module).__name__}"
        )
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        merged: dict[str, Any] = {}
        for each in given:
            twice = sorted({*merged} & {*each})
            if twice:
                raise ValueError(
                    f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
                )
            merged |= each
        given = merged
    stateless: Any = importlib.import_module(f"{_NN}.utils.stateless")
    return stateless._functional_call(
        module, given, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Have a module's batch norms keep no running statistics, which samples could not each write; in place.

    Returns:
        The module.

    Example:
        >>> net = torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2))
        >>> net.running_mean is None
        True
    """
    batch_norm: Any = importlib.import_module(f"{_NN}.modules.batchnorm")._BatchNorm
    for module in root.modules():
        if isinstance(module, batch_norm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and buffers of modules of one kind, each stacked along a new first dimension.

    Raises:
        RuntimeError: if there are none, they are of several classes or in several modes.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {
        name: _stacked([dict(m.named_parameters())[name] for m in models])
        for name, _ in models[0].named_parameters()
    }
    buffers = {
        name: _stacked([dict(m.named_buffers())[name] for m in models])
        for name, _ in models[0].named_buffers()
    }
    return parameters, buffers


def _stacked(tensors: list[Any]) -> Any:
    """Tensors stacked: a leaf that requires grad if all of them do.

    Raises:
        RuntimeError: if some do.
    """
    wanted = {t.requires_grad for t in tensors}
    if len(wanted) > 1:
        raise RuntimeError(
            "Expected parameters from different models to have the same requires_grad: some have it, "
            "some do not"
        )
    return fn.stack(tensors).detach().requires_grad_(wanted.pop())
