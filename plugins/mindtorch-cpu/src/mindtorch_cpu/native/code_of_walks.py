"""The text of walks: instructions of functions with loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from . import compiler
from .codegen import Lines

__all__ = ["TYPES", "Code"]

TYPES: Final = {"f4": "float", "f8": "double", "i4": "i32", "i8": "i64", "i2": "i16", "i1": "i8"}


class Code(Lines):
    """Instructions of a walk; variables are memory, which LLVM turns into registers."""

    def __init__(self, arguments: Sequence[str], declared: set[str] | None = None) -> None:
        super().__init__(set() if declared is None else declared)
        self._entry: list[str] = []
        for i, name in enumerate(arguments):
            kind = "ptr" if name.isupper() else "i64"
            self._entry.append(f"  %{name}.at = getelementptr i64, ptr %args, i64 {i}")
            self._entry.append(f"  %{name} = load {kind}, ptr %{name}.at")

    def variable(self, kind: str, value: str) -> str:
        """A variable with a first value."""
        self._count += 1
        self._entry.append(f"  %v{self._count} = alloca {kind}")
        name = f"%v{self._count}"
        self.put(f"store {kind} {value}, ptr {name}")
        return name

    def room(self, kind: str, count: int) -> str:
        """Memory for some elements."""
        self._count += 1
        self._entry.append(f"  %v{self._count} = alloca [{count} x {kind}]")
        return f"%v{self._count}"

    def load(self, kind: str, base: str, at: str) -> str:
        """An element."""
        place = self.at(base, at, kind)
        return self.set(f"load {kind}, ptr {place}, align 1")

    def store(self, kind: str, value: str, base: str, at: str) -> None:
        """Write an element."""
        place = self.at(base, at, kind)
        self.put(f"store {kind} {value}, ptr {place}, align 1")

    def sum(self, *values: str) -> str:
        """The sum of some integers."""
        found = values[0]
        for value in values[1:]:
            found = self.set(f"add i64 {found}, {value}")
        return found

    def times(self, *values: str) -> str:
        """The product of some integers."""
        found = values[0]
        for value in values[1:]:
            found = self.set(f"mul i64 {found}, {value}")
        return found

    def loop(self, count: str, body: Callable[[str], None], step: int | str = 1) -> None:
        """Do something with 0, ``step`` and so on, below ``count``."""
        i = self.variable("i64", "0")
        name = f"loop{i[2:]}"
        self.put(f"br label %{name}")
        self.label(name)
        now = self.set(f"load i64, ptr {i}")
        self.put(
            f"br i1 {self.set(f'icmp slt i64 {now}, {count}')}, label %{name}.do, label %{name}.end"
        )
        self.label(f"{name}.do")
        body(now)
        self.put(f"store i64 {self.set(f'add nsw i64 {now}, {step}')}, ptr {i}")
        self.put(f"br label %{name}")
        self.label(f"{name}.end")

    def over_columns(self, chains: int, lanes: int, body: Callable[[str, int, int], None]) -> None:
        """Go through ``%width`` columns: many vectors at a time, then one, then one element.

        Args:
            chains: how many vectors there are at first.
            lanes: elements of a vector.
            body: called with the first column, how many vectors there are, and their elements.
        """
        done = "0"
        for count, of in ((chains, lanes), (1, lanes), (1, 1)):
            left = self.set(f"sub i64 %width, {done}")
            whole = self.set(f"sub i64 {left}, {self.set(f'urem i64 {left}, {count * of}')}")

            def columns(j: str, done: str = done, count: int = count, of: int = of) -> None:
                body(self.sum(done, j), count, of)

            self.loop(whole, columns, count * of)
            done = self.sum(done, whole)

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """Do something if a condition holds."""
        self._count += 1
        name = f"when{self._count}"
        self.put(f"br i1 {condition}, label %{name}.do, label %{name}.end")
        self.label(f"{name}.do")
        body()
        self.put(f"br label %{name}.end")
        self.label(f"{name}.end")

    def check(self, count: str, size: str) -> None:
        """Answer 1 if one of the positions is out of range."""
        most = self.variable("i64", "0")

        def look(p: str) -> None:
            found, before = self.load("i64", "%INDEX", p), self.set(f"load i64, ptr {most}")
            larger = self.set(f"icmp ugt i64 {found}, {before}")
            self.put(
                f"store i64 {self.set(f'select i1 {larger}, i64 {found}, i64 {before}')}, ptr {most}"
            )

        self.loop(count, look)
        bad = self.set(f"icmp uge i64 {self.set(f'load i64, ptr {most}')}, {size}")
        some = self.set(f"icmp sgt i64 {count}, 0")
        self.put(f"br i1 {self.set(f'and i1 {bad}, {some}')}, label %refuse, label %go")
        self.label("refuse")
        self.put("ret i64 1")
        self.label("go")

    def function(self, name: str, parameters: str) -> str:
        """A function that others of a module call."""
        return "\n".join(
            [
                f"define internal void @{name}({parameters}) noinline #0 {{",
                "entry:",
                *self._entry,
                *self.lines,
                "  ret void",
                "}",
            ]
        )

    def text(self) -> str:
        """The module."""
        return "\n".join(
            [
                *sorted(self._declared),
                f"define i64 @{compiler.NAME}(ptr noalias %args) #0 {{",
                "entry:",
                *self._entry,
                *self.lines,
                "  ret i64 0",
                "}",
                'attributes #0 = { nounwind "prefer-vector-width"="512" }',
                "",
            ]
        )
