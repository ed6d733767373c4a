"""Backends whose plan of a block is wrong: a small compiler that keeps what it compiled, with faults."""

import gc
import sys

import numpy as np
from bare_backend.kernels import KERNELS
from bare_backend.runtime import RUNTIME
from faults import mutant

from mindtorch_core import Tensor
from mindtorch_core.dispatch.pipeline import Plan, Step, StepFailed


class Compiler:
    """Turns blocks into programs, which it keeps by their structure; right as it stands.

    A program is a list of (op, where its arguments come from); numbers stand in the key.
    """

    def __init__(self):
        self.programs = {}
        self.hits = 0

    def plan(self, entries):
        present = [i for i, entry in enumerate(entries) if entry is not None]
        places, inputs = {}, []
        program = [self.line(entries[i], places, inputs, n) for n, i in enumerate(present)]
        key = self.key(program, inputs)
        self.hits += key in self.programs
        kept = self.programs.setdefault(key, program)
        compute = self.computing(kept, program, inputs, entries)
        return Plan([Step(tuple(present), compute)])

    def line(self, entry, places, inputs, number):
        args = [self.source(a, places, inputs) for a in entry.args]
        kwargs = {k: self.source(a, places, inputs) for k, a in entry.kwargs.items()}
        for j, out in enumerate(entry.outs):
            places[id(out)] = ("made", number, j)
        return entry.op, args, kwargs

    def source(self, value, places, inputs):
        """Where an argument comes from: a result, an operand of the block, or it is as it is."""
        if isinstance(value, list | tuple):
            return ("list", type(value), [self.source(v, places, inputs) for v in value])
        if not isinstance(value, Tensor):
            return ("number", value)
        if id(value) not in places:
            places[id(value)] = ("input", len(inputs))
            inputs.append(value)
        return places[id(value)]

    def key(self, program, inputs):
        lines = tuple((op.name, self.frozen(a), self.frozen(k)) for op, a, k in program)
        return lines, tuple(self.described(t) for t in inputs)

    def described(self, t):
        return t.shape, t.dtype, t.device, t.stride(), t.storage_offset()

    def frozen(self, value):
        if isinstance(value, dict):
            return tuple((k, self.frozen(v)) for k, v in value.items())
        if isinstance(value, list | tuple):
            if value and value[0] == "number":
                return self.number(value[1])
            return tuple(self.frozen(v) for v in value)
        return value

    def number(self, value):
        return type(value), repr(value)

    def computing(self, kept, program, inputs, entries):
        def compute():
            return self.run(kept, inputs, entries)

        return compute

    def run(self, program, inputs, entries):
        made = []
        for op, args, kwargs in program:
            given = [self.value(a, made, inputs) for a in args]
            named = {k: self.value(a, made, inputs) for k, a in kwargs.items()}
            try:
                made.append(self.call(op, given, named))
            except Exception as error:
                at = [e for e in entries if e is not None][len(made)]
                raise StepFailed(at, error) from error
        return made

    def call(self, op, args, kwargs):
        return op.impl(*args, **kwargs)

    def value(self, source, made, inputs):
        kind, *rest = source
        if kind == "number":
            return rest[0]
        if kind == "list":
            return rest[0](self.value(s, made, inputs) for s in rest[1])
        if kind == "input":
            return inputs[rest[0]]
        result = made[rest[0]]
        return result[rest[1]] if isinstance(result, tuple | list) else result


def compiled(patch, compiler=None):
    """Not wrong: every block is one step, and known blocks are not compiled again."""
    patch.setattr(RUNTIME, "plan", (compiler or Compiler()).plan)


def planned(tells, **tests):
    """A mutant whose plan is made by a class of compilers."""

    def add(kind):
        def put(patch):
            compiled(patch, kind())

        put.__name__ = kind.__name__
        mutant(tells, **tests)(put)
        return kind

    return add


@planned("with n = .* after others", test_plan_with_other_scalars=())
class plans_ignore_numbers(Compiler):
    def number(self, value):
        return type(value)


