"""``torch._dynamo``: what programs say to PyTorch's compiler, as far as it has a meaning here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from typing import Any

from .absent import names_of
from .compiled_calls import CALLS, refuse_in_fullgraph
from .compiled_module import OptimizedModule
from .compiled_report import explain
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
from .compiler_backends import lookup_backend, register_backend
from .compiler_marks import (
    mark_dynamic,
    mark_static,
    mark_static_address,
    maybe_mark_dynamic,
    require_callable,
)
from .compiler_settings import DYNAMO

__all__ = [
    "OptimizedModule",
    "allow_c_slot",
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "disable_nested_graph_breaks",
    "disallow_in_graph",
    "dont_skip_tracing",
    "error_on_graph_break",
    "explain",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_disable_recursive",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "optimize",
    "optimize_assert",
    "override_cudagraphs",
    "override_optimization_hint",
    "patch_dynamo_config",
    "register_backend",
    "reset",
    "reset_code_caches",
    "reset_recompile_user_contexts",
    "run",
    "set_recursion_limit",
    "set_stance",
    "skip_frame",
    "step_unsupported",
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


mark_unbacked = mark_dynamic


def graph_break(msg: str = "") -> None:
    """End a graph here, where a function of ``torch.compile`` is being recorded for a backend that is one."""
    refuse_in_fullgraph("torch._dynamo.graph_break() is called")
    if CALLS.recorder is not None:
        CALLS.recorder.run("graph_break")


def disallow_in_graph(fn: Any) -> Any:
    """The function itself.

    Raises:
        AssertionError: for what cannot be called.
    """
    require_callable(fn, "disallow_in_graph")
    return fn


forbid_in_graph = dont_skip_tracing = nonstrict_trace = disallow_in_graph
skip_frame = step_unsupported = graph_break
reset_code_caches = reset


def reset_recompile_user_contexts() -> None:
    """Do nothing: nothing is compiled again, so there is nobody to tell."""


def override_optimization_hint(x: Any, val: int) -> None:
    """Do nothing: sizes are numbers here, and none has to be guessed."""


def set_recursion_limit(limit: int) -> None:
    """Do nothing but check: Python's own limit is the only one.

    Raises:
        ValueError: for a limit below 1 that is not -1.
    """
    if limit < 1 and limit != -1:
        raise ValueError("recursion limit must be greater or equal than 1, or -1 for default")


def allow_c_slot(tp: type, *, tp_hash: bool = True, tp_richcompare: bool = True) -> type:
    """The type itself: its comparisons run as always."""
    return tp


def is_dynamo_disable_recursive(method: Any) -> bool | None:
    """True for what `disable` made; None for others: without ``recursive`` it gives the function itself."""
    return getattr(method, "_torchdynamo_disable_recursive", None)


class _Unchanged(ContextDecorator):
    """A context, and a decorator, that changes nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


def override_cudagraphs(fwd: bool | None = None, bwd: bool | None = None) -> _Unchanged:
    """A context or decorator that changes nothing: there are no CUDA graphs."""
    return _Unchanged()


def disable_nested_graph_breaks(fn: Any = None) -> Any:
    """The function itself; without one, a context that changes nothing."""
    return _Unchanged() if fn is None else fn


def run(fn: Any = None) -> Any:
    """What `torch.compile` was given; without one, a context that changes nothing."""
    return _Unchanged() if fn is None else getattr(fn, "_torchdynamo_orig_callable", fn)


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
