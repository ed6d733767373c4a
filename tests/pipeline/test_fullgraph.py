"""What `torch.compile(fullgraph=True)` takes as one graph: what PyTorch does."""

import io
import pdb
import threading

import pytest

import mindtorch_core as mt


def masked(torch, x):
    y = x.clone()
    y[x > 0] = 5
    return y


WITH_ASSERTS = """
def asserted(torch, x):
    assert x.sum() > 0
    assert x.sum().item() > 0, "a number"
    return x
"""
exec(WITH_ASSERTS, made := {})  # pytest would make branches of them
asserted = made["asserted"]


def doubled(torch, x):
    while x.sum() < 100:
        x = x * 2
    return x


def repeated(torch, x):
    for _ in range(int(x.sum())):
        x = x * 2
    return x


def branch_on_a_variable(torch, x):
    number = x.sum().item()
    twice = number * 2
    return x if twice > 0 else -x


def counted_down(torch, x):
    count = int(x.sum())
    while count > 0:
        x, count = x + 1, count - 1
    return x


def times_of_a_variable(torch, x):
    count = int(x.sum())
    for i in range(count):
        x = x + i
    return x


def matched(torch, x):
    match int(x[0]):
        case 1:
            return x
    return -x


def stored_again(torch, x):
    number = x.sum().item()
    y = x * number
    number = 3
    return y if number > 2 else x


def asked_for_its_type(torch, x):
    number = x.sum().item()
    return x if isinstance(number, float) and number is not None else -x


def shown(torch, x):
    print("x has", *x.shape)
    return x + 1


def shown_tensor(torch, x):
    print(x)
    return x + 1


def graph_break(torch, x):
    torch._dynamo.graph_break()
    return x + 1


def disabled(torch, x):
    return torch.compiler.disable(lambda x: x + 1)(x)


def backward(torch, x):
    y = x.clone().requires_grad_()
    (y * 2).sum().backward()
    return y.grad


WHOLE = {
    "numbers": lambda torch, x: x * x.sum().item() + float(x[0]) + int(x[1]) + bool(x[2]),
    "a number as result": lambda torch, x: x.sum().item() * 2 + 1,
    "sizes": lambda torch, x: x[: int(x.sum())] + torch.arange(x.long().sum().item()),
    "shapes": lambda torch, x: [x.nonzero(), x[x > 0], x.unique(), torch.where(x > 0)],
    "masks": masked,
    "repeats": lambda torch, x: x.repeat_interleave(torch.tensor([1, 2, 3])),
    "asserts": asserted,
    "loops": lambda torch, x: [v + int(x[0]) for v in range(int(x.dim()))],
    "a loop over what is computed with a number": lambda torch, x: [
        v + 1 for v in x * int(x.sum())
    ],
    "a variable that is stored again": stored_again,
    "the type of a number": asked_for_its_type,
    "the smaller number": lambda torch, x: x * min(x.sum().item(), 3),
    "compiling": lambda torch, x: x + torch.compiler.is_compiling(),
}
BROKEN = {
    "a branch": lambda torch, x: x if x.sum() > 0 else -x,
    "a branch on a number": lambda torch, x: x if x.sum().item() > 0 else -x,
    "a branch on what is made of one": lambda torch, x: x if x.sum().item() * 2 > 0 else -x,
    "a bool of a bool": lambda torch, x: x if bool(x.sum() > 0) else -x,
    "and": lambda torch, x: (x.sum() > 0 and 3) or 4,
    "a loop": doubled,
    "a loop so many times": repeated,
    "a list of so many": lambda torch, x: [x * i for i in range(1, int(x.sum()) + 1)],
    "equal": lambda torch, x: x if torch.equal(x, x) else -x,
    "allclose": lambda torch, x: x if torch.allclose(x, x + 1) else -x,
    "a branch on a variable": branch_on_a_variable,
    "a loop until a variable is 0": counted_down,
    "a loop as many times as a variable says": times_of_a_variable,
    "match": matched,
    "any": lambda torch, x: x + any(x > 0),
    "all": lambda torch, x: x if all(x > 0) else -x,
    "in": lambda torch, x: x if 1.0 in x else -x,
    "an argument's value": lambda torch, x: x.tolist(),
    "print": shown,
    "print of a tensor": shown_tensor,
    "repr": lambda torch, x: x + len(repr(x)) * 0,
    "a copy": lambda torch, x: __import__("copy").deepcopy(x + 1),
    "backward": backward,
    "graph_break": graph_break,
    "disable": disabled,
}


