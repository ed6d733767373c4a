"""Where numbers and sizes of tensors may go in what `torch.compile(fullgraph=True)` takes: as in PyTorch."""

import math
import types

import pytest

import mindtorch_core as mt

TABLE = {0: 1, 1: 2, 2: 3}
HELD = [1, 2, 3]


class Notes:
    """What a number is kept in."""


def kept_in_an_attribute(torch, x):
    notes = Notes()
    notes.number = int(x[0])
    return x if notes.number > 1 else -x


def kept_in_a_list(torch, x):
    held = [3]
    held.append(int(x[0]))
    return x if held[1] > 1 else -x


def kept_in_a_dict(torch, x):
    held = {}
    held["a"] = int(x[0])
    return x * held["a"]


def key_of_a_dict(torch, x):
    held = {}
    held[int(x[0])] = 1
    return x


def given_to_a_function(torch, x):
    def chosen(number):
        return x if number > 1 else -x

    return chosen(int(x[0]))


def given_by_a_function(torch, x):
    def number():
        return x[0].item()

    return x if number() > 1 else -x


def given_by_a_generator(torch, x):
    def numbers():
        for each in x:
            yield each.item()

    return x * sum(n for n in numbers() if n > 0)


def summed_from_a_generator(torch, x):
    def numbers():
        for each in x:
            yield each.item()

    return x * sum(numbers())


def around_a_function(torch, x):
    number = int(x[0])

    def chosen():
        return x if number > 1 else -x

    return chosen()


def function_without_a_result(torch, x):
    held = []

    def keep(number):
        held.append(number)

    return x if keep(int(x[0])) else x * held[0]


def named(torch, x):
    if (number := x[0].item()) > 2:
        return x * 2
    return x * number


def several_of_a_list(torch, x):
    total = 0
    for i, n in enumerate(x.tolist()):
        if i > 0:
            total = total + n * x
    return total


def chosen_by_a_list(torch, x):
    total = 0
    for n in x.tolist():
        if n > 0:
            total = total + n * x
    return total


WITH_ASSERTS = """
def between(torch, x):
    assert 0 <= x[0].item() < 5
    return x

def with_a_text_of_it(torch, x):
    number = x[0].item()
    assert number > 0, f"{number} is too small"
    return x
"""
exec(WITH_ASSERTS, made := {})  # pytest would make branches of them

WHOLE = {
    "powers": lambda torch, x: x * x[0].item() ** 2 + x ** x[1].item() + (1 << x[0].item()),
    "comparisons": lambda torch, x: x.float() * (x.float()[0].item() > 2),
    "a comparison as a float": lambda torch, x: x * float(x[0].item() > 2),
    "functions of math": lambda torch, x: x * math.sqrt(x[0].item()) + math.floor(x[0].item()),
    "the largest": lambda torch, x: x * max(x[0].item(), 3) + max([x[0].item(), 2]),
    "a list": lambda torch, x: [x.tolist(), x[0].tolist(), len(x.tolist())],
    "a list's numbers": lambda torch, x: x * x.tolist()[0] + sum(x.tolist()) + max(x.tolist()),
    "sizes of parts": lambda torch, x: sum(p.sum() for p in torch.arange(3).split(x.tolist())),
    "sizes of a tensor": lambda torch, x: torch.zeros(x.tolist()),
    "several of a list": several_of_a_list,
    "a dict's value": kept_in_a_dict,
    "a format": lambda torch, x: [x, "{}".format(x[0].item())],  # noqa: UP032
    "a text in quotes": lambda torch, x: [x, f"{x[0].item()} {x[1]}"],
    "a generator": summed_from_a_generator,
    "a function without a result": function_without_a_result,
    "a method of a number": lambda torch, x: x.float()[0].item().conjugate(),
    "how many": lambda torch, x: x * len(x.nonzero()) + x[x > 0].numel() + x.nonzero().size(0),
    "sizes that depend on nothing": lambda torch, x: x if x.nonzero().shape[1] == 1 else -x,
    "as many zeros": lambda torch, x: torch.zeros(x.nonzero().shape[0]),
    "a part": lambda torch, x: [x[x > 0][:1], x[x > 0] * 2],
    "the order of what does not depend": lambda torch, x: sorted([3, 1, 2])[0] * x,
}
BROKEN = {
    "sorted": lambda torch, x: x * sorted(x)[0],
    "sorted numbers": lambda torch, x: x * sorted([n.item() for n in x])[0],
    "an index": lambda torch, x: x * [1, 2, 3][int(x[0])],
    "an index that is a tensor": lambda torch, x: x * [1, 2, 3][x[0]],
    "an index of a global": lambda torch, x: x * HELD[x[0].item()],
    "part of a list": lambda torch, x: x * len(HELD[: x[0].item()]),
    "a key": lambda torch, x: x * TABLE[x[0].item()],
    "a key of get": lambda torch, x: x * TABLE.get(x[0].item(), 0),
    "a new key": key_of_a_dict,
    "a set": lambda torch, x: x * len({x[0].item(), 3}),
    "in a dict": lambda torch, x: x[0].item() in {1: 2},
    "a text": lambda torch, x: [x, str(x[0].item())],
    "texts": lambda torch, x: [x, ",".join(map(str, x.tolist()))],
    "the length of a text": lambda torch, x: x * len(f"{x[0].item()} {x[1]}"),
    "percent": lambda torch, x: [x, "%d" % x[0].item()],  # noqa: UP031
    "hash": lambda torch, x: x * (hash(x[0].item()) % 3),
    "times a list": lambda torch, x: x * len([0] * x[0].item()),
    "not": lambda torch, x: x * (not x[0].item()),
    "a comparison as an int": lambda torch, x: x * int(x[0].item() > 2),
    "two comparisons": lambda torch, x: x * (0 < x[0].item() < 5),
    "an exponent": lambda torch, x: x * 2 ** x[0].item(),
    "divmod": lambda torch, x: divmod(x[0].item(), 2),
    "the logarithm": lambda torch, x: x * math.log(x[0].item()),
    "a named number": named,
    "an attribute": kept_in_an_attribute,
    "a list": kept_in_a_list,
    "an argument": given_to_a_function,
    "a result": given_by_a_function,
    "a variable around": around_a_function,
    "what a generator gives": given_by_a_generator,
    "one of a list": chosen_by_a_list,
    "lists that are equal": lambda torch, x: x if x.tolist() == [2, 0, 1] else -x,
    "a list of floats": lambda torch, x: x.float().tolist(),
    "an assertion of two": made["between"],
    "an assertion's text": made["with_a_text_of_it"],
    "a size": lambda torch, x: x if x.nonzero().shape[0] > 1 else -x,
    "a length": lambda torch, x: x if len(x[x > 0]) > 1 else -x,
    "so many elements": lambda torch, x: x if (x.nonzero() * 2).numel() else -x,
    "each of so many": lambda torch, x: sum(v * 2 for v in x.unique()),
    "equal shapes": lambda torch, x: x if x[x > 0].shape == x.shape else -x,
    "a loop over so many": lambda torch, x: [x + i for i in range(x.nonzero().shape[0])],
    "as long as a number says": lambda torch, x: [v * 2 for v in torch.zeros(x[0].item())],
}