@planned("with n = .* after others", test_plan_with_other_scalars=())
class plans_take_equal_numbers_for_one(Compiler):
    """True, 1 and 1.0 are equal, and are not one."""

    def number(self, value):
        return value


@planned("in other shapes and layouts", test_plan_with_other_shapes=())
class plans_keep_shapes(Compiler):
    def described(self, t):
        return t.dtype, t.dim()

    def computing(self, kept, program, inputs, entries):
        shapes = self.programs.setdefault(id(kept), [tuple(t.shape) for t in inputs])

        def compute():
            cut = [
                t[tuple(slice(n) for n in shape)] for t, shape in zip(inputs, shapes, strict=True)
            ]
            return self.run(kept, cut, entries)

        return compute


@planned("in other shapes and layouts", test_plan_with_other_shapes=())
class plans_take_operands_for_contiguous(Compiler):
    def computing(self, kept, program, inputs, entries):
        rows = [
            t.as_strided(t.shape, np.cumprod([1, *t.shape[:0:-1]])[::-1].tolist()) if t.dim() else t
            for t in inputs
            if not any(t is out for e in entries if e is not None for out in e.outs)
        ]
        whole = [r if t.storage_offset() == 0 else t for r, t in zip(rows, inputs, strict=True)]
        return lambda: self.run(kept, whole, entries)


@planned("of other operands", test_plan_with_other_operands=())
class plans_hold_their_operands(Compiler):
    def computing(self, kept, program, inputs, entries):
        first = self.programs.setdefault(id(kept), list(inputs))
        return lambda: self.run(kept, first, entries)


@planned("of other operands", test_plan_with_other_operands=())
class plans_ignore_which_operands_are_one(Compiler):
    def frozen(self, value):
        if isinstance(value, tuple) and value and value[0] == "input":
            return "input"
        return super().frozen(value)

    def key(self, program, inputs):
        return super().key(program, [])


@planned("a write", test_plan_aliasing=())
class plans_write_into_copies(Compiler):
    def call(self, op, args, kwargs):
        if op.writes:
            return op.impl(args[0].clone(), *args[1:], **kwargs)
        return op.impl(*args, **kwargs)


class Sharing(Compiler):
    """Gives tensors that are there already for results that are equal to them."""

    trusted = False

    def computing(self, kept, program, inputs, entries):
        compute = super().computing(kept, program, inputs, entries)
        compute.trusted = self.trusted
        return compute

    def run(self, program, inputs, entries):
        self.known = {}
        return super().run(program, inputs, entries)

    def call(self, op, args, kwargs):
        if op.name == "aten::mul" and not isinstance(args[1], Tensor) and args[1] == 1:
            made = self.known.get(id(args[0]))
            if made is None:
                made = self.known[id(args[0])] = self.first(op, args, kwargs)
            return made
        return super().call(op, args, kwargs)

    def first(self, op, args, kwargs):
        return args[0]


@planned("gave memory of an operand", test_plan_aliasing=())
class plans_give_operands_for_what_is_equal(Sharing):
    pass


@planned("gave memory of an operand", test_plan_aliasing=())
class plans_give_views_for_what_is_equal(Sharing):
    def first(self, op, args, kwargs):
        return args[0].view(args[0].shape)


@planned("gave memory of another result", test_plan_aliasing=())
class plans_give_results_twice(Sharing):
    def first(self, op, args, kwargs):
        return op.impl(*args, **kwargs)


@planned("a write to .* has changed", test_plan_aliasing=())
class plans_that_are_trusted_give_results_twice(plans_give_results_twice):
    trusted = True


@planned("a write", test_plan_aliasing=())
class plans_that_are_trusted_give_operands(Sharing):
    trusted = True


