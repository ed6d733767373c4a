"""The lines of straight code, op by op."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from mindtorch_core.backend import (
    Instruction,
    Number,
    Program,
    Ref,
    Shape,
    Tensor,
    numel,
)

from ..arrays import CPU, NUMPY_OF, ZEROS, ndarray, scalar, wrap
from ..bound_calls import CALLS
from ..compiled import computed, computed_rows
from ..fusion.classify import is_own_kernel
from ..large import LARGE
from ..memory_pool import LARGE as POOLED
from ..memory_pool import POOL
from .formulas import WITH_ZERO, formula_of, is_row_major, order_of
from .functions import function_of
from .gains import Find
from .runs import Run, last_uses

__all__ = ["Writer"]


class Writer:
    """Writes the function of a program.

    A value is an array, ``a3``, a tensor around it, ``t3``, or both: whatever lines asked for.

    Attributes:
        scope: the names that the text refers to.
        instruction_at: by number of a line, the position of the instruction that it belongs to.
        names: by value, the name that holds it once the instruction at a position has run.
        under_way: by number of a line, how many instructions are computed there, where it writes.
        calls_kernels: whether there are ops that are calls of their kernels.
    """

    def __init__(self, program: Program, empty: Callable[..., Tensor], find: Find) -> None:
        self.program = program
        self._find = find
        self.scope: dict[str, Any] = {
            "bound": CALLS.get, "computed": computed, "computed_rows": computed_rows,
            "empty": np.empty, "laid_out": partial(laid_out, empty), "ndarray": ndarray,
            "parts": parts, "pooled": POOL.empty, "scalar": scalar, "wrap": wrap,
        }  # fmt: skip
        # Names in it, by their kind and by what they stand for.
        self._constants: dict[tuple[str, int], str] = {}
        self.instruction_at: dict[int, int] = {}
        self.names: dict[int, tuple[str, int]] = {}
        self.under_way: dict[int, int] = {}
        self.calls_kernels = False
        self._lines: list[str] = ["def run(inputs, numbers):"]
        self._at = 0
        self._indent = "    "
        self._arrays: set[int] = set()
        self._tensors: set[int] = set()
        self._own: set[int] = set()  # tensors that this backend's kernels make
        self._wholes: dict[int, int] = {}  # by view, what is row-major and has its memory
        self._scalars: dict[tuple[int, str], str] = {}  # what holds numbers, by place and dtype
        self._last = last_uses(program)
        self._dying = _dying(program, self._last)

    def source(self) -> str:
        """The text of the function ``run(inputs, numbers)``, which returns payloads and tensors."""
        program = self.program
        if program.inputs:
            self._line(f"{''.join(f't{n}, ' for n in program.inputs)}= inputs")
            self._tensors.update(program.inputs)
        if program.numbers:
            self._line(f"{''.join(f'n{i}, ' for i in range(len(program.numbers)))}= numbers")
        at = 0
        while at < len(program.instructions):
            run = self._find(program, at, self._last)
            if run is not None:
                self._run(at, run)
            else:
                self._instruction(at)
            end = at + (1 if run is None else run.instructions)
            dead = [n for i in range(at, end) for n in self._dying[i]]
            self._forget(
                [n for n in dead if n in self._arrays], [n for n in dead if n in self._tensors], end
            )
            at = end
        for n in program.outputs:
            self._unwrap(n)
        self._line(f"return [{', '.join(map(self._result, program.outputs))}]")
        return "\n".join(self._lines) + "\n"

    def _line(self, text: str) -> None:
        self._lines.append(self._indent + text)
        self.instruction_at[len(self._lines)] = self._at

    def _forget(self, arrays: Iterable[int], tensors: Iterable[int], at: int) -> None:
        """Refer no more to values before an instruction: their memory serves what comes next."""
        names = [f"a{n} = " for n in arrays] + [f"t{n} = " for n in tensors]
        if names and at < len(self.program.instructions):
            self._at = at  # what is interrupted here has come so far
            self._line(f"{''.join(names)}None")
        self._arrays.difference_update(arrays)
        self._tensors.difference_update(tensors)

    # ---- operands ------------------------------------------------------------------------------

    def _array(self, value: int) -> str:
        n = int(value)
        if n not in self._arrays:
            self._line(f"a{n} = t{n}.raw_data")
            self._arrays.add(n)
        return f"a{n}"

    def _tensor(self, value: int) -> str:
        n = int(value)
        if n not in self._tensors:
            dtype = self._constant("d", self.program.values[n].dtype)
            self._line(f"t{n} = wrap(a{n}, {dtype})")
            self._tensors.add(n)
        return f"t{n}"

    def _scalar(self, number: int, dtype: str) -> str:
        """What a number is as an array, which is kept: most come again as the same object."""
        n = int(number)
        if (n, dtype) not in self._scalars:
            last = self._constant("l", [(None, None)])
            name = f"s{last[1:]}"
            self._line(f"{name} = {last}[0]")
            self._line(f"if {name}[0] is not n{n}:")
            self._line(f"    {last}[0] = {name} = n{n}, scalar(n{n}, {dtype})")
            self._scalars[n, dtype] = f"{name}[1]"
        return self._scalars[n, dtype]

    def _constant(self, kind: str, value: Any) -> str:
        name = self._constants.get((kind, id(value)))
        if name is None:
            name = self._constants[kind, id(value)] = f"{kind}{len(self.scope)}"
            self.scope[name] = value
        return name

    def _made(self, n: int, name: str) -> None:
        self.names[n] = name, self._at

    def _unwrap(self, n: int) -> None:
        """Have an own kernel's result returned as an array, where it lies as it was promised."""
        value = self.program.values[n]
        if n in self._own and numel(value.shape):
            size = NUMPY_OF[value.dtype].itemsize
            steps = tuple(s * size for s in value.strides)
            self._line(f"p{n} = t{n}.raw_data")
            self._line(f"if t{n}.raw_storage is not None or p{n}.strides != {steps!r}:")
            self._line(f"    p{n} = t{n}")

    def _result(self, n: int) -> str:
        if n in self._own and numel(self.program.values[n].shape):
            return f"p{n}"
        return f"a{n}" if n in self._arrays and n not in self._tensors else f"t{n}"

    # ---- ops -----------------------------------------------------------------------------------

    def _instruction(self, at: int) -> None:
        instruction = self.program.instructions[at]
        self._at = at
        if not (self._ufunc(instruction) or self._function(instruction) or self._view(instruction)):
            self._kernel(instruction)

    def _run(self, first: int, run: Run) -> None:
        """Write instructions as one compiled kernel, and one by one for where there is none."""
        program, self._at = self.program, first
        result = program.values[run.result]
        dtype = self._constant("d", result.dtype)
        given = [
            self._as_taken(self._array(n), n, run) if is_value else self._scalar(n, dtype)
            for is_value, n in run.inputs
        ]
        numpy = NUMPY_OF[result.dtype]
        for n in run.outputs:
            shape = program.values[n].shape
            empty = "empty" if numel(shape) * numpy.itemsize < POOLED else "pooled"
            self._line(f"a{n} = {empty}({shape!r}, {self._constant('y', numpy)})")
        key, trace = self._constant("r", run.key), self._constant("f", run.trace)
        made = [self._as_taken(f"a{n}", n, run) for n in run.outputs]
        # As `computed` looks for what is bound to a shape, and more besides.
        whole: Any = program.values[run.inputs[0][1]].shape
        if run.rows is not None:
            whole = run.rows.as_matrix(whole)
        key_of_shape = self._constant("b", (run.key, whole, numpy.num, None))
        self._line(f"call = bound({key_of_shape})")
        self._line(
            f"if (call is None or not call({', '.join(given + made)})) and not "
            f"{'computed' if run.rows is None else 'computed_rows'}("
            f"{key}, {trace}, ({', '.join(given)},), ({''.join(f'{a}, ' for a in made)})):"
        )
        if run.writes:
            self.under_way[len(self._lines)] = run.instructions
        known = set(self._arrays), set(self._tensors), set(self._own), dict(self._scalars)
        self._indent = "        "
        for at in range(first, first + run.instructions):
            self._instruction(at)
            out = program.instructions[at].outs[0]
            if out in run.outputs and out not in self._arrays:
                self._line(f"a{out} = t{out}.raw_data")
            if out in run.outputs:
                self.names[int(out)] = f"a{out}", at
        # Of what the branch has made, only the results stay.
        arrays, tensors, self._own, self._scalars = known
        more = self._arrays - arrays - {*run.outputs}
        self._forget(more, self._tensors - tensors, first + run.instructions)
        self._indent = "    "
        self._arrays.update(run.outputs)

    def _as_taken(self, name: str, n: int, run: Run) -> str:
        """A value as a run's kernel takes it: with its rows in one dimension, where they are reduced."""
        shape = self.program.values[n].shape
        matrix = shape if run.rows is None else run.rows.as_matrix(shape)
        return name if matrix == shape else f"{name}.reshape({matrix!r})"

    def _ufunc(self, instruction: Instruction) -> bool:
        """Write an op whose kernel is a ufunc, on operands for which it is nothing else."""
        op, values = instruction.op, self.program.values
        formula = formula_of(self.program, instruction)
        out = instruction.outs[0]
        if formula is None or formula.ufunc is None or out is None:
            return False
        result = values[out]
        if numel(result.shape) >= LARGE:  # there the kernel shares the work out over threads
            return False
        fn = self._constant("u", formula.ufunc)
        dtype = self._constant("d", result.dtype)
        given = [
            self._array(a) if isinstance(a, Ref) else self._scalar(a, dtype)
            for a in formula.operands
        ]
        if formula.scaled:
            given[-2:] = [f"{self._constant('u', np.multiply)}({given[-2]}, {given[-1]})"]
        if op.name in WITH_ZERO:
            given.insert(0, self._constant("z", ZEROS[result.dtype]))
        if op.writes:
            self._line(f"{fn}({', '.join(given)}, {self._array(out)})")
        else:
            self._line(f"a{out} = {fn}({', '.join(given)})")
            self._arrays.add(out)
            self._made(out, f"a{out}")
        return True

    def _function(self, instruction: Instruction) -> bool:
        """Write an op as the function of arrays that its kernel calls."""
        found = function_of(self.program, instruction)
        if found is None:
            return False
        given = ", ".join(map(self._array, found.operands))
        (out,) = instruction.outs
        assert out is not None
        self._line(f"a{out} = {self._constant('c', found.function)}({given})")
        self._arrays.add(out)
        self._made(out, f"a{out}")
        return True

    def _view(self, instruction: Instruction) -> bool:
        """Write a view as an array over the same memory."""
        op, out, base = instruction.op, instruction.outs[0], next(iter(instruction.args), None)
        if not op.view or out is None or not isinstance(base, Ref):
            return False
        values = self.program.values
        value, whole = values[out], self._wholes.get(int(base), int(base))
        source = values[whole]
        if not numel(value.shape) or not numel(source.shape) or value.dtype is not source.dtype:
            return False
        if is_row_major(source):
            size = NUMPY_OF[value.dtype].itemsize
            start = (value.offset - source.offset) * size
            if start < 0:
                return False
            steps = tuple(s * size for s in value.strides)
            dtype = self._constant("y", NUMPY_OF[value.dtype])
            a = self._array(whole)
            self._line(f"a{out} = ndarray({value.shape!r}, {dtype}, {a}, {start}, {steps!r})")
            self._wholes[int(out)] = whole
        else:
            order = order_of(source, value)
            if order is None:
                return False
            self._line(f"a{out} = {self._array(whole)}.transpose({order!r})")
        self._arrays.add(out)
        return True

    def _kernel(self, instruction: Instruction) -> None:
        """Write an op as a call of what a launch calls."""
        op, outs = instruction.op, instruction.outs
        self.calls_kernels = True
        fn = self._constant("k", op.impl)
        given = [self._given(v) for v in instruction.args]
        given += [f"{k}={self._given(v)}" for k, v in instruction.kwargs.items()]
        call = f"{fn}({', '.join(given)})"
        if op.writes or not outs:
            self._line(call)
            return
        if len(outs) == 1 and outs[0] is not None and _gives_one(instruction):
            self._line(f"t{outs[0]} = {call}")
        else:
            names = "".join("_, " if o is None else f"t{o}, " for o in outs)
            self._line(f"{names}= parts({call}, {len(outs)})")
        own = is_own_kernel(op)
        for o in outs:
            if o is not None:
                if not op.view:  # a copy of a view is none: what is written there would be lost
                    self._lay_out(o, 2 if own else 1)
                self._tensors.add(o)
                self._made(o, f"t{o}")
                if own:
                    self._own.add(o)

    def _lay_out(self, n: int, least: int) -> None:
        """Have a kernel's result of at least so many dimensions lie in memory as it was promised."""
        value = self.program.values[n]
        if len(value.shape) >= least and numel(value.shape):
            size = NUMPY_OF[value.dtype].itemsize
            steps = tuple(s * size for s in value.strides)
            self._line(f"if t{n}.raw_storage is not None or t{n}.raw_data.strides != {steps!r}:")
            self._line(f"    t{n} = laid_out(t{n}, {value.strides!r})")

    def _given(self, value: Any) -> str:
        if isinstance(value, Ref):
            return self._tensor(value)
        if isinstance(value, Number):
            return f"n{int(value)}"
        if isinstance(value, list | tuple):
            inner = "".join(f"{self._given(v)}, " for v in value)
            return f"[{inner}]" if isinstance(value, list) else f"({inner})"
        if value is None or value.__class__ in (bool, int, str):
            return repr(value)
        return self._constant("c", value)


