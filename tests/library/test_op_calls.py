"""Calling ops that a schema defines: what arguments become, and what kernels may return."""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.facts import missing
from scenarios import as_in_pytorch, difference, needs_pytorch, pt, refused

np = pytest.importorskip("numpy")

NS = "op_calls_test"


def fragment(t):
    return t.library._scoped_library(NS, "FRAGMENT")


def shown(value):
    """A value that a kernel was handed, so that both libraries' can be compared."""
    if hasattr(value, "requires_grad"):
        return ("tensor", value.tolist())
    if isinstance(value, list | tuple):
        return (type(value).__name__, [shown(v) for v in value])
    return (type(value).__name__, str(value))


# ---- arguments ----------------------------------------------------------------------------------


def handed(t, kind, value):
    """What a kernel gets for a value given as an argument, or the exception."""
    with fragment(t) as lib:
        lib.define(f"f(Tensor x, {kind} a) -> Tensor")
        got = []

        def kernel(x, a):
            got.append(a)
            return x.clone()

        lib.impl("f", kernel, "CPU")
        error = refused(getattr(t.ops, NS).f, t.ones(1), value)
        return error if isinstance(error, Exception) else shown(got)


VALUES = {
    "True": lambda t: True,
    "int": lambda t: 3,
    "float": lambda t: 2.5,
    "str": lambda t: "cpu",
    "None": lambda t: None,
    "complex": lambda t: 1j,
    "inf": lambda t: math.inf,
    "numpy int": lambda t: np.int64(4),
    "numpy float": lambda t: np.float32(0.5),
    "int tensor": lambda t: t.tensor(5),
    "float tensor": lambda t: t.tensor(1.5),
    "vector": lambda t: t.ones(2),
    "tuple": lambda t: (1, 2),
    "range": lambda t: range(2),
    "three": lambda t: [1, 2, 3],
    "empty": lambda t: [],
    "floats": lambda t: [1.5, 2.0],
    "mixed": lambda t: [1, 2.0],
    "bools": lambda t: [True, False],
    "strings": lambda t: ["a", "b"],
    "tensors": lambda t: [t.ones(1), t.zeros(1)],
    "tensors and None": lambda t: (t.ones(1), None),
    "dtype": lambda t: t.float64,
    "device": lambda t: t.device("cpu"),
    "dict": lambda t: {},
}
KINDS = [
    *["int", "SymInt", "float", "bool", "str", "Scalar", "Tensor", "ScalarType", "Device"],
    *["int?", "float?", "bool?", "str?", "Scalar?", "Tensor?", "ScalarType?", "Device?", "int[]?"],
    *["int[]", "int[2]", "int[3]", "int[1]?", "SymInt[]", "float[]", "bool[]", "Scalar[]", "str[]"],
    *["Tensor[]", "Tensor?[]", "Tensor[]?"],
]
INTS = "int SymInt int?"
LISTS = "int[] int[2] int[3] int[1]? int[]?"
# What PyTorch takes and we refuse: kinds, values.
STRICTER = {
    "a fraction would be cut off": (INTS, ["numpy float", "float tensor"]),
    "fractions would be cut off": (LISTS, ["tensors"]),
    "a dtype is no number": ("int int? Scalar Scalar?", ["dtype"]),
    "only bools and integers are bools": (
        "bool bool?",
        ["float", "complex", "inf", "numpy float", "range"],
    ),
    "nothing is no bool": ("bool", ["None"]),
    "in lists as well": ("bool[]", ["floats", "mixed", "tensors and None"]),
    "a kernel would get None for a tensor": ("Tensor", ["None"]),
    "a number is no dtype": (
        "ScalarType ScalarType?",
        ["True", "int", "numpy int", "numpy float", "int tensor", "float tensor"],
    ),
    "a list has the length the schema says": ("int[2]", ["three", "empty"]),
    "or is refused": ("int[3]", ["tuple", "range", "empty", "bools"]),
    "text is no list of texts": ("str[]", ["str"]),
    "a dict is no list": ("str[] Scalar[] SymInt[] Tensor?[]", ["dict"]),
    "a tensor is no list": ("Tensor?[]", ["vector"]),
}
# What PyTorch refuses and we take.
LOOSER = {
    "numbers of NumPy are numbers": ("Scalar Scalar?", ["numpy int", "numpy float"]),
    "one integer of any kind is repeated": ("int[2] int[3] int[1]?", ["numpy int", "int tensor"]),
}


def listed(kind, name, table):
    return any(kind in kinds.split() and name in names for kinds, names in table.values())


@pytest.mark.parametrize("kind", KINDS)
@needs_pytorch
def test_what_an_argument_takes(kind):
    for name, make in VALUES.items():
        ours, theirs = handed(torch, kind, make(torch)), handed(pt, kind, make(pt))
        if listed(kind, name, STRICTER):
            assert isinstance(ours, RuntimeError), name
            assert not isinstance(theirs, Exception), name
        elif listed(kind, name, LOOSER):
            assert isinstance(theirs, RuntimeError), name
            assert not isinstance(ours, Exception), name
        else:
            assert not (problem := difference(ours, theirs)), f"{name}: {problem}"


