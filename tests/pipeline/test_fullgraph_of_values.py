"""More places where numbers and sizes of tensors may go, or not, in what is compiled as one graph."""

# ruff: noqa: B007, B905, C408, C416, C420, E731, F841, RUF059, UP032 (as programs write them)

import math

import pytest

import mindtorch_core as mt


class Box:
    """What a number is kept in."""


WHOLE, BROKEN = {}, {}


def whole(fn):
    """PyTorch makes one graph of it."""
    WHOLE[fn.__name__] = fn


def broken(fn):
    """PyTorch makes several, and refuses one."""
    BROKEN[fn.__name__] = fn


@broken
def item_list_sorted(torch, x):
    a = [x.sum().item(), 1.0]
    a.sort()
    return x + 1, a


@broken
def item_list_index(torch, x):
    a = [x.sum().item(), 1.0]
    n = a.index(1.0)
    return x + n


@broken
def item_list_count(torch, x):
    a = [x.sum().item(), 1.0]
    n = a.count(1.0)
    return x + n


@whole
def item_list_copy(torch, x):
    a = [x.sum().item(), 1.0]
    b = a.copy()
    return x + 1, b


@whole
def item_dict_get(torch, x):
    d = {"a": x.sum().item()}
    n = d.get("a")
    return x + 1, n


@whole
def item_dict_pop(torch, x):
    d = {"a": x.sum().item()}
    n = d.pop("a")
    return x + 1, n


@whole
def item_dict_items(torch, x):
    d = {"a": x.sum().item()}
    for k, v in d.items():
        x = x + 1
    return x


@whole
def item_dict_values(torch, x):
    d = {"a": x.sum().item()}
    for v in d.values():
        x = x + 1
    return x


@broken
def item_dict_key(torch, x):
    d = {x.sum().item(): 1}
    return x + 1, len(d)


@broken
def item_as_key_delete(torch, x):
    d = {6.0: 1}
    del d[x.sum().item()]
    return x + 1


@broken
def item_as_index(torch, x):
    a = [1, 2, 3]
    n = a[int(x[0].item())]
    return x + n


@broken
def item_as_slice(torch, x):
    a = [1, 2, 3]
    n = a[: int(x[0].item())]
    return x + len(n)


@whole
def item_contained(torch, x):
    n = x.sum().item()
    t = n in (1.0, 2.0)
    return x + 1, t


@broken
def item_contained_set(torch, x):
    s = {1.0, 2.0}
    n = x.sum().item()
    t = n in s
    return x + 1, t


@whole
def item_identity(torch, x):
    n = x.sum().item()
    t = n is None
    return x + 1, t


@whole
def item_negative(torch, x):
    n = -x.sum().item()
    return x + n


@whole
def item_math(torch, x):
    n = math.sqrt(x.sum().item())
    return x + n


@broken
def item_math_gcd(torch, x):
    n = math.gcd(int(x[0].item()), 4)
    return x + n


@whole
def item_max(torch, x):
    n = max(x.sum().item(), 2.0)
    return x + n


@whole
def item_abs(torch, x):
    n = abs(x.sum().item())
    return x + n


@whole
def item_round(torch, x):
    n = round(x.sum().item())
    return x + n


@whole
def item_f(torch, x):
    s = f"{x.sum().item()}"
    return x + 1, s


@broken
def item_f_len(torch, x):
    s = f"{x.sum().item()}"
    return x + len(s)


@whole
def item_format(torch, x):
    s = "{}".format(x.sum().item())
    return x + 1, s


@whole
def item_two_unpack(torch, x):
    p = (x.sum().item(), 1)
    a, b = p
    return x + b, a


@broken
def tolist(torch, x):
    l = x.tolist()
    return x + 1, l


@broken
def tolist_sum(torch, x):
    n = sum(x.tolist())
    return x + n


@broken
def tolist_first(torch, x):
    n = x.tolist()[0]
    return x + n


@broken
def tolist_unpack(torch, x):
    a, b, c = x.tolist()
    return x + a


@whole
def item_isinstance(torch, x):
    n = x.sum().item()
    t = isinstance(n, float)
    return x + 1, t


@whole
def item_bool(torch, x):
    n = bool(x.sum().item())
    return x + 1, n


@broken
def item_range(torch, x):
    for i in range(int(x[0].item())):
        x = x + 1
    return x


@whole
def item_enumerate(torch, x):
    for i, v in enumerate([x.sum().item(), 2]):
        x = x + 1
    return x


@whole
def item_zip(torch, x):
    for i, v in zip([x.sum().item()], [2]):
        x = x + v
    return x


@whole
def item_comprehension(torch, x):
    a = [v for v in [x.sum().item(), 2]]
    return x + 1, a


@broken
def item_set_comprehension(torch, x):
    a = {v for v in [x.sum().item(), 2]}
    return x + 1, len(a)


