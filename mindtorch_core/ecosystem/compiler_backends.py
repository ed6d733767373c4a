"""The backends of ``torch.compile``: our own under PyTorch's names, and functions of a graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from .compiler_errors import InvalidBackend

__all__ = ["GraphBackend", "function_of", "list_backends", "lookup_backend", "register_backend"]

# A function of a `torch.fx.GraphModule` and a list of its inputs that returns a function of these inputs.
GraphBackend = Callable[..., Callable[..., Any]]

_OWN: Final = ("inductor", "eager", "aot_eager", "cudagraphs")
_DEBUGGING: Final = ("debug", "experimental")


def _as_it_is(graph: Any, inputs: Sequence[Any], **options: Any) -> Callable[..., Any]:
    """The backend under the names of our own: the graph itself."""
    return graph.forward  # type: ignore[no-any-return]


_FUNCTIONS: Final[dict[str, GraphBackend]] = {}
_TAGS: Final[dict[str, frozenset[str]]] = {
    name: frozenset({"debug"} if "eager" in name else ()) for name in _OWN
}


def register_backend(
    compiler_fn: GraphBackend | None = None, name: str | None = None, tags: Sequence[str] = ()
) -> Any:
    """Give a function of a graph a name that ``torch.compile(backend=...)`` takes; also a decorator.

    Args:
        compiler_fn: takes a `torch.fx.GraphModule` and a list of example inputs, returns a function of such.
        name: by default the function's.
        tags: such as ``debug``, by which `list_backends` leaves it out.

    Raises:
        AssertionError: if the name is taken.
    """
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    assert callable(compiler_fn), f"compiler_fn must be callable, got {type(compiler_fn)}"
    name = name or compiler_fn.__name__
    assert name not in _TAGS, f"duplicate name: {name}"
    _FUNCTIONS[name] = compiler_fn
    _TAGS[name] = frozenset(tags)
    return compiler_fn


def lookup_backend(compiler_fn: str | GraphBackend) -> GraphBackend:
    """The function of a backend.

    Raises:
        InvalidBackend: if there is none of that name.
    """
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn not in _TAGS:
        raise InvalidBackend(
            f"Invalid backend: {compiler_fn!r}, should be one of {', '.join(_TAGS)}, or a function of a "
            f"graph; see `torch._dynamo.list_backends()`"
        )
    return _FUNCTIONS.get(compiler_fn, _as_it_is)


def list_backends(exclude_tags: Sequence[str] | None = _DEBUGGING) -> list[str]:
    """Names of backends that ``torch.compile`` takes.

    Args:
        exclude_tags: those of backends to leave out.
    """
    without = set(exclude_tags or ())
    return sorted(name for name, tags in _TAGS.items() if not tags & without)


def function_of(backend: Any, mode: Any, options: Any) -> GraphBackend | None:
    """The function of a graph that a backend is, with what it is told; None for our own.

    Raises:
        InvalidBackend: if there is none of that name.
    """
    found = lookup_backend(backend)
    if found is _as_it_is:
        return None
    told = {"mode": mode} if mode not in (None, "default") else {}
    if options:
        told["options"] = options
    return functools.partial(found, **told) if told else found
