"""`torch.compile(fullgraph=True)`: calls that PyTorch's compiler does not go through, and numbers that it takes for
constants. All of it was compared with PyTorch 2.13."""

import builtins
import datetime
import logging
import os
import random
import sys
import time
import uuid
import warnings

import pytest

import mindtorch_core as torch

Unsupported, UserError = torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError
OPTIMIZER = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
KEPT = torch.zeros(2)
LOGGER, DRAWS = logging.getLogger("fullgraph"), random.Random(0)


def compiled(fn):
    return torch.compile(fn, fullgraph=True)


CALLS = {
    "manual_seed": lambda x: torch.manual_seed(torch.initial_seed()),
    "get_rng_state": lambda x: torch.get_rng_state(),
    "num_threads": lambda x: torch.get_num_threads(),
    "warn": lambda x: warnings.warn("told", stacklevel=1),
    "simplefilter": lambda x: warnings.simplefilter("error"),
    "logger": lambda x: LOGGER.info("told"),
    "logging": lambda x: logging.debug("told"),
    "clock": lambda x: time.perf_counter(),
    "date": lambda x: datetime.datetime.now(),
    "random": lambda x: random.random(),
    "choice": lambda x: random.choice([1, 2]),
    "uuid": lambda x: uuid.uuid4(),
    "path": lambda x: os.path.exists("."),
    "process": lambda x: os.getpid(),
    "open": lambda x: open(os.devnull),  # noqa: SIM115
    "eval": lambda x: eval("1"),
    "globals": lambda x: globals(),
    "frame": lambda x: sys._getframe(),
    "max": lambda x: max([x, x * 2], key=lambda v: v.sum()),
    "min": lambda x: min([1, 2], key=lambda n: x.sum()),
    "max of shapes": lambda x: max([x, x], key=lambda v: v.shape[0]),
    "address": lambda x: x.data_ptr() == x.clone().data_ptr(),
    "address and number": lambda x: x.data_ptr() == 0,
    "resize": lambda x: x.resize_(1),
    "resize as": lambda x: (x * 2).resize_as_(torch.ones(1)),
    "history": lambda x: x.requires_grad_(),
    "classes": lambda x: torch.nn.functional.one_hot(x.long()),
    "save": lambda x: torch.save(x, os.devnull),
    "load": lambda x: torch.load(os.devnull),
    "step": lambda x: OPTIMIZER.step(),
    "zero_grad": lambda x: OPTIMIZER.zero_grad(),
    "memory of an argument": lambda x: x.set_(torch.ones(3)),
    "no memory of an argument": lambda x: x.set_(),
    "memory of a storage": lambda x: torch.empty(0).set_(x.untyped_storage()),
    "memory of a part": lambda x: torch.empty(0).set_(x, 0, (2,), (1,)),
    "data of a result": lambda x: setattr(x * 2, "data", x),
    "disabled alone": lambda x: torch.compiler.disable(abs, recursive=False)(x),
}
TAKEN = {
    "largest of numbers": lambda x: max([1, 2], key=abs),
    "largest of tensors": lambda x: max(x[0], x[1]),
    "integers at random": lambda x: random.randint(1, 2),
    "another generator": lambda x: DRAWS.random(),
    "path that is joined": lambda x: os.path.join("a", "b"),
    "environment": lambda x: os.environ.get("HOME"),
    "variables": lambda x: locals(),
    "own address": lambda x: x.data_ptr() == x.data_ptr(),
    "returned address": lambda x: x.data_ptr(),
    "other device": lambda x: x.to("meta"),
    "history of a result": lambda x: (x * 2).requires_grad_().detach(),
    "no history": lambda x: x.requires_grad_(False),
    "classes": lambda x: torch.nn.functional.one_hot(x.long(), 3),
    "memory of a tensor": lambda x: torch.empty(0).set_(x),
    "no memory": lambda x: torch.ones(2).set_(),
    "data of what was there": lambda x: setattr(KEPT, "data", x),
    "data that is read": lambda x: x.data + 1,
    "an assertion of sizes": lambda x: torch._assert(x.shape[0] == 2, "two"),
    "an assertion on the device": lambda x: torch._assert_async(x.sum() > 0, "positive"),
}


