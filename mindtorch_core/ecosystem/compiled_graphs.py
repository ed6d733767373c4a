"""Backends of `torch.compile` that are functions of a graph: what they are given, and what they give."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import mindtorch_core as torch

from ..deferred import current_pipeline
from ..deferred.frames import user_place
from ..dispatch.keys import MASKS
from ..tensors.tensor import Tensor
from ..values.references import LOOK
from .compiled_calls import CALLS, generation, tensors_among
from .compiled_limits import Kinds
from .compiled_recording import Call, Recorder, Segment, Value
from .compiled_stances import DEFAULT, STANCE, Called
from .compiler_backends import GraphBackend
from .compiler_errors import BackendCompilerFailed, Unsupported
from .compiler_settings import COUNTERS

__all__ = ["graph_call", "graph_of"]

_F = TypeVar("_F", bound=Callable[..., Any])
_KEPT: Final = 64  # graphs of a function
_ITEMS: Final = 100  # of a container whose tensors get names


def graph_call(
    fn: _F,
    backend: GraphBackend,
    *,
    fullgraph: bool = False,
    broken: Callable[[str], object] | None = None,
    forced: bool = False,
    dynamic: bool | None = None,
    recompile_limit: int | None = None,
) -> _F:
    """A function whose calls are graphs, which a backend has compiled.

    Its Python code runs in each call, with tensors that are still to come: so what it does besides is done
    each time, and what it does otherwise than before makes another graph. A graph that comes again is not
    compiled again. Where values are wanted, a graph ends, runs, and the next one begins.

    Args:
        fn: the function.
        backend: is given each new graph with its inputs: tensors, among them the parameters that it uses.
        fullgraph: raise `Unsupported` where one graph is not enough.
        broken: is told why graphs end before the function does.
        forced: whether a stance has asked for this.
        dynamic: whether sizes count as kinds of arguments.
        recompile_limit: how many kinds of arguments there may be.
    """
    compiled: OrderedDict[Any, tuple[list[Call], Callable[..., Any]]] = OrderedDict()
    known = [generation()]
    called = Called(fn, fullgraph, forced)
    kinds = Kinds(fn, fullgraph, dynamic, recompile_limit)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if CALLS.disabled or current_pipeline() is not None:
            return fn(*args, **kwargs)
        if STANCE[0] is not DEFAULT and (instead := called.instead()) is not None:
            return instead(*args, **kwargs)
        if known[0] != generation():
            compiled.clear()
            kinds.forget()
            known[0] = generation()
        if STANCE[0] is DEFAULT:  # others say themselves what is not compiled
            kinds.meet(MASKS.keep, tensors_among(args, kwargs))

        def run(segment: Segment) -> list[Tensor]:
            key = _key_of(segment)
            found = compiled.get(key)
            if found is None:
                if called.is_left(lambda: _shown(segment)):
                    return _results(graph_of(segment, {}).forward, segment)
                names = dict(reversed([*_names(fn, args, kwargs)]))  # the first for each counts
                found = segment.calls, _compiled(backend, segment, names)
                compiled[key] = found  # whose calls keep what the key names by identity
                if len(compiled) > _KEPT:
                    compiled.popitem(last=False)
            return _results(found[1], segment)

        def breaks(wanted: str) -> None:
            line = "{}:{}".format(*user_place())
            reason = f"{wanted.strip('_')}() at {line}"
            COUNTERS["graph_break"][reason] += 1
            if broken is not None:
                broken(reason)
            if fullgraph:
                raise Unsupported(
                    f"torch.compile(fullgraph=True): {getattr(fn, '__qualname__', fn)} cannot be one graph: "
                    f"{reason} wants values before its end"
                )

        COUNTERS["frames"]["total"] += 1
        result = _recorded(Recorder(run, breaks), fn, args, kwargs)
        COUNTERS["frames"]["ok"] += 1
        return result

    call._torchdynamo_orig_callable = fn  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]  # of the same signature


def _recorded(recorder: Recorder, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function whose calls are recorded, and have all of them run."""
    before = CALLS.compiling
    CALLS.recorder, CALLS.compiling, CALLS.disabled = recorder, "parts", True
    try:
        try:
            with recorder:
                result = fn(*args, **kwargs)
        except BaseException:
            recorder.run(None)  # what came before has been called
            raise
        recorder.run(None)
    finally:
        CALLS.disabled, CALLS.recorder, CALLS.compiling = False, None, before
    return result


def _key_of(segment: Segment) -> Any:
    calls = [(c.kind, c.target, repr(c.args), repr(c.kwargs), c.outs) for c in segment.calls]
    inputs = [
        (type(t), t._shape, t._geometry()[0], t._dtype, t._device, t.requires_grad)
        for t in segment.inputs
    ]
    return (*calls, *inputs, *segment.outs, segment.masks)


def _shown(segment: Segment) -> str:
    """What a graph has that was not compiled."""
    inputs = ", ".join(f"{[*t.shape]} {t.dtype}" for t in segment.inputs)
    return f"a graph of {len(segment.calls)} calls on ({inputs}) was not compiled before"


