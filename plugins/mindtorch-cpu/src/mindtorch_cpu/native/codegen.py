"""LLVM's text for a program.

A kernel is ``void name(i64 *arguments, i64 low, i64 high, char *scratch)``. It computes the strips from
``low`` to ``high``, counted through all rows; where rows are reduced (`rowcode`) a strip is some of them.
Arguments are, eight bytes each: elements of a row, the addresses of pairs (loop, data) and of the numbers,
into how many pieces a row is cut for its sum, the addresses of ones of float32 and float64, and how many rows
a strip has where they are reduced. After these `HEAD` arguments follow the sizes of the outer dimensions, and
for each array its address, the step within a row and the steps of the outer dimensions, all in bytes.
"""

from __future__ import annotations

from typing import Final

from .compiler import NAME
from .operations import STORED, emit
from .program import DTYPES, Program
from .schedule import STRIP, Call, Home, Phase, Schedule, schedule
from .streaming import LINE, MARK, MARKS, PAST

__all__ = ["HEAD", "Lines", "Module", "PhaseFunction", "ir_of"]

# Arguments before the sizes of the outer dimensions.
HEAD: Final = 7
_SUFFIX: Final = {"half": "f16", "float": "f32", "double": "f64"}


def ir_of(program: Program) -> str:
    """The text of a module with one kernel, of a program that reduces no rows."""
    return Module(program, NAME).text()


class Lines:
    """Instructions of a function."""

    def __init__(self, declared: set[str], first: int = 0) -> None:
        self.lines: list[str] = []
        self._declared = declared
        self._count = first  # names differ from those of others of the function

    def put(self, line: str) -> None:
        """Write a line."""
        self.lines.append(f"  {line}")

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")

    def set(self, instruction: str) -> str:
        """Write an instruction; returns the name of its result."""
        self._count += 1
        self.put(f"%t{self._count} = {instruction}")
        return f"%t{self._count}"

    def intrinsic(self, name: str, kind: str, *operands: str) -> str:
        """Write a call of one of LLVM's functions, all of whose operands are of one type."""
        count, of, each = kind.strip("<>").rpartition(" x ")
        suffix = f"v{count}{_SUFFIX[each]}" if of else _SUFFIX.get(kind, kind)
        full = f"llvm.{name}.{suffix}"
        self._declared.add(f"declare {kind} @{full}({', '.join([kind] * len(operands))})")
        return self.set(f"call {kind} @{full}({', '.join(f'{kind} {o}' for o in operands)})")

    def at(self, base: str, offset: str, kind: str = "i8") -> str:
        """The address of an element."""
        return self.set(f"getelementptr {kind}, ptr {base}, i64 {offset}")


