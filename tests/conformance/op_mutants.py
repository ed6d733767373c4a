"""Backends with faulty kernels: element-wise ops, reductions, sorting, indexing, gradients, plans."""

import numpy as np
from bare_backend import kernels
from bare_backend.kernels import KERNELS, made, wide
from faults import altered, kernel, mutant, pointwise, reduction

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

# ---- element-wise ops ---------------------------------------------------------------------------


@mutant("rule says|attribute 'dtype'", test_forward=["add"], test_dtypes=["add"])
def promotion_to_float32(patch):
    altered("add", lambda t: made(t.raw_data, torch.float32, t))


@mutant("rule says", test_forward=["eq"])
def comparison_gives_numbers(patch):
    altered("eq", lambda t: made(t.raw_data, torch.int64, t))


@mutant("differ", test_dtypes=["add"], test_edges=["add"])
def bool_added_as_int(patch):
    pointwise(
        "add", lambda a, b, alpha=1: (a.astype(int) + b) % 2 if a.dtype == bool else a + alpha * b
    )


@mutant("differ", test_edges=["add"])
def integers_saturate(patch):
    def add(a, b, alpha=1):
        if a.dtype.kind != "i":
            return kernels.scaled(np.add)(a, b, alpha)
        limits = np.iinfo(a.dtype)
        exact = a.astype(object) + b.astype(object) * alpha
        return np.clip(exact, limits.min, limits.max).astype(a.dtype)

    pointwise("add", add)


@mutant("signs", test_edges=["neg"])
def minus_zero_lost(patch):
    pointwise("neg", lambda a: 0 - a)


@mutant("differ", test_edges=["maximum"])
def maximum_ignores_nan(patch):
    pointwise("maximum", np.fmax)


@mutant("differ", test_edges=["eq"])
def nan_equals_nan(patch):
    pointwise("eq", lambda a, b: (a == b) | ((a != a) & (b != b)))


@mutant("differ", test_edges=["round"])
def halves_rounded_up(patch):
    pointwise("round", lambda a: a if a.dtype.kind in "iub" else np.floor(a + 0.5))


@mutant("differ", test_agrees_with_cpu=["exp"])
def exp_in_half_precision(patch):
    pointwise("exp", lambda a: np.exp(a.astype(np.float16)) if a.dtype == np.float32 else np.exp(a))


@mutant("differ", test_agrees_with_cpu=["floor_divide"])
def floor_division_truncates(patch):
    pointwise("floor_divide", lambda a, b: np.trunc(a / b))


@mutant("raised", test_forward=["sqrt"], test_edges=["sqrt"])
def sqrt_raises_for_negative_numbers(patch):
    def sqrt(a):
        if (a < 0).any():
            raise ValueError("math domain error")
        return np.sqrt(a)

    pointwise("sqrt", sqrt)


@mutant("raised", test_forward=["exp"])
def scalars_not_handled(patch):
    pointwise("exp", lambda a: np.exp(a[:]))  # an array without dimensions has no slices


@mutant("an empty tensor of", test_empty_memory=())
def empty_not_handled(patch):
    def add(a, b, alpha=1):
        if not a.size:
            raise ValueError("zero-size array has no identity")
        return a + alpha * b

    pointwise("add", add)


@mutant("differ", test_agrees_with_cpu=["add"])
def alpha_ignored(patch):
    pointwise("add", lambda a, b, alpha=1: a + b)


# ---- reductions and ops on several elements -----------------------------------------------------


@mutant("differ", test_agrees_with_cpu=["sum"])
def sum_misses_the_last(patch):
    def total(a, axis, keepdims):
        if axis is None:
            return a.reshape(-1)[:-1].sum()
        first = axis if isinstance(axis, int) else axis[0]
        return (
            np.delete(a, -1, first).sum(axis, keepdims=keepdims) if a.shape[first] else a.sum(axis)
        )

    reduction("sum", total)


@mutant("its rule says", test_forward=["amax"])
def keepdim_lost(patch):
    kernel("amax", lambda self, dim=(), keepdim=False: KERNELS["amax"](self, dim, False))


@mutant("differ", test_edges=["amax"])
def amax_ignores_nan(patch):
    reduction("amax", lambda a, axis, keepdims: np.fmax.reduce(a, axis, keepdims=keepdims))


