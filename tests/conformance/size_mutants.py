"""Backends that are wrong where there is much of something, or little memory for many elements."""

import numpy as np
from bare_backend.kernels import KERNELS, made, scaled, wide
from faults import altered, kernel, mutant, pointwise
from plan_mutants import Compiler, compiled, planned
from runtime_mutants import two_devices

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.backend import float16, float32


def cut(t, count):
    """The elements from a number on are zeros."""
    if isinstance(t, Tensor) and t.numel() > count:
        values = t.raw_data.flatten()
        values[count:] = 0
        return made(values.reshape(t.shape), t.dtype, t)
    return t


def is_expanded(t):
    return t.numel() > 1 and 0 in t.stride()


# ---- kernels ------------------------------------------------------------------------------------


@mutant(r"add\(float32\[1031\], float32\[1031\]\)", test_edges=["add"])
def kernels_make_one_pass(patch):
    altered("add", lambda t: cut(t, 1024))


@mutant(r"add\(float32\[257, 259\]", test_edges=["add"])
def kernels_have_grids_of_16_bits(patch):
    altered("add", lambda t: cut(t, 1 << 16))


@mutant(r"add\(float32\[2, 1, 3, 1, 2, 2\]", test_edges=["add"])
def kernels_have_four_dimensions(patch):
    altered("add", lambda t: cut(t, 2) if t.dim() > 4 else t)


@mutant(r"mm\(float32\[70, 5\]", test_edges=["mm"])
def products_have_one_tile(patch):
    altered("mm", lambda t: made(np.where(np.indices(t.shape)[0] < 64, t.raw_data, 0), t.dtype, t))


@mutant(r"eq\(int64", test_edges=["eq"])
def integers_are_compared_as_doubles(patch):
    pointwise("eq", lambda a, b: a.astype(float) == b if a.dtype == np.int64 else a == b)


@mutant("alpha=-3", test_agrees_with_cpu=["add"])
def factors_of_integers_are_ignored(patch):
    pointwise(
        "add", lambda a, b, alpha=1: scaled(np.add)(a, b, 1 if a.dtype.kind == "i" else alpha)
    )


@mutant("float32.* expanded", test_layouts=["exp"])
def expanded_operands_are_read_on(patch):
    def run(t):
        return cut(KERNELS["exp"](t), 1) if is_expanded(t) else KERNELS["exp"](t)

    kernel("exp", run)


@mutant("of its result is expanded", test_gradients=["tanh"])
def expanded_gradients_are_read_on(patch):
    def run(grad_output, output):
        found = made(wide(grad_output) * (1 - wide(output) ** 2), output.dtype, output)
        return cut(found, 1) if is_expanded(grad_output) else found

    kernel("tanh_backward", run)


@mutant("float32 to float16 gave .* not the nearest", test_conversions=())
def halves_are_cut_off(patch):
    def copy(self, src, non_blocking=False):
        if (self.dtype, src.dtype) == (float16, float32) and src.device.type == "bare":
            bits = np.array(src.raw_data).view(np.int32) & ~0x1FFF
            with np.errstate(all="ignore"):
                np.copyto(self.raw_data, bits.view(np.float32), casting="unsafe")
            return self
        return KERNELS["copy_"](self, src, non_blocking)

    kernel("copy_", copy)


@mutant("copy_ from .* on bare:0 to transposed on bare:1 differs", test_between_devices=())
def copies_between_devices_take_memory(patch):
    two_devices(patch)

    def copy(self, src, non_blocking=False):
        if self.device is not src.device and not self.is_contiguous():
            np.copyto(self.raw_data, src.raw_data.reshape(self.shape[::-1]).T)
            return self
        return KERNELS["copy_"](self, src, non_blocking)

    kernel("copy_", copy)


# ---- plans --------------------------------------------------------------------------------------


@planned(r"elements of the shape \[1031\]", test_plan_of_many_elements=())
class plans_make_one_pass(Compiler):
    def call(self, op, args, kwargs):
        found = super().call(op, args, kwargs)
        return found if op.writes or op.view else cut(found, 1024)


@planned("a block of 70 operands and results", test_plan_of_many_operands=())
class plans_give_eight_results(Compiler):
    def run(self, program, inputs, entries):
        found = super().run(program, inputs, entries)
        return [*found[:-62], *(t * 0 for t in found[-62:])] if len(found) > 100 else found


@mutant("gave a tensor on bare:0 where one on bare:1", test_plan_on_several_devices=())
def plans_are_of_the_first_device(patch):
    two_devices(patch)

    class First(Compiler):
        def call(self, op, args, kwargs):
            found = super().call(op, args, kwargs)
            first = torch.empty(0, device="bare:0")
            return found if op.writes or op.view else made(found.raw_data, found.dtype, first)

    compiled(patch, First())


@planned("operands were dying", test_plan_donation=())
class plans_take_operands_over_too_early(Compiler):
    """The first result is put into the memory of an operand that a later op reads."""

    def call(self, op, args, kwargs):
        found = super().call(op, args, kwargs)
        if op.name == "aten::mul" and found.shape == (16, 16) == args[0].shape:
            KERNELS["copy_"](args[0], found)
        return found


@planned("zeros of both signs", test_plan_rounds_where_ops_do=())
class plans_leave_out_sums_with_zero(Compiler):
    def call(self, op, args, kwargs):
        if op.name == "aten::add" and type(args[1]) is int and not args[1]:
            return args[0].clone()
        return super().call(op, args, kwargs)


@planned("no numbers", test_plan_rounds_where_ops_do=())
class plans_lose_what_is_no_number(Compiler):
    def call(self, op, args, kwargs):
        if op.name == "aten::maximum":
            with np.errstate(invalid="ignore"):
                return made(np.fmax(*(t.raw_data for t in args)), args[0].dtype, args[0])
        return super().call(op, args, kwargs)


@planned("with halves", test_plan_rounds_where_ops_do=())
class plans_keep_halves_wide(Compiler):
    """What is computed in halves is rounded where a block ends."""

    def run(self, program, inputs, entries):
        self.wide, self.kept = {}, []
        return super().run(program, inputs, entries)

    def call(self, op, args, kwargs):
        found = super().call(op, args, kwargs)
        if op.name in ("aten::add", "aten::sub") and found.dtype is float16:
            operands = [self.wide.get(id(a), a) for a in args]
            exact = op.impl(
                *(a.float() if isinstance(a, Tensor) else a for a in operands), **kwargs
            )
            found = exact.to(float16)
            self.wide[id(found)] = exact
            self.kept.append(found)  # which keeps its place in memory
        return found


@planned("rounded before it is added", test_plan_rounds_where_ops_do=())
class plans_contract_products_and_sums(Compiler):
    """A product and a sum are rounded once."""

    def run(self, program, inputs, entries):
        self.products = {}
        return super().run(program, inputs, entries)

    def call(self, op, args, kwargs):
        found = super().call(op, args, kwargs)
        if found is not None and op.name == "aten::mul" and found.dtype is float32:
            exact = args[0].double() * (
                args[1].double() if isinstance(args[1], Tensor) else args[1]
            )
            self.products[id(found)] = exact, found
        if op.name == "aten::add" and id(args[0]) in self.products and not kwargs:
            exact, _ = self.products[id(args[0])]
            return (exact + args[1]).to(float32)
        return found