@pytest.mark.parametrize("what", CALLS)
def test_what_a_graph_does_not_go_through(what):
    def fn(x):
        found = CALLS[what](x)
        return x * 2, found

    state = torch.get_rng_state()
    with pytest.raises(Unsupported, match=r"fullgraph=True.*: a graph ends there"):
        compiled(fn)(torch.ones(2))
    assert torch.equal(torch.get_rng_state(), state), "it was called nevertheless"
    assert sys.getprofile() is None
    assert all(getattr(builtins, name).__module__ == "builtins" for name in ("max", "min", "print"))


@pytest.mark.parametrize("sign", [1, -1])
def test_an_assertion_of_a_tensor_is_refused_whether_it_holds(sign):
    def fn(x):
        torch._assert(x.sum() > 0, "positive")
        return x * 2

    with pytest.raises(UserError, match="_assert_async"):
        compiled(fn)(torch.full((2,), float(sign)))
    plain = torch.compile(fn)
    assert plain(torch.ones(2)).tolist() == [2, 2]


def test_what_is_disabled_is_compiled_where_that_is_asked_for():
    asks = torch.compiler.disable(lambda x: x * (2 if torch.compiler.is_compiling() else 1))
    assert compiled(asks)(torch.ones(2)).tolist() == [2, 2]
    assert asks(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(Unsupported, match="not to be compiled"):
        compiled(lambda x: asks(x))(torch.ones(2))


def test_a_history_where_functions_may_be_overruled():
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with Mode():
        assert torch.ones(1).item() == 1
    test_what_a_graph_does_not_go_through("history")
    test_what_it_goes_through("no history")


@pytest.mark.parametrize("what", TAKEN)
def test_what_it_goes_through(what):
    x = torch.tensor([1.0, 2.0])
    step = compiled(lambda x: (x * 2, TAKEN[what](x)))
    for _ in range(2):
        assert step(x)[0].tolist() == [2, 4]


def test_modules_that_are_imported_are_no_part_of_it(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("import time\nclass A: pass\nSTART = time.time()\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def fn(x):
        import imported_late

        return x * (imported_late.START > 0)

    assert compiled(fn)(torch.ones(2)).tolist() == [1, 1]


UNKNOWN = {
    "element": lambda x, t: x[t[0]],
    "in a tuple": lambda x, t: x[0, t[0]],
    "beside a slice": lambda x, t: x[:, t[0]],
    "in a list": lambda x, t: x[[t[0], t[1]]],
    "position": lambda x, t: x[x.sum(1).argmax()],
    "truth": lambda x, t: x[t[0] > 0],
    "written to": lambda x, t: x.index_put_((t,), torch.zeros(3)).__setitem__(t[0], 1.0),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_an_element_is_no_index(what):
    x, t = torch.arange(6.0).reshape(2, 3), torch.tensor([1, 0])
    with pytest.raises(UserError, match="an element of a tensor is an index"):
        compiled(UNKNOWN[what])(x, t)


KNOWN = {
    "index": lambda x, n: x[n],
    "branch": lambda x, n: x if int(n) > 0 else x * 2,
    "loop": lambda x, n: sum([x * i for i in range(n.item())], x),
    "entry": lambda x, n: x * [1, 2, 3][int(n)],
    "key": lambda x, n: x * {1: 2}[n.item()],
    "power": lambda x, n: x * 2 ** n.item(),
    "several": lambda x, n: [x] * int(n),
    "float": lambda x, n: x if float(n) > 0 else x * 2,
    "list": lambda x, n: x if n.tolist() > 0 else x * 2,
}


@pytest.mark.parametrize("what", KNOWN)
@pytest.mark.parametrize("given", [True, False], ids=["argument", "variable"])
def test_a_single_integer_that_was_there_is_a_constant(what, given):
    x, n = torch.arange(6.0).reshape(2, 3), torch.tensor(1)
    step = compiled(KNOWN[what] if given else lambda x: KNOWN[what](x, n))
    wanted, found = KNOWN[what](x, n), step(*(x, n) if given else (x,))
    assert torch.equal(torch.stack([*found]), torch.stack([*wanted]))


@pytest.mark.parametrize(
    ("n", "use"),
    [
        (torch.tensor(1), lambda n: int(n + 1)),
        (torch.tensor(1), lambda n: int(n.clone())),
        (torch.tensor(1), lambda n: int(n.add_(0))),
        (torch.tensor([1]), int),
        (torch.tensor(1.0), int),
        (torch.tensor(1, dtype=torch.int32), int),
        (torch.tensor(True), int),
    ],
)
def test_other_numbers_are_none(n, use):
    with pytest.raises(UserError, match="looks at values"):
        compiled(lambda x, n: x if use(n) > 0 else x * 2)(torch.ones(2), n.clone())
