"""The kernel of FuncTorchBatched: an op on samples becomes an op on what holds them.

How follows from the op's row: element by element, along dimensions, into sizes. Some ops have a rule of
their own (`rules`), compositions are taken apart, and for the rest the op is called once for each sample,
with PyTorch's warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dispatch.adapters import tensors_in
from ..dispatch.choice import choose
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.functions import fn
from ..dispatch.keys import BACKEND_BITS, MASKS, DispatchKey, with_masks
from ..dispatch.registry import registry
from ..dispatch.whole import by_parts_because
from ..opdefs.packets import front
from ..tensors.tensor import Tensor
from ..values.containers import filled
from ..values.user_warnings import warn_user
from . import duals
from .batched import LEVELS, Batched, Level, batched, level_of
from .rules import ONE_BY_ONE, RULES, by_row, follows

__all__ = ["install"]

Args = tuple[Any, ...]


def _kernel(entry: OpEntry, below: int, resolve: Callable[[int], Kernel]) -> Kernel | None:
    """What the key runs for an op; None for a composition, whose parts come here."""
    if not entry.has_schema:
        return None
    name = entry.name.removeprefix("aten::")
    rule = RULES.get(name)
    backends = below & BACKEND_BITS
    backend = DispatchKey(1 << (backends.bit_length() - 1)) if backends else None
    if rule is None and not follows(entry) and choose(entry, backend).rule == "implicit":
        return None

    plain = resolve(below)
    parts = _parts(entry)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = list(tensors_in((*args, *kwargs.values())))
        number = max(map(level_of, given), default=0)
        if not number:
            return plain(*args, **kwargs)
        level = next(each for each in LEVELS.stack if each.number == number)
        found = NotImplemented if rule is None else rule(level, *args, **kwargs)
        if found is NotImplemented:
            found = by_row(entry, level, args, kwargs)
        if found is NotImplemented and parts is not None:
            return parts(*args, **kwargs)
        return _one_by_one(entry, level, args, kwargs) if found is NotImplemented else found

    return call


def _parts(entry: OpEntry) -> Callable[..., Any] | None:
    """What an op without a gradient of its own is made of: its parts follow, a backend's kernel does not."""
    d = entry.definition
    if d is None or d.grad is not None or by_parts_because(entry):
        return None
    return None if entry.name.removeprefix("aten::") in ONE_BY_ONE else d.decomposition


def _one_by_one(entry: OpEntry, level: Level, args: Args, kwargs: dict[str, Any]) -> Any:
    """Call an op once for each sample, and stack what it returns."""
    if level.warns:
        warn_user(
            f"There is a performance drop because we have not yet implemented the batching rule for "
            f"{entry.name}. It is called once for each of the {level.size} samples."
        )
    call = front(entry)
    results = []
    for i in range(level.size):

        def of(value: Any, i: int = i) -> Any:
            if level_of(value) == level.number:
                return fn.select(value._inner, value._bdim, i)
            return type(value)(map(of, value)) if type(value) in (list, tuple) else value

        results.append(call(*map(of, args), **{k: of(v) for k, v in kwargs.items()}))
    schema = entry.schema
    if schema is not None and schema.returns and schema.returns[0].is_write:
        return args[0]
    return _stacked(results, level)


def _stacked(results: list[Any], level: Level) -> Any:
    first = results[0]
    if isinstance(first, Tensor):
        return batched(fn.stack(results), 0, level.number)
    if isinstance(first, tuple | list):
        made = [_stacked([r[i] for r in results], level) for i in range(len(first))]
        return filled(type(first), made)
    if all(r == first for r in results):
        return first
    raise RuntimeError(f"vmap: an op answers differently for each sample: {results[:3]}...")


# ---- random numbers -----------------------------------------------------------------------------


_MODE: Final = int(DispatchKey.FuncTorchVmapMode)


def _draws(entry: OpEntry, args: Args, kwargs: dict[str, Any]) -> bool:
    """Whether a call of a random op draws numbers: layers do in training alone."""
    schema = entry.schema
    assert schema is not None
    given = dict(zip((a.name for a in schema.positional), args, strict=False)) | kwargs
    if given.get("train", True) is False or given.get("training", True) is False:
        return False
    if "dropout" in entry.name and not given.get("p", 0.5):
        return False
    return not ("attention" in entry.name and given.get("dropout_p", 0.0) == 0.0)


def _random(entry: OpEntry, below: int, resolve: Callable[[int], Kernel]) -> Kernel | None:
    """What random ops do inside ``vmap``; other ops pass."""
    d = entry.definition
    if d is None or not d.traits.random:
        return None

    inside = resolve(below)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not LEVELS.stack or not _draws(entry, args, kwargs):
            return inside(*args, **kwargs)
        return with_masks(MASKS.include & ~_MODE, MASKS.keep, drawn, args, kwargs)

    def drawn(args: Args, kwargs: dict[str, Any]) -> Any:
        level = LEVELS.stack[-1]
        if level.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the "
                "'same' or 'different' randomness flags on vmap or perform the randomness operation out "
                "of vmap"
            )
        if level.randomness == "same":
            if any(type(t) is Batched for t in tensors_in(args)):
                raise RuntimeError(
                    "Vmap does not currently support same randomness with a batched tensor input"
                )
            return inside(*args, **kwargs)
        given = [t for t in tensors_in((*args, *kwargs.values())) if level_of(t) == level.number]
        if given:
            return inside(*args, **kwargs)
        results = [inside(*args, **kwargs) for _ in range(level.size)]
        if args and results[0] is args[0]:
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will "
                "appear like same randomness. If this is necessary for your usage, please file an issue"
            )
        return _stacked(results, level)

    return call


def install() -> None:
    """Serve the keys of ``vmap``."""
    registry.wrappers[DispatchKey.FuncTorchBatched] = _kernel
    registry.wrappers[DispatchKey.FuncTorchVmapMode] = _random


install()
duals.install()
