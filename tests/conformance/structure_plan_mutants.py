"""Backends whose plans take blocks of other ops for one, or compute what only looks the same."""

from plan_mutants import Compiler, planned

from mindtorch_core.backend import int8, int64, uint8

STRUCTURE = {"test_plan_with_other_structure": ()}
DRAWS = ("aten::uniform_", "aten::normal_")


def name_of(op):
    return op.name.removeprefix("aten::").partition(".")[0]


@planned("another op in the midst of many", **STRUCTURE)
class plans_know_blocks_by_their_ends(Compiler):
    def key(self, program, inputs):
        lines, described = super().key(program, inputs)
        return lines[:8], lines[-8:], len(lines), described


@planned("operands in another order", **STRUCTURE)
class plans_sort_operands(Compiler):
    def key(self, program, inputs):
        return super().key([(op, sorted(a, key=repr), k) for op, a, k in program], inputs)


@planned("positions in another order", **STRUCTURE)
class plans_sort_lists_of_tensors(Compiler):
    def frozen(self, value):
        if isinstance(value, tuple) and value and value[0] == "list":
            parts = value[2]
            if all(part[0] in ("input", "made") for part in parts):
                return value[0], tuple(sorted(map(repr, parts)))
        return super().frozen(value)


@planned("positions in another dimension", **STRUCTURE)
class plans_leave_nothing_out_of_lists(Compiler):
    def frozen(self, value):
        if isinstance(value, tuple) and value and value[0] == "list":
            value = (*value[:2], [part for part in value[2] if part != ("number", None)])
        return super().frozen(value)


@planned("sum\\(n\\) with n = -2 after others", test_plan_with_other_scalars=())
class plans_know_numbers_by_their_hashes(Compiler):
    def number(self, value):
        return type(value), hash(value) if isinstance(value, int) else repr(value)


@planned("whole numbers and n with n = 2147483653", test_plan_with_other_scalars=())
class plans_have_whole_numbers_of_32_bits(Compiler):
    def value(self, source, made, inputs):
        found = super().value(source, made, inputs)
        if type(found) is int and abs(found) < 2**62:  # ends of slices are larger
            return (found + 2**31) % 2**32 - 2**31
        return found


class Remembering(Compiler):
    """Knows of its own results in a block what they were made of."""

    def run(self, program, inputs, entries):
        self.known = {}
        return super().run(program, inputs, entries)

    def remember(self, result, *what):
        self.known[id(result)] = (*what, result)  # which keeps its place in memory
        return result


@planned("a sum that rounds", test_plan_rounds_where_ops_do=())
class plans_add_numbers_first(Remembering):
    """What is added to a sum with a number is added to the number."""

    def call(self, op, args, kwargs):
        sign = {"add": 1, "sub": -1}.get(name_of(op), 0)
        if not (sign and len(args) == 2 and isinstance(args[1], float) and not kwargs):
            return super().call(op, args, kwargs)
        x, number, _ = self.known.get(id(args[0]), (args[0], 0.0, None))
        number += sign * args[1]
        return self.remember(op.impl(x, sign * number), x, number)


@planned("with bytes", test_plan_rounds_where_ops_do=())
class plans_keep_bytes_wide(Remembering):
    """Bytes go round where they are stored, and not in what is computed with them in a block."""

    def call(self, op, args, kwargs):
        result = super().call(op, args, kwargs)
        arithmetic = name_of(op) in ("add", "floor_divide", "mul")
        if not (arithmetic and result.dtype in (int8, uint8)):
            return result
        operands = [
            self.known.get(id(a), (getattr(a, "to", lambda _, a=a: a)(int64),))[0] for a in args
        ]
        wide = op.impl(*operands, **kwargs)
        return self.remember(wide.to(result.dtype), wide)


@planned("a block that draws", test_plan_draws_in_order=())
class plans_draw_backwards(Compiler):
    """The last of two draws is made first."""

    def run(self, program, inputs, entries):
        draws = [n for n, (op, *_) in enumerate(program) if op.name in DRAWS]
        if len(draws) != 2 or program[draws[1]][1][0][0] != "input":
            return super().run(program, inputs, entries)
        op, args, kwargs = program[draws[1]]
        named = {k: self.value(s, [], inputs) for k, s in kwargs.items()}
        drawn = op.impl(*[self.value(s, [], inputs) for s in args], **named)
        kept = self.call
        self.call = lambda each, *rest: (
            drawn if each is op and rest[0][0] is drawn else kept(each, *rest)
        )
        try:
            return super().run(program, inputs, entries)
        finally:
            del self.call
