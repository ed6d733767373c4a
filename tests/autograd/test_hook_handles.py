"""torch.utils.hooks: handles and what is lost when a tensor is sent."""

import copy
import pickle
from collections import OrderedDict

import pytest

import mindtorch_core as torch
from mindtorch_core.utils import hooks


@pytest.mark.parametrize("several", [False, True])
def test_other_tables_lose_the_number_too(several):
    table, first, second = OrderedDict(), OrderedDict(), OrderedDict()
    extra = [first, second] if several else first
    handle = hooks.RemovableHandle(table, extra_dict=extra)
    for each in (table, first, second):
        each[handle.id] = True
    with handle:
        assert len(table) == 1
    assert (len(table), len(first), len(second)) == (0, 0, 0 if several else 1)
    handle.remove()


def test_handles_are_pickled_with_their_tables():
    table, more = OrderedDict(), OrderedDict()
    handle = hooks.RemovableHandle(table, extra_dict=more)
    table[handle.id], more[handle.id] = "a", "b"
    for copied in (
        pickle.loads(pickle.dumps([handle, table, more])),
        copy.deepcopy([handle, table, more]),
    ):
        other, its_table, its_more = copied
        assert other.id == handle.id
        assert its_table == {handle.id: "a"}
        other.remove()
        assert (its_table, its_more) == ({}, {})
    assert len(table) == len(more) == 1
    assert hooks.RemovableHandle(table).id > handle.id


def test_numbers_of_another_process_are_not_given_again():
    handle = hooks.RemovableHandle(OrderedDict())
    handle.__setstate__((None, handle.id + 100))
    assert hooks.RemovableHandle(OrderedDict()).id > handle.id
    handle.remove()


def test_a_handle_keeps_no_table_alive():
    table, more = OrderedDict(), OrderedDict()
    handle = hooks.RemovableHandle(table, extra_dict=more)
    assert handle.hooks_dict_ref() is table
    assert [ref() for ref in handle.extra_dict_ref] == [more]
    del table, more
    assert handle.hooks_dict_ref() is None
    handle.remove()
    copied = copy.copy(handle)
    assert (copied.id, copied.hooks_dict_ref(), copied.extra_dict_ref) == (handle.id, None, ())
    with pytest.raises(TypeError, match="weak reference"):
        hooks.RemovableHandle({})


def test_hooks_of_a_tensor():
    t = torch.ones(2, requires_grad=True)
    assert t._backward_hooks is None
    hooks.warn_if_has_hooks(t)
    first = t.register_hook(lambda g: g * 2)
    assert list(t._backward_hooks) == [first.id]
    with pytest.warns(UserWarning, match="will not be serialized"):
        hooks.warn_if_has_hooks(t)
    first.remove()
    assert not t._backward_hooks
    t.register_hook(hooks.unserializable_hook(lambda g: g))
    hooks.warn_if_has_hooks(t)


def test_hooks_of_modules_stand_where_pytorch_has_them():
    pytest.importorskip("mindtorch_nn")
    module, seen = torch.nn.Linear(2, 1), []
    made = hooks.BackwardHook(module, [lambda m, i, o: seen.append((i, o))], [])
    (x,) = made.setup_input_hook((torch.ones(1, 2, requires_grad=True),))
    made.setup_output_hook(x * 2).sum().backward()
    assert [len(part) for part in seen[0]] == [1, 1]