def _compiled(backend: GraphBackend, segment: Segment, names: dict[int, str]) -> Callable[..., Any]:
    """What a backend makes of a graph.

    Raises:
        BackendCompilerFailed: if it fails.
    """
    made = graph_of(segment, names)
    COUNTERS["stats"]["calls_captured"] += len(segment.calls)
    COUNTERS["stats"]["unique_graphs"] += 1
    try:
        found = backend(made, [*segment.inputs])
        assert callable(found), "compiler_fn did not return callable"
    except Exception as error:
        if torch._dynamo.config.suppress_errors:  # type: ignore[attr-defined]
            return made.forward  # type: ignore[no-any-return]
        raise BackendCompilerFailed(backend, error) from error
    return found


def _results(compiled: Callable[..., Any], segment: Segment) -> list[Tensor]:
    """What a compiled graph gives: tensors that nobody else holds.

    Raises:
        RuntimeError: if that is not what the graph returns.
    """
    given = compiled(*segment.inputs)
    found = [*given] if isinstance(given, list | tuple) else [given]
    wanted = len(segment.outs)
    if len(found) != wanted or not all(isinstance(t, Tensor) for t in found):
        kinds = ", ".join(type(t).__name__ for t in found)
        raise RuntimeError(
            f"a graph that torch.compile() had compiled returns {wanted} tensors; what its backend made of "
            f"it gave {kinds or 'nothing'}"
        )
    del given
    for i in range(wanted):
        if sys.getrefcount(found[i]) > 1 + LOOK or LOOK < 0:  # somebody has it: an input, a cache
            found[i] = torch.ops.aten.alias(found[i])
    return found


def graph_of(segment: Segment, names: dict[int, str]) -> Any:
    """A recorded graph as a `torch.fx.GraphModule`, whose arguments are all tensors that it reads.

    Args:
        segment: the calls.
        names: of its inputs, by their identities.
    """
    from .fx.graph import Graph
    from .fx.graph_module import GraphModule

    graph = Graph()
    nodes: dict[int, Any] = {}

    def written(value: Any) -> Any:
        kind = value.__class__
        if kind is list or kind is tuple:
            return kind([written(v) for v in value])
        if kind is dict:
            return {k: written(v) for k, v in value.items()}
        if kind is slice:
            return slice(*map(written, (value.start, value.stop, value.step)))
        return nodes[value] if kind is Value else value

    for n, t in enumerate(segment.inputs):
        name = names.get(id(t), f"L_tensor_{n}_")
        node = graph.create_node("placeholder", name, name=name.lower(), type_expr=type(t))
        like = torch.empty_strided(t._shape, t._geometry()[0], dtype=t._dtype, device="meta")
        node.meta["example_value"] = like  # no tensor of the program's outlives its call here
        nodes[-1 - n] = node
    for call in segment.calls:
        node = graph.create_node(call.kind, call.target, written(call.args), written(call.kwargs))
        if isinstance(call.outs, tuple):
            for i, value in enumerate(call.outs):
                if value not in nodes:
                    nodes[value] = graph.call_function(operator.getitem, (node, i))
        else:
            nodes.setdefault(call.outs, node)
    graph.output(tuple([nodes[value] for value in segment.outs]))
    graph.lint()
    return GraphModule(torch.nn.Module(), graph)


# ---- names of inputs, as PyTorch's compiler writes them ------------------------------------------


def _names(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Names of the tensors that a function can reach, by what reaches them: arguments first."""
    owner = getattr(fn, "__self__", None)
    plain = inspect.unwrap(getattr(owner, "forward", fn))
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    try:
        given = inspect.signature(plain).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {"args": args, **kwargs}
    for name, value in given.items():
        yield from _named(f"L_{name}", value)
    if code is None:
        return
    if owner is not None and code.co_argcount:
        yield from _named(f"L_{code.co_varnames[0]}", owner)
    for name, cell in zip(code.co_freevars, plain.__closure__ or (), strict=False):
        yield from _named(f"L_{name}", _content(cell))
    for name in code.co_names:
        yield from _named(f"G_{name}", plain.__globals__.get(name))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _named(name: str, value: Any, within: int = 3) -> Iterator[tuple[int, str]]:
    """Names of the tensors in a value, of which containers hold others only so deep."""
    if isinstance(value, Tensor):
        yield id(value), f"{name}_"
    elif isinstance(value, list | tuple | dict) and within and len(value) <= _ITEMS:
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in inner:
            yield from _named(f"{name}_{key}", each, within - 1)
    elif isinstance(value, torch.nn.Module):
        for kind, found in (
            ("parameters", value.named_parameters()),
            ("buffers", value.named_buffers()),
        ):
            for path, t in found:
                *modules, last = path.split(".")
                between = "".join(f"_modules_{m}" for m in modules)
                yield id(t), f"{name}{between}_{kind}_{last}_"