def _dying(program: Program, uses: dict[int, int]) -> list[list[int]]:
    """For each instruction, the values that nothing uses after it, nor what shows their memory."""
    values = program.values
    last: dict[int, int] = {}
    for n, at in uses.items():
        memory = values[n].memory
        last[memory] = max(at, last.get(memory, at))
    for n in (*program.inputs, *program.outputs):
        last.pop(values[n].memory, None)
    found: list[list[int]] = [[] for _ in program.instructions]
    for n, value in enumerate(values):
        if value.memory in last:
            found[last[value.memory]].append(n)
    return found


def _gives_one(instruction: Instruction) -> bool:
    """Whether a kernel returns a tensor, not a list or tuple of them."""
    definition = instruction.op.definition
    return definition is not None and definition.schema.rpartition("->")[2].strip() == "Tensor"


def parts(result: Any, count: int) -> Any:
    """The results of a kernel that may give None for some that were not asked for."""
    results = result if isinstance(result, tuple | list) else (result,)
    return results if len(results) == count else [r for r in results if r is not None]


def laid_out(empty: Callable[..., Tensor], t: Tensor, strides: Shape) -> Tensor:
    """A kernel's result, or a copy that lies in memory as the op's rule has said."""
    if t.raw_geometry() == (strides, 0):
        return t
    made = empty(t.raw_shape, strides, t.raw_dtype, CPU)
    np.copyto(made.raw_data, t.raw_data)
    return made
