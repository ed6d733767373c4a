"""Recording: the Pipeline key's kernel, one for all ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...devices import TABLE, concrete
from ...errors import BackendUnavailableError
from ...operators.variants import check_inplace_result
from ...shapes import numel
from ...storage import BEFORE_EXPORT, Storage
from ...tensor import Tensor, make_tensor, make_view
from ..entry import Kernel, OpEntry
from ..keys import AUTOGRAD, BACKENDS, DispatchKey, exclude_keys
from ..opdef import OpDef
from ..registry import registry
from .context import USED_ELSEWHERE, Pipeline, current_pipeline, flush_current
from .frames import user_line
from .recorders import make_recorder, recordable
from .trace import Entry, RecordedOp, tensors_of

__all__ = ["install", "pipeline_kernel"]


def pipeline_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Pipeline key runs for an op; None where there is nothing to defer.

    Compositions fall through: the ops they are made of are recorded instead.
    """
    backends = below_mask & BACKENDS
    if not backends:
        return None
    backend = DispatchKey(1 << (backends.bit_length() - 1))
    row = next((r for r in TABLE.values() if r.key == backend), None)
    if row is None or not row.runtime.executes:
        return None
    d = entry.definition
    if not _deferrable(entry, backend):
        return None
    meta = _shapes_of(entry, backend, resolve)
    if meta is None and d is not None and d.decomposition is not None:
        return d.decomposition
    below = resolve(below_mask)
    if meta is None or (d is not None and d.data_dependent):
        dependent = d is not None and d.data_dependent
        why = "shape depends on data" if dependent else "no meta kernel"
        return _breaking(below, f"{entry.name}: {why}")
    schema = entry.schema
    writes = schema is not None and schema.is_mutable
    view = d is not None and d.view
    plan, kernel = entry.plans.get(backend), entry.kernels.get(backend)
    op = RecordedOp(entry.name, below, plan, d, kernel=kernel, writes=writes, view=view)

    def elsewhere(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run at once: the pipeline is another thread's."""
        _settle(args, kwargs)
        return below(*args, **kwargs)

    if schema is not None and not view and backends == backend and recordable(schema):
        return make_recorder(entry, schema, op, meta, row, elsewhere)
    lists = schema is None or any(a.is_list for a in schema.arguments)
    return _recorder(op, meta, elsewhere, lists=lists)


def _own(value: Any) -> Any:
    """A list of its own for an entry: the user may change the one that was passed."""
    return list(value) if value.__class__ is list else value


def _recorder(
    op: RecordedOp, meta: Kernel, elsewhere: Callable[..., Any], *, lists: bool
) -> Kernel:
    """The recorder of ops that no generated one serves: views, writes, several results, lists.

    Args:
        op: what its recordings share.
        meta: tells shapes and dtypes of the results.
        elsewhere: runs the op at once, for threads that have no pipeline.
        lists: whether it takes lists.
    """

    def record(*args: Any, **kwargs: Any) -> Any:
        pipe = current_pipeline()
        if pipe is None:
            return elsewhere(args, kwargs)
        if lists:
            args = tuple(map(_own, args))
            kwargs = {k: _own(v) for k, v in kwargs.items()}
        with pipe.lock:
            if len(pipe.entries) >= pipe.max_ops or pipe.nbytes >= pipe.max_bytes:
                pipe.make_room()
            for t in tensors_of((*args, *kwargs.values())):
                s = t._storage
                if s is not None and s.pending is not None and s.pending is not pipe:
                    s.pending.flush_because(USED_ELSEWHERE)
            spec = meta(*args, **kwargs)
            outs: tuple[Tensor, ...]
            if op.writes:
                outs = (_written(pipe, args[0], spec),)
            elif op.view:
                outs = (_viewed(pipe, args[0], spec, op.definition),)
            elif isinstance(spec, tuple):
                outs = tuple(_fresh(pipe, s, args, kwargs) for s in spec if s is not None)
            else:
                outs = (_fresh(pipe, spec, args, kwargs),)
            pipe.entries.append(Entry(op, args, kwargs, outs, *user_line()))
        if not isinstance(spec, tuple):
            return outs[0]
        # A tuple of its own: what only the entry's tuple holds is what nobody can see.
        return (*outs,) if len(outs) == len(spec) else _with_gaps(spec, outs)

    return record


def _with_gaps(specs: tuple[Any, ...], outs: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
    """Results where there is one: a gradient that nobody asked for is None."""
    rest = iter(outs)
    return tuple(None if spec is None else next(rest) for spec in specs)


def _deferrable(entry: OpEntry, backend: DispatchKey) -> bool:
    """Whether an op is recorded as a whole: it has a kernel of its own, or is a view.

    A third party's op is one thing too where it has one kernel for all devices and tells the shapes
    of its results.
    """
    d = entry.definition
    if backend in entry.kernels or (d is not None and d.view):
        return True
    everywhere = DispatchKey.CompositeExplicitAutograd in entry.kernels
    return d is None and everywhere and DispatchKey.Meta in entry.kernels


def _shapes_of(
    entry: OpEntry, backend: DispatchKey, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What tells the shapes and dtypes of an op's results; None if nothing does.

    It is the backend's own meta function, the definition's rule, or the kernel at the Meta key.
    """
    d = entry.definition
    found = entry.metas.get(backend) or (d.rule if d is not None else None)
    if found is not None or DispatchKey.Meta not in entry.kernels:
        return found
    if d is not None and d.data_dependent:
        return None
    schema = entry.schema
    if d is None and schema is not None and (schema.is_mutable or not schema.returns):
        return None  # whatever a third party's op writes, nobody has told how
    if "dynamic_output_shape" in entry.tags:
        return None
    try:
        meta = concrete("meta")
    except BackendUnavailableError:
        return None
    kernel = resolve(int(DispatchKey.Meta))

    def twin(value: Any) -> Any:
        """A tensor of the same geometry without data; other values as they are."""
        if isinstance(value, list | tuple):
            return type(value)(map(twin, value))
        if not isinstance(value, Tensor):
            return value
        layout = value._geometry()
        keys = TABLE[meta.type].runtime.key
        return make_tensor(None, value._shape, value._dtype, meta, keys, None, layout)

    return lambda *args, **kwargs: kernel(
        *map(twin, args), **{k: twin(v) for k, v in kwargs.items()}
    )


def _breaking(below: Kernel, reason: str) -> Kernel:
    """Run an op that cannot be deferred, with the ops it is made of: flush first, count it."""

    def run_at_once(*args: Any, **kwargs: Any) -> Any:
        pipe = current_pipeline()
        if pipe is not None:
            pipe.break_off(reason)
        _settle(args, kwargs)
        with exclude_keys(DispatchKey.Pipeline):
            return below(*args, **kwargs)

    run_at_once.__doc__ = f"flushes the pipeline and runs the op at once ({reason})"
    return run_at_once


def _settle(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for t in tensors_of((*args, *kwargs.values())):
        t._settled()


def _written(pipe: Pipeline, t: Tensor, spec: Any) -> Tensor:
    """The tensor an in-place op writes: its memory is pending from now on."""
    check_inplace_result(t, spec.shape, spec.dtype)
    t._own_storage().pending = pipe
    pipe.nbytes += numel(t._shape) * t._dtype.itemsize
    return t


def _viewed(pipe: Pipeline, base: Tensor, spec: Any, d: OpDef | None) -> Tensor:
    """A view of memory that may be pending."""
    base._own_storage().pending = pipe
    strides = base._geometry()[0] if spec.strides is None else spec.strides
    view = make_view(base, spec.shape, strides, spec.offset, spec.dtype)
    if d is not None and isinstance(d.grad, str):  # detach: shares memory, is no view of its base
        view._base = None
    return view


def _fresh(pipe: Pipeline, spec: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """A pending tensor as a meta function describes it."""
    first = next(tensors_of((*args, *kwargs.values())), None)
    on = first._device if first is not None else concrete(kwargs.get("device"))
    shape = tuple(spec.shape)
    storage = Storage(None, numel(shape) * spec.dtype.itemsize, on)
    storage.pending = pipe
    pipe.nbytes += storage.size_bytes
    strides = getattr(spec, "strides", None)
    layout = None if strides is None else (tuple(strides), 0)
    keys = TABLE[on.type].runtime.key
    return make_tensor(None, shape, spec.dtype, on, keys & ~AUTOGRAD, storage, layout)


def install() -> None:
    """Serve the Pipeline key."""
    registry.wrappers[DispatchKey.Pipeline] = pipeline_kernel
    BEFORE_EXPORT.append(flush_current)
