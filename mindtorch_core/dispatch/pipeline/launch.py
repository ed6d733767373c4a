"""Launching recorded ops and settling their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ...errors import PipelineError
from ...shapes import show
from ...tensor import Tensor
from ..adapters import tensors_in
from ..entry import Kernel
from ..keys import AUTOGRAD, MASKS, DispatchKey, set_masks

__all__ = ["Entry", "run"]


@dataclass(slots=True)
class Entry:
    """One recorded op.

    Attributes:
        op: qualified name.
        impl: the backend's kernel.
        plan: the backend's plan function for the op, or None. Called with the op's arguments, whose
            values may still be pending; returns a function without arguments that gives the result.
        args, kwargs: arguments.
        outs: tensors that the results go into.
        location: code object and instruction of the user's call.
    """

    op: str
    impl: Kernel
    plan: Kernel | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Tensor, ...]
    location: tuple[CodeType, int]


class Failed:
    """Stands in a storage's ``pending`` for a value that could not be computed."""

    __slots__ = ("error",)

    def __init__(self, error: PipelineError) -> None:
        self.error = error

    def flush(self) -> None:
        """Raise the error that prevented the value."""
        raise PipelineError(str(self.error), op=self.error.op, location=self.error.location) from (
            self.error.__cause__
        )


def run(entries: list[Entry]) -> None:
    """Launch entries in program order, below Autograd and the pipeline itself.

    An op that fails does not stop those that do not depend on it.

    Raises:
        PipelineError: from the first failure, at the end.
    """
    kept = (MASKS.include, MASKS.keep)
    set_masks(kept[0], kept[1] & ~(AUTOGRAD | DispatchKey.Pipeline))
    first: PipelineError | None = None
    try:
        launches = [_plan(e) for e in entries]
        for entry, launch in zip(entries, launches, strict=True):
            error = _inherited(entry)
            if error is None:
                try:
                    for t in tensors_in((*entry.args, *entry.kwargs.values())):
                        _ready(t)
                    _settle(entry, launch())
                    continue
                except Exception as cause:  # noqa: BLE001 (whatever a kernel raises is reported)
                    error = _error(entry, cause)
                    error.__cause__ = cause
                first = first or error
            for t in entry.outs:
                t._own_storage().pending = Failed(error)
    finally:
        for entry in entries:
            for t in entry.outs:
                s = t._storage
                if s is not None and not isinstance(s.pending, Failed):
                    s.pending = None
        set_masks(*kept)
    if first is not None:
        raise first


def _plan(entry: Entry) -> Callable[[], Any]:
    """What launching the entry calls: the backend's plan where it has one, else its kernel."""
    if entry.plan is not None:
        planned: Callable[[], Any] = entry.plan(*entry.args, **entry.kwargs)
        return planned
    impl, args, kwargs = entry.impl, entry.args, entry.kwargs
    return lambda: impl(*args, **kwargs)


def _inherited(entry: Entry) -> PipelineError | None:
    """The failure of an op that this one depends on."""
    for t in tensors_in((*entry.args, *entry.kwargs.values())):
        s = t._storage
        if s is not None and isinstance(s.pending, Failed):
            return s.pending.error
    return None


def _ready(t: Tensor) -> None:
    """Give a tensor its payload, if it was made while its memory was pending."""
    if t._data is None and t._storage is not None:
        t._fill(t._storage)


def _known_geometry(t: Tensor) -> Any:
    from ...shapes import contiguous_strides

    return t._layout if t._layout is not None else (contiguous_strides(t._shape), 0)


def _settle(entry: Entry, result: Any) -> None:
    """Move results into the tensors that were handed out for them."""
    results = result if isinstance(result, tuple | list) else (result,)
    for t, r in zip(entry.outs, results, strict=True):
        if r is t:
            continue
        if r._shape != t._shape or r._dtype is not t._dtype:
            raise RuntimeError(
                f"the kernel gave {show(r._shape)} {r._dtype} where its meta function had said "
                f"{show(t._shape)} {t._dtype}"
            )
        storage = t._storage
        if storage is None or storage.memory is not None:  # a view, over memory that is there
            t._data = r._data
            continue
        strides, _ = _known_geometry(t)
        if r._geometry() != (strides, 0) and t.numel():
            from ...operators.define import fn

            make = fn.empty_strided
            r = make(t._shape, strides, dtype=t._dtype, device=t._device).copy_(r)
        own = r._own_storage()
        t._data = r._data
        storage.memory, storage.nbytes = own.memory, own.nbytes


def _error(entry: Entry, cause: Exception) -> PipelineError:
    code, instruction = entry.location
    line = next(
        (n for start, end, n in code.co_lines() if start <= instruction < end and n is not None),
        code.co_firstlineno,
    )
    location = f"{code.co_filename}:{line}"
    inputs = ", ".join(
        f"{show(t._shape)} {t._dtype}" for t in tensors_in((*entry.args, *entry.kwargs.values()))
    )
    return PipelineError(
        f"{entry.op} failed when the pipeline launched it: {type(cause).__name__}: {cause}\n"
        f"  recorded at: {location}\n"
        f"  inputs: {inputs or 'none'}",
        op=entry.op,
        location=location,
    )
