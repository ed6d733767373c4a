"""Calls with one argument changed at a time, or two, run by both libraries.

A call is a text, such as ``nn.Linear(4, 3)``; what is done with its result is another. Each argument, given
or left at its default, is set to values around its limits and to the other choices; each two of which there
are few choices to all of them.
"""

import inspect
import itertools
import warnings

import torch as oracle
from module_scenarios import attempt, fill, values

import mindtorch_core as torch

FLOATS = (-1.0, 0.0, 0.25, 1.0, 1.0 + 1e-9, 3.0)
WHOLES = (-1, 0, 1, 5)
# Not settings: where and how a result lies, what is for compilers, how many at once.
LEFT_OUT = {
    "device",
    "dtype",
    "generator",
    "out",
    "args",
    "kwargs",
    "foreach",
    "fused",
    "capturable",
    "self",
    "differentiable",
}


def names(lib):
    """What the texts of calls may name."""
    return {
        "t": lib, "nn": lib.nn, "F": lib.nn.functional, "optim": lib.optim, "S": lib.optim.lr_scheduler,
        "D": lib.distributions, "data": lib.utils.data, "U": lib.nn.utils, "init": lib.nn.init,
        "x": lambda *shape, scale=1.0: values(lib, *shape, scale=scale), "fill": lambda m: fill(lib, m), "known": known,
        "n": lambda *given: lib.tensor(given), "attributes": attributes,
    }  # fmt: skip


def others(value, choices):
    """What is put in place of a value."""
    if choices:  # and a text that is none of them
        return [*choices, *["other"] * isinstance(choices[0], str)]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return WHOLES
    if isinstance(value, float):
        return FLOATS
    if isinstance(value, tuple) and value and all(isinstance(v, int | float) for v in value):
        return [
            (*value[:i], other, *value[i + 1 :])
            for i in range(len(value))
            for other in others(value[i], ())
        ] + [value[:1] * (len(value) + 1)]
    return [0, 1, 2, -1, 0.5] if value is None else []


def given_to(call):
    """The function that a call names, and the call's arguments by name, with the defaults."""
    function, _, given = call.partition("(")
    made = names(oracle)
    args, kwargs = eval(f"(lambda *a, **k: (a, k))({given}", made)
    signature = inspect.signature(eval(function, names(torch)))
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return function, bound.arguments


def changed(call, choices):
    """The function of a call, and what each call that differs in one argument has in its place."""
    function, given = given_to(call)
    yield function, {}
    for name, value in given.items():
        if name not in LEFT_OUT and not isinstance(value, oracle.Tensor | oracle.nn.Module):
            for other in others(value, choices.get(name)):
                yield function, {name: other}


def changed_in_two(call, choices):
    """The same of each two arguments that are flags or have choices."""
    function, given = given_to(call)
    few = {
        name: others(value, choices.get(name))
        for name, value in given.items()
        if name not in LEFT_OUT and (isinstance(value, bool) or name in choices)
    }
    for (one, its), (two, theirs) in itertools.combinations(few.items(), 2):
        for both in itertools.product(its, theirs):
            yield function, dict(zip((one, two), both, strict=True))


def run(lib, call, changes, use):
    """What a call with arguments changed gives, and what is done with that."""
    made = names(lib)
    function, _, given = call.partition("(")
    taken = eval(function, made)

    def called(*args, **kwargs):
        bound = inspect.signature(eval(function, names(torch))).bind(*args, **kwargs)
        bound.arguments.update(changes)
        lib.manual_seed(3)
        return taken(*bound.args, **bound.kwargs)

    def told():
        lib.manual_seed(3)  # also what the arguments are made of
        it = eval(f"called({given}", {**made, "called": called})
        return plain(eval(use, {**made, "it": it}))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return attempt(told)


def plain(value):
    """Results as numbers and texts."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "detach"):
        value = value.detach()
        value = lib_real(value)
        return [
            list(value.shape),
            str(value.dtype).rpartition(".")[2],
            [float(v) for v in value.reshape(-1).tolist()],
        ]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return repr(value)


def attributes(it):
    """What a module lets a user read, of numbers and texts."""
    names = [name for name in dir(it) if name[0] != "_" and name != "T_destination"]
    read = {name: getattr(it, name) for name in names}
    return {n: v for n, v in read.items() if isinstance(v, bool | int | float | str | tuple)}


def known(it, *given):
    """A module that knows its shapes: a lazy one after a call."""
    if hasattr(it, "has_uninitialized_params"):
        it(*given)
    return it


def lib_real(value):
    return value.real if value.is_complex() else value


def differing(calls, known, how=changed):
    """Every call whose outcome is not PyTorch's, as a text."""
    found, seen = [], 0
    for call, use, choices in calls:
        for function, changes in how(call, choices):
            if any((function, name) in known for name in changes):
                continue
            mine, theirs = run(torch, call, changes, use), run(oracle, call, changes, use)
            seen += 1
            if not alike(mine, theirs):
                found.append(f"{call} with {changes}: {short(mine)}, not {short(theirs)}")
    return found, seen


def alike(mine, theirs):
    """Whether outcomes agree: results, or the types of errors."""
    return same(mine, theirs) if "returned" in (mine[0], theirs[0]) else mine[0] == theirs[0]


def short(value):
    return repr(value)[:240]


def same(a, b):
    """Equal but for digits, and for the library's name in texts."""
    if isinstance(b, float) and isinstance(a, int | float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-4 + 1e-3 * abs(b)
    if isinstance(b, list | tuple) and isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(b, dict):
        return isinstance(a, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in b)
    return repr(a).replace("mindtorch_core.", "torch.") == repr(b)