@needs_pytorch
def test_the_error_names_op_argument_position_value_and_schema():
    ours, theirs = handed(torch, "int", "text"), handed(pt, "int", "text")
    assert not missing(str(ours), str(theirs))
    for part in (
        f"{NS}::f()",
        "'int'",
        "'a'",
        "'str'",
        "Position: 1",
        "'text'",
        "(Tensor x, int a)",
    ):
        assert part in str(ours)


CALLS = {
    "defaults": lambda f, x: f(x),
    "by position": lambda f, x: f(x, 4),
    "by keyword": lambda f, x: f(x=x, n=4, s="r"),
    "its default": lambda f, x: f(x, n=2),
    "missing": lambda f, x: f(),
    "too many": lambda f, x: f(x, 1, 2),
    "keyword-only by position": lambda f, x: f(x, 1, "r"),
    "unknown keyword": lambda f, x: f(x, m=1),
    "twice": lambda f, x: f(x, 1, n=2),
    "None for a tensor": lambda f, x: f(None, n=2),
    "a number for a tensor": lambda f, x: f(3),
    "a list for a tensor": lambda f, x: f([x]),
}


@pytest.mark.parametrize("name", [name for name in CALLS if name != "None for a tensor"])
@as_in_pytorch
def test_how_arguments_bind(t, name):
    with fragment(t) as lib:
        lib.define("f(Tensor x, int n=2, *, str s='q') -> Tensor")
        lib.impl("f", lambda x, n=2, *, s="q": x * n + len(s), "CPU")
        return refused(CALLS[name], getattr(t.ops, NS).f, t.ones(2))


@as_in_pytorch
def test_keyword_only_arguments_come_by_keyword_where_they_differ_from_their_defaults(t):
    seen = []

    def kernel(*args, **kwargs):
        seen.append((len(args), kwargs))
        return args[0].clone()

    with fragment(t) as lib:
        lib.define("f(Tensor x, *, int n=2, str s='q', bool b=False) -> Tensor")
        lib.impl("f", kernel, "CPU")
        f = getattr(t.ops, NS).f
        f(t.ones(1))
        f(t.ones(1), n=2, s="q", b=False)
    return seen


def test_positional_arguments_are_all_passed():
    # PyTorch leaves out trailing ones that equal their default, so a kernel's own default counts.
    with fragment(torch) as lib:
        lib.define("f(Tensor x, int n=1) -> Tensor")
        lib.impl("f", lambda x, n=7: x * n, "CPU")
        assert getattr(torch.ops, NS).f(torch.ones(1)).item() == 1


@as_in_pytorch
def test_words_that_python_keeps_may_be_names_of_arguments(t):
    with fragment(t) as lib:
        lib.define("f(Tensor x, int from, *, int lambda=1) -> Tensor")
        lib.impl("f", lambda x, a, **k: x * a + k.get("lambda", 1), "CPU")
        f = getattr(t.ops, NS).f
        return f(t.ones(1), 2), f(t.ones(1), **{"from": 2, "lambda": 5})


@as_in_pytorch
def test_lists_decide_on_the_keys(t):
    with fragment(t) as lib:
        lib.define("f(Tensor[] xs, Tensor?[] ys, Tensor? z, Tensor[]? ws=None) -> int")
        lib.impl("f", lambda xs, ys, z, ws=None: 1, "CPU")
        lib.impl("f", lambda xs, ys, z, ws=None: 2, "Meta")
        f, x, m = getattr(t.ops, NS).f, t.ones(1), t.ones(1, device="meta")
        return [
            *[f([x], [], None), f([m], [], None), f([], [None, m], None), f([], [], m)],
            *[f([x], [], None, [x]), f([], [None], x, None), refused(f, [], [], None)],
        ]


def test_an_optional_list_decides_too():
    with fragment(torch) as lib:
        lib.define("f(Tensor[]? xs) -> int")
        lib.impl("f", lambda xs: 2, "Meta")
        assert getattr(torch.ops, NS).f([torch.ones(1, device="meta")]) == 2


@as_in_pytorch
def test_one_element_of_a_list_is_wrong(t):
    with fragment(t) as lib:
        lib.define("f(Tensor[] xs) -> int")
        lib.impl("f", lambda xs: len(xs), "CPU")
        f = getattr(t.ops, NS).f
        return [refused(f, [t.ones(1), v]) for v in (3, None, "a", t.ones(2))]


@as_in_pytorch
def test_the_first_overload_that_takes_the_arguments_is_called(t):
    with fragment(t) as lib:
        for n, kind in enumerate(("int", "float", "str", "Tensor", "int[]", "ScalarType")):
            lib.define(f"choice.o{n}(Tensor x, {kind} y) -> str")
            lib.impl(f"choice.o{n}", lambda x, y, n=n: f"{n}", "CPU")
        f, x = getattr(t.ops, NS).choice, t.ones(2)
        values = [1, 2.5, "a", x, [1, 2], t.tensor(1), True, ()]
        return [[f(x, v) for v in values] for _ in range(2)], refused(f, x), refused(f, x, 1j)


