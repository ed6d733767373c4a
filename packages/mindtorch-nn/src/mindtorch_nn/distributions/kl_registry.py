"""The table of divergences, and how the entry for two distributions is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.utils._own_frames import warn_user

__all__ = ["kl_divergence", "register_kl"]

Divergence = Callable[[Any, Any], Any]
Pair = tuple[type, type]

_KL_REGISTRY: Final[dict[Pair, Divergence]] = {}
_FOUND: Final[dict[Pair, Divergence | None]] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Divergence], Divergence]:
    """Decorator: name a function as the divergence of two classes of distributions.

    Args:
        type_p: of the first distribution.
        type_q: of the second.

    Raises:
        TypeError: if one is no class.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        # Any class, as PyTorch takes them: Pyro's distributions have a base of their own.
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def decorate(fn: Divergence) -> Divergence:
        _KL_REGISTRY[type_p, type_q] = fn
        _FOUND.clear()
        return fn

    return decorate


def _nearest(pairs: list[Pair], type_p: type, type_q: type, *, first: int) -> Pair:
    """The pair whose classes are nearest to the given ones, the ``first`` one before the other."""
    orders = type_p.__mro__, type_q.__mro__

    def distance(pair: Pair) -> tuple[int, int]:
        found = orders[0].index(pair[0]), orders[1].index(pair[1])
        return found if first == 0 else found[::-1]

    return min(pairs, key=distance)


def _find(type_p: type, type_q: type) -> Divergence | None:
    pairs = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not pairs:
        return None
    left = _nearest(pairs, type_p, type_q, first=0)
    right = _nearest(pairs, type_p, type_q, first=1)
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warn_user(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """The Kullback-Leibler divergence of one distribution from another.

    Args:
        p: the distribution that samples come from.
        q: the one that they are thought to come from.

    Returns:
        A tensor of their batch shape.

    Raises:
        NotImplementedError: if there is no formula for the two.
    """
    pair = type(p), type(q)
    if pair not in _FOUND:
        _FOUND[pair] = _find(*pair)
    fn = _FOUND[pair]
    if fn is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return fn(p, q)
