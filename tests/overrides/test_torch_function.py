"""`__torch_function__` against PyTorch: what handlers are told, who is asked, what comes out."""

import copy
import functools
import inspect
import pickle
import subprocess
import sys
import warnings
from typing import ClassVar

import pytest

import mindtorch_core as torch
from mindtorch_core import overrides

pt = pytest.importorskip("torch")


def logging_class(lib):
    """A class of tensors that writes down what its handler is given."""

    class Logged(lib.Tensor):
        log: ClassVar = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.log.append((lib.overrides.resolve_name(func), len(args), sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs)

    return Logged


def told(lib, program):
    """What the handler of `x` was given in a program, and of which class the result is."""
    kind = logging_class(lib)
    names = {
        "F": lib.nn.functional, "torch": lib, "x": lib.ones(2, 2).as_subclass(kind), "y": lib.ones(2, 2),
    }  # fmt: skip
    kind.log.clear()
    with lib.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = eval(program, names)
    return type(result).__name__, kind.log


PROGRAMS = """
x + 1; 1 + x; x - 1; 1 - x; x * y; y * x; x / 2; 2 / x; x // 2; 2 // x; x % 2; 2 % x; x ** 2; 2 ** x
x @ y; y @ x; -x; +x; abs(x); ~(x > 0); x == 1; x != 1; x < 1; 1 < x; y + x; x.__iadd__(1)
x.shape; x.dtype; x.device; x.T; x.mT; x.real; x.grad; x.requires_grad; x.is_leaf; x.data; x.ndim
x.grad_fn; x._version; x.is_meta; x.output_nr; x.is_cuda; x.layout; x.is_sparse
x[0]; x.__setitem__(0, 1); len(x); x.size(); x.size(0); x.dim(); x.numel(); x.sum().item(); x.tolist()
x.to('cpu'); x.float(); x.cpu(); x.type(); x.type_as(y); x.numpy(); x.is_floating_point(); x.stride()
x.sum(dim=1); x.sum(1); torch.sum(x, dim=1); torch.sum(x, 1, keepdim=True); torch.add(x, y, alpha=2)
torch.cat([x, y]); torch.cat((y, x), dim=1); torch.cat([y, x], 1); torch.stack([x, x]); torch.relu(x)
x.view(4); x.view(2, 2); x.view((2, 2)); x.reshape(-1); x.expand(2, 2); x.permute(1, 0); x.transpose(0, 1)
x.max(dim=0); torch.max(x, 0); x.chunk(2); x.unbind(); x.std(); x.var(dim=0); x.masked_fill(x > 0, 0)
x.relu_(); x.fill_(1); x.copy_(y); y.add_(x); x.clone(); x.detach(); x.contiguous(); x.is_contiguous()
torch.zeros_like(x); x.new_zeros(2); torch.where(x > 0, x, y); torch.allclose(x, y); torch.equal(x, y)
bool(x.sum() > 0); float(x.sum()); int(x.sum()); reversed(x); format(x, ''); x.__contains__(1); hash(x)
x.requires_grad_(); x.storage_offset(); x.element_size(); x.nelement(); x.norm()
F.relu(x); F.linear(x, y); F.softmax(x, dim=-1); F.gelu(x); F.mse_loss(x, y); F.dropout(x, 0.5, False)
F.layer_norm(x, (2,)); F.cross_entropy(x, torch.tensor([0, 1])); F.embedding(torch.tensor([0]), x)
x.float().mean(-1, keepdim=True); torch.tensor(x); torch.as_tensor(x); torch.mean(y); torch.ones(2)
"""


@pytest.mark.parametrize(
    "program", [p.strip() for p in PROGRAMS.replace("\n", ";").split(";") if p.strip()]
)
def test_handlers_are_told_what_pytorch_tells(program):
    assert told(torch, program) == told(pt, program)


class Answering:
    """No tensor, and asked all the same."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "asked"


def answers(function, count):
    try:
        return function(*(Answering() for _ in range(count)))
    except (TypeError, ValueError, AttributeError):
        return "not asked"


def test_every_function_asks_its_operands():
    """Those that PyTorch lists, with as many operands as have no default."""
    left_out, asked = [], 0
    for theirs, like in pt.overrides.get_testing_overrides().items():
        name = pt.overrides.resolve_name(theirs)
        if name is None or name.startswith("torch.Tensor."):
            continue
        try:
            ours = functools.reduce(getattr, name.split(".")[1:], torch)
        except (AttributeError, NotImplementedError):
            continue  # those that are missing are listed with the names of PyTorch
        wanted = [
            p for p in inspect.signature(like).parameters.values()
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]  # fmt: skip
        if wanted and answers(theirs, len(wanted)) == "asked":
            asked += 1
            if answers(ours, len(wanted)) != "asked":
                left_out.append(name)
    assert asked > 600
    assert left_out == []


def test_the_keywords_of_a_call_in_a_comprehension_and_of_spread_arguments():
    kind = logging_class(torch)
    x = torch.ones(2, 2).as_subclass(kind)
    [torch.sum(x, dim=d) for d in (0,)]
    keywords = {"dim": 1}
    torch.sum(x, **keywords)
    list(map(torch.neg, [x]))
    assert kind.log == [("torch.sum", 1, ["dim"]), ("torch.sum", 1, ["dim"]), ("torch.neg", 1, [])]


# ---- who is asked -------------------------------------------------------------------------------


def classes(lib):
    """Tensors of classes A, B(A) and C, and an object that is none."""

    class A(lib.Tensor):
        pass

    class B(A):
        pass

    class C(lib.Tensor):
        pass

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "duck", func.__name__, [t.__name__ for t in types], len(args), kwargs or {}

    t = lib.ones(2, 2)
    made = {k.__name__.lower(): t.as_subclass(k) for k in (A, B, C)}
    return {"torch": lib, "F": lib.nn.functional, "t": t, "d": Duck(), **made}


def outcome(lib, program):
    try:
        found = eval(program, classes(lib))
    except TypeError:
        return "TypeError"
    if isinstance(found, tuple | list) and not isinstance(found[0], str):
        return type(found).__name__, [type(each).__name__ for each in found]
    return found if isinstance(found, tuple | bool) else type(found).__name__


@pytest.mark.parametrize(
    "program",
    [
        "a + b", "b + a", "a + c", "torch.add(a, c)", "a.sum()", "a.unbind()", "a.max(0)", "torch.stack([a, b])",
        "torch.stack([t, b])", "a.data", "a.detach()", "a.view(4)", "a[0]", "a.add_(b)", "t.add_(a)", "a.tolist()",
        "torch.add(d, 1)", "torch.add(t, d)", "torch.add(1, d)", "t + d", "d + t", "torch.sum(d, dim=1)",
        "torch.cat([t, d])", "F.relu(d)", "torch.max(d, 0)", "torch.mean(d)", "torch.where(d, t, t)",
        "t.add(d)", "F.linear(d, t)", "torch.add(a, d)", "torch.add(d, a)", "torch.nn.Parameter(a)",
        "torch.nn.Parameter(t) + 1", "torch.nn.Parameter(t) + a", "torch.add(t, t, out=a)",
    ],
)  # fmt: skip
def test_who_answers(program):
    assert outcome(torch, program) == outcome(pt, program)


def test_nobody_answers():
    class No(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    t = torch.ones(2).as_subclass(No)
    with pytest.raises(TypeError, match=r"(?s)'torch.add'; all __torch_function__ handlers .*No"):
        torch.add(t, t)
    with pytest.raises(TypeError, match="unsupported operand"):
        t + t


def test_classes_out_of_force():
    for lib in (torch, pt):
        names = classes(lib)
        a, b = names["a"], names["b"]
        with lib._C.DisableTorchFunctionSubclass():
            assert type(a + b) is lib.Tensor
            assert type(a.view(4)) is lib.Tensor
            assert not lib.overrides.has_torch_function((a,))
        assert type(a + b) is type(b)
        assert type(lib._C._disabled_torch_function_impl(lib.add, (), (a, b), {})) is lib.Tensor


def test_a_result_that_is_no_tensor_comes_back_as_it_is():
    class Text(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return f"{func.__name__}!"

    t = torch.ones(3, 3).as_subclass(Text)
    found = torch.max(t, 0), torch.zeros_like(t), t.sum(), t.shape, t + 1, torch.linalg.det(t)
    assert found == ("max!", "zeros_like!", "sum!", "__get__!", "add!", "linalg_det!")


# ---- what stays ---------------------------------------------------------------------------------


def test_copies_pickles_and_gradients_stay_of_the_class():
    t = torch.ones(2).as_subclass(Marked)
    t.note = "kept"
    for other in (copy.deepcopy(t), copy.copy(t), pickle.loads(pickle.dumps(t))):
        assert type(other) is Marked
        assert other.note == "kept"
        assert type(other + 1) is Marked
    leaf = torch.ones(2, requires_grad=True)
    y = (leaf.as_subclass(Marked) * 3).sum()
    y.backward()
    assert leaf.grad.tolist() == [3, 3]
    assert type(leaf.grad) is torch.Tensor


class Marked(torch.Tensor):
    """A class at the top of a module, which pickles find."""


def test_views_and_results_are_plain_where_no_class_is_asked():
    t = torch.ones(2, 2).as_subclass(Marked)
    with torch._C.DisableTorchFunctionSubclass():
        inner = t[0]
    assert type(inner) is torch.Tensor
    assert type(inner + 1) is torch.Tensor
    assert type(t.data.tolist()) is list


def test_backward_is_not_overridden():
    kind = logging_class(torch)
    x = torch.ones(2, requires_grad=True)
    y = (x.as_subclass(kind) ** 2).sum()
    kind.log.clear()
    y.backward()
    assert [name for name, _, _ in kind.log] == ["torch.Tensor.backward"]
    assert x.grad.tolist() == [2, 2]


# ---- what it costs ------------------------------------------------------------------------------

NOBODY = """
import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_core.dispatch.overrides import IN_USE
before = torch.nn.functional.relu.__code__
from mindtorch_core.distributed.tensor import DTensor  # as transformers does
a = nn.Linear(2, 2)(torch.ones(1, 2)).sum(); a.backward()
assert not IN_USE and torch.nn.functional.relu.__code__ is before
class T(torch.Tensor): pass
assert IN_USE and torch.nn.functional.relu.__code__ is not before
"""


def test_nothing_asks_before_there_is_a_class():
    subprocess.run([sys.executable, "-c", NOBODY], check=True, timeout=60)


def test_the_first_function_and_its_signature_stay():
    import inspect

    assert list(inspect.signature(torch.nn.functional.relu).parameters) == ["input", "inplace"]
    assert (
        "def relu" in inspect.getsource(torch.nn.functional.relu)
        or torch.nn.functional.relu.__doc__
    )


# ---- torch.overrides ----------------------------------------------------------------------------


def test_functions_about_overrides():
    for lib in (torch, pt):
        names, ov = classes(lib), lib.overrides
        assert ov.is_tensor_like(names["d"])
        assert ov.is_tensor_like(names["t"])
        assert not ov.is_tensor_like(1)
        assert ov.has_torch_function((names["a"], 1))
        assert not ov.has_torch_function((names["t"], 1))
        assert ov.has_torch_function_unary(names["d"])
        assert ov.has_torch_function_variadic(1, names["a"])
        assert ov.is_tensor_method_or_property(lib.Tensor.add)
        assert ov.is_tensor_method_or_property(lib.Tensor.shape.__get__)
        assert not ov.is_tensor_method_or_property(lib.add)
        assert ov.resolve_name(lib.add) == "torch.add"
        assert ov.resolve_name(lib.Tensor.add) == "torch.Tensor.add"
        assert ov.resolve_name(lib.nn.functional.gelu) == "torch.nn.functional.gelu"
        assert ov.resolve_name(lib.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
        assert ov.resolve_name(lib.ops.aten.add.Tensor) == "aten.add.Tensor"
        assert lib.add in ov.get_overridable_functions()[lib]
        assert lib.Tensor.add in ov.get_overridable_functions()[lib.Tensor]
        assert ov.get_testing_overrides()[lib.add](1, 2) == -1
        assert lib.tensor in ov.get_ignored_functions()
        assert lib.Tensor.grad.__get__ in ov.get_default_nowrap_functions()


def test_functions_of_a_program():
    for lib in (torch, pt):

        @lib.overrides.wrap_torch_function(lambda x, n=1: (x,))
        def scaled(x, n=1):
            return x * n

        def by_hand(x):
            if lib.overrides.has_torch_function_unary(x):
                return lib.overrides.handle_torch_function(by_hand, (x,), x)
            return x + 1

        names = classes(lib)
        assert scaled(names["d"], n=2) == ("duck", "scaled", ["Duck"], 1, {"n": 2})
        assert by_hand(names["d"]) == ("duck", "by_hand", ["Duck"], 1, {})
        assert scaled(names["t"], 2).sum() == 8
        assert type(by_hand(names["a"])).__name__ == "A"


def test_every_overridable_function_is_overridden():
    """A duck in the place of the first tensor: nothing computes with it."""
    missed = []
    names = classes(torch)
    for function in overrides.get_overridable_functions()[torch]:
        if function in overrides.get_ignored_functions():
            continue
        try:
            found = function(names["d"])
        except TypeError as error:
            if "missing" in str(error) or "must be" in str(error) or "invalid comb" in str(error):
                continue  # it takes more, or no tensor first
            raise
        if not (isinstance(found, tuple) and found[0] == "duck"):
            missed.append(function.__name__)
    assert not missed
