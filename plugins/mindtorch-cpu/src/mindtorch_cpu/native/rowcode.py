"""LLVM's text for programs that reduce rows.

A strip is a few whole rows. Elements of rows lie one row after the other in scratch memory, so that one call
of a loop of NumPy's serves all rows of the strip; what there is one of for a row is a *column*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..rows import FOLD
from .codegen import HEAD, Lines, Module, PhaseFunction
from .compiler import NAME
from .operations import STORED, emit
from .pairwise import pairwise_sum
from .program import DTYPES, REDUCTIONS, Node, Program
from .schedule import Call, Home, Phase
from .summing import blas_function

__all__ = ["ir_of_rows"]


def ir_of_rows(program: Program, summed: Sequence[str] = ()) -> str:
    """The text of a module with one kernel that reduces rows.

    Args:
        program: what it computes.
        summed: dtypes of which `blas_function` makes the sums that BLAS makes.
    """
    return _RowModule(program, summed).text()


class _RowModule(Module):
    """Writes the kernel of a program that reduces rows."""

    def __init__(self, program: Program, summed: Sequence[str]) -> None:
        super().__init__(program, NAME)
        self._summed = summed
        self._phases: dict[int, _RowPhase] = {}

    def _main(self) -> None:
        w, outer = self._w, self.program.outer
        self._arguments()
        rows, most = self._sizes[-1], self._argument(HEAD - 1)
        raised = w.set(f"add i64 {rows}, {w.set(f'sub i64 {most}, 1')}")
        strips = w.set(f"udiv i64 {raised}, {most}")
        self._begin_strips()
        block = w.set(f"udiv i64 %u, {strips}")
        first = w.set(f"sub i64 %u, {w.set(f'mul i64 {block}, {strips}')}")
        start = w.set(f"mul i64 {first}, {most}")
        left = w.set(f"sub i64 {rows}, {start}")
        short = w.set(f"icmp slt i64 {left}, {most}")
        self._n = w.set(f"select i1 {short}, i64 {left}, i64 {most}")
        self._all = w.set(f"mul i64 {self._n}, {self._width}")
        places = [*self._places(block, self._sizes[: outer - 1]), start]
        layouts = self.program.layouts
        self._bases = [
            self._base(array, [w.set(f"udiv i64 {start}, {FOLD}")] if kind == "folded" else places)
            for array, kind in zip(self._given, layouts, strict=True)
        ]
        room = w.set(f"mul i64 {w.set(f'mul i64 {most}, {self._width}')}, 8")
        self._slots = [
            w.at("%scratch", w.set(f"mul i64 {room}, {i}")) for i in range(self.plan.slots)
        ]
        self._run_phases()
        self._end_strips()

    def _base(self, array: tuple[str, str, list[str]], places: list[str]) -> str:
        """The address of an array's first element in the strip."""
        base, _, steps = array
        for place, step in zip(places, steps, strict=True):
            base = self._w.at(base, self._w.set(f"mul i64 {place}, {step}"))
        return base

    def _run_phases(self) -> None:
        for number, phase in enumerate(self.plan.phases):
            if self._is_passed_on(phase):
                self._in_pieces(number, phase)
                continue
            if phase.stores:
                self._run_phase(number, phase)
            for call in phase.calls:
                self._compute(call)

    def _is_passed_on(self, phase: Phase) -> bool:
        """Whether sums of products read all elements that a phase writes, and nothing else does."""
        first, nodes = self.graph.first_node, self.graph.nodes
        written = {v for v, _ in phase.stores} - self.constant
        calls = {call.value for call in phase.calls}
        others = {v for v, _ in self.graph.outputs}
        for v, node in enumerate(nodes, first):
            others.update(() if v in calls else node.operands)
        return (
            bool(written)
            and not written & others
            and all(nodes[v - first].op in ("row_sum", "row_dot") for v in calls)
            and all(kind == "slot" for _, (kind, _) in phase.stores)
        )

    def _in_pieces(self, number: int, phase: Phase) -> None:
        """Run a phase and its sums by pieces of a row that has some: these stay in a first-level cache."""
        w = self._w
        name = f"pieces{number}"
        cut = w.set(f"icmp ne i64 {self._pieces}, 1")
        w.put(f"br i1 {cut}, label %{name}.cut, label %{name}.whole")
        w.label(f"{name}.whole")
        self._run_phase(number, phase)
        for call in phase.calls:
            self._compute(call)
        w.put(f"br label %{name}.done")
        w.label(f"{name}.cut")
        width = w.set(f"udiv i64 {self._width}, {self._pieces}")
        written = {v for v, _ in phase.stores}

        def piece(p: str) -> None:
            start = w.set(f"mul i64 {p}, {width}")
            self._run_phase(number, phase, (width, start))
            for call in phase.calls:
                node = self.graph.nodes[call.value - self.graph.first_node]
                size = DTYPES[node.dtype].itemsize
                given = [
                    self._operand(v)[0] if v in written else self._piece_of(v, start)
                    for v in node.operands
                ]
                parts = w.at(self._operand(call.value)[0], "8")
                found = w.at(parts, w.set(f"mul i64 {p}, {size}"))
                self._blas(call, node, given, found, ("1", width, "0"))

        self._repeat(self._pieces, piece)
        for call in phase.calls:
            self._add_parts(call)
        w.put(f"br label %{name}.done")
        w.label(f"{name}.done")

    def _piece_of(self, v: int, start: str) -> str:
        """The address of a value's elements from one of a row on."""
        return self._w.at(self._operand(v)[0], start, STORED[self.graph.dtype(v)])

    def _run_phase(self, number: int, phase: Phase, piece: tuple[str, str] | None = None) -> None:
        """Call the function of a phase, for all rows or for a piece of one: its width and where it begins."""
        function = self._phases.get(number)
        if function is None:
            function = self._phases[number] = _RowPhase(self, number, phase)
            self.functions.extend(function.texts())
        count, width = (self._n, self._width) if piece is None else ("1", piece[0])
        passed = [f"i64 {count}", f"i64 {width}", f"ptr {self._numbers}"]
        for kind, at in function.homes:
            base = (self._bases if kind == "array" else self._slots)[at]
            code = function.rows_read.get((kind, at))
            if piece is not None and code is not None:
                base = self._w.at(base, piece[1], STORED[code])
            passed.append(f"ptr {base}")
            if kind == "array":
                folded = self.program.layouts[at] == "folded"
                passed.append("i64 0" if folded else f"i64 {self._given[at][2][-1]}")
        self._start(function, passed, [self._given[at][2][-1] for at in function.streamed()])

    # ---- NumPy's loops -------------------------------------------------------------------------

    def _compute(self, call: Call) -> None:
        """Have loops of NumPy's compute a value."""
        node = self.graph.nodes[call.value - self.graph.first_node]
        if node.op in REDUCTIONS:
            self._reduce(call, node)
            return
        values = (*node.operands, call.value)
        given = [self._operand(v) for v in values]
        columns = [v in self.constant for v in values]
        numbers = [step == "0" for _, step in given]
        if columns[-1] or not any(c and not n for c, n in zip(columns, numbers, strict=True)):
            count = self._n if columns[-1] else self._all
            self._call(call.loops[0], [p for p, _ in given], [s for _, s in given], [count])
            return
        sizes = [str(DTYPES[self.graph.dtype(v)].itemsize) for v in values]

        def row(r: str) -> None:
            w = self._w
            at, steps = [], []
            for (base, step), column, size in zip(given, columns, sizes, strict=True):
                if not column:
                    step = w.set(f"mul i64 {self._width}, {size}")
                at.append(w.at(base, w.set(f"mul i64 {r}, {step}")))
                steps.append("0" if column else size)
            self._call(call.loops[0], at, steps, [self._width])

        self._repeat(self._n, row)

    def _repeat(self, count: str, body: Callable[[str], None]) -> None:
        """A loop without branches within."""
        w = self._w
        self._loop_count += 1
        name = f"rows{self._loop_count}"
        w.put(f"br label %{name}.before")
        w.label(f"{name}.before")
        w.put(f"br label %{name}")
        w.label(name)
        w.put(f"%{name}.r = phi i64 [ 0, %{name}.before ], [ %{name}.next, %{name} ]")
        body(f"%{name}.r")
        w.put(f"%{name}.next = add i64 %{name}.r, 1")
        w.put(f"%{name}.more = icmp slt i64 %{name}.next, {count}")
        w.put(f"br i1 %{name}.more, label %{name}, label %{name}.after")
        w.label(f"{name}.after")

    def _reduce(self, call: Call, node: Node) -> None:
        """Reduce rows as `rows.sums`, `rows.dots` and NumPy do it."""
        w, kind = self._w, STORED[node.dtype]
        size = str(DTYPES[node.dtype].itemsize)
        given = [self._operand(v)[0] for v in node.operands]
        found, _ = self._operand(call.value)
        long = w.set(f"mul i64 {self._width}, {size}")
        if node.op in ("row_sum", "row_dot"):
            self._products(call, node, given, found, long)
            return
        rest = w.set(f"sub i64 {self._width}, 1")

        def row(r: str) -> None:
            at = w.at(given[0], w.set(f"mul i64 {r}, {long}"))
            into = w.at(found, w.set(f"mul i64 {r}, {size}"))
            if node.op == "row_add":
                w.put(
                    f"call void @{self._adder(node.dtype)}(ptr {at}, i64 {self._width}, ptr {into})"
                )
                total = w.set(f"load {kind}, ptr {into}, align 1")
                total = w.set(f"fadd {kind} 0.0, {total}")
                w.put(f"store {kind} {total}, ptr {into}, align 1")
                return
            w.put(f"store {kind} {w.set(f'load {kind}, ptr {at}, align 1')}, ptr {into}, align 1")
            self._call(call.loops[0], [into, w.at(at, size), into], ["0", size, "0"], [rest])

        self._repeat(self._n, row)

    def _adder(self, code: str) -> str:
        """The name of the function that adds up a row as NumPy does."""
        name, lines = pairwise_sum(code)
        text = "\n".join(lines)
        if text not in self.functions:
            self.functions.append(text)
        return name

    def _products(self, call: Call, node: Node, given: list[str], found: str, long: str) -> None:
        """Sums of rows by a product each; a row that is cut into pieces is alone in its strip."""
        w, size = self._w, str(DTYPES[node.dtype].itemsize)
        self._loop_count += 1
        name = f"sum{self._loop_count}"
        whole = w.set(f"icmp eq i64 {self._pieces}, 1")
        w.put(f"br i1 {whole}, label %{name}.whole, label %{name}.cut")
        w.label(f"{name}.whole")
        self._blas(call, node, given, found, (self._n, self._width, long))
        w.put(f"br label %{name}.done")
        w.label(f"{name}.cut")
        piece = w.set(f"udiv i64 {self._width}, {self._pieces}")
        some = w.set(f"mul i64 {piece}, {size}")
        self._blas(call, node, given, w.at(found, "8"), (self._pieces, piece, some))
        self._add_parts(call)
        w.put(f"br label %{name}.done")
        w.label(f"{name}.done")

    def _add_parts(self, call: Call) -> None:
        """Add up the sums of the pieces of a row, which stand behind their sum."""
        code = self.graph.dtype(call.value)
        found, size = self._operand(call.value)
        self._w.put(f"store {STORED[code]} 0.0, ptr {found}, align 1")
        parts = self._w.at(found, "8")
        self._call(call.loops[1], [found, parts, found], ["0", size, "0"], [self._pieces])

    def _blas(
        self, call: Call, node: Node, given: list[str], found: str, sizes: tuple[str, str, str]
    ) -> None:
        """Sums of some rows, of a width and as many bytes, without pieces: by BLAS, or in its order."""
        (count, width, step), products = sizes, node.op == "row_dot"
        second = given[1] if products else self._ones[node.dtype]
        if node.dtype not in self._summed:
            size = str(DTYPES[node.dtype].itemsize)
            steps = [step, step if products else "0", size, size, size]
            self._call(call.loops[0], [given[0], second, found], steps, [count, width])
            return
        of = "sums" if not products else "squares" if len({*node.operands}) == 1 else "products"
        name, text = blas_function(node.dtype, self.declared, of)
        if text not in self.functions:
            self.functions.append(text)
        rows = f"ptr {given[0]}, ptr {second}, i64 {count}, i64 {width}, i64 {width}"
        self._w.put(f"call void @{name}({rows}, ptr {found})")

    def _operand(self, v: int) -> tuple[str, str]:
        """The address of what a loop reads or writes, and its step: from row to row for a column."""
        graph = self.graph
        home = self.plan.homes.get(v)
        size = str(DTYPES[graph.dtype(v)].itemsize)
        if home is not None:
            return (self._slots if home[0] == "slot" else self._bases)[home[1]], size
        if v < len(graph.inputs):
            return self._bases[v], self._given[v][2][-1] if v in self.constant else size
        return self._w.at(self._numbers, str(8 * (v - len(graph.inputs)))), "0"


