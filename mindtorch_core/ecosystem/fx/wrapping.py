"""Functions that a tracer records and does not enter, and what it exchanges while it runs."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from .proxy import Proxy

__all__ = ["Patcher", "_autowrap_check", "_patch_wrapped_functions", "find_proxy", "wrap"]

_T = TypeVar("_T")

# The namespaces of modules, by their identity and a function's name.
_WRAPPED: Final[dict[tuple[int, str], dict[str, Any]]] = {}


def wrap(fn_or_name: _T) -> _T:
    """Have a function of this module recorded as a call, not traced into; also a decorator.

    Args:
        fn_or_name: the function, or its name in the module that calls this.

    Raises:
        RuntimeError: for what is neither a function nor a name of one.
        NotImplementedError: if it is not called at the top level of a module.

    Example:
        >>> import torch.fx
        >>> @torch.fx.wrap
        ... def scaled(x, factor):
        ...     return x * factor
        >>> torch.fx.symbolic_trace(lambda x: scaled(x, 2)).code.split()[-4:]
        ['None', 'return', 'scaled']
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__  # type: ignore[attr-defined]
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _WRAPPED[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def find_proxy(*values: Any) -> Proxy | None:
    """The last proxy in values, or None; containers are searched."""
    from .node import map_aggregate
    from .proxy import Proxy

    found: list[Proxy] = []
    map_aggregate(values, lambda each: found.append(each) if isinstance(each, Proxy) else None)
    return found[-1] if found else None


def _recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose calls with proxies are recorded."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    wrapped._is_recorded = True  # type: ignore[attr-defined]
    return wrapped


class Patcher:
    """A context in which things are exchanged; they are put back in the opposite order, however it ends."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._visited: set[int] = set()

    def __enter__(self) -> Patcher:
        return self

    def __exit__(self, *exc: object) -> None:
        while self._undo:
            self._undo[-1]()
            self._undo.pop()

    def patch_method(
        self, cls: type, name: str, new_fn: Callable[..., Any], deduplicate: bool = True
    ) -> None:
        """Exchange a method of a class, which may have inherited it.

        Args:
            cls: the class.
            name: of the method.
            new_fn: what stands in its place.
            deduplicate: not asked; PyTorch has this argument.
        """
        if name in vars(cls):
            self._undo.append(functools.partial(setattr, cls, name, vars(cls)[name]))
        else:
            self._undo.append(lambda: delattr(cls, name) if name in vars(cls) else None)
        setattr(cls, name, new_fn)

    def function(self, names: dict[str, Any], name: str) -> None:
        """Have calls of a module's function recorded; a builtin's, in this module alone."""
        if name not in names and hasattr(builtins, name):
            self._undo.append(lambda: names.pop(name, None))
            names[name] = _recorded(getattr(builtins, name))
        elif not getattr(names[name], "_is_recorded", False):
            self._undo.append(functools.partial(names.__setitem__, name, names[name]))
            names[name] = _recorded(names[name])

    def functions_among(self, names: dict[str, Any], known: set[int]) -> None:
        """Have calls of those functions of a module recorded whose identities are among some."""
        if id(names) in self._visited:
            return
        self._visited.add(id(names))
        for name, value in [*names.items()]:
            if name[0] != "_" and id(value) in known and callable(value):
                self.function(names, name)


def _patch_wrapped_functions(patcher: Patcher) -> None:
    """Have calls of the functions recorded that `wrap` was given."""
    for (_, name), names in [*_WRAPPED.items()]:
        patcher.function(names, name)


def _autowrap_check(patcher: Patcher, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
    """`Patcher.functions_among`."""
    patcher.functions_among(frame_dict, function_ids)