@planned("writes|a view|a write|overlap", test_plan_aliasing=())
class plans_move_writes_to_the_end(Compiler):
    def run(self, program, inputs, entries):
        made = [None] * len(program)
        order = [i for i, line in enumerate(program) if not line[0].writes]
        order += [i for i in range(len(program)) if i not in order]
        for i in order:
            op, args, kwargs = program[i]
            values = [self.value(a, made, inputs) for a in args]
            if any(v is None for v in values):
                values = [
                    self.value(a, inputs, inputs) if v is None else v
                    for a, v in zip(args, values, strict=True)
                ]
            made[i] = op.impl(*values, **kwargs)
        return made


@planned("an operand changed that was kept alive", test_plan_donation=())
class plans_always_take_operands_over(Compiler):
    """The first result of an operand's shape is put into its memory."""

    def run(self, program, inputs, entries):
        made = super().run(program, inputs, entries)
        for t in inputs:
            like = next((r for r in made if isinstance(r, Tensor) and r.shape == t.shape), None)
            if like is not None and t.numel() > 100 and t.is_floating_point():
                KERNELS["copy_"](t, like)
        return made


@planned("left out a result|kept alive|dying", test_plan_donation=())
class plans_keep_what_was_seen_the_first_time(Compiler):
    """Results that nobody looked at when a block was compiled are left out for ever."""

    def computing(self, kept, program, inputs, entries):
        gc.collect()
        alive = self.programs.setdefault(
            id(kept),
            [any(sys.getrefcount(out) > 4 for out in e.outs) for e in entries if e is not None],
        )

        def compute():
            made = self.run(kept, inputs, entries)
            return [
                r if seen or len(made) > 4 else None for r, seen in zip(made, alive, strict=True)
            ]

        return compute


@planned("the memory of a living base", test_plan_donation_of_views=())
class plans_take_views_over(Compiler):
    def run(self, program, inputs, entries):
        made = super().run(program, inputs, entries)
        for t in inputs:
            if t._base is not None and not any(op.writes for op, _, _ in program):
                KERNELS["fill_.Scalar"](t, 0)
        return made


@planned("a block on two devices", test_plan_on_two_devices=())
class plans_hold_numbers_of_the_host(Compiler):
    """Tensors of the host without dimensions are taken for constants."""

    def computing(self, kept, program, inputs, entries):
        first = self.programs.setdefault(id(kept), list(inputs))
        held = [old if t.device.type == "cpu" else t for old, t in zip(first, inputs, strict=True)]
        return lambda: self.run(kept, held, entries)


@planned("an op that fails in a block gave", test_plan_errors=())
class plans_swallow_errors(Compiler):
    def call(self, op, args, kwargs):
        try:
            return op.impl(*args, **kwargs)
        except Exception:  # noqa: BLE001
            return args[0].clone()


@planned("does not name the op that failed", test_plan_errors=())
class plans_name_their_first_op(Compiler):
    def run(self, program, inputs, entries):
        try:
            return super().run(program, inputs, entries)
        except StepFailed as error:
            first = next(e for e in entries if e is not None)
            raise StepFailed(first, error.cause) from error


@planned("interrupt", test_plan_interrupts=())
class plans_swallow_interrupts(Compiler):
    def call(self, op, args, kwargs):
        try:
            return op.impl(*args, **kwargs)
        except BaseException:  # noqa: BLE001
            return args[0].clone()


@planned("a block of all kinds", test_plan_of_all_kinds=())
class plans_forget_second_results(Compiler):
    def run(self, program, inputs, entries):
        made = super().run(program, inputs, entries)
        return [(r[0], r[0]) if isinstance(r, tuple) else r for r in made]


@planned("a block of all kinds", test_plan_of_all_kinds=())
class plans_give_too_few_results(Compiler):
    def run(self, program, inputs, entries):
        made = super().run(program, inputs, entries)
        return made[:-1] if len(made) > 6 else made


@planned("a block of all kinds", test_plan_of_all_kinds=())
class plans_fail_and_leave_it_to_the_core(Compiler):
    def plan(self, entries):
        raise NotImplementedError("sort")
