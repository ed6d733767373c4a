"""`TorchFunctionMode` against PyTorch, and `__torch_dispatch__` of classes of tensors."""

from contextlib import ExitStack
from importlib import import_module
from typing import ClassVar

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def seen(lib, program, *names):
    """What nested modes of these names see of a program, outermost first."""
    log = []

    class Mode(lib.overrides.TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(
                (self.name, lib.overrides.resolve_name(func), len(args), sorted(kwargs or {}))
            )
            return func(*args, **(kwargs or {}))

    scope = {"torch": lib, "F": lib.nn.functional, "a": lib.ones(2, 2)}
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(Mode(name))
        eval(program, scope)
    return log


@pytest.mark.parametrize(
    "program",
    [
        "torch.add(a, a)", "a.sum(0)", "a + 1", "a.shape", "torch.zeros(2)", "torch.tensor([1.])", "F.relu(a)",
        "a.to(torch.float64)", "a[0]", "torch.ones_like(a)", "torch.arange(3)", "torch.cat([a, a], dim=1)",
        "F.softmax(a, -1)", "torch.rand(2, 2)", "a.numel()", "torch.full((2,), 1.)",
        "torch.nn.Parameter(a)", "torch.nn.Parameter()", "torch.nn.Buffer(a)", "a.as_subclass(torch.nn.Parameter)",
        "torch.Tensor._make_subclass(torch.nn.Parameter, a, True)", "torch.Tensor()", "torch.Tensor(2, 3)",
        "torch.Tensor([1.])", "torch.Tensor(a)", "torch.LongTensor([1])", "torch.LongTensor(2)", "a.new([1.])",
        "a.new(2)", "a.new(a)", "a.new_tensor([1.])", "a.new_tensor([1.], dtype=torch.float64)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("names", [("only",), ("outer", "inner")])
def test_modes_see_what_pytorchs_see(program, names):
    assert seen(torch, program, *names) == seen(pt, program, *names)


def test_a_mode_that_changes_factories():
    for lib in (torch, pt):

        class Doubles(lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                kwargs = kwargs or {}
                if func in (lib.zeros, lib.tensor, lib.arange):
                    kwargs.setdefault("dtype", lib.float64)
                return func(*args, **kwargs)

        with Doubles():
            found = [lib.zeros(2).dtype, lib.tensor([1.0]).dtype, lib.ones(2).dtype]
        assert found == [lib.float64, lib.float64, lib.float32]
        assert lib.zeros(2).dtype == lib.float32


def test_no_mode_answers():
    for lib in (torch, pt):

        class No(lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return NotImplemented

        t = lib.ones(2)
        with No(), pytest.raises(TypeError, match="NotImplemented"):
            lib.add(t, t)
        assert lib.add(t, t).tolist() == [2, 2]


def test_modes_and_classes():
    for lib in (torch, pt):
        order = []

        class Mode(lib.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                order.append(("mode", [t.__name__ for t in types]))
                return func(*args, **(kwargs or {}))

        class Kind(lib.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                order.append("class")
                return super().__torch_function__(func, types, args, kwargs)

        t = lib.ones(2).as_subclass(Kind)
        with Mode():
            lib.add(t, t)
            with lib._C.DisableTorchFunctionSubclass():
                lib.add(t, t)
        assert order == [("mode", ["Kind"]), "class", ("mode", [])]


def test_the_stack_after_an_error():
    class Fails(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise ValueError("no")

    t = torch.ones(2)
    with torch.overrides.BaseTorchFunctionMode():
        with pytest.raises(ValueError, match="no"), Fails():
            torch.add(t, t)
        assert len(torch.overrides._get_current_function_mode_stack()) == 1
        assert torch.add(t, t).tolist() == [2, 2]
    assert torch.overrides._get_current_function_mode() is None


# ---- __torch_dispatch__ of classes --------------------------------------------------------------


def wrapper(lib):
    """A class of tensors around others, which notes the ops that it is handed."""

    class Wrapper(lib.Tensor):
        log: ClassVar = []
        __torch_function__ = lib._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, elem):
            return lib.Tensor._make_wrapper_subclass(
                cls, elem.size(), dtype=elem.dtype, device=elem.device, strides=elem.stride()
            )

        def __init__(self, elem):
            self.elem = elem

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.log.append(func.overloadpacket.__name__)
            tree = lib.utils._pytree
            args, kwargs = tree.tree_map_only(cls, lambda t: t.elem, (args, kwargs or {}))
            return tree.tree_map_only(lib.Tensor, cls, func(*args, **kwargs))

    return Wrapper


def test_wrappers_are_handed_ops():
    for lib in (torch, pt):
        assert lib.utils._pytree.tree_leaves([1]) == [1]
        kind = wrapper(lib)
        x = kind(lib.arange(4.0).reshape(2, 2))
        assert x.shape == (2, 2)
        y = (x + 1).relu().sum(1)
        assert type(y) is kind
        assert y.elem.tolist() == [3, 7]
        values, _ = x.max(0)
        assert type(values) is kind
        assert type(lib.cat([x, lib.ones(1, 2)])) is kind
        assert kind.log == ["add", "relu", "sum", "max", "cat"]


def test_gradients_of_wrappers():
    for lib in (torch, pt):
        kind = wrapper(lib)
        w = kind(lib.ones(2, 2)).requires_grad_()
        y = (w * w).sum()
        assert y.requires_grad
        y.backward()
        assert type(w.grad) is kind
        assert w.grad.elem.tolist() == [[2, 2], [2, 2]]


def test_a_wrapper_needs_a_handler():
    class Plain(torch.Tensor):
        pass

    with pytest.raises(RuntimeError, match="must define a __torch_dispatch__"):
        torch.Tensor._make_wrapper_subclass(Plain, (2,))


def test_aliases_are_put_right():
    from mindtorch_core.utils._python_dispatch import (
        is_traceable_wrapper_subclass,
        return_and_correct_aliasing,
    )

    kind = wrapper(torch)
    x = kind(torch.ones(2, 2))
    add_, view = torch.ops.aten.add_.Tensor, torch.ops.aten.view.default
    assert return_and_correct_aliasing(add_, (x, 1), {}, kind(torch.ones(2, 2))) is x
    seen = return_and_correct_aliasing(view, (x, [4]), {}, kind(torch.ones(4)))
    assert seen.untyped_storage() is x.untyped_storage()
    assert not is_traceable_wrapper_subclass(x)
    kind.__tensor_flatten__ = kind.__tensor_unflatten__ = lambda *args: None
    assert is_traceable_wrapper_subclass(x)


def test_each_of_several_results_is_what_the_op_writes():
    for lib in (torch, pt):
        helpers = import_module(f"{lib.__name__}.utils._python_dispatch")
        with lib.library._scoped_library("modes_test", "FRAGMENT") as made:
            made.define("both(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))")
            op, x, y = lib.ops.modes_test.both.default, lib.ones(1), lib.zeros(2)
            found = helpers.return_and_correct_aliasing(op, (x, y), {}, (x.clone(), y.clone()))
        assert [id(each) for each in found] == [id(x), id(y)]


def test_explain_shows_who_is_asked():
    from mindtorch_core.inspection import explain

    class Kind(torch.Tensor):
        pass

    text = str(explain("add", torch.ones(2).as_subclass(Kind), torch.ones(2)))
    assert "PythonDispatcher" in text
    assert "__torch_function__" in text
    wrapped = wrapper(torch)(torch.ones(2))
    assert "Python " in str(explain("add", wrapped, torch.ones(2)))


def seen_around_a_pause(lib, names):
    """What dispatch modes and a class see before, in and after a block without modes."""
    log = []

    class Mode(names.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append((type(self).__name__, str(func).split(".")[1]))
            return func(*args, **(kwargs or {}))

    inner = type("Inner", (Mode,), {})
    kind = wrapper(lib)

    def told():
        mode, stack = names._get_current_dispatch_mode(), names._get_current_dispatch_mode_stack()
        log.append([type(m).__name__ for m in (mode, *stack)])

    def computed():
        told()
        kind(lib.ones(2)) * 2
        lib.ones(2) + 1

    def paused(within):
        with names._disable_current_modes() as modes:
            log.append([type(m).__name__ for m in modes])
            computed()
            with within():
                computed()
            computed()

    computed()
    paused(inner)
    with Mode():
        computed()
        paused(inner)
        with inner():
            paused(Mode)
            computed()
        with pytest.raises(KeyError), names._disable_current_modes():
            raise KeyError
        computed()
    computed()
    return log


def test_a_block_without_modes():
    import torch.utils._python_dispatch as theirs

    import mindtorch_core.utils._python_dispatch as ours

    assert seen_around_a_pause(torch, ours) == seen_around_a_pause(pt, theirs)
