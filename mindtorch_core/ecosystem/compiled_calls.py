"""Calls of what `torch.compile` was given: each is a block of a pipeline, which replays what it knows."""

from __future__ import annotations

import functools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final, TypeVar

from ..deferred import Pipeline, current_pipeline, pipeline_context
from ..deferred.replay.sites import Site
from ..dispatch.keys import MASKS, DispatchKeySet
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_iter
from ..values.errors import PipelineError
from .compiled_handlers import catches
from .compiled_limits import Kinds
from .compiled_looks import Looks
from .compiled_skipped import Skipped
from .compiled_stances import DEFAULT, STANCE, Called
from .compiler_errors import Unsupported, UserError
from .compiler_settings import COUNTERS

__all__ = [
    "CALLS",
    "compiled_call",
    "generation",
    "refuse_in_fullgraph",
    "reset",
    "tensors_among",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_LEARNING: Final = 4  # calls until a known trace is replayed
_TRIALS: Final = 3  # of each way, for the choice between them
_VARIANTS: Final = 16  # by shapes and dtypes of the arguments


class _Calls(threading.local):
    """How compiled functions are called in a thread.

    Attributes:
        disabled: whether a function is running for which compilation is switched off.
        compiling: ``parts`` while a compiled function is running, ``fullgraph`` where it is to be one graph.
        recorder: what records graphs of the function that is running, if something does.
    """

    disabled = False
    compiling = ""
    recorder: Any = None


CALLS: Final = _Calls()
_RESET: Final = [0]  # how often everything was forgotten


def reset() -> None:
    """Forget what compiled functions know of their calls."""
    _RESET[0] += 1


def generation() -> int:
    """How often everything was forgotten."""
    return _RESET[0]


class _Variant:
    """What is known of calls with arguments of certain shapes.

    Attributes:
        site: the block.
        calls: how many there were.
        seconds: least time of a call, as a block and as it is.
        plain: whether the plain call is the quicker one; None until that is known.
        always: whether it has to be the plain one: errors of ops may be caught within.
    """

    __slots__ = ("always", "calls", "plain", "seconds", "site")

    def __init__(self) -> None:
        self.always = False
        self.site = Site(self)
        self.calls = 0
        self.seconds = [float("inf"), float("inf")]
        self.plain: bool | None = None

    def next_is_plain(self) -> bool:
        """Whether the next call is to be the plain one."""
        if self.plain is None and self.calls >= _LEARNING + 2 * _TRIALS:
            self.plain = self.seconds[1] < self.seconds[0]
        if self.plain is not None:
            return self.plain
        return self.calls >= _LEARNING and self.calls % 2 == 1

    def took(self, plain: bool, seconds: float) -> None:
        """Note how long a call took."""
        if self.calls >= _LEARNING:
            self.seconds[plain] = min(self.seconds[plain], seconds)
        self.calls += 1


def compiled_call(
    fn: _F,
    *,
    fullgraph: bool = False,
    forced: bool = False,
    dynamic: bool | None = None,
    recompile_limit: int | None = None,
) -> _F:
    """A function that calls another one as a block.

    Its results are those of the function. Which of both is quicker, the block or the plain call, is
    tried in the first calls with arguments of the same shapes. A function that catches errors, itself or
    in what it calls, is called as it is: in a block the errors that depend on values would come later.

    Args:
        fn: the function.
        fullgraph: raise if a call cannot be one block.
        forced: whether a stance has asked for this.
        dynamic: whether sizes count as kinds of arguments.
        recompile_limit: how many kinds of arguments there may be.
    """
    variants: OrderedDict[Any, _Variant] = OrderedDict()
    called = Called(fn, fullgraph, forced)
    kinds = Kinds(fn, fullgraph, dynamic, recompile_limit)
    generation = _RESET[0]

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal generation
        if CALLS.disabled or current_pipeline() is not None:
            return fn(*args, **kwargs)
        if STANCE[0] is not DEFAULT and (instead := called.instead()) is not None:
            return instead(*args, **kwargs)
        if generation != _RESET[0]:
            variants.clear()
            kinds.forget()
            generation = _RESET[0]
        tensors = tensors_among(args, kwargs)
        key = (MASKS.keep, *[(t._shape, t._dtype, t._keys) for t in tensors])
        variant = variants.get(key)
        if variant is None:
            if not CALLS.compiling and called.is_left(lambda: _difference(key, variants)):
                return fn(*args, **kwargs)
            kinds.meet(MASKS.keep, tensors)
            variant = variants[key] = _Variant()
            if len(variants) > _VARIANTS:
                variants.popitem(last=False)
            if catches(fn, *args, *kwargs.values()):
                variant.always = True
        plain = variant.always or (not fullgraph and variant.next_is_plain())
        before = CALLS.compiling
        start = time.perf_counter()
        CALLS.compiling = "fullgraph" if fullgraph else "parts"
        try:
            result = fn(*args, **kwargs) if plain else _block(fn, variant, fullgraph, args, kwargs)
        finally:
            CALLS.compiling = before
        variant.took(plain, time.perf_counter() - start)
        return result

    call._torchdynamo_orig_callable = fn  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]  # of the same signature


