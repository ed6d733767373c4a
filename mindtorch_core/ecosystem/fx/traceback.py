"""What new nodes are told of old ones while a graph is run to make another."""

from __future__ import annotations

import contextlib
import functools
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..absent import names_of

if TYPE_CHECKING:
    from .node import Node

__all__ = [
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]

__getattr__ = names_of(__name__)

_F = TypeVar("_F", bound=Callable[..., Any])
_COPIED: Final = ("nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "custom",
                  "partitioner_tag")  # fmt: skip


class _Thread(threading.local):
    meta: dict[str, Any] = {}  # noqa: RUF012  (never changed in place)
    preserved = False


_thread = _Thread()


def _restoring(**values: Any) -> contextlib.AbstractContextManager[None]:
    @contextlib.contextmanager
    def restoring() -> Iterator[None]:
        before = {name: getattr(_thread, name) for name in values}
        try:
            vars(_thread).update(values)
            yield
        finally:
            vars(_thread).update(before)

    return restoring()


def preserve_node_meta(enable: bool = True) -> contextlib.AbstractContextManager[None]:
    """A context in which nodes that are made while others run get what these have in ``meta``."""
    return _restoring(preserved=enable, meta={**_thread.meta})


def has_preserved_node_meta() -> bool:
    """Whether `preserve_node_meta` is open."""
    return _thread.preserved


def set_stack_trace(stack: list[str]) -> None:
    """Say where in a program new nodes come from; an empty stack, that nobody knows."""
    if _thread.preserved:
        others = {name: value for name, value in _thread.meta.items() if name != "stack_trace"}
        _thread.meta = {**others, "stack_trace": "".join(stack)} if stack else others


def annotate(annotation_dict: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """A context in which new nodes get entries in ``meta["custom"]``.

    Args:
        annotation_dict: the entries; those of blocks around it are there too.
    """
    custom = {**_thread.meta.get("custom", {}), **annotation_dict}
    return _restoring(preserved=True, meta={**_thread.meta, "custom": custom})


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[_F], _F]:
    """Decorator: `annotate` around the calls of a function."""

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return annotated  # type: ignore[return-value]

    return decorate


def format_stack() -> list[str]:
    """Where the program is: as it was kept, or as it is."""
    if _thread.preserved:
        return [_thread.meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


def set_current_meta(node: Node, pass_name: str = "") -> contextlib.AbstractContextManager[None]:
    """A context in which a node runs; what it has in ``meta`` is kept for nodes that are made of it."""
    if not (_thread.preserved and node.meta):
        return contextlib.nullcontext()
    return _restoring(meta={**node.meta})


def get_current_meta() -> dict[str, Any]:
    """The ``meta`` of the node that runs."""
    return _thread.meta


def kept_for_new_nodes() -> dict[str, Any]:
    """What of it new nodes get."""
    meta = _thread.meta
    return {name: meta[name] for name in ("stack_trace", *_COPIED) if meta.get(name)}
