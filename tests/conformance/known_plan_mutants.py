"""Backends whose plans keep too much of the first block of a structure, or compute it otherwise."""

import sys
import threading

from plan_mutants import Compiler, planned

from mindtorch_core import Tensor

DRAWS = ("aten::uniform_", "aten::normal_", "aten::random_.from")


@planned("alpha=n. with n = .* after others", test_plan_with_other_scalars=())
class plans_ignore_numbers_by_keyword(Compiler):
    def key(self, program, inputs):
        lines = tuple((op.name, self.frozen(args)) for op, args, _ in program)
        return lines, tuple(self.described(t) for t in inputs)


@planned("a list with n = .* after others", test_plan_with_other_scalars=())
class plans_ignore_numbers_in_lists(Compiler):
    def frozen(self, value):
        if isinstance(value, tuple) and value and value[0] == "list":
            return tuple(None if v[0] == "number" else self.frozen(v) for v in value[2])
        return super().frozen(value)


@planned("descending=n. with n = .* after others", test_plan_with_other_scalars=())
class plans_take_flags_for_one(Compiler):
    def number(self, value):
        return None if isinstance(value, bool) else super().number(value)


@planned("large whole numbers", test_plan_with_other_scalars=())
class plans_hand_numbers_on_as_doubles(Compiler):
    def call(self, op, args, kwargs):
        rounded = [int(float(a)) if type(a) is int and a > 1 << 40 else a for a in args]
        return op.impl(*rounded, **kwargs)


@planned("times 0 with n = (inf|nan)", test_plan_with_other_scalars=())
class plans_take_products_with_zero_for_zero(Compiler):
    def call(self, op, args, kwargs):
        result = op.impl(*args, **kwargs)
        if op.name == "aten::mul" and not isinstance(args[1], Tensor) and args[1] == 0:
            result.raw_data[...] = 0
        return result


@planned("in other shapes and layouts", test_plan_with_other_shapes=())
class plans_ignore_offsets(Compiler):
    """Operands of the block are read where those of the first one began."""

    def described(self, t):
        return t.shape, t.dtype, t.device, t.stride()

    def computing(self, kept, program, inputs, entries):
        first = self.programs.setdefault(id(kept), [t.storage_offset() for t in inputs])
        made = {id(out) for e in entries if e is not None for out in e.outs}
        read = [
            t if id(t) in made or t.dim() != 2 else t.as_strided(t.shape, t.stride(), start)
            for t, start in zip(inputs, first, strict=True)
        ]
        return lambda: self.run(kept, read, entries)


@planned("in other shapes and layouts", test_plan_with_other_shapes=())
class plans_ignore_dtypes(Compiler):
    def described(self, t):
        return t.shape, t.device, t.stride(), t.storage_offset()

    def computing(self, kept, program, inputs, entries):
        first = self.programs.setdefault(id(kept), [t.dtype for t in inputs])
        made = {id(out) for e in entries if e is not None for out in e.outs}
        read = [t if id(t) in made else t.to(d) for t, d in zip(inputs, first, strict=True)]
        return lambda: self.run(kept, read, entries)


@planned("was planned for others gave", test_plan_errors_again=())
class plans_check_positions_once(Compiler):
    def call(self, op, args, kwargs):
        try:
            return op.impl(*args, **kwargs)
        except IndexError:
            if not self.hits:
                raise
            args[1][0].raw_data[...] %= len(args[0])
            return op.impl(*args, **kwargs)


@planned("became .* when the block was run again", test_plan_results_stay=())
class plans_give_buffers_of_their_own(Compiler):
    def computing(self, kept, program, inputs, entries):
        buffers = self.programs.setdefault(id(kept), {})

        def compute():
            made = self.run(kept, inputs, entries)
            for n, (result, (op, _, _)) in enumerate(zip(made, kept, strict=True)):
                if not (op.writes or op.view):
                    buffers.setdefault(n, result).raw_data[...] = result.raw_data
                    made[n] = buffers[n]
            return made

        compute.trusted = True
        return compute


@planned("comes again draws other numbers", test_in_a_pipeline_again=())
class plans_leave_out_draws_that_nobody_sees(Compiler):
    def run(self, program, inputs, entries):
        present = [e for e in entries if e is not None]
        made = []
        for (op, args, kwargs), entry in zip(program, present, strict=True):
            unseen = op.name in DRAWS and sys.getrefcount(entry.outs[0]) <= 4
            given = [self.value(a, made, inputs) for a in args]
            named = {k: self.value(a, made, inputs) for k, a in kwargs.items()}
            made.append(given[0] if unseen else op.impl(*given, **named))
        return made


@planned("comes again draws other numbers", test_in_a_pipeline_again=())
class plans_keep_what_was_drawn(Compiler):
    def call(self, op, args, kwargs):
        result = op.impl(*args, **kwargs)
        if op.name in DRAWS:
            first = self.programs.setdefault(("drawn", result.shape), result.raw_data.copy())
            result.raw_data[...] = first
        return result


@planned("thread \\d got", test_plan_in_threads=())
class plans_share_places_between_threads(Compiler):
    """Operands are put where the program finds them, and another thread's as well."""

    def __init__(self):
        super().__init__()
        self.places = {}
        self.overtaken = threading.Barrier(2, timeout=60)
        self.here = threading.local()

    def computing(self, kept, program, inputs, entries):
        self.places[id(kept)] = inputs

        def compute():
            if threading.current_thread() is not threading.main_thread() and not vars(self.here):
                self.here.met = True  # once for each thread of the kit, of which there are six
                self.overtaken.wait()
            return self.run(kept, self.places[id(kept)], entries)

        return compute