class Module:
    """Writes the kernel of a program."""

    def __init__(self, program: Program, name: str) -> None:
        self.program = program
        self.graph = program.graph
        self.name = name
        self.plan: Schedule = schedule(program)
        self.declared: set[str] = set()
        self.functions: list[str] = []
        # Of these there is one number for a strip.
        self.constant = program.constant_in_rows()
        self._w = Lines(self.declared)
        self._loop_count = 0

    def text(self) -> str:
        """The whole module."""
        self._main()
        return "\n".join(
            [
                *sorted(self.declared),
                *self.functions,
                f"define void @{self.name}(ptr %args, i64 %low, i64 %high, ptr %scratch) #0 {{",
                *self._w.lines,
                "}",
                'attributes #0 = { nounwind "prefer-vector-width"="512" }',
                *(MARKS if "streamed" in self.program.layouts else ()),
                "",
            ]
        )

    # ---- the loop over strips ------------------------------------------------------------------

    def _argument(self, i: int, kind: str = "i64") -> str:
        return self._w.set(f"load {kind}, ptr {self._w.at('%args', str(i), 'i64')}")

    def _arguments(self) -> None:
        """Read what there is of arguments for all strips."""
        w, program, outer = self._w, self.program, self.program.outer
        w.label("entry")
        self._width, self._loops, self._numbers, self._pieces = (
            self._argument(i, kind) for i, kind in enumerate(("i64", "ptr", "ptr", "i64"))
        )
        self._ones = {"f4": self._argument(4, "ptr"), "f8": self._argument(5, "ptr")}
        self._sizes = [self._argument(HEAD + d) for d in range(outer)]
        self._given = []
        for i in range(len(program.layouts)):
            first = HEAD + outer + i * (2 + outer)
            steps = [self._argument(first + 2 + d) for d in range(outer)]
            self._given.append((self._argument(first, "ptr"), self._argument(first + 1), steps))
        self._room = [w.set(f"alloca [6 x {kind}]") for kind in ("ptr", "i64", "i64")]

    def _begin_strips(self) -> None:
        w = self._w
        w.put("br label %check")
        w.label("check")
        w.put("%u = phi i64 [ %low, %entry ], [ %next, %last ]")
        w.put(f"br i1 {w.set('icmp slt i64 %u, %high')}, label %strip, label %done")
        w.label("strip")

    def _end_strips(self) -> None:
        w = self._w
        w.put("br label %last")
        w.label("last")
        w.put("%next = add i64 %u, 1")
        w.put("br label %check")
        w.label("done")
        if "streamed" in self.program.layouts:
            w.put("fence seq_cst")  # other threads see what is written past the caches from here on
        w.put("ret void")

    def _run_phases(self) -> None:
        for number, phase in enumerate(self.plan.phases):
            if phase.stores:
                self._run_phase(number, phase)
            for call in phase.calls:
                self._compute(call)

    def _main(self) -> None:
        w = self._w
        self._arguments()
        whole = w.set(f"add i64 {self._width}, {STRIP - 1}")
        strips = w.set(f"udiv i64 {whole}, {STRIP}")
        self._begin_strips()
        row = w.set(f"udiv i64 %u, {strips}")
        before = w.set(f"mul i64 {row}, {strips}")
        start = w.set(f"mul i64 {w.set(f'sub i64 %u, {before}')}, {STRIP}")
        left = w.set(f"sub i64 {self._width}, {start}")
        short = w.set(f"icmp slt i64 {left}, {STRIP}")
        self._n = w.set(f"select i1 {short}, i64 {left}, i64 {STRIP}")
        places = self._places(row, self._sizes)
        self._bases = [self._first(i, array, start, places) for i, array in enumerate(self._given)]
        self._slots = [w.at("%scratch", str(8 * STRIP * i)) for i in range(self.plan.slots)]
        self._run_phases()
        self._end_strips()

    def _places(self, row: str, sizes: list[str]) -> list[str]:
        """The index of a row in each outer dimension."""
        w = self._w
        places: list[str] = []
        for d in range(len(sizes) - 1, 0, -1):
            places.insert(0, w.set(f"urem i64 {row}, {sizes[d]}"))
            row = w.set(f"udiv i64 {row}, {sizes[d]}")
        return [row, *places] if sizes else []

    def _first(
        self, i: int, array: tuple[str, str, list[str]], start: str, places: list[str]
    ) -> str:
        """The address of an array's first element in the strip."""
        w = self._w
        base, step, steps = array
        for place, outer in zip(places, steps, strict=True):
            base = w.at(base, w.set(f"mul i64 {place}, {outer}"))
        if self.program.layouts[i] == "single":
            return base
        return w.at(base, w.set(f"mul i64 {start}, {step}"))

    def _run_phase(self, number: int, phase: Phase) -> None:
        function = PhaseFunction(self, number, phase)
        self.functions.extend(function.texts())
        passed = [f"i64 {self._n}", f"ptr {self._numbers}"]
        for kind, at in function.homes:
            passed.append(f"ptr {(self._bases if kind == 'array' else self._slots)[at]}")
            if kind == "array" and self.program.layouts[at] == "strided":
                passed.append(f"i64 {self._given[at][1]}")
        self._start(function, passed, [])

    def _start(self, function: PhaseFunction, passed: list[str], steps: list[str]) -> None:
        """Call a phase: one that writes past the caches if all that it writes begins with a line of memory.

        Args:
            function: the phase.
            passed: its arguments.
            steps: bytes between rows of what is written.
        """
        w = self._w
        called = f"call void @{function.name}({', '.join(passed)})"
        starts = [w.set(f"ptrtoint ptr {self._bases[at]} to i64") for at in function.streamed()]
        if not starts:
            w.put(called)
            return
        together = "0"
        for at in (*starts, *steps):
            together = w.set(f"or i64 {together}, {at}")
        rest = w.set(f"and i64 {together}, {LINE - 1}")
        w.put(f"br i1 {w.set(f'icmp eq i64 {rest}, 0')}, label %whole, label %parts")
        for label, name in (("whole", function.name + PAST), ("parts", function.name)):
            w.label(label)
            w.put(called.replace(function.name, name))
            w.put("br label %written")
        w.label("written")

    # ---- NumPy's loops -------------------------------------------------------------------------

    def _compute(self, call: Call) -> None:
        """Have a loop of NumPy's compute a value."""
        node = self.graph.nodes[call.value - self.graph.first_node]
        given = [self._operand(v) for v in (*node.operands, call.value)]
        count = "1" if call.value in self.constant else self._n
        self._call(call.loops[0], [p for p, _ in given], [s for _, s in given], [count])

    def _call(self, loop: int, pointers: list[str], steps: list[str], counts: list[str]) -> None:
        w = self._w
        for room, kind, given in zip(
            self._room, ("ptr", "i64", "i64"), (pointers, steps, counts), strict=True
        ):
            for i, value in enumerate(given):
                w.put(f"store {kind} {value}, ptr {w.at(room, str(i), kind)}")
        function = w.set(f"load ptr, ptr {w.at(self._loops, str(2 * loop), 'ptr')}")
        data = w.set(f"load ptr, ptr {w.at(self._loops, str(2 * loop + 1), 'ptr')}")
        args, sizes, count = self._room[0], self._room[1], self._room[2]
        w.put(f"call void {function}(ptr {args}, ptr {count}, ptr {sizes}, ptr {data})")

    def _operand(self, v: int) -> tuple[str, str]:
        """The address of what a loop reads or writes, and its step."""
        graph = self.graph
        home = self.plan.homes.get(v)
        size = "0" if v in self.constant else str(DTYPES[graph.dtype(v)].itemsize)
        if home is not None:
            return (self._slots if home[0] == "slot" else self._bases)[home[1]], size
        if v < len(graph.inputs):
            return self._bases[v], size
        return self._w.at(self._numbers, str(8 * (v - len(graph.inputs)))), "0"


