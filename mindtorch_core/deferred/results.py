"""Pending results: the tensors that are handed out for what a recorded op will make or write."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from ..dispatch.keys import AUTOGRAD
from ..dispatch.opdef import TensorSpec
from ..dispatch.schema import OperatorSchema
from ..dispatch.written import written as arguments_written
from ..dispatch.written import written_places
from ..tensors.making import make_view
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor, make_tensor
from ..values.devices import TABLE, concrete
from ..values.memory_formats import like_strides
from ..values.promotion import check_inplace_result
from ..values.shapes import contiguous_strides, numel
from .context import USED_ELSEWHERE, Pipeline
from .trace import RecordedOp, tensors_of

__all__ = ["Memo", "Results", "flush_others", "forget_answers", "moved", "results_of"]

_BOUND: Final = 4096
_MEMOS: Final[list[weakref.ref[Memo]]] = []
Spec = tuple[tuple[int, ...], Any, Any, int]
# Given a pipeline, arguments and keyword arguments of a call: the tensors that its results go into,
# and what the call returns.
Results = Callable[[Pipeline, tuple[Any, ...], dict[str, Any]], tuple[tuple[Tensor, ...], Any]]


class Memo(dict[Any, Spec]):
    """Answers of an op's rule by shapes, dtypes, layouts and other arguments; bounded."""

    def __init__(self, rule: Callable[..., Any]) -> None:
        super().__init__()
        self.rule = rule
        _MEMOS.append(weakref.ref(self, _MEMOS.remove))

    def ask(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Spec:
        """Ask the rule, and keep its answer if the key can be looked up."""
        found = self.rule(*args, **kwargs)
        shape = tuple(found.shape)
        spec = (shape, found.dtype, _layout(found, shape), numel(shape) * found.dtype.itemsize)
        if key is not None:
            if len(self) >= _BOUND:
                self.clear()
            self[key] = spec
        return spec


def forget_answers() -> None:
    """Ask all rules anew: what they go by besides arguments changes, such as the default dtype."""
    for ref in [*_MEMOS]:
        memo = ref()
        if memo is not None:
            memo.clear()


def _layout(spec: Any, shape: tuple[int, ...]) -> Any:
    strides = getattr(spec, "strides", None)
    if strides is None and len(shape) > 1:
        strides = contiguous_strides(shape)
    return None if strides is None else (tuple(strides), 0)


def flush_others(pipe: Pipeline, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Flush what arguments wait for, where that is not the pipeline that records."""
    for t in tensors_of((*args, *kwargs.values())):
        s = t._storage
        if s is not None and s.pending is not None and s.pending is not pipe:
            s.pending.flush_because(USED_ELSEWHERE)


def results_of(op: RecordedOp, rule: Callable[..., Any], schema: OperatorSchema | None) -> Results:
    """What makes the results of a call of an op.

    Args:
        op: the op.
        rule: tells shapes and dtypes of the results.
        schema: its signature.
    """

    def viewed(
        pipe: Pipeline, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Tensor, ...], Any]:
        """A view of memory that may be pending."""
        spec, base = rule(*args, **kwargs), args[0]
        storage = base._own_storage()
        strides = base._geometry()[0] if spec.strides is None else spec.strides
        view = make_view(base, spec.shape, strides, spec.offset, spec.dtype)
        if detaches:
            view._base = None
        storage.pending = pipe  # last, as above
        return (view,), view

    def made(
        pipe: Pipeline, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Tensor, ...], Any]:
        """New tensors, as many as the rule tells of; None where it tells of none."""
        spec = rule(*args, **kwargs)
        on = _place_of(op, args, kwargs)
        if not isinstance(spec, tuple | list):
            t = _fresh(pipe, spec, on)
            return (t,), t
        outs = [None if s is None else _fresh(pipe, s, on) for s in spec]
        # A tuple of its own: what only the entry's tuple holds is what nobody can see.
        given = outs if isinstance(spec, list) else tuple(outs)
        return tuple(t for t in outs if t is not None), given

    if op.writes:
        return _writes_of(rule, schema)
    # Detaching shares memory, and gives no view of its base.
    detaches = op.definition is not None and isinstance(op.definition.grad, str)
    return viewed if op.view else made


def _writes_of(rule: Callable[..., Any], schema: OperatorSchema | None) -> Results:
    """What makes the results of a call of an op that writes arguments."""
    places = written_places(schema)
    several = schema is not None and bool(schema.returns) and schema.returns[0].is_list

    def written_only(
        pipe: Pipeline, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Tensor, ...], Any]:
        """All tensors that an op without results writes."""
        rule(*args, **kwargs)
        outs = tuple(arguments_written(places, args, kwargs))
        storages = [t._own_storage() for t in outs]
        pipe.nbytes += sum(numel(t._shape) * t._dtype.itemsize for t in outs)
        for storage in storages:
            storage.pending = pipe
        return outs, None

    def written(
        pipe: Pipeline, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Tensor, ...], Any]:
        """The tensor that an in-place op writes: its memory is pending from now on."""
        spec, t = rule(*args, **kwargs), args[0]
        check_inplace_result(t, spec.shape, spec.dtype)
        storage = t._own_storage()
        pipe.nbytes += numel(t._shape) * t._dtype.itemsize
        storage.pending = pipe  # last: until it is recorded, no interrupt comes between
        return (t,), t

    def written_and_given(
        pipe: Pipeline, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Tensor, ...], Any]:
        """The tensors that an op writes and gives: of a list, or one that is no first argument."""
        spec = rule(*args, **kwargs)
        outs = tuple(arguments_written(places, args, kwargs))
        for t, each in zip(outs, spec if several else (spec,), strict=True):
            check_inplace_result(t, each.shape, each.dtype)
        storages = [t._own_storage() for t in outs]
        pipe.nbytes += sum(numel(t._shape) * t._dtype.itemsize for t in outs)
        for storage in storages:
            storage.pending = pipe
        return outs, [*outs] if several else outs[0]

    if schema is not None and not schema.returns:
        return written_only
    if schema is None or len(places) > 1:
        return written
    first = not several and places[0] == (0, schema.arguments[0].name)
    return written if first else written_and_given


def _place_of(op: RecordedOp, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The device on which an op makes its results."""
    if op.moves:
        return concrete(kwargs["device"] if kwargs else args[1])
    first = next(tensors_of((*args, *kwargs.values())), None)
    return first._device if first is not None else concrete(kwargs.get("device"))


def moved(self: Tensor, device: Any) -> TensorSpec:
    """What a tensor becomes on another device: dense, its dimensions in the order that they have."""
    shape = self._shape
    strides = like_strides(shape, self._geometry()[0])
    plain = strides == contiguous_strides(shape) or not numel(shape)
    return TensorSpec(shape, self._dtype, None if plain else strides)


def _fresh(pipe: Pipeline, spec: Any, on: Any) -> Tensor:
    """A pending tensor as a rule describes it."""
    shape = tuple(spec.shape)
    storage = Storage(None, numel(shape) * spec.dtype.itemsize, on)
    storage.pending = pipe
    pipe.nbytes += storage.size_bytes
    keys = TABLE[on.type].runtime.key
    return make_tensor(None, shape, spec.dtype, on, keys & ~AUTOGRAD, storage, _layout(spec, shape))