def plain(result):
    if isinstance(result, list | tuple):
        return [*map(plain, result)]
    return result.tolist() if hasattr(result, "tolist") else result


def called(torch, fn, times=1):
    compiled = torch.compile(lambda x: fn(torch, x), fullgraph=True, backend="eager")
    return [plain(compiled(torch.tensor([2, 0, 1]))) for _ in range(times)]


@pytest.mark.parametrize("fn", WHOLE.values(), ids=WHOLE)
def test_where_numbers_may_go(fn):
    assert called(mt, fn, 6) == [plain(fn(mt, mt.tensor([2, 0, 1])))] * 6


@pytest.mark.parametrize("fn", BROKEN.values(), ids=BROKEN)
def test_where_they_may_not(fn):
    with pytest.raises(mt._dynamo.exc.Unsupported, match=r"torch\.compile\(fullgraph=True\): "):
        called(mt, fn)
    mt.compile(lambda x: fn(mt, x))(mt.tensor([2, 0, 1]))  # in parts, all of it may be


def test_the_error_tells_numbers_from_branches():
    """Both classes are caught as `Unsupported`, which PyTorch raises for a branch on a tensor."""
    errors = mt._dynamo.exc
    with pytest.raises(errors.UserError, match=r"item\(\) at .*test_fullgraph_numbers\.py:\d+"):
        mt.compile(lambda x: x if x[0].item() > 1 else -x, fullgraph=True)(mt.ones(2))
    with pytest.raises(errors.Unsupported, match=r"bool\(\) at ") as caught:
        mt.compile(lambda x: x if x[0] > 1 else -x, fullgraph=True)(mt.ones(2))
    assert not isinstance(caught.value, errors.UserError)


def test_what_layers_look_at_is_theirs():
    """The sizes of packed sequences, for instance, of which a layer makes numbers itself."""
    layers = types.ModuleType("mindtorch_nn.looking")
    exec("def layer(x):\n    return x * 2 if bool(x[0] > 1) else x", vars(layers))
    compiled = mt.compile(lambda x: layers.layer(x) + 1, fullgraph=True)
    assert compiled(mt.tensor([2, 0])).tolist() == [5, 1]


# In a process of its own: PyTorch's compiler replaces how the interpreter calls functions.
ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import test_fullgraph_numbers as cases
import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
found = {}
for name, fn in [*cases.WHOLE.items(), *((f"refused: {n}", f) for n, f in cases.BROKEN.items())]:
    torch._dynamo.reset()
    try:
        found[name] = cases.called(torch, fn)
    except (torch._dynamo.exc.TorchDynamoException, GuardOnDataDependentSymNode):
        found[name] = "refused"
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def theirs(of_pytorch):
    """What PyTorch makes of all functions, or "refused"."""
    return of_pytorch(ASK)


@pytest.mark.parametrize("name", WHOLE)
def test_pytorch_gives_the_same(name, theirs):
    assert theirs[name] == called(mt, WHOLE[name])


@pytest.mark.parametrize("name", BROKEN)
def test_pytorch_refuses_the_same(name, theirs):
    assert theirs[f"refused: {name}"] == "refused"