@broken
def item_dict_comprehension(torch, x):
    a = {v: 1 for v in [x.sum().item(), 2]}
    return x + 1, len(a)


@whole
def item_lambda(torch, x):
    f = lambda v: v + 1
    return x + f(x.sum().item())


@whole
def item_starred(torch, x):
    a = (x.sum().item(), 2.0)
    n = max(*a)
    return x + n


@whole
def item_assert(torch, x):
    n = x.sum().item()
    assert n > 3
    return x + 1


@whole
def item_is_integer(torch, x):
    n = x.sum().item().is_integer()
    return x + 1, n


@broken
def item_bit_length(torch, x):
    n = int(x[0].item()).bit_length()
    return x + n


@whole
def nonzero(torch, x):
    y = x.nonzero()
    return y + 1


@whole
def nonzero_size(torch, x):
    y = x.nonzero()
    return x + y.size(0)


@whole
def nonzero_size1(torch, x):
    y = x.nonzero()
    return x + y.size(1)


@whole
def nonzero_shape(torch, x):
    a, b = x.nonzero().shape
    return x + b


@whole
def nonzero_len(torch, x):
    return x + len(x.nonzero())


@whole
def nonzero_numel(torch, x):
    return x + x.nonzero().numel()


@whole
def nonzero_unbind(torch, x):
    a = x.nonzero().unbind(1)
    return x + 1, a


@whole
def nonzero_compare(torch, x):
    a = x.nonzero() == 0
    return x + 1, a


@broken
def nonzero_iter(torch, x):
    n = 0
    for row in x.nonzero():
        n = row
    return x + 1


@whole
def nonzero_zeros(torch, x):
    n = x.nonzero().size(0)
    return torch.zeros(n) + 1


@whole
def masked(torch, x):
    y = x[x > 1]
    return y * 2


@whole
def item_attribute(torch, x):
    b = Box()
    b.n = x.sum().item()
    return x + 1, b.n


@broken
def item_chained(torch, x):
    n = x.sum().item()
    t = 0 < n < 9
    return x + 1, t


@whole
def item_default(torch, x):
    n = x.sum().item()
    d = dict(a=n)
    return x + 1, d


@whole
def item_kw(torch, x):
    return torch.full((2,), fill_value=x.sum().item()) + 1


@broken
def item_list_remove(torch, x):
    a = [x.sum().item(), 1.0]
    a.remove(1.0)
    return x + 1, a


@whole
def item_insert(torch, x):
    a = [1]
    a.insert(0, x.sum().item())
    return x + 1, a


@broken
def item_insert_at(torch, x):
    a = [1]
    a.insert(int(x[0].item()), 2)
    return x + 1, a


@broken
def item_join(torch, x):
    s = ",".join([str(x.sum().item())])
    return x + 1, s


@broken
def item_sorted(torch, x):
    a = sorted([x.sum().item(), 1.0])
    return x + 1, a


@whole
def item_map(torch, x):
    a = list(map(abs, [x.sum().item(), 1.0]))
    return x + 1, a


@whole
def item_map_float(torch, x):
    a = list(map(int, [x.sum().item(), 1.0]))
    return x + 1, a


def plain(result):
    """Tensors as lists."""
    if isinstance(result, tuple | list):
        return [*map(plain, result)]
    if isinstance(result, dict):
        return {key: plain(each) for key, each in result.items()}
    return result.tolist() if hasattr(result, "tolist") else result


def called(torch, fn, times=1):
    compiled = torch.compile(lambda x: fn(torch, x), fullgraph=True, backend="eager")
    return [plain(compiled(torch.tensor([1.0, 2.0, 3.0]))) for _ in range(times)]


@pytest.mark.parametrize("fn", WHOLE.values(), ids=WHOLE)
def test_where_they_may_go(fn):
    assert called(mt, fn, 3) == [plain(fn(mt, mt.tensor([1.0, 2.0, 3.0])))] * 3


@pytest.mark.parametrize("fn", BROKEN.values(), ids=BROKEN)
def test_where_they_may_not(fn):
    with pytest.raises(mt._dynamo.exc.Unsupported, match=r"torch\.compile\(fullgraph=True\): "):
        called(mt, fn)
    x = mt.tensor([1.0, 2.0, 3.0])
    assert plain(mt.compile(lambda x: fn(mt, x))(x)) == plain(fn(mt, x))


ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import test_fullgraph_of_values as cases
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
found = {}
for name, fn in [*cases.WHOLE.items(), *cases.BROKEN.items()]:
    torch._dynamo.reset()
    try:
        cases.called(torch, fn)
        found[name] = "whole"
    except (torch._dynamo.exc.TorchDynamoException, GuardOnDataDependentSymNode):
        found[name] = "broken"
print(json.dumps(found))
"""


def test_pytorch_takes_and_refuses_the_same(of_pytorch):
    assert of_pytorch(ASK) == {**dict.fromkeys(WHOLE, "whole"), **dict.fromkeys(BROKEN, "broken")}
