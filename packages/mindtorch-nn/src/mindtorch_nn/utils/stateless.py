"""Calls of a module with other parameters than its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from ..modules.module import Module
from ..parallel import DataParallel
from ..parameter import Parameter

__all__ = ["functional_call"]

_ABSENT = object()


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers; `torch.func.functional_call` is the same.

    Args:
        module: what is called.
        parameters_and_buffers: what stands in for them, by path.
        args: the arguments, a tuple, or the only one.
        kwargs: the keyword arguments.
        tie_weights: whether what replaces one name of a shared tensor replaces all of them.
        strict: whether every parameter and buffer must be given, and nothing else.

    Raises:
        RuntimeError: in strict mode for other names, and for `DataParallel`.
        ValueError: if names of one tensor are given several values.
    """
    warn_user(
        "`torch.nn.utils.stateless.functional_call` is deprecated. Please use `torch.func.functional_call` "
        "instead.",
        FutureWarning,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    if isinstance(module, DataParallel):
        raise RuntimeError("The stateless API can't be used with nn.DataParallel module")
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*given, **(kwargs or {}))


@contextlib.contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    tie_weights: bool = False,
    strict: bool = False,
) -> Iterator[None]:
    """Other parameters inside of the block; what the block makes of them goes into the dict."""
    values = dict(parameters_and_buffers)
    if tie_weights:
        _tie(module, values)
    if strict:
        _check_names(module, values)
    before: list[tuple[Module, dict[str, Any], str, Any]] = []
    places = {}
    try:
        for path, value in values.items():
            owner, _, name = path.rpartition(".")
            holder = module.get_submodule(owner)
            table, name = _place(holder, name, value)
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            before.append((holder, table, name, table.get(name, _ABSENT)))
            table[name] = value
            places[path] = table, name
            _tell(holder, name, value)
        yield
    finally:
        try:
            for path in parameters_and_buffers.keys() & places.keys():
                table, name = places[path]
                parameters_and_buffers[path] = table[name]
            _put_back(before)
        except BaseException:  # an interrupt must not leave the module with what it was lent
            _put_back(before)
            raise


def _put_back(before: list[tuple[Module, dict[str, Any], str, Any]]) -> None:
    """Give modules what they had, the latest change first."""
    for holder, table, name, old in reversed(before):
        if old is _ABSENT:
            table.pop(name, None)
        else:
            table[name] = old
        _tell(holder, name, old)


def _tell(holder: Any, name: str, value: Any) -> None:
    """Recurrent layers keep their weights in a list as well."""
    names = holder.__dict__.get("_flat_weights_names", ())
    if name in names:
        holder._flat_weights[names.index(name)] = value


def _place(holder: Any, name: str, value: Any) -> tuple[dict[str, Any], str]:
    """Where a module keeps what it shows under a name; one that it has not is lent to it with the value.

    Raises:
        KeyError: for no name.
        TypeError: if it shows what is no tensor.
    """
    for table in (holder._parameters, holder._buffers):
        if name in table:
            return table, name
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    old = getattr(holder, name, None)
    if old is None and isinstance(value, Parameter):
        return holder._parameters, name
    if old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    return holder.__dict__, name


def _names(module: Module) -> dict[str, Any]:
    """Parameters and buffers under all their paths."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _tie(module: Module, values: dict[str, Any]) -> None:
    """Give all names of a tensor the value that one of them is given."""
    groups: dict[int, set[str]] = {}
    for name, tensor in _names(module).items():
        groups.setdefault(id(tensor), set()).add(name)
    for names in groups.values():
        given = sorted(names & values.keys())
        if len({id(values[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {given}, which are tied. Consider using "
                f"tie_weights=False"
            )
        if given:
            values.update(dict.fromkeys(names, values[given[0]]))


def _check_names(module: Module, values: dict[str, Any]) -> None:
    known = _names(module)
    problems = []
    for kind, names in (
        ("Unexpected", sorted(values.keys() - known)),
        ("Missing", sorted(known.keys() - values)),
    ):
        if names:
            problems.append(f"{kind} key(s): {', '.join(map(repr, names))}.")
    if problems:
        listed = "\n\t".join(problems)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{listed}")
