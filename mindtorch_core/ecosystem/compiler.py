"""``torch.compile``: calls are blocks of a pipeline that are replayed; and what programs ask around it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..frontend.creation import as_tensor, is_array
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_map
from ..values.interrupts import leaving
from .absent import names_of
from .compiled_calls import CALLS, compiled_call, refuse_in_fullgraph, reset
from .compiled_stances import DEFAULT, STANCE, STANCES, Stance
from .compiler_backends import GraphBackend, function_of, list_backends, lookup_backend
from .compiler_marks import require_callable
from .compiler_options import check_options, list_mode_options

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "nested_compile_region",
    "reset",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "substitute_in_graph",
    "wrap_numpy",
]

_default_backend: list[str | GraphBackend] = ["inductor"]

__getattr__ = names_of(__name__)


def compile(  # the name is PyTorch's
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | GraphBackend | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A function whose calls are blocks of a pipeline, planned as a whole and replayed when they come again.

    Results are those of the plain calls, errors as well; one that depends on values comes at the end of the
    call, as the exception that the op itself raises, with a note that names op and line. So functions that
    catch errors, themselves or in what they call, are called as they are. Nothing is traced and nothing is
    assumed: the Python code runs in each call, and what it does differently is done. There is no wait for a
    compiler. For each set of shapes the first calls try whether the block is quicker than the plain call.
    A module gives a module, with the same parameters; a class is given back, and its objects' calls are
    compiled.

    Args:
        model: a function, a module or a class; without one, this is a decorator.
        fullgraph: raise `torch._dynamo.exc.Unsupported`, a `RuntimeError`, where one graph is not enough:
            if values decide on a branch, on the times of a loop, on an index of a list or a key of a dict,
            on a text or an order, also by variables, attributes or functions that they go through, or
            `allclose`, `equal`, `any`, `repr`, `print`, a copy or a backward pass, or a call of a function
            with `disable` or the like stands before the end of the call. Numbers that are computed with or
            kept, `tolist` of integers, and sizes, may depend on values.
        dynamic: a bool or None; sizes are never assumed. With False, each set of sizes counts as a kind
            of arguments; without one, only the first that is another does.
        backend: ``inductor``, ``eager``, ``aot_eager`` or ``cudagraphs``, which mean the same here; by
            default what `set_default_backend` said. Or a function of your own, or the name of one that
            `torch._dynamo.register_backend` was given: it gets each new graph of calls as a
            `torch.fx.GraphModule`, with a list of its inputs, and returns a function of such inputs.
        mode: for ``inductor`` checked; there is one way. A function of your own is told.
        options: the same.
        name: accepted.
        disable: give back the model as it is.
        recompile_limit: how many kinds of tensors the function may be called with, by default
            `torch._dynamo.config.recompile_limit`. Nothing is compiled again here, so beyond it calls go
            on as before; with ``fullgraph``, or `fail_on_recompile_limit_hit` among those settings,
            `torch._dynamo.exc.FailOnRecompileLimitHit` is raised as by PyTorch, and with
            `error_on_recompile` a `RecompileError` for the second kind.
        isolate_recompiles: accepted: nothing is compiled again.
        shapes_spec: accepted.

    Raises:
        RuntimeError: for both a mode and options, or a mode, an option or a backend that there is not.
        TypeError: for what cannot be called, and for options that are no dict.
        AssertionError: where ``dynamic`` is something else.

    Example:
        >>> @torch.compile
        ... def double(x):
        ...     return x * 2
        >>> double(torch.ones(2))
        tensor([2., 2.])
    """
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"torch.compile() takes options as a dict, got {type(options)}")
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if backend is None:
        backend = _default_backend[0]
    if backend == "inductor":
        list_mode_options(mode)
        check_options(options or {})
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
            options=options, disable=disable, recompile_limit=recompile_limit,
        )  # fmt: skip
    if not callable(model):
        raise TypeError(f"torch.compile() takes a function or a module, got {type(model)}")
    if getattr(model, "_torchdynamo_disable_recursive", False):  # what is compiled all the same
        model = model.__wrapped__
    compiled_with = _calls_with(function_of(backend, mode, options))
    if disable or hasattr(model, "__captured__"):  # that is more than what follows does
        return model
    if not (dynamic is None or isinstance(dynamic, bool)):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    compiled = functools.partial(
        compiled_with, fullgraph=fullgraph, dynamic=dynamic, recompile_limit=recompile_limit
    )
    if isinstance(model, type):
        if any("__call__" in vars(c) for c in model.__mro__[:-1]):
            model.__call__ = compiled(model.__call__)  # type: ignore[method-assign]
        return model
    if hasattr(model, "__compiled__"):  # a module
        return model.__compiled__(compiled)
    return compiled(model)


def set_default_backend(backend: str | GraphBackend) -> None:
    """Say which backend `compile` means where it is given none.

    Raises:
        InvalidBackend: for one that there is not.
    """
    lookup_backend(backend)
    _default_backend[0] = backend


