"""Any op or function as a case: the first of its sample calls that both libraries take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from .peers import library
from .turns import OURS, Case, Group, Namespace

__all__ = ["op_group", "public_path"]

# Where a namespace of functions is found in a library.
_PLACES: Final = {"torch": "", "nn": "nn.functional"}
_WIDEST: Final = 80  # characters of a call as it is shown


def op_group(
    name: str, device: str, peers: Iterable[str], settle: Callable[[], None] | None = None
) -> Group | None:
    """The group of one op or function, on tensors like those it is tested with.

    Args:
        name: such as ``softmax``, ``linalg.inv`` or ``F.cross_entropy``.
        device: where the tensors lie.
        peers: who is measured; one that has no such function, or refuses the call, is left out.
        settle: waits for the device; see `Group`.

    Returns:
        None if it is no public function, or there is no sample call of it.

    Raises:
        RuntimeError: if there is no such op; the text suggests the nearest names.
    """
    path, samples = _found(name)
    if path is None:
        return None
    for sample in samples:
        if any(r.values == () or 0 in r.shape for r in sample.recipes()):
            continue
        make = partial(_names, path, sample, device)
        takers = [peer for peer in peers if _takes(make, peer)]
        if OURS in takers:
            text = f"f({', '.join([*_positional(sample), *_keywords(sample)])})"
            shown = f"{path}{sample}"
            shown = shown if len(shown) <= _WIDEST else f"{shown[: _WIDEST - 1]}…"
            case = Case(shown, dict.fromkeys(takers, text))
            return Group(name, None, (case,), make, settle)
    return None


def _found(name: str) -> tuple[str | None, list[Any]]:
    """Where users find a function, and its sample calls."""
    from ..inspection.functions import find_function
    from ..inspection.naming import find_op, place_of
    from ..testing.samples import merged, samples

    calls = merged("functions")  # those that Python makes of ops
    place, own = place_of(name.strip())
    for space in (place,) if place else ("torch", "nn", "linalg", "special", "fft"):
        sample = calls.get(f"{space}.{own}")
        if sample is not None:
            return ".".join(filter(None, [_PLACES.get(space, space), own])), [sample]
    if find_function(name) is not None:
        return None, []
    definition = find_op(name).definition
    if definition is None:
        return None, []
    return public_path(definition), samples(definition)


def public_path(definition: Any) -> str | None:
    """The name under which a library's module has an op: ``softmax``, ``nn.functional.linear``."""
    for namespace in definition.exposure.namespaces:
        place, _, name = namespace.partition(":")
        own = name or definition.base_name
        return ".".join(filter(None, [_PLACES.get(place, place), own]))
    return None


def _names(path: str, sample: Any, device: str, peer: str) -> Namespace:
    """The function as ``f`` and the arguments that its statement names, in a library."""
    torch = library(peer)
    fn: Any = torch
    for part in path.split("."):
        fn = getattr(fn, part)
    args, kwargs = sample.arguments(partial(_tensor, torch, device), device)
    given = {f"a{i}": value for i, value in enumerate(args)} | dict(kwargs)
    return {"f": fn, **{k: _in(torch, v) for k, v in given.items()}}


def _tensor(torch: Any, device: str, recipe: Any) -> Any:
    from ..operators.recipes import values_of

    made = torch.tensor(values_of(recipe), dtype=getattr(torch, recipe.dtype), device=device)
    return made.reshape(recipe.shape)


def _in(torch: Any, value: Any) -> Any:
    """A plain value as the library writes it."""
    from ..values.dtypes import dtype

    return getattr(torch, value.name) if isinstance(value, dtype) else value


def _positional(sample: Any) -> list[str]:
    return [f"a{i}" for i in range(len(sample.args))]


def _keywords(sample: Any) -> Iterator[str]:
    return (f"{name}={name}" for name in sample.kwargs)


def _takes(make: Callable[[str], Namespace], peer: str) -> bool:
    """Whether a library has the function and does not refuse the call."""
    try:
        with warnings.catch_warnings(action="ignore"):
            names = make(peer)
            given = {k: v for k, v in names.items() if k != "f"}
            args = [given.pop(k) for k in list(given) if k[0] == "a" and k[1:].isdecimal()]
            names["f"](*args, **given)
    except Exception:  # noqa: BLE001 (a library may refuse in any way)
        return False
    return True
