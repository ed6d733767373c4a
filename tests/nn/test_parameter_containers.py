"""Lists and dicts of parameters do what PyTorch's do, operator by operator."""

from collections import OrderedDict

import pytest
from collecting import Scenarios
from module_scenarios import attempt, numbers, play

scenario = Scenarios()


def letters(t, names, start=1.0):
    """A dict of tensors."""
    values = {name: t.full((i + 1,), start + i) for i, name in enumerate(names)}
    return t.nn.ParameterDict(OrderedDict(values))


def contents(made):
    """A container's class, keys, numbers and what of it is a parameter."""
    return [
        type(made).__name__,
        [(k, v if isinstance(v, int | str) else numbers(v)) for k, v in made.items()],
        [name for name, _ in made.named_parameters()] if hasattr(made, "named_parameters") else [],
    ]


@scenario
def dicts_are_united(t):
    left, right = letters(t, "ba"), letters(t, "cb", 7.0)
    kept = left
    left |= right
    plain = {"z": t.zeros(1), "b": t.full((2,), 3.0)}
    return [
        kept is left,
        *map(contents, (left, right)),
        *map(contents, (right | letters(t, "da"), right | plain, right)),
        *(contents(made) for made in (plain | right, OrderedDict(plain) | right)),
        sorted(plain),
        attempt(lambda: right | 3)[0],
    ]


@scenario
def dicts_are_updated_in_an_order(t):
    found = []
    q, p = t.zeros(1), t.ones(1)
    for pairs in ({"q": q, "p": p}, OrderedDict(q=q, p=p), [("q", q), ("p", p)], letters(t, "qp")):
        made = letters(t, "p")
        made.update(pairs)
        found += [contents(made), contents(t.nn.ParameterDict(pairs))]
    return found


@scenario
def dicts_are_read(t):
    d = letters(t, "cab")
    d["n"] = 5
    given = [d.get("a"), d.get("no"), d.get("no", 3), d.get("n")]
    return [
        [g if not isinstance(g, t.Tensor) else numbers(g) for g in given],
        [list(d), list(reversed(d)), list(d.keys()), len(d), "a" in d, "no" in d],
        [v if isinstance(v, int) else numbers(v) for v in d.values()],
        [attempt(lambda: d[wrong])[0] for wrong in ("no", 3)],
        repr(d),
    ]


@scenario
def dicts_lose_keys(t):
    d = letters(t, "cab")
    copied = d.copy()
    taken = numbers(d.pop("a")), [d.popitem()[0], d.popitem()[0]]
    errors = [
        attempt(call)[0] for call in (d.popitem, lambda: d.pop("a"), lambda: d.__delitem__("a"))
    ]
    found = [taken, errors, contents(d), contents(copied), copied["c"].requires_grad]
    copied.clear()
    return [*found, contents(copied), hasattr(copied, "c")]


@scenario
def dicts_have_defaults(t):
    d = letters(t, "a")
    found = [numbers(d.setdefault("a", t.zeros(1))), d.setdefault("none"), d.setdefault("k", 2)]
    one, none = d.fromkeys("xy", t.ones(1)), d.fromkeys(["x"])
    return [found, len(d), contents(one), list(none.items()), one["x"].requires_grad]


@scenario
def lists_are_indexed(t):
    made = t.nn.ParameterList([t.ones(1), t.nn.Parameter(t.zeros(2)), "text"])
    made[-2], made[0] = t.full((3,), 4.0), t.zeros(1)
    made.append(t.ones(1)).extend(letters(t, "a").values())
    made += (t.zeros(1),)
    part = made[1::2]
    return [
        [v if isinstance(v, int | str) else numbers(v) for v in made],
        [len(made), type(part).__name__, len(part), part[0] is made[1], made[-1].requires_grad],
        [n for n, _ in made.named_parameters()],
        [attempt(lambda: made[i])[0] for i in (6, 7, -7, -8)],
        [attempt(lambda: made.extend(wrong))[0] for wrong in (t.ones(2), 3)],
        [attempt(lambda: each(3)) for each in (made, letters(t, "a"))],
        attempt(lambda: made.__setitem__(99, 1))[0],
        [name in dir(made) for name in ("0", "append", "extend")],
    ]


@scenario
def texts_say_classes_of_tensors(t):
    d = letters(t, "a")
    d.register_buffer("b", t.ones(2, 1, dtype=t.int32))
    d._keys["b"] = None
    d["c"] = t.nn.Buffer(t.ones(2))
    meta = t.nn.ParameterDict({"m": t.ones(2, device="meta"), "none": None})
    return [repr(d), repr(meta), repr(t.nn.ParameterList([t.ones(1, 3), None, 2.5]))]


@pytest.mark.parametrize("run", scenario, ids=lambda run: run.__name__)
def test_containers_of_parameters(run):
    play(run)
