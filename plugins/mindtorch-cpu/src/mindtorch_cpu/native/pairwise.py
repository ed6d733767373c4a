"""Sums of rows in NumPy's order: by halves, down to leaves of which eight chains are added up.

NumPy adds up one leaf after the other, and each addition waits for the last. Here several leaves are added up
at a time; the bits are the same.
"""

from __future__ import annotations

from typing import Final

from .writing import Function

__all__ = ["pairwise_sum"]

# Elements of a leaf at most, and of the chains that are added up side by side.
_LEAF: Final = 128
_CHAINS: Final = 8
# How often a row is halved for leaves that are added up at a time.
_DEEPEST: Final = {"f4": 3, "f8": 2}


def pairwise_sum(code: str) -> tuple[str, list[str]]:
    """The name and LLVM's text of a function of a row, its length, and where the sum goes."""
    f = Function(code, f"added_{code}", "ptr %x, i64 %n, ptr %into")
    name, kind, deepest = f"added_{code}", f.element, _DEEPEST[code]
    depth = _halvings(f, deepest)
    for d in range(deepest + 1):
        with f.when(f.set(f"icmp eq i64 {depth}, {d}")):
            f.store(kind, _by_leaves(f, d), "%into")
    with f.when(f.set(f"icmp ugt i64 {depth}, {deepest}")):
        sums = []
        for at, n in _halved(f, "%x", "%n"):
            f.put(f"call void @{name}(ptr {at}, i64 {n}, ptr %into)")
            sums.append(f.load(kind, "%into"))
        f.store(kind, f.set(f"fadd {kind} {sums[0]}, {sums[1]}"), "%into")
    return name, f.body()


def _halved(f: Function, at: str, n: str) -> list[tuple[str, str]]:
    """The halves of a row, of which the first is the shorter one, in whole chains."""
    first = f.integer("and", f.integer("lshr", n, 1), -_CHAINS)
    return [(at, first), (f.at(at, f.integer("mul", first, f.size)), f.integer("sub", n, first))]


def _halvings(f: Function, deepest: int) -> str:
    """How often all parts of a row are halved until they are leaves.

    One more than ``deepest`` where that is more often, or not as often for all: the first part is the
    shortest, the last the longest.
    """
    depths = []
    for part in (0, 1):
        n, depth = "%n", "0"
        for _ in range(deepest + 1):
            longer = f.set(f"icmp sgt i64 {n}, {_LEAF}")
            depth = f.integer("add", depth, f.set(f"zext i1 {longer} to i64"))
            n = _halved(f, "%x", n)[part][1]
        depths.append(depth)
    alike = f.set(f"icmp eq i64 {depths[0]}, {depths[1]}")
    return f.set(f"select i1 {alike}, i64 {depths[0]}, i64 {deepest + 1}")


def _by_leaves(f: Function, depth: int) -> str:
    """The sum of a row that is halved so often."""
    rows = [("%x", "%n")]
    for _ in range(depth):
        rows = [half for row in rows for half in _halved(f, *row)]
    vector = f"<{_CHAINS} x {f.element}>"
    none = ", ".join([f"{f.element} -0.0"] * _CHAINS)
    chains = [f.variable(vector, f"<{none}>") for _ in rows]

    def add(i: str, leaf: int) -> None:
        x = f.load(vector, f.at(rows[leaf][0], f.integer("mul", i, _CHAINS * f.size)))
        before = f.load(vector, chains[leaf])
        f.store(vector, f.set(f"fadd {vector} {before}, {x}"), chains[leaf])

    counts = [f.integer("udiv", n, _CHAINS) for _, n in rows]
    with f.loop(0, counts[0]) as i:
        for leaf in range(len(rows)):
            add(i, leaf)
    for leaf, count in enumerate(counts[1:], 1):
        with f.loop(counts[0], count) as i:
            add(i, leaf)
    sums = [_joined(f, f.load(vector, chain)) for chain in chains]
    sums[-1] = _with_rest(f, sums[-1], *rows[-1])
    while len(sums) > 1:
        sums = [
            f.set(f"fadd {f.element} {a}, {b}") for a, b in zip(sums[::2], sums[1::2], strict=True)
        ]
    return sums[0]


def _joined(f: Function, vector: str) -> str:
    """The sum of a vector's elements, neighbours first."""
    count = _CHAINS
    while count > 1:
        parts = []
        for first in (0, 1):
            picked = ", ".join(f"i32 {i}" for i in range(first, count, 2))
            both = f"<{count} x {f.element}> {vector}, <{count} x {f.element}> poison"
            parts.append(f.set(f"shufflevector {both}, <{count // 2} x i32> <{picked}>"))
        count //= 2
        vector = f.set(f"fadd <{count} x {f.element}> {parts[0]}, {parts[1]}")
    return f.set(f"extractelement <1 x {f.element}> {vector}, i64 0")


def _with_rest(f: Function, found: str, at: str, n: str) -> str:
    """A sum to which the elements behind the last whole chain are added in turn."""
    total = f.variable(f.element, found)
    with f.loop(f.integer("and", n, -_CHAINS), n) as i:
        x = f.load(f.element, f.at(at, f.integer("mul", i, f.size)))
        before = f.load(f.element, total)
        f.store(f.element, f.set(f"fadd {f.element} {before}, {x}"), total)
    return f.load(f.element, total)
