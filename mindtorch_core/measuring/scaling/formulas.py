"""How long collective calls take by rings and by trees, where a message costs a latency and its bytes.

``alpha`` is the seconds of one hop, ``beta`` the seconds of one byte, ``n`` the number of ranks. The better
of ring and tree counts, as engines choose. See Thakur, Rabenseifner and Gropp, "Optimization of collective
communication operations in MPICH" (2005).
"""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["call_time", "gather_time", "reduce_time", "slowest", "tree_depth"]


def tree_depth(n: int) -> int:
    """Hops from one rank to the last of n, if each that knows tells another."""
    return (n - 1).bit_length()


def reduce_time(n: int, size: float, alpha: float, beta: float) -> float:
    """An all_reduce of ``size`` bytes."""
    ring = 2 * (n - 1) * alpha + 2 * (n - 1) / n * size * beta
    tree = 2 * tree_depth(n) * (alpha + size * beta)
    return min(ring, tree)


def gather_time(n: int, size: float, alpha: float, beta: float) -> float:
    """An all_gather with ``size`` bytes of output, or a reduce_scatter with as many of input.

    The tree doubles what each rank has with every hop, so it sends no more bytes than the ring.
    """
    hops = tree_depth(n) if n & (n - 1) == 0 else n - 1
    return hops * alpha + (n - 1) / n * size * beta


def call_time(op: str, n: int, size: float, alpha: float, beta: float) -> float:
    """Seconds of a call by its op."""
    if op in ("all_reduce", "barrier"):
        return reduce_time(n, size, alpha, beta)
    if op in ("broadcast", "reduce"):
        tree = tree_depth(n) * (alpha + size * beta)
        parts = tree_depth(n) * alpha + (n - 1) * alpha + 2 * (n - 1) / n * size * beta
        return min(tree, parts)
    if op == "all_to_all":
        return (n - 1) * alpha + (n - 1) / n * size * beta
    return gather_time(n, size, alpha, beta)


def slowest(n: int, spread: float) -> float:
    """The expected slowest of n ranks, as a multiple of one's time.

    The times are taken as normal and independent; the maximum's mean is Blom's approximation (1958).

    Args:
        n: how many ranks.
        spread: the standard deviation as a share of the mean.
    """
    if not math.isfinite(spread):
        return 1.0
    return 1.0 + spread * NormalDist().inv_cdf((n - 0.375) / (n + 0.25))
