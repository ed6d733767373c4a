"""Writing LLVM's text by hand: variables, loops, and vectors of a dtype.

Variables live on the stack and are moved to registers by LLVM, so nothing here knows of phi nodes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from .compiler import NAME, vector_bytes

__all__ = ["ELEMENTS", "Function"]

# LLVM's type of an element, and its bytes.
ELEMENTS: Final = {"f4": ("float", 4), "f8": ("double", 8)}
_PARAMETERS: Final = "ptr %args, i64 %low, i64 %high, ptr %scratch"
_SUFFIX: Final = {"float": "f32", "double": "f64"}


class Function:
    """A kernel ``void (i64 *arguments, i64 low, i64 high, char *scratch)``, as `kernels` calls them.

    Functions that it calls have other names and parameters, and stand in its module, see `text`.

    Attributes:
        element: LLVM's type of an element.
        size: bytes of an element.
        lanes: elements of a vector.
        vector: LLVM's type of a vector.
    """

    def __init__(self, dtype: str, name: str = NAME, parameters: str = _PARAMETERS) -> None:
        internal, own = ("", "") if name == NAME else ("internal ", "noinline ")
        self._begin = f"define {internal}void @{name}({parameters}) {own}#0 {{"
        self.element, self.size = ELEMENTS[dtype]
        self.lanes = vector_bytes() // self.size
        self.vector = f"<{self.lanes} x {self.element}>"
        self._variables: list[str] = []
        self._lines: list[str] = []
        self._declared: set[str] = set()
        self._count = 0

    def body(self) -> list[str]:
        """The lines of the function."""
        return [self._begin, "entry:", *self._variables, *self._lines, "  ret void", "}"]

    def text(self, *others: Function) -> str:
        """The module, with other functions that this one calls."""
        every = (*others, self)
        return "\n".join(
            [
                *sorted(set().union(*(f._declared for f in every))),
                *(line for f in every for line in f.body()),
                f'attributes #0 = {{ nounwind "prefer-vector-width"="{8 * vector_bytes()}" }}',
                "",
            ]
        )

    # ---- instructions --------------------------------------------------------------------------

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def put(self, line: str) -> None:
        """Write an instruction without a result."""
        self._lines.append(f"  {line}")

    def set(self, instruction: str) -> str:
        """Write an instruction; returns the name of its result."""
        name = self._name()
        self.put(f"%{name} = {instruction}")
        return f"%{name}"

    def integer(self, op: str, a: str, b: str | int) -> str:
        """An operation on integers of 64 bits."""
        return self.set(f"{op} i64 {a}, {b}")

    def least(self, a: str, b: str) -> str:
        """The smaller of two integers."""
        return self.set(f"select i1 {self.set(f'icmp slt i64 {a}, {b}')}, i64 {a}, i64 {b}")

    def at(self, base: str, offset: str | int) -> str:
        """An address some bytes further."""
        return base if offset == 0 else self.set(f"getelementptr i8, ptr {base}, i64 {offset}")

    def argument(self, i: int, kind: str = "i64") -> str:
        """The i-th of the kernel's arguments."""
        return self.load(kind, self.at("%args", 8 * i))

    def load(self, kind: str, address: str) -> str:
        """A value from memory, which need not be aligned."""
        return self.set(
            f"load {kind}, ptr {address}, align {8 if kind in ('i64', 'ptr') else self.size}"
        )

    def store(self, kind: str, value: str, address: str) -> None:
        """A value to memory."""
        self.put(f"store {kind} {value}, ptr {address}, align {self.size}")

    def load_some(self, bits: str, address: str) -> str:
        """A vector of the elements that have a bit, the first the lowest; zeros for others."""
        raw = 8 * -(-self.lanes // 8)
        seen = self.set(f"load i{raw}, ptr {bits}, align 1")
        if raw != self.lanes:
            seen = self.set(f"trunc i{raw} {seen} to i{self.lanes}")
        kind = f"<{self.lanes} x i1>"
        chosen = self.set(f"bitcast i{self.lanes} {seen} to {kind}")
        name = f"llvm.masked.load.v{self.lanes}{_SUFFIX[self.element]}.p0"
        self._declared.add(f"declare {self.vector} @{name}(ptr, i32, {kind}, {self.vector})")
        others = f"{kind} {chosen}, {self.vector} zeroinitializer"
        return self.set(f"call {self.vector} @{name}(ptr {address}, i32 {self.size}, {others})")

    # ---- vectors -------------------------------------------------------------------------------

    def spread(self, number: str) -> str:
        """A vector of one number."""
        first = self.set(f"insertelement {self.vector} poison, {self.element} {number}, i64 0")
        none = f"<{self.lanes} x i32> zeroinitializer"
        return self.set(f"shufflevector {self.vector} {first}, {self.vector} poison, {none}")

    def woven(self, a: str, b: str, first: int) -> str:
        """Elements of two vectors in turn, from ``first`` on."""
        kind, half = self.vector, self.lanes // 2
        picked = ", ".join(f"i32 {first + i}, i32 {self.lanes + first + i}" for i in range(half))
        return self.set(f"shufflevector {kind} {a}, {kind} {b}, <{self.lanes} x i32> <{picked}>")

    def every_other(self, a: str, b: str) -> str:
        """The first, third and so on of the elements of two vectors."""
        kind, picked = self.vector, ", ".join(f"i32 {2 * i}" for i in range(self.lanes))
        return self.set(f"shufflevector {kind} {a}, {kind} {b}, <{self.lanes} x i32> <{picked}>")

    def fused(self, a: str, b: str, c: str) -> str:
        """``a * b + c`` of vectors, rounded once where the processor does so."""
        return self._call(f"fmuladd.v{self.lanes}{_SUFFIX[self.element]}", self.vector, [a, b, c])

    def paired(self, a: str, b: str, c: str) -> str:
        """``c`` and the products of the pairs of bfloat16 that ``a`` and ``b`` hold."""
        halves, name = f"<{2 * self.lanes} x bfloat>", "llvm.x86.avx512bf16.dpbf16ps.512"
        self._declared.add(f"declare {self.vector} @{name}({self.vector}, {halves}, {halves})")
        a, b = (self.set(f"bitcast {self.vector} {t} to {halves}") for t in (a, b))
        operands = f"{self.vector} {c}, {halves} {a}, {halves} {b}"
        return self.set(f"call {self.vector} @{name}({operands})")

    def total(self, vector: str) -> str:
        """The sum of a vector's elements, by halves."""
        kind, name = self.element, f"llvm.vector.reduce.fadd.v{self.lanes}{_SUFFIX[self.element]}"
        self._declared.add(f"declare {kind} @{name}({kind}, {self.vector})")
        return self.set(f"call reassoc {kind} @{name}({kind} -0.0, {self.vector} {vector})")

    def reduced(self, op: str, vector: str) -> str:
        """A number made of a vector's elements."""
        kind, name = self.element, f"llvm.vector.reduce.{op}.v{self.lanes}{_SUFFIX[self.element]}"
        self._declared.add(f"declare {kind} @{name}({self.vector})")
        return self.set(f"call {kind} @{name}({self.vector} {vector})")

    def clear(self, target: str, count: str) -> None:
        """Fill bytes with zeros."""
        self._declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        self.put(f"call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {count}, i1 0)")

    def _call(self, name: str, kind: str, operands: list[str]) -> str:
        self._declared.add(f"declare {kind} @llvm.{name}({', '.join([kind] * len(operands))})")
        return self.set(f"call {kind} @llvm.{name}({', '.join(f'{kind} {o}' for o in operands)})")

    def copy(self, target: str, source: str, count: str) -> None:
        """Copy bytes that do not overlap."""
        self._declared.add("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
        self.put(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {count}, i1 0)")

    # ---- variables and loops -------------------------------------------------------------------

    def variable(self, kind: str, value: str) -> str:
        """A variable with a first value; it is read and written by `load` and `store`."""
        name = f"%{self._name()}"
        self._variables.append(f"  {name} = alloca {kind}")
        self.put(f"store {kind} {value}, ptr {name}")
        return name

    @contextlib.contextmanager
    def loop(self, start: str | int, stop: str | int) -> Iterator[str]:
        """Repeat what is written within, for an index from ``start`` to below ``stop``."""
        index = self.variable("i64", str(start))
        label = self._name()
        self.put(f"br label %{label}.check")
        self._lines.append(f"{label}.check:")
        i = self.set(f"load i64, ptr {index}")
        more = self.set(f"icmp slt i64 {i}, {stop}")
        self.put(f"br i1 {more}, label %{label}.body, label %{label}.done")
        self._lines.append(f"{label}.body:")
        yield i
        self.put(f"store i64 {self.integer('add', i, 1)}, ptr {index}")
        self.put(f"br label %{label}.check")
        self._lines.append(f"{label}.done:")

    @contextlib.contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Do what is written within only where a condition holds."""
        label = self._name()
        self.put(f"br i1 {condition}, label %{label}.then, label %{label}.done")
        self._lines.append(f"{label}.then:")
        yield
        self.put(f"br label %{label}.done")
        self._lines.append(f"{label}.done:")