class _RowPhase(PhaseFunction):
    """The loops of a phase over the rows of a strip and their elements.

    Attributes:
        rows_read: the dtypes of homes of whole rows that it reads.
    """

    _arguments = ("i64 %n", "i64 %width", "ptr noalias readonly %numbers")

    def __init__(self, module: Module, number: int, phase: Phase) -> None:
        super().__init__(module, number, phase)
        self._row = Lines(module.declared, 300_000)
        self._rows: dict[tuple[Home, bool], str] = {}
        self.rows_read: dict[Home, str] = {}
        # Whether there is anything to do for each element: a column may go into a whole row.
        layouts = module.program.layouts
        self._full = any(
            v not in module.constant or (kind == "array" and layouts[at] != "single")
            for v, (kind, at) in phase.stores
        )

    def _loops(self) -> list[str]:
        inner = [
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %row ], [ %j, %loop ]",
            *self._body.lines,
            "  %j = add nuw nsw i64 %i, 1",
            "  %more = icmp slt i64 %j, %width",
            "  br i1 %more, label %loop, label %last",
        ]
        return [
            "  br label %row",
            "row:",
            "  %r = phi i64 [ 0, %entry ], [ %next, %last ]",
            *self._row.lines,
            *(inner if self._full else ["  br label %last"]),
            "last:",
            *self._tail.lines,
            "  %next = add nuw nsw i64 %r, 1",
            "  %left = icmp slt i64 %next, %n",
            "  br i1 %left, label %row, label %done",
        ]

    def _with_step(self, home: Home) -> bool:
        return home[0] == "array"

    def _at_row(self, home: Home, v: int) -> str:
        """The address of a row's first element, or of its number in a column."""
        module = self._module
        column = v in module.constant
        found = self._rows.get((home, column))
        if found is None:
            base, w = self._pointer(home), self._row
            if home[0] == "array":
                step = f"%step{home[1]}"
            else:
                size = str(DTYPES[module.graph.dtype(v)].itemsize)
                step = size if column else w.set(f"mul i64 %width, {size}")
            found = w.at(base, w.set(f"mul i64 %r, {step}"))
            self._rows[home, column] = found
        return found

    def _store(self, register: str, v: int, home: Home) -> None:
        module = self._module
        code = module.graph.dtype(v)
        single = home[0] == "array" and module.program.layouts[home[1]] == "single"
        column = single or (home[0] == "slot" and v in module.constant)
        at = self._at_row(home, v)
        w = self._tail if column else self._body
        if code == "b1":
            register = w.set(f"zext i1 {register} to i8")
        address = at if column else w.at(at, "%i", STORED[code])
        if home[0] == "array" and module.program.layouts[home[1]] == "folded":
            before = w.set(f"load {STORED[code]}, ptr {address}, align 1")
            register = w.set(f"fadd {STORED[code]} {before}, {register}")
        w.put(f"store {STORED[code]} {register}, ptr {address}, align 1{self._mark(home)}")

    def _read(self, v: int, home: Home) -> str:
        """A value from its home."""
        code = self._module.graph.dtype(v)
        at = self._at_row(home, v)
        if v in self._module.constant:
            return self._load(self._row, at, code)
        self.rows_read[home] = code
        return self._load(self._body, self._body.at(at, "%i", STORED[code]), code)

    def _made(self, v: int) -> str:
        module = self._module
        graph, plan = module.graph, module.plan
        inputs = len(graph.inputs)
        if v < inputs:
            return self._read(v, ("array", v))
        if v < graph.first_node:
            return self._load(
                self._head, self._head.at("%numbers", str(8 * (v - inputs))), graph.dtype(v)
            )
        node = graph.nodes[v - graph.first_node]
        home = plan.homes.get(v)
        if home is not None and (self._called(v) or plan.levels[v] < self._number):
            return self._read(v, home)
        operands = [self._value(o) for o in node.operands]
        codes = (*map(graph.dtype, node.operands), node.dtype)
        return emit(self._row if v in module.constant else self._body, node.op, codes, operands)
