"""Programs: what a compiled kernel computes for each element, as hashable data.

A `Graph` says what is computed, a `Program` also how the operands lie. Numbers and sizes are
arguments of the kernel: they are no part of either.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

__all__ = ["CODES", "DTYPES", "REDUCTIONS", "Graph", "Node", "Program", "code_of", "described"]

# NumPy's dtypes by the short names that programs have for them.
DTYPES: Final[dict[str, np.dtype[Any]]] = {
    code: np.dtype(code)
    for code in ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
}
DTYPES["b1"] = np.dtype(np.bool_)
DTYPES["bf"] = np.dtype(ml_dtypes.bfloat16)
CODES: Final[dict[np.dtype[Any], str]] = {d: code for code, d in DTYPES.items()}

# What reduces a row to one value, and the loops of NumPy's that do it, if any do.
REDUCTIONS: Final = {
    "row_sum": ("vecdot", "add"),
    "row_dot": ("vecdot", "add"),
    "row_add": (),  # see `pairwise`
    "row_max": ("maximum",),
    "row_min": ("minimum",),
}


def code_of(d: Any) -> str | None:
    """The short name of a NumPy dtype; None for one that programs do not have."""
    return CODES.get(np.dtype(d))


class Node(NamedTuple):
    """One operation.

    Attributes:
        op: ``cast``, ``bits`` (the same bits as another type), ``where``, a reduction of `REDUCTIONS`,
            ``fold`` (a value that is added to its array, see `Graph.folded`) or the name of a ufunc.
        dtype: of the result.
        operands: values: inputs are counted first, then constants, then nodes.
    """

    op: str
    dtype: str
    operands: tuple[int, ...]


class Graph(NamedTuple):
    """What is computed for each element.

    Attributes:
        inputs, constants: their dtypes.
        nodes: operations, each after its operands.
        outputs: pairs of a value and an array. The arrays are the inputs, which are written in place,
            and after them those that hold nothing else than results.
    """

    inputs: tuple[str, ...]
    constants: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[tuple[int, int], ...]

    @property
    def first_node(self) -> int:
        """The value that the first node makes."""
        return len(self.inputs) + len(self.constants)

    @property
    def folded(self) -> frozenset[int]:
        """The arrays to whose rows `rows.FOLD` rows of values each are added, one after the other."""
        first = self.first_node
        return frozenset(
            at for v, at in self.outputs if v >= first and self.nodes[v - first].op == "fold"
        )

    def dtype(self, value: int) -> str:
        """A value's dtype."""
        if value < len(self.inputs):
            return self.inputs[value]
        if value < self.first_node:
            return self.constants[value - len(self.inputs)]
        return self.nodes[value - self.first_node].dtype

    @property
    def arrays(self) -> tuple[str, ...]:
        """Dtypes of all arrays: the inputs, and after them the results."""
        fresh = [(at, self.dtype(v)) for v, at in self.outputs if at >= len(self.inputs)]
        return self.inputs + tuple(d for _, d in sorted(fresh))


class Program(NamedTuple):
    """A graph and how its arrays lie.

    Attributes:
        graph: what is computed.
        layouts: of each array ``dense``, ``single`` (one element for a whole row) or ``strided``; where
            rows are reduced also ``spread``: rows are dense, but do not follow each other, and ``folded``:
            see `Graph.folded`. Results that are dense and larger than the caches are ``streamed``.
        outer: number of dimensions around the innermost.
        rows: whether rows are reduced, and go through the phases as a whole; ``outer`` counts the
            dimension of the rows then.
    """

    graph: Graph
    layouts: tuple[str, ...]
    outer: int
    rows: bool = False

    def constant_in_rows(self) -> set[int]:
        """The values that are the same for all elements of a row."""
        graph = self.graph
        found = {v for v in range(len(graph.inputs)) if self.layouts[v] == "single"}
        found.update(range(len(graph.inputs), graph.first_node))
        for v, node in enumerate(graph.nodes, graph.first_node):
            if node.op in REDUCTIONS or found.issuperset(node.operands):
                found.add(v)
        return found


def described(program: Program) -> str:
    """A program as text, one line for an operation."""
    graph = program.graph
    count = len(graph.inputs)

    def name(v: int) -> str:
        if v < count:
            return f"x{v}"
        return f"c{v - count}" if v < graph.first_node else f"v{v - graph.first_node}"

    lines = [f"rows in {program.outer} dimensions"] if program.outer else []
    for i, (d, layout) in enumerate(zip(graph.arrays, program.layouts, strict=True)):
        lines.append(f"{f'x{i}' if i < count else f'y{i - count}'}: {d} {layout}")
    lines += [f"c{i}: {d}, given at each launch" for i, d in enumerate(graph.constants)]
    for i, node in enumerate(graph.nodes):
        operands = ", ".join(map(name, node.operands))
        lines.append(f"v{i}: {node.dtype} = {node.op}({operands})")
    lines += [
        f"{f'x{at}' if at < count else f'y{at - count}'} <- {name(v)}" for v, at in graph.outputs
    ]
    return "\n".join(lines)