@mutant("its rule says", test_forward=["sum"])
def sum_keeps_int32(patch):
    def total(self, dim=None, keepdim=False, *, dtype=None):
        found = KERNELS["sum"](self, dim, keepdim, dtype=dtype)
        return made(found.raw_data, self.dtype, self) if dtype is None else found

    kernel("sum", total)


@mutant("differ", test_edges=["sum"])
def halves_summed_in_half(patch):
    def total(a, axis, keepdims):
        if a.dtype != np.float16:
            return a.sum(axis, keepdims=keepdims)
        running = np.zeros((), np.float16)
        for row in (
            a.reshape(-1)
            if axis is None
            else np.moveaxis(a, axis if isinstance(axis, int) else axis[0], 0)
        ):
            running = (running + row).astype(np.float16)
        return running

    reduction("sum", total, "own")


@mutant("differ", test_edges=["argmax"])
def argmax_takes_the_last_of_ties(patch):
    def last(a, axis, keepdims):
        a = a.reshape(-1) if axis is None else a
        axis = 0 if axis is None else axis
        return a.shape[axis] - 1 - np.argmax(np.flip(a, axis), axis, keepdims=keepdims)

    reduction("argmax", last)


@mutant("differ", test_edges=["sort.stable"])
def stable_sort_lost(patch):
    def sort(self, *, stable=None, dim=-1, descending=False):
        if not self.ndim:
            return KERNELS["sort.stable"](self)
        a = wide(self)
        order = (
            np.flip(a.shape[dim] - 1 - np.argsort(np.flip(a, dim), dim, kind="stable"), dim)
            if descending
            else np.argsort(a, dim, kind="stable")
        )
        ties = np.take_along_axis(a, order, dim)
        back = np.flip(np.argsort(np.flip(-a.astype(float), dim), dim, kind="stable"), dim)
        order = back if not descending else order
        return made(ties, self.dtype, self), made(order, torch.int64, self)

    kernel("sort.stable", sort)


@mutant("differ", test_edges=["cumsum"])
def negative_dim_taken_for_positive(patch):
    kernel(
        "cumsum",
        lambda self, dim, *, dtype=None: KERNELS["cumsum"](
            self, abs(dim) % max(self.ndim, 1), dtype=dtype
        ),
    )


@mutant("differ", test_agrees_with_cpu=["_index_put_positions_"])
def repeated_positions_added_once(patch):
    def put(self, indices, values, accumulate=False):
        at = kernels.positions(indices)
        self.raw_data[at] = self.raw_data[at] + values.raw_data if accumulate else values.raw_data
        return self

    kernel("_index_put_positions_", put)


@mutant("differ", test_edges=["mm"])
def empty_product_not_zero(patch):
    altered("mm", lambda t: made(np.where(t.raw_data == 0, 1, t.raw_data), t.dtype, t))


@mutant("an index out of range must raise", test_errors_leave_the_device_usable=())
def wrong_type_of_error(patch):
    def index(self, indices):
        try:
            return KERNELS["_index_positions"](self, indices)
        except IndexError as error:
            raise KeyError(str(error)) from error

    kernel("_index_positions", index)


@mutant("rule says", test_agrees_with_meta=["outer"])
def shape_is_not_the_rules(patch):
    kernel("outer", lambda self, vec2: (self.reshape(-1, 1) * vec2).reshape(-1))


# ---- what is made of ops ------------------------------------------------------------------------


@mutant("differ", test_deferred=["neg"], test_deferred_functions=["nn.gaussian_nll_loss"])
def plan_gives_something_else(patch):
    def plan(self):
        return lambda: self

    for name in ("neg", "log"):
        registry.register(name, "bare", KERNELS[name], plan=plan)


@mutant("nn.cross_entropy.* not close", test_functions=["nn.cross_entropy"])
def log_in_half_precision(patch):
    pointwise("log", lambda a: np.log(a.astype(np.float16)))


@mutant(
    "gradient of",
    test_gradients=["max_pool2d_with_indices", "max_pool2d_with_indices_backward"],
    test_function_gradients=["nn.max_pool2d"],
)
def kernel_of_a_gradient_is_wrong(patch):
    kernel(
        "max_pool2d_with_indices_backward",
        lambda grad_output, self, *args: self * 0 + grad_output.sum(),
    )


@mutant("rule says", test_autocast=())
def products_stay_wide(patch):
    def mm(self, mat2):
        found = KERNELS["mm"](self, mat2)
        return made(found.raw_data, torch.float32, found) if self.dtype is torch.bfloat16 else found

    kernel("mm", mm)