def get_default_backend() -> str | GraphBackend:
    """The backend that `compile` means where it is given none."""
    return _default_backend[0]


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that what it calls is not compiled in; without one, a decorator.

    Args:
        fn: the function.
        recursive: whether that goes for what it calls as well.
        reason: for readers.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    name = getattr(fn, "__qualname__", fn)
    if not recursive:
        fn = getattr(fn, "_torchdynamo_orig_callable", fn)

        @functools.wraps(fn)
        def alone(*args: Any, **kwargs: Any) -> Any:
            refuse_in_fullgraph(f"{name}() is called, which is not to be compiled")
            return fn(*args, **kwargs)

        return alone

    @functools.wraps(fn)
    def plain(*args: Any, **kwargs: Any) -> Any:
        refuse_in_fullgraph(f"{name}() is called, which is not to be compiled")
        before, compiling = CALLS.disabled, CALLS.compiling
        CALLS.disabled, CALLS.compiling = True, ""
        try:
            if CALLS.recorder is not None:
                return CALLS.recorder.apart(fn, args, kwargs)
            return fn(*args, **kwargs)
        finally:
            CALLS.disabled, CALLS.compiling = before, compiling

    plain._torchdynamo_disable_recursive = True  # type: ignore[attr-defined]
    return plain


def allow_in_graph(fn: Any) -> Any:
    """The function itself, or a list of several: graphs have the calls that they make.

    Raises:
        AssertionError: for what cannot be called.
    """
    require_callable(fn, "allow_in_graph")
    return [*fn] if isinstance(fn, list | tuple) else fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself: it is called every time."""
    return fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[Any], Any]:
    """A decorator that gives its function back: the original runs, so nothing has to stand for it."""
    return lambda fn: fn


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """The function itself, or a decorator that gives it back: graphs have no regions."""
    return fn if fn is not None else lambda fn: fn


def set_enable_guard_collectives(enabled: bool) -> bool:
    """False, what was set before: there are no guards that ranks could agree on."""
    return False


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that calls one of NumPy's arrays, and makes tensors of what that returns."""

    @functools.wraps(fn)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        given = tree_map(lambda v: v.numpy() if isinstance(v, Tensor) else v, (args, kwargs))
        found = fn(*given[0], **given[1])
        return tree_map(lambda v: as_tensor(v) if is_array(v) else v, found)

    return of_tensors


def is_compiling() -> bool:
    """Whether a function that was given to `compile` is running: what it does is what is compiled."""
    return CALLS.compiling != ""


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False: nothing is being exported."""
    return False


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs."""


class set_stance:
    """How compiled functions are called from now on; as a context or a decorator, while it lasts.

    Args:
        stance: ``force_eager`` calls them as they are. Where arguments have shapes, dtypes, devices or a
            gradient mode that are new to a function, or a backend that is a function would be given a
            new graph, ``eager_on_recompile`` has it called as it is, and ``fail_on_recompile`` raises a
            `RuntimeError` that says what is new; another way through a function's Python code
            is nothing new to our own backend. ``eager_then_compile`` and ``aot_eager_then_compile``
            call each function as it is the first time.
        skip_guard_eval_unsafe: accepted.
        force_backend: with the stance ``default``, the backend of all compiled functions.

    Raises:
        RuntimeError: for a stance that there is not, for both a stance and a backend, and within a
            compiled function.
        InvalidBackend: for a backend that there is not.
    """

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: str | GraphBackend | None = None,
    ) -> None:
        if stance not in STANCES:
            raise RuntimeError(
                f"invalid torch.compile stance {stance!r}, should be one of {', '.join(STANCES)}"
            )
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self._name, self._backend = stance, force_backend
        self._before = STANCE[0]
        self._stance = DEFAULT
        if stance != "default":
            self._stance = Stance(stance)
        elif force_backend is not None:
            self._stance = Stance(stance, _forced(force_backend))
        self._set(self._stance)

    def _set(self, stance: Stance) -> None:
        if CALLS.compiling:
            raise RuntimeError("attempted to set_stance in a torch.compile region")
        STANCE[0] = stance

    def __enter__(self) -> None:
        self._set(self._stance)

    def _leave(self) -> None:
        STANCE[0] = self._before

    __exit__ = leaving(_leave)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with the stance while it runs."""
        self._leave()

        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self._name, force_backend=self._backend):
                return fn(*args, **kwargs)

        return call


def _forced(backend: str | GraphBackend) -> Callable[[Any, bool], Callable[..., Any]]:
    """Makes functions for a backend that a stance asks for."""
    calls = _calls_with(function_of(backend, None, None))
    return lambda fn, fullgraph: calls(fn, fullgraph=fullgraph, forced=True)


def _calls_with(backend: GraphBackend | None) -> Callable[..., Any]:
    """What makes of a function one whose calls are compiled by a backend; None for our own."""
    if backend is None:
        return compiled_call
    from .compiled_graphs import graph_call

    return functools.partial(graph_call, backend=backend)