def _block(
    fn: Callable[..., Any],
    variant: _Variant,
    fullgraph: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    watched = _pipeline(variant.site) if fullgraph or not variant.calls else None
    if not variant.calls:
        COUNTERS["frames"]["total"] += 1
    looks = Looks(refuse_in_fullgraph) if fullgraph else None
    skipped: Any = nullcontext()
    if fullgraph and not variant.calls:
        skipped = Skipped(refuse_in_fullgraph, tensors_among(args, kwargs))
    try:
        with (
            _pipeline(variant.site) if watched is None else watched,
            looks or nullcontext(),
            skipped,
        ):
            result = fn(*args, **kwargs)
    except PipelineError as error:
        cause = error.__cause__
        if cause is None:
            raise
        cause.add_note(f"{error.op} was called at {error.location}")
        raise cause from None
    lines, numbers = (
        ([], False) if looks is None or watched is None else looks.ends_of_graphs(watched)
    )
    if lines:
        raise (UserError if numbers else Unsupported)(
            f"torch.compile(fullgraph=True): {getattr(fn, '__qualname__', fn)} cannot be one graph, "
            f"as it looks at values before its end: {', '.join(lines)}"
        )
    if watched is not None and not variant.calls:
        _count(watched.stats())
    return result


def refuse_in_fullgraph(what: str, numbers: bool = False) -> None:
    """Refuse what ends a graph where a function is to be one.

    Args:
        what: it.
        numbers: whether numbers or sizes that depend on data are the cause.

    Raises:
        Unsupported: in a call of such a function.
    """
    if CALLS.compiling == "fullgraph":
        raise (UserError if numbers else Unsupported)(
            f"torch.compile(fullgraph=True): {what}: a graph ends there"
        )


def _pipeline(site: Site) -> Pipeline:
    """A pipeline for a block; one that nobody else holds serves the next block too."""
    pipe = pipeline_context()
    pipe.place = site
    return pipe


def _count(stats: dict[str, Any]) -> None:
    """Count the first call with arguments of certain shapes."""
    COUNTERS["frames"]["ok"] += 1
    COUNTERS["stats"]["calls_captured"] += stats["recorded"]
    COUNTERS["stats"]["unique_graphs"] += stats["flushes"]
    for line, times in stats["flush_lines"].items():
        if not line.startswith("end of block"):
            COUNTERS["graph_break"][line] += times


def tensors_among(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors among arguments, in containers too."""
    tensors: list[Tensor] = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            tensors.append(value)
        else:
            tensors += [t for t in tree_iter(value) if isinstance(t, Tensor)]
    return tensors


def _difference(key: Any, variants: OrderedDict[Any, _Variant]) -> str:
    """What a call's arguments have that those of the last one have not."""
    if not variants:
        return "nothing was compiled before"
    known = next(reversed(variants))
    if len(known) != len(key):
        return f"there are {len(key) - 1} tensors among the arguments, before there were {len(known) - 1}"
    for n, (now, before) in enumerate(zip(key[1:], known[1:], strict=True)):
        if now[:2] != before[:2]:
            (shape, dtype, _), (old_shape, old_dtype, _) = now, before
            return (
                f"tensor {n} of the arguments is {[*shape]} {dtype}, "
                f"before it was {[*old_shape]} {old_dtype}"
            )
        if now != before:
            masks = map(DispatchKeySet.from_mask, (now[2], before[2]))
            return "tensor {} of the arguments has the {}, before it had the {}".format(n, *masks)
    return "gradients are recorded, or functions transformed, in another way than before"