def test_the_choice_among_overloads_is_made_anew_where_values_decide():
    with fragment(torch) as lib:
        lib.define("choice.one(Tensor x, int y) -> str")
        lib.define("choice.any(Tensor x, Tensor y) -> str")
        lib.impl("choice.one", lambda x, y: "int", "CPU")
        lib.impl("choice.any", lambda x, y: "tensor", "CPU")
        f, x = getattr(torch.ops, NS).choice, torch.ones(1)
        values = [torch.tensor(3), torch.tensor([1, 2]), torch.tensor(4)] * 2
        assert [f(x, v) for v in values] == ["int", "tensor", "int"] * 2


@as_in_pytorch
def test_ops_of_the_core_take_numbers_for_tensors(t):
    x, aten = t.ones(2), t.ops.aten
    calls = [
        lambda: aten.add.Tensor(x, 2),
        lambda: aten.mul(x, 2.5),
        lambda: aten.add(self=x, other=x, alpha=2),
        lambda: aten.sum(x, [0]),
        lambda: aten.sum.dim_IntList(x, [0], True),
        lambda: aten.max(t.tensor([3, 1]), 0)[1],
        lambda: aten.max(t.tensor([3, 1]), t.tensor([2, 2])),
        lambda: aten.max(t.tensor([3, 1])),
        lambda: aten.add(x, "a"),
        lambda: aten.max(x, "a"),
        lambda: aten.add(x),
        lambda: aten.relu(x, x),
    ]
    return [refused(c) for c in calls]


# ---- results ------------------------------------------------------------------------------------

RESULTS = {
    "Tensor": ["x.clone()", "None", "[x.clone()]", "(x,)", "3", "2.5", "'a'", "()", "[]", "x"],
    "(Tensor, Tensor)": ["(x, x + 1)", "[x, x + 1]", "(x, None)", "(1, x)"],
    "Tensor[]": ["[x]", "(x, x)", "x", "None", "[]", "[1]", "[None]"],
    "()": ["None", "x", "()", "0"],
    "int": ["3", "2.5", "True", "t.tensor(3)", "None", "'a'"],
    "float": ["3", "2.5", "True", "t.tensor(3.)", "None", "'a'"],
    "bool": ["3", "0", "True", "t.tensor(True)", "'a'"],
    "str": ["'a'", "3"],
    "Scalar": ["3", "2.5", "True", "1j", "t.tensor(3.)", "'a'"],
    "Tensor?": ["None", "x", "3"],
    "int[]": ["[1, 2]", "(1, 2)", "3", "[1.5]"],
    "(Tensor, int)": ["(x, 3)", "(x, 2.5)"],
    "(Tensor[], Tensor)": ["([x], x)", "(x, x)"],
}


def returned(t, kind, make):
    with fragment(t) as lib:
        lib.define(f"f(Tensor x) -> {kind}")
        lib.impl("f", lambda x: make(t, x), "CPU")
        made = refused(getattr(t.ops, NS).f, t.ones(2))
        return made if isinstance(made, Exception) else shown(made)


@pytest.mark.parametrize("kind", RESULTS)
@as_in_pytorch
def test_what_a_kernel_may_return(t, kind):
    return [returned(t, kind, eval(f"lambda t, x: {v}")) for v in RESULTS[kind]]


@pytest.mark.parametrize(("kind", "value", "what"), [
    ("(Tensor, Tensor)", "x", "one Tensor where the schema says 2 values"),
    ("(Tensor, Tensor)", "(x,)", "a tuple of 1 where the schema says 2 values"),
    ("(Tensor, Tensor)", "(x, x, x)", "a tuple of 3 where the schema says 2 values"),
    ("(Tensor, Tensor)", "None", "None where the schema says 2 values"),
    ("Tensor", "'a'", "one str where the schema says a Tensor"),
    ("()", "x", "one Tensor, not None"),
    ("bool", "None", "None"),
])  # fmt: skip
def test_the_error_says_what_was_returned(kind, value, what):
    # PyTorch does not check how long a tuple is, and crashes later.
    for _ in range(2):
        error = returned(torch, kind, eval(f"lambda t, x: {value}"))
        assert type(error) is RuntimeError
        assert f"{NS}::f returned {what}" in str(error)
        assert f"{NS}::f(Tensor x) -> {kind}" in str(error)


def test_every_call_is_checked_and_not_only_the_first():
    answers = iter([torch.ones(1), 3])
    with fragment(torch) as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: next(answers), "CPU")
        f = getattr(torch.ops, NS).f
        f(torch.ones(1))
        with pytest.raises(RuntimeError, match="one int where the schema says a Tensor"):
            f(torch.ones(1))


@pytest.mark.parametrize(
    "kind", [ValueError, TypeError, KeyError, ZeroDivisionError, AttributeError]
)
@as_in_pytorch
def test_what_a_kernel_raises_passes_through(t, kind):
    def kernel(x):
        raise kind("mine")

    with fragment(t) as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", kernel, "CPU")
        error = refused(getattr(t.ops, NS).f, t.ones(1))
        return type(error), str(error)
