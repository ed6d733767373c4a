"""Modes, rules and keys that a program sets by hand, and handlers that lack what they need."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.dispatcher import dispatch
from mindtorch_core.dispatch.keys import DispatchKey, include_keys
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.frontend.dispatch_modes import DispatchMode

pt = pytest.importorskip("torch")


class Keeping:
    """Made of its arguments, as any class is."""

    def __init__(self, one, two=2):
        self.given = one, two


def mode(lib, *, handles):
    class Mode(Keeping, lib.overrides.TorchFunctionMode):
        if handles:

            def __torch_function__(self, func, types, args=(), kwargs=None):
                return func.__name__, self.given

    return Mode


def test_a_mode_is_made_of_its_arguments():
    for lib in (torch, pt):
        x = lib.ones(1)
        with pytest.warns(
            UserWarning, match=r"^`Mode.push\(\)` is no longer necessary and can be rep"
        ):
            made = mode(lib, handles=True).push(1, two=3)
        with made:
            found = lib.sin(x)
        assert found == ("sin", (1, 3))
        assert lib.ones(1).tolist() == [1]


def test_a_mode_without_a_handler_says_so():
    for lib in (torch, pt):
        with pytest.raises(NotImplementedError) as error, mode(lib, handles=False)(1):
            lib.add(1, 1)
        if lib is torch:
            assert str(error.value).startswith(
                "Mode must define __torch_function__(self, func, types, args="
            )
        assert lib.ones(1).tolist() == [1]


@pytest.mark.parametrize("key", ["Python", "PythonTLSSnapshot"])
def test_a_key_that_is_included_by_hand_changes_no_result(key):
    with include_keys(DispatchKey[key]):
        x = torch.ones(2, requires_grad=True)
        y = (x * 3).sum()
        y.backward()
    assert (y.item(), x.grad.tolist()) == (6, [3, 3])


def test_modes_see_no_op_without_a_schema():
    seen = []

    class Seeing(DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with registry.scope():
        registry.register_kernel("hand::bare", "CPU", lambda x: x.sin())
        x = torch.zeros(1)
        with Seeing():
            found = dispatch("hand::bare", None, x)
    assert (found.item(), seen) == (0, ["aten.sin.default"])


def test_rules_of_a_mode_are_taken_back_in_turn():
    class Ruled(DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def said():
        with Ruled():
            found = torch.sin(torch.zeros(1))
        return found if isinstance(found, str) else found.item()

    from mindtorch_core.frontend.dispatch_modes import register_rule

    with registry.scope():
        first = register_rule("aten::sin", Ruled, lambda *a, **k: "first")
        assert said() == "first"
        second = register_rule("aten::sin", Ruled, lambda *a, **k: "second")
        assert said() == "second"
        second.remove()
        assert said() == "first"
        first.remove()
        assert said() == 0


def test_what_no_handler_is():
    disabled = torch._C._disabled_torch_function_impl
    assert repr(disabled) == repr(pt._C._disabled_torch_function_impl)
    for lib in (torch, pt):
        x = lib.ones(1)
        assert lib._C._disabled_torch_function_impl(lib.add, (), (x, 1), {}).item() == 2
        assert lib._C._disabled_torch_function_impl(lib.add, (), (x, 1)).item() == 2


def test_a_class_whose_ops_are_those_of_tensors():
    for lib in (torch, pt):

        class Plain(lib.Tensor):
            __torch_dispatch__ = lib._C._disabled_torch_dispatch_impl
            __torch_function__ = lib._C._disabled_torch_function_impl

        x = lib.ones(2).as_subclass(Plain)
        found = x + 1
        assert (type(found), found.tolist()) == (lib.Tensor, [2, 2])
        direct = lib._C._disabled_torch_dispatch_impl
        if lib is torch:
            assert direct(lib.ops.aten.add.Tensor, (), (lib.ones(1), lib.ones(1))).item() == 2
            assert (
                direct(lib.ops.aten.add.Tensor, (), (lib.ones(1), lib.ones(1)), {"alpha": 3}).item()
                == 4
            )


# ---- values that stand for others ---------------------------------------------------------------


def test_an_index_that_names_nothing_writes_nothing():
    for lib in (torch, pt):
        x = lib.tensor([1, 2, 3])
        x[False] = 9
        x[lib.tensor(False)] = 9
        assert x.tolist() == [1, 2, 3]
        x[True] = 9
        assert x.tolist() == [9, 9, 9]


BOUNDS = [
    lambda lib, x: x[: lib.tensor(2)], lambda lib, x: x[lib.tensor(1) : lib.tensor(3)],
    lambda lib, x: x[:: lib.tensor(2)], lambda lib, x: x[: np.int64(2)],
    lambda lib, x: x[np.int64(1) : np.int32(4) : np.int8(2)], lambda lib, x: x[:2.5],
    lambda lib, x: x[1.5:], lambda lib, x: x[: "a"], lambda lib, x: x[::0], lambda lib, x: x[::-1],
    lambda lib, x: x[: lib.tensor([1, 2])], lambda lib, x: x[:None], lambda lib, x: x[None:-1],
]  # fmt: skip


@pytest.mark.parametrize("call", BOUNDS)
def test_bounds_of_slices(call):
    found = []
    for lib in (torch, pt):
        try:
            found.append(call(lib, lib.arange(5)).tolist())
        except (TypeError, ValueError) as error:
            found.append((type(error), str(error).partition(";")[0]))
    assert found[0] == found[1]


@pytest.mark.parametrize("wanted", [0, 1, "x", [], 1.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda lib, w: lib.ones(2, requires_grad=w),
        lambda lib, w: lib.full((2,), 1.0, requires_grad=w),
        lambda lib, w: lib.zeros(2, dtype=lib.int64, requires_grad=w),
        lambda lib, w: lib.ones_like(lib.ones(2), requires_grad=w),
        lambda lib, w: lib.ones(2).new_zeros(2, requires_grad=w),
        lambda lib, w: lib.tensor([1.0], requires_grad=w),
        lambda lib, w: lib.empty(2, requires_grad=w),
    ],
)
def test_whether_it_requires_grad_is_a_bool(make, wanted):
    words = []
    for lib in (torch, pt):
        with pytest.raises(TypeError) as error:
            make(lib, wanted)
        words.append(str(error.value))
    assert words[0] == words[1]


def test_functions_of_numpy_whose_results_are_no_numbers():
    for lib in (torch, pt):
        with pytest.raises(TypeError, match="can't convert"):
            np.frompyfunc(str, 1, 1)(lib.ones(2))
    assert type(np.sqrt(torch.full((2,), 4.0))) is torch.Tensor
    assert np.sqrt(torch.full((2,), 4.0)).tolist() == [2, 2]


def test_options_of_printing_that_there_are_not():
    assert torch._tensor_str.PRINT_OPTS.precision == pt._tensor_str.PRINT_OPTS.precision
    for lib in (torch, pt):
        with pytest.raises(AttributeError, match="nope"):
            lib._tensor_str.PRINT_OPTS.nope
