"""Backends whose plans are wrong in blocks of a kind that few tests have."""

import itertools

import numpy as np
from bare_backend.kernels import KERNELS
from plan_mutants import Compiler, planned

from mindtorch_core import Tensor
from mindtorch_core.backend import bool_, int64


class Holding(Compiler):
    """Takes some operands of the first block of a structure for constants, by their elements."""

    def held(self, t):
        raise NotImplementedError

    def computing(self, kept, program, inputs, entries):
        made = {id(out) for e in entries if e is not None for out in e.outs}
        constants = self.programs.setdefault(id(kept), {})
        given = []
        for n, t in enumerate(inputs):
            if id(t) not in made and self.held(t):
                t = constants.setdefault(n, t.detach().clone())
            given.append(t)
        return lambda: self.run(kept, given, entries)


@planned("other elements of", test_plan_with_other_elements=())
class plans_hold_scalars_of_the_device(Holding):
    def held(self, t):
        return not t.dim() and t.device.type != "cpu"


@planned("other elements of", test_plan_with_other_elements=())
class plans_hold_masks(Holding):
    def held(self, t):
        return t.dtype is bool_


@planned("other elements of", test_plan_with_other_elements=())
class plans_hold_parameters(Holding):
    def held(self, t):
        return t.requires_grad


@planned("sort\\(1\\)\\[n\\] \\* 1.5 with n = 1 after others", test_plan_with_other_scalars=())
class plans_take_parts_of_a_result_for_one(Compiler):
    def frozen(self, value):
        if isinstance(value, tuple) and value and value[0] == "made":
            return value[:2]
        return super().frozen(value)


@planned("rounding_mode=n. with n = .* after others", test_plan_with_other_scalars=())
class plans_ignore_texts(Compiler):
    def number(self, value):
        return str if isinstance(value, str) else super().number(value)


@planned("sum\\(n\\) with n = None after others", test_plan_with_other_scalars=())
class plans_take_nothing_for_zero(Compiler):
    def number(self, value):
        return super().number(0 if value is None else value)


@planned("reshape\\(n\\) . 1 with n = .* after others", test_plan_with_other_scalars=())
class plans_sort_lists(Compiler):
    def frozen(self, value):
        found = super().frozen(value)
        if isinstance(value, tuple) and value and value[0] == "list":
            return value[0], tuple(sorted(map(repr, map(self.frozen, value[2]))))
        return found


@planned("x \\* n \\+ 1 with n = 2.0001 after others", test_plan_with_other_scalars=())
class plans_take_close_numbers_for_one(Compiler):
    def number(self, value):
        close = isinstance(value, float) and 0.1 < abs(value) < 10
        return type(value), round(value, 3) if close else repr(value)


@planned("doubles near n", test_plan_with_other_scalars=())
class plans_round_numbers_to_singles(Compiler):
    def call(self, op, args, kwargs):
        rounded = [float(np.float32(a)) if type(a) is float else a for a in args]
        return op.impl(*rounded, **kwargs)


@planned("became .* when the block was run again", test_plan_results_stay=())
class plans_give_buffers_of_a_ring(Compiler):
    def computing(self, kept, program, inputs, entries):
        ring = self.programs.setdefault(id(kept), [{} for _ in range(8)])
        turn = self.programs.setdefault(("turn", id(kept)), itertools.count())

        def compute():
            buffers = ring[next(turn) % len(ring)]
            made = self.run(kept, inputs, entries)
            for n, (result, (op, _, _)) in enumerate(zip(made, kept, strict=True)):
                if not (op.writes or op.view) and isinstance(result, Tensor):
                    buffers.setdefault(n, result).raw_data[...] = result.raw_data
                    made[n] = buffers[n]
            return made

        compute.trusted = True
        return compute


@planned("the result of run", test_plan_results_stay=())
class plans_are_optimized_after_ten_runs(Compiler):
    def run(self, program, inputs, entries):
        runs = self.programs.setdefault(("runs", id(program)), itertools.count())
        self.hot = next(runs) >= 10
        return super().run(program, inputs, entries)

    def call(self, op, args, kwargs):
        if self.hot and op.name == "aten::add" and not isinstance(args[1], Tensor):
            return args[0].clone()
        return op.impl(*args, **kwargs)


@planned("of operands that overlap", test_plan_aliasing=())
class plans_write_back_at_the_end(Compiler):
    """Operands that are written become values of their own, and are written when all is computed."""

    def run(self, program, inputs, entries):
        made = {id(out) for e in entries if e is not None and not e.op.writes for out in e.outs}
        apart = [t if id(t) in made else t.detach().clone() for t in inputs]
        found = super().run(program, apart, entries)
        for t, own in zip(inputs, apart, strict=True):
            if own is not t:
                KERNELS["copy_"](t.detach(), own)
        return [
            entry.outs[0] if entry.op.writes else r
            for entry, r in zip((e for e in entries if e is not None), found, strict=True)
        ]


@planned("a block of .* additions gave|RecursionError|recursion", test_plan_of_many_ops=())
class plans_recurse(Compiler):
    def plan(self, entries):
        def depth(n):
            return 0 if not n else 1 + depth(n - 1)

        depth(len(entries))
        return super().plan(entries)


@planned("tensors of .* runs of a block are alive", test_plan_keeps_nothing_alive=())
class plans_keep_operands_alive(Compiler):
    def computing(self, kept, program, inputs, entries):
        self.programs.setdefault("alive", []).extend(inputs)
        return super().computing(kept, program, inputs, entries)


@planned("large whole numbers", test_plan_with_other_scalars=())
class plans_compute_integers_as_doubles(Compiler):
    def call(self, op, args, kwargs):
        result = op.impl(*args, **kwargs)
        if isinstance(result, Tensor) and result.dtype is int64 and not (op.writes or op.view):
            result.raw_data[...] = result.raw_data.astype(np.float64).astype(np.int64)
        return result
