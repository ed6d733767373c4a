"""Recording: the Pipeline key's kernel, one for all ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.choice import choose
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import BACKENDS, MASKS, DispatchKey, with_masks
from ..dispatch.opdef import OpDef
from ..dispatch.registry import registry
from ..dispatch.schema import OperatorSchema
from ..dispatch.whole import by_parts_because
from ..dispatch.written import written, written_places
from ..random import BEFORE_POSITION
from ..tensors.storage import BEFORE_EXPORT
from ..tensors.tensor import Tensor, make_tensor
from ..values.devices import TABLE, DeviceRow, concrete
from ..values.errors import BackendUnavailableError
from .blocks import STACK, current_pipeline, flush_current, flush_draws, resume_all, resume_readers
from .context import USED_ELSEWHERE
from .demand import release_key
from .failures import FAILURES, failure_in
from .observers import BESIDE
from .programs.planned import compiles
from .recorders import make_recorder
from .results import moved
from .settling import plain
from .telling import TELLING
from .trace import COPIES, RecordedOp, tensors_of

__all__ = ["pipeline_kernel", "serve_key"]

_NUMBERS: Final = frozenset({"Tensor", "Scalar", "float"})


def pipeline_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Pipeline key runs for an op; None where there is nothing to defer.

    Compositions are passed on: the ops they are made of are recorded instead.
    """
    backends = below_mask & BACKENDS
    if not backends:
        return None
    backend = DispatchKey(1 << (backends.bit_length() - 1))
    row = next((r for r in TABLE.rows() if r.key == backend), None)
    if row is None or not row.runtime.executes:
        return None
    d = entry.definition
    moves = d is not None and d.traits.moves
    fallback = False
    if not (moves or _deferrable(entry, backend)):
        below = resolve(below_mask)
        fallback = choose(entry, backend).rule == "fallback"
        if not fallback:
            return _passed_on(below)
        if not compiles(row.runtime):
            return _breaking(below, f"{entry.name}: not computed by {row.type}", entry)
    meta, composed = moved if moves else _shapes_of(entry, backend, resolve), None
    if d is not None and d.decomposition is not None and not moves:
        composed = _passed_on(d.decomposition)
        composed.__wrapped__ = d.decomposition  # type: ignore[attr-defined]  # for explanations
        if meta is None:
            return composed
    below = resolve(below_mask)
    if meta is None or (d is not None and d.traits.data_dependent):
        dependent = d is not None and d.traits.data_dependent
        why = "shape depends on data" if dependent else "no meta kernel"
        return _breaking(below, f"{entry.name}: {why}", entry)
    op = _recorded(entry, backend, row, below, fallback)
    if fallback and not op.compiled:
        return _breaking(below, f"{entry.name}: not computed by {row.type}", entry)
    writes, places = op.writes, written_places(entry.schema)
    crosses = d is not None and d.operands.crosses_devices is True
    if moves or (crosses and writes and backends != backend):
        op.compiled, op.share = False, COPIES

    def elsewhere(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run at once: the thread has no pipeline, but other threads have, or a value is missing."""
        _told_beside(entry.name)
        _settle(args, kwargs)
        if writes and STACK.left:
            for t in written(places, args, kwargs):
                resume_readers(t)
        return below(*args, **kwargs)

    recorder = make_recorder(entry, op, meta, row, elsewhere, together=backends == backend)
    if moves:
        return _to_data(recorder, below)
    if d is not None and d.apart is not None and composed is not None:
        return _apart(recorder, composed, d.apart.record)
    if composed is None or (d is not None and d.rule is not None) or backend in entry.metas:
        return recorder
    return _or_by_parts(recorder, composed)


def _recorded(
    entry: OpEntry, backend: DispatchKey, row: DeviceRow, below: Kernel, fallback: bool
) -> RecordedOp:
    """What all recordings of an op share."""
    d, schema, runtime = entry.definition, entry.schema, row.runtime
    op = RecordedOp(
        entry.name, row.type, _plainly(below, d), entry.plans.get(backend), d,
        kernel=entry.kernels.get(backend), writes=schema is not None and schema.is_mutable,
        view=d is not None and d.traits.view, numbers=_numbers_of(schema, d), fallback=fallback,
    )  # fmt: skip
    op.compiled = compiles(runtime) and runtime.compiles(op)
    op.share = row.type, op.compiled and runtime.compiles_at_once
    op.remakes = op.elementwise and runtime.remakes(op)
    return op


def _plainly(below: Kernel, d: OpDef | None) -> Kernel:
    """What runs an op: a third party's may return what is read as the conjugate of what it holds."""
    if d is not None:
        return below

    def impl(*args: Any, **kwargs: Any) -> Any:
        return plain(below(*args, **kwargs))

    return impl


def _told_beside(name: str) -> None:
    """Take the key out if it is not needed, and tell who listens of an op that no pipeline records."""
    release_key()
    for note in BESIDE:
        note(name)


def _to_data(recorder: Kernel, below: Kernel) -> Kernel:
    """Record what moves a tensor to a device that has data, where the pipeline goes through backward.

    In others, copies are where values are looked at; on devices without data nothing can be pending.
    """

    def record(self: Tensor, device: Any) -> Any:
        pipe = current_pipeline()
        deferred = pipe is not None and pipe.through_backward
        if deferred and TABLE[concrete(device).type].runtime.executes:
            return recorder(self, device)
        keep = MASKS.keep & ~DispatchKey.Pipeline
        return with_masks(MASKS.include, keep, below, self._settled(), device)

    return record


class _NoShapeError(Exception):
    """A composition does not tell the shapes of its results: it fails, or asks for elements."""


def _or_by_parts(recorder: Kernel, composed: Kernel) -> Kernel:
    """Record a backend's own kernel for a composition, or its parts, which then say what is wrong."""

    def record(*args: Any, **kwargs: Any) -> Any:
        try:
            return recorder(*args, **kwargs)
        except _NoShapeError:
            return composed(*args, **kwargs)

    return record


def _apart(recorder: Kernel, composed: Kernel, record: Callable[..., Any]) -> Kernel:
    """Record an op that writes without saying so as one that does not, and the writes by other ops."""

    def record_apart(*args: Any, **kwargs: Any) -> Any:
        return record(recorder, composed, *args, **kwargs)

    return record_apart


def _numbers_of(schema: OperatorSchema | None, d: OpDef | None) -> frozenset[int | str]:
    """Positions and names of the arguments that are numbers to compute with, or may be.

    Not those of ops whose results may have other shapes with other numbers, as those of `arange`.
    """
    found: set[int | str] = set()
    if schema is None or not (
        (schema.is_mutable and all(r.alias for r in schema.returns))
        or (d is not None and ("pointwise" in d.tags or d.traits.free_numbers))
    ):
        return frozenset()
    for i, a in enumerate(schema.arguments):
        if a.type in _NUMBERS and not a.is_list:
            found |= {a.name} if a.kwarg_only else {i, a.name}
    return frozenset(found)


def _passed_on(below: Kernel) -> Kernel:
    """What runs a composition: one that asks for no value would not see that a value has failed."""

    def composed(*args: Any, **kwargs: Any) -> Any:
        if FAILURES:
            failed = failure_in(args, kwargs)
            if failed is not None:
                failed.flush_because(USED_ELSEWHERE)
        return below(*args, **kwargs)

    composed.__doc__ = "nothing to defer: a composition, whose ops are recorded instead"
    return composed


def _deferrable(entry: OpEntry, backend: DispatchKey) -> bool:
    """Whether an op is recorded as a whole: it has a kernel of its own, or is a view.

    A third party's op is one thing too where it has one kernel for all devices and tells the shapes
    of its results.
    """
    d = entry.definition
    if backend in entry.kernels or (d is not None and d.traits.view):
        return True
    everywhere = DispatchKey.CompositeExplicitAutograd in entry.kernels
    return d is None and everywhere and DispatchKey.Meta in entry.kernels


def _shapes_of(
    entry: OpEntry, backend: DispatchKey, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What tells the shapes and dtypes of an op's results; None if nothing does.

    It is the backend's own meta function, the definition's rule, the kernel at the Meta key, or what
    the op is made of, run on meta tensors.
    """
    d = entry.definition
    found = entry.metas.get(backend) or (d.rule if d is not None else None)
    if found is None and d is not None and d.apart is not None:
        return d.apart.rule
    # A composition that writes into arguments without saying so must not be taken for one that only reads.
    silent = d is None or d.remade is not None or by_parts_because(entry)
    if found is not None or (silent and DispatchKey.Meta not in entry.kernels):
        return found
    if d is not None and d.traits.data_dependent:
        return None
    schema = entry.schema
    silent_writes = schema is not None and schema.is_mutable and not _calls_in_place(entry, schema)
    if d is None and schema is not None and (silent_writes or not schema.returns):
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

    def shapes(*args: Any, **kwargs: Any) -> Any:
        return kernel(*map(twin, args), **{k: twin(v) for k, v in kwargs.items()})

    if DispatchKey.Meta in entry.kernels:
        return shapes

    def shapes_of_parts(*args: Any, **kwargs: Any) -> Any:
        try:
            keep = MASKS.keep & ~DispatchKey.Pipeline
            return with_masks(MASKS.include, keep, shapes, *args, **kwargs)
        except Exception as error:
            raise _NoShapeError from error

    return shapes_of_parts


def _calls_in_place(entry: OpEntry, schema: OperatorSchema) -> bool:
    """Whether an op calls other processes, which records no gradients, and gives the tensors that it writes.

    A third party's kernel may be made of ops that record.
    """
    written = [a.alias for a in schema.arguments if a.alias is not None and a.alias.is_write]
    return entry.name in TELLING and [r.alias for r in schema.returns] == written


def _breaking(below: Kernel, reason: str, entry: OpEntry) -> Kernel:
    """Run an op that cannot be deferred, with the ops it is made of: flush first, count it."""
    d = entry.definition
    contained = d is not None and not d.traits.random

    def run_at_once(*args: Any, **kwargs: Any) -> Any:
        pipe = current_pipeline()
        if pipe is not None:
            operands = [*tensors_of((*args, *kwargs.values()))] if contained else None
            pipe.break_off(reason, operands)
        else:
            resume_all()
        _settle(args, kwargs)
        keep = MASKS.keep & ~DispatchKey.Pipeline
        return with_masks(MASKS.include, keep, below, *args, **kwargs)

    run_at_once.__doc__ = f"flushes the pipeline and runs the op at once ({reason})"
    return run_at_once


def _settle(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for t in tensors_of((*args, *kwargs.values())):
        t._settled()


def serve_key() -> None:
    """Serve the Pipeline key, and tell whoever asks what the shapes of an op's results are."""
    registry.wrappers[DispatchKey.Pipeline] = pipeline_kernel
    registry.shapes_of = _shapes_of
    registry.looked_at_later |= DispatchKey.Pipeline
    BEFORE_EXPORT.append(flush_current)
    BEFORE_POSITION.append(flush_draws)