class PhaseFunction:
    """The loop of a phase, as a function: its arguments do not overlap, which LLVM must know.

    Attributes:
        name: the function's.
        homes: arrays and slots that it reads or writes, its arguments after the first ones.
    """

    _arguments: tuple[str, ...] = ("i64 %n", "ptr noalias readonly %numbers")

    def __init__(self, module: Module, number: int, phase: Phase) -> None:
        self.name = f"{module.name}_{number}"
        self.homes: list[Home] = []
        self._module = module
        self._number = number
        self._phase = phase
        self._values: dict[int, str] = {}
        self._head = Lines(module.declared)
        self._body = Lines(module.declared, 100_000)
        self._tail = Lines(module.declared, 200_000)

    def texts(self) -> list[str]:
        """The function, and where it writes what is streamed one that does so past the caches."""
        text = self.text()
        past = text.replace(f"@{self.name}(", f"@{self.name}{PAST}(")
        return [text, past] if MARK in text else [text]

    def streamed(self) -> list[int]:
        """The arrays that it writes and that no cache holds."""
        return [at for kind, at in self.homes if kind == "array" and self._is_streamed(at)]

    def _is_streamed(self, at: int) -> bool:
        return self._module.program.layouts[at] == "streamed"

    def text(self) -> str:
        """The function."""
        stored = [(self._value(v), v, home) for v, home in self._phase.stores]
        for register, v, home in stored:
            self._store(register, v, home)
        arguments = list(self._arguments)
        for home in self.homes:
            arguments.append(f"ptr noalias {self._pointer(home)}")
            if self._with_step(home):
                arguments.append(f"i64 %step{home[1]}")
        return "\n".join(
            [
                f"define internal void @{self.name}({', '.join(arguments)}) noinline #0 {{",
                "entry:",
                *self._head.lines,
                *self._loops(),
                "done:",
                "  ret void",
                "}",
            ]
        )

    def _loops(self) -> list[str]:
        """The loop over the elements."""
        return [
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]",
            *self._body.lines,
            "  %j = add nuw nsw i64 %i, 1",
            "  %more = icmp slt i64 %j, %n",
            "  br i1 %more, label %loop, label %last",
            "last:",
            *self._tail.lines,
            "  br label %done",
        ]

    def _pointer(self, home: Home) -> str:
        if home not in self.homes:
            self.homes.append(home)
        return f"%{home[0]}{home[1]}"

    def _with_step(self, home: Home) -> bool:
        return home[0] == "array" and self._module.program.layouts[home[1]] == "strided"

    def _element(self, home: Home, kind: str) -> str:
        """The address of the current element."""
        base = self._pointer(home)
        if self._with_step(home):
            return self._body.at(base, self._body.set(f"mul i64 %i, %step{home[1]}"))
        return self._body.at(base, "%i", kind)

    def _load(self, w: Lines, address: str, code: str) -> str:
        found = w.set(f"load {STORED[code]}, ptr {address}, align 1")
        return w.set(f"icmp ne i8 {found}, 0") if code == "b1" else found

    def _store(self, register: str, v: int, home: Home) -> None:
        """Write an element; what is the same for all of a row is written once, after the loop."""
        module = self._module
        code = module.graph.dtype(v)
        if home[0] == "array":
            single = module.program.layouts[home[1]] == "single"
        else:
            single = v in module.constant
        w = self._tail if single else self._body
        if code == "b1":
            register = w.set(f"zext i1 {register} to i8")
        address = self._pointer(home) if single else self._element(home, STORED[code])
        w.put(f"store {STORED[code]} {register}, ptr {address}, align 1{self._mark(home)}")

    def _mark(self, home: Home) -> str:
        """What says of a store that it may go past the caches."""
        return f", {MARK}" if home[0] == "array" and self._is_streamed(home[1]) else ""

    def _value(self, v: int) -> str:
        """The register of a value."""
        found = self._values.get(v)
        if found is None:
            found = self._values[v] = self._made(v)
        return found

    def _called(self, v: int) -> bool:
        """Whether a loop of NumPy's makes a value."""
        return any(call.value == v for phase in self._module.plan.phases for call in phase.calls)

    def _made(self, v: int) -> str:
        module = self._module
        graph, plan, layouts = module.graph, module.plan, module.program.layouts
        code = graph.dtype(v)
        inputs = len(graph.inputs)
        home = plan.homes.get(v)
        if v < inputs:
            at = ("array", v)
            if layouts[v] == "single":
                return self._load(self._head, self._pointer(at), code)
            return self._load(self._body, self._element(at, STORED[code]), code)
        if v < graph.first_node:
            return self._load(self._head, self._head.at("%numbers", str(8 * (v - inputs))), code)
        node = graph.nodes[v - graph.first_node]
        if home is not None and (self._called(v) or plan.levels[v] < self._number):
            if v in module.constant:
                return self._load(self._head, self._pointer(home), code)
            return self._load(self._body, self._element(home, STORED[code]), code)
        operands = [self._value(o) for o in node.operands]
        codes = (*map(graph.dtype, node.operands), node.dtype)
        return emit(self._body, node.op, codes, operands)