def plain(result):
    if isinstance(result, list | tuple):
        return [*map(plain, result)]
    return result.tolist() if hasattr(result, "tolist") else result


def called(torch, fn, times=1):
    compiled = torch.compile(lambda x: fn(torch, x), fullgraph=True, backend="eager")
    return [plain(compiled(torch.ones(3))) for _ in range(times)]


@pytest.mark.parametrize("fn", WHOLE.values(), ids=WHOLE)
def test_values_may_be_computed_with(fn):
    compiling = 1 if fn is WHOLE["compiling"] else 0
    assert (
        called(mt, fn, 6) == [plain(fn(mt, mt.ones(3))) if not compiling else [2.0, 2.0, 2.0]] * 6
    )


@pytest.mark.parametrize("fn", BROKEN.values(), ids=BROKEN)
def test_what_ends_a_graph_is_refused(fn):
    with pytest.raises(mt._dynamo.exc.Unsupported, match=r"torch\.compile\(fullgraph=True\): "):
        called(mt, fn)


def test_who_prints_meanwhile_is_left_alone(capsys):
    """Another thread, and whoever prints after the call, or where a graph may end."""
    seen = []

    def step(x):
        thread = threading.Thread(target=print, args=("from a thread",))
        thread.start()
        thread.join()
        seen.append(print)
        return x + 1

    mt.compile(step, fullgraph=True)(mt.ones(2))
    assert capsys.readouterr().out == "from a thread\n"
    assert seen[0] is not print
    with pytest.raises(mt._dynamo.exc.Unsupported, match="print"):
        mt.compile(lambda x: shown(mt, x), fullgraph=True)(mt.ones(2))
    print("after")
    mt.compile(lambda x: shown(mt, x))(mt.ones(2))
    assert capsys.readouterr().out == "after\nx has 2\n"


def test_debuggers_print():
    """They do where a call stands, which is not what the function does."""
    written = io.StringIO()
    debugger = pdb.Pdb(stdout=written)

    def step(x):
        debugger.message(f"x has {x.dim()} dimensions")
        return x + 1

    assert mt.compile(step, fullgraph=True)(mt.ones(2)).tolist() == [2, 2]
    assert written.getvalue() == "x has 1 dimensions\n"


# In a process of its own: PyTorch's compiler replaces how the interpreter calls functions.
ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import test_fullgraph as cases
import torch
found = {}
for name, fn in {**cases.WHOLE, **cases.BROKEN}.items():
    torch._dynamo.reset()
    try:
        found[name] = cases.called(torch, fn)
    except torch._dynamo.exc.TorchDynamoException:
        found[name] = "refused"
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def theirs(of_pytorch):
    """What PyTorch makes of all functions, or "refused"."""
    return of_pytorch(ASK)


@pytest.mark.parametrize("name", [*WHOLE, *BROKEN])
def test_pytorch_takes_and_refuses_the_same(name, theirs):
    assert theirs[name] == (called(mt, WHOLE[name]) if name in WHOLE else "refused")


def test_whether_something_is_compiled():
    asked = mt.compiler.is_compiling
    compiled = mt.compile(lambda: [asked(), mt.compiler.disable(asked)(), asked()])
    with mt.compiler.set_stance("force_eager"):
        assert compiled() == [False, False, False]
    for _ in range(12):  # as blocks, and plainly
        assert compiled() == [True, False, True]
    assert not asked()
    graphs = mt.compile(lambda x: (x + 1, asked()), backend=lambda graph, inputs: graph.forward)
    assert graphs(mt.ones(1))[1] is True
    with pytest.raises(ZeroDivisionError):
        mt.compile(lambda: 1 // 0)()
    assert not asked()
