"""What handlers of wrappers return has the aliases that PyTorch's have, and wrappers are made again as its are."""

from importlib import import_module

import pytest
from collecting import Scenarios

import mindtorch_core as torch

pt = pytest.importorskip("torch")
scenario = Scenarios()


def wrapper(lib):
    """A class of tensors around one other."""

    class Wrapper(lib.Tensor):
        @staticmethod
        def __new__(cls, inner, size=None, stride=None):
            strides = stride or inner.stride()
            return lib.Tensor._make_wrapper_subclass(
                cls, size or inner.size(), dtype=inner.dtype, strides=strides
            )

        def __init__(self, inner, size=None, stride=None):
            self.inner = inner

        def __tensor_flatten__(self):
            return ["inner"], None

        @staticmethod
        def __tensor_unflatten__(inner, context, size, stride):
            return Wrapper(inner["inner"], size, stride)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError(f"{func} is called on a wrapper")

    return Wrapper


class Given:
    """A library's helpers and two wrappers, of two rows."""

    def __init__(self, lib):
        import_module(f"{lib.__name__}.utils._python_dispatch")
        self.lib, self.aten, self.helpers = lib, lib.ops.aten, lib.utils._python_dispatch
        self.kind = wrapper(lib)
        self.x, self.y = self.made(2, 3), self.made(2, 3)

    def made(self, *size):
        return self.kind(self.lib.ones(size))

    def returned(self, func, *args, out, **kwargs):
        return self.helpers.return_and_correct_aliasing(func, args, kwargs, out)

    def shares(self, made):
        at = [each.untyped_storage()._cdata for each in (made, self.x)]
        return at[0] == at[1]


def refused(call):
    with pytest.raises(AssertionError) as told:
        call()
    return str(told.value).replace("mindtorch_core.tensors.tensor", "torch")


@scenario
def views_share_storage(g):
    view, six = g.aten.view.default, lambda: g.made(6)
    return [
        g.shares(g.returned(view, g.x, [6], out=six())),
        g.shares(g.returned(view, g.x, out=six(), size=[6])),
        g.shares(g.returned(g.aten.detach.default, g.x, out=g.made(2, 3))),
        g.shares(g.returned(g.aten.mul.Tensor, g.x, g.x, out=g.made(2, 3))),
    ]


@scenario
def each_view_of_a_list_shares_storage(g):
    rows = g.returned(g.aten.split.Tensor, g.x, 1, out=[g.made(1, 3), g.made(1, 3)])
    columns = g.returned(g.aten.unbind.int, g.x, 1, out=[g.made(2) for _ in range(3)])
    return [type(rows), [g.shares(r) for r in rows], [g.shares(c) for c in columns]]


@scenario
def what_is_written_is_returned(g):
    add_ = g.aten.add_.Tensor
    return [
        g.returned(add_, g.x, 1, out=g.made(2, 3)) is g.x,
        g.returned(add_, g.x, 1, out=g.made(2, 3), alpha=2) is g.x,
        g.shares(g.y),
    ]


@scenario
def ops_without_results_return_what_the_handler_did(g):
    return [g.returned(g.aten._foreach_add_.Scalar, [g.x], 1, out=None)]


@scenario
def wrappers_become_other_views_in_place(g):
    x, y, z = g.made(2, 3), g.made(2, 3), g.made(1, 3)
    found = [
        g.returned(g.aten.t_.default, x, out=x) is x,
        g.returned(g.aten.unsqueeze_.default, y, 1, out=y) is y,
        g.returned(g.aten.squeeze_.default, z, out=z) is z,
    ]
    return [found, *((t.shape, t.stride()) for t in (x, y, z))]


@scenario
def views_of_another_class_are_refused(g):
    view, plain = g.aten.view.default, g.lib.ones(6)
    return [
        refused(lambda: g.returned(view, g.x, [6], out=plain)),
        refused(lambda: g.returned(view, plain, [2, 3], out=g.made(2, 3))),
        refused(lambda: g.returned(g.aten.split.Tensor, g.x, 2, out=[g.x, plain])),
        g.returned(view, plain, [6], out=plain) is plain,
    ]


@scenario
def wrappers_are_made_again(g):
    remade, seen = g.helpers.transform_subclass, []

    def twice(name, inner):
        seen.append(name)
        return inner * 2

    x = g.kind(g.lib.ones(2, 3).t())
    made = remade(x, twice), remade(x, twice, g.lib.Size([1, 6]), (6, 1))
    return [seen, *((m.shape, m.stride(), m.inner.tolist(), type(m) is g.kind) for m in made)]


@scenario
def what_is_made_again_has_the_shape_that_was_asked_for(g):
    g.kind.__tensor_unflatten__ = staticmethod(lambda inner, *rest: g.kind(inner["inner"]))
    remade = g.helpers.transform_subclass
    return [
        refused(lambda: remade(g.x, lambda name, inner: inner, g.lib.Size([3, 2]))),
        refused(lambda: remade(g.x, lambda name, inner: inner, None, (1, 2))),
    ]


@scenario
def both_methods_make_a_class_traceable(g):
    kinds = {m: type("Half", (g.lib.Tensor,), {m: None}) for m in vars(g.kind) if "flatten" in m}
    kinds |= {"both": g.kind, "tensor": g.lib.Tensor}
    traceable = g.helpers.is_traceable_wrapper_subclass_type
    found = {name: traceable(kind) for name, kind in kinds.items()}
    return [found, *map(g.helpers.is_traceable_wrapper_subclass, (g.x, g.lib.ones(1), 3))]


@pytest.mark.parametrize("run", scenario, ids=lambda run: run.__name__)
def test_handlers(run):
    ours, theirs = run(Given(torch)), run(Given(pt))
    assert repr(ours).replace("mindtorch_core.", "torch.") == repr(theirs)
