"""``torch._dynamo``: what programs say to a compiler that is not there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .absent import names_of
from .compiler import (
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
    substitute_in_graph,
)
from .compiler_settings import DYNAMO

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "disallow_in_graph",
    "dont_skip_tracing",
    "error_on_graph_break",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "optimize",
    "optimize_assert",
    "patch_dynamo_config",
    "reset",
    "reset_code_caches",
    "set_stance",
    "skip_frame",
    "substitute_in_graph",
]

__getattr__ = names_of(__name__)


def optimize(
    backend: str | Callable[..., Any] = "inductor",
    *,
    nopython: bool = False,
    disable: bool = False,
    dynamic: bool | None = None,
    **options: Any,
) -> Callable[[Any], Any]:
    """A decorator that does what ``torch.compile`` does.

    Args:
        backend: as there.
        nopython: its ``fullgraph``.
        disable: as there.
        dynamic: as there.
        options: accepted.
    """
    return functools.partial(
        compile, backend=backend, fullgraph=nopython, disable=disable, dynamic=dynamic
    )


optimize_assert = functools.partial(optimize, nopython=True)


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Do nothing: there are no graphs that remember addresses."""


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing: nothing is compiled for sizes."""


mark_dynamic = maybe_mark_dynamic = mark_unbacked = mark_static


def graph_break(msg: str = "") -> None:
    """Do nothing: there are no graphs to break."""


def disallow_in_graph(fn: Any) -> Any:
    """The function itself."""
    return fn


forbid_in_graph = dont_skip_tracing = nonstrict_trace = disallow_in_graph
skip_frame = graph_break
reset_code_caches = reset


def error_on_graph_break(error_on_graph_break: bool) -> AbstractContextManager[None]:
    """A context that changes nothing: `torch.compile` has ``fullgraph`` for that."""
    return nullcontext()


def patch_dynamo_config(arg1: Any = None, arg2: Any = None, **changes: Any) -> Any:
    """``torch._dynamo.config.patch``."""
    return DYNAMO["patch"](arg1, arg2, **changes)


def is_dynamo_supported() -> bool:
    """False: there is no such compiler."""
    return False


is_inductor_supported = is_dynamo_supported
