"""In-place ops whose gradient is easily got wrong, against PyTorch."""

import pytest

import mindtorch_core as torch
from both import both

pt = pytest.importorskip("torch")

VALUES = [[0.3, 0.6, 0.4], [0.2, 0.7, 0.45]]


def leaf(lib, dtype="float32"):
    return lib.tensor(VALUES, dtype=getattr(lib, dtype), requires_grad=True)


# ---- comparisons --------------------------------------------------------------------------------

COMPARISONS = ["eq_", "ne_", "lt_", "le_", "gt_", "ge_"]
AGAINST = {
    "a number": lambda lib, x: 0.5,
    "a tensor": lambda lib, x: lib.full((2, 3), 0.5),
    "a row": lambda lib, x: lib.full((3,), 0.5),
    "what requires grad": lambda lib, x: x * 2 - 0.2,
    "a leaf": lambda lib, x: x,
}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("against", AGAINST.values(), ids=AGAINST)
def test_a_compared_tensor_has_no_gradient_of_its_past(name, against):
    def call(lib):
        x = leaf(lib)
        y = x * 1.5
        getattr(y, name)(against(lib, x))
        (y * x).sum().backward()
        return y.requires_grad, y.detach(), x.grad

    both(call)


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_part_that_is_compared_leaves_the_rest_its_gradient(name):
    def call(lib):
        x = leaf(lib)
        y = x * 1.5
        getattr(y[0], name)(0.5)
        y.sum().backward()
        return y.detach(), x.grad

    both(call)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("grads", [True, False])
def test_leaves_are_compared_in_place_only_without_recording(name, grads):
    def call(lib):
        x = leaf(lib)
        with lib.set_grad_enabled(grads):
            getattr(x, name)(0.5)
        return x.detach()

    both(call)


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_constant_that_is_compared_with_results_requires_grad_from_then_on(name):
    def call(lib):
        x = leaf(lib)
        y = lib.tensor(VALUES)
        getattr(y, name)(x * 2)
        y.sum().backward()
        return y.requires_grad, x.grad

    both(call)


@pytest.mark.parametrize("name", ["logical_and_", "logical_or_", "logical_xor_", "floor_divide_"])
def test_steps_have_a_gradient_of_zero(name):
    """Where PyTorch keeps the old gradient, or refuses to have one."""
    x = leaf(torch)
    y = x * 1.5
    getattr(y, name)(torch.full((3,), 2.0))
    y.sum().backward()
    assert x.grad.tolist() == [[0.0] * 3] * 2
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(x, name)(x)


# ---- operands of a wider dtype ------------------------------------------------------------------

STARTS = {
    "sin": lambda x: x.sin(),
    "clone": lambda x: x.clone(),
    "sign": lambda x: x.sign(),
    "a view": lambda x: (x * 2)[:, 1:],
}
WIDE = {
    "add_": lambda y, w: y.add_(w, alpha=3),
    "sub_": lambda y, w: y.sub_(w),
    "mul_": lambda y, w: y.mul_(w),
    "div_": lambda y, w: y.div_(w),
    "pow_": lambda y, w: y.pow_(w),
    "atan2_": lambda y, w: y.atan2_(w),
    "hypot_": lambda y, w: y.hypot_(w),
    "xlogy_": lambda y, w: y.xlogy_(w),
    "fmod_": lambda y, w: y.fmod_(w),
    "remainder_": lambda y, w: y.remainder_(w),
    "copysign_": lambda y, w: y.copysign_(w),
    "addcmul_, both": lambda y, w: y.addcmul_(w, w),
    "addcmul_, one": lambda y, w: y.addcmul_(w.to(y.dtype), w),
    "addcdiv_, one": lambda y, w: y.addcdiv_(w, w.to(y.dtype)),
    "clamp_": lambda y, w: y.clamp_(w * 0.1, w * 0.2),
    "copy_": lambda y, w: y.copy_(w),
}


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("float16", "float32")])
@pytest.mark.parametrize("given", [False, True], ids=["constant", "requires grad"])
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("change", WIDE.values(), ids=WIDE)
def test_gradients_have_the_dtypes_of_their_tensors(change, start, given, dtypes):
    narrow, wide = dtypes

    def call(lib):
        x = leaf(lib, narrow)
        y = start(x)
        w = lib.full(y.shape[1:], 1.5, dtype=getattr(lib, wide), requires_grad=given)
        seen = []
        y.register_hook(lambda g: seen.append(g.dtype == getattr(lib, narrow)))
        change(y, w)
        (y * y).sum().backward()
        grads = [g for g in (x.grad, w.grad) if g is not None]
        exact = narrow == "float32"  # halves are rounded after other steps
        return seen, [g if exact else lib.zeros_like(g) for g in grads]

    both(call)


@pytest.mark.parametrize(
    "name", ["clamp_min_", "clamp_max_", "divide_", "true_divide_", "multiply_"]
)
def test_a_constant_that_meets_a_result_is_saved_as_it_was(name):
    """These are composed of the op and a copy."""

    def call(lib):
        x = leaf(lib)
        y = lib.tensor(VALUES[::-1])
        getattr(y, name)(x * 2)
        y.sum().backward()
        return y.detach(), x.grad

    both(call)


# ---- leaving the graph --------------------------------------------------------------------------

SAVED_RESULTS = {
    "exp": lambda x: x.exp(),
    "tanh": lambda x: x.tanh(),
    "softmax": lambda x: x.softmax(1),
    "max": lambda x: x.max(1)[0],
    "norm": lambda x: x.norm(dim=1),
}
CHANGES = {
    "fill_": lambda y: y.fill_(5.0),
    "add_": lambda y: y.add_(1),
    "a view": lambda y: y[0].zero_(),
    "slices": lambda y: y.__setitem__(slice(1), 2.0),
    "requires grad": lambda y: y.requires_grad_().detach().mul_(3),
    "nothing": lambda y: None,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("make", SAVED_RESULTS.values(), ids=SAVED_RESULTS)
def test_changes_after_detach_are_noticed(make, change):
    def call(lib):
        x = leaf(lib)
        y = make(x * 1)
        z = y * 1
        y.detach_()
        change(y)
        z.sum().backward()
        return x.grad

    both(call)


# ---- elements that share memory ------------------------------------------------------------------

SHOWN = {
    "itself": lambda t: t,
    "data": lambda t: t.data,
    "data of data": lambda t: t.data.data,
    "detach": lambda t: t.detach(),
    "data of detach": lambda t: t.detach().data,
}
WRITES = {
    "add_": lambda lib, t: t.add_(1),
    "mul_": lambda lib, t: t.mul_(lib.ones(3)),
    "zero_": lambda lib, t: t.zero_(),
    "copy_": lambda lib, t: t.copy_(lib.ones(3)),
    "relu_": lambda lib, t: t.relu_(),
}


@pytest.mark.parametrize("show", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_shows_repeated_elements_is_not_written_either(show, write):
    both(lambda lib: write(lib, show(lib.ones(1).expand(3))))
    both(lambda lib: write(lib, show(lib.ones(3))))
