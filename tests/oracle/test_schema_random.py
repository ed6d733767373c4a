"""Operator schemas made up at random, valid and broken ones, against PyTorch's parser."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mindtorch_core as torch
from mindtorch_core.dispatch.schema import parse_schema
from schema_texts import canonical, compare, refused_by

pt = pytest.importorskip("torch")

EXAMPLES = settings(max_examples=500, deadline=None, derandomize=True)

# ---- valid schemas, in that part of the grammar that both parsers read alike --------------------

NAMES = st.sampled_from(
    [
        "x",
        "y",
        "self",
        "other",
        "input",
        "dim",
        "from",
        "lambda",
        "out",
        "_a",
        "k1",
        "Tensor",
        "int",
    ]
)
SETS = st.sampled_from(["a", "b", "foo", "a|b", "c|a", "*", "a|*"])
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False).map(repr),
    st.sampled_from(["0", "-1", "1.", ".5", "- 2", "1e-5", "3.25E10", "0.1"]),
)
INTEGERS = st.one_of(st.integers(-3, 3).map(str), st.integers(-(2**63), 2**63 - 1).map(str))
STRINGS = st.one_of(
    st.text("abc 'xyz|()[]#,", max_size=6).map(lambda t: f'"{t}"'),
    st.text('abc "\\', max_size=6).map(lambda t: "'" + t.replace("\\", "\\\\") + "'"),
    st.sampled_from([r'"\n\t\\"', r"'\''", '"mean"', r'"\101"', "'''a'''"]),
)
BOOLS = st.sampled_from(["True", "False"])
DTYPES = st.sampled_from(
    ["float", "long", "int8", "bfloat16", "half", "bool", "cdouble", "quint8", "6"]
)

# Type and literals that may be its default.
LITERALS = {
    "int": INTEGERS,
    "SymInt": INTEGERS,
    "float": NUMBERS,
    "Scalar": st.one_of(NUMBERS, BOOLS, st.just("2.5j")),
    "bool": BOOLS,
    "str": STRINGS,
    "complex": st.sampled_from(["1j", "-2.5j", "1e3j"]),
    "ScalarType": DTYPES,
    "Layout": st.just("strided"),
    "MemoryFormat": st.just("contiguous_format"),
    "Device": st.sampled_from(['"cpu"', "'cuda:1'"]),
}
PLAIN = [
    *LITERALS,
    "Tensor",
    "Generator",
    "Storage",
    "Stream",
    "QScheme",
    "Any",
    "t",
    "tVal",
]
KEYS = st.sampled_from(["int", "float", "complex", "Tensor", "Device", "str", "bool"])


def made_of(inner):
    members = st.lists(
        st.sampled_from(["Tensor", "int", "str", "bool", "Device", "t"]), min_size=2, unique=True
    )
    return st.one_of(
        inner.map(lambda t: f"{t}[]"),
        inner.map(lambda t: t if t.endswith("?") else f"{t}?"),
        st.lists(inner, max_size=3).map(lambda ts: f"({','.join(ts)})"),
        st.tuples(KEYS, inner).map(lambda kv: f"Dict({kv[0]}, {kv[1]})"),
        st.tuples(st.sampled_from(["Future", "RRef", "Await"]), inner).map(
            lambda nt: f"{nt[0]}({nt[1]})"
        ),
        members.map(lambda ms: f"Union({', '.join(ms)})"),
    )


DEFAULTED = [
    *LITERALS,
    *(f"{t}?" for t in LITERALS),
    "Tensor?",
    "int[]",
    "int[2]",
    "float[]",
    "bool[2]",
]
TYPES = st.recursive(st.sampled_from(PLAIN), made_of, max_leaves=4)


@st.composite
def annotations(draw):
    before = draw(SETS)
    after = f" -> {draw(SETS)}" if draw(st.integers(0, 3)) == 0 else ""
    return f"({before}{draw(st.sampled_from(['', '!']))}{after})"


@st.composite
def argument_types(draw):
    """The type of an argument: a type made of others, one with aliasing, or a list with a length."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return draw(TYPES)
    base = draw(st.sampled_from(["Tensor", "t", "int", "Scalar", "Dict(str, Tensor)", "Storage"]))
    alias = draw(annotations())
    if kind == 1:
        return base + draw(
            st.sampled_from(
                [
                    alias,
                    f"{alias}?",
                    f"{alias}[]",
                    f"{alias}[]?",
                    f"[]{alias}",
                    f"[2]{alias}?",
                    f"{alias}[2]",
                ]
            )
        )
    return draw(st.sampled_from(PLAIN)) + draw(
        st.sampled_from(["", "[2]", "[1]", "[2]?", "?[3]", "[0]"])
    )


def literals(kind):
    """Literals that both parsers take as default of a type; None if there are none."""
    base = re.match(r"\w+", kind)
    base = base[0] if base else ""
    if kind in LITERALS:
        return LITERALS[kind]
    if kind == f"{base}[]" and base in ("int", "SymInt", "float", "bool"):
        # PyTorch abbreviates `int[] x=[1, 1]` to `x=1`, which it cannot read.
        lists = st.lists(LITERALS[base], max_size=3, unique=base == "int")
        return lists.map(lambda vs: f"[{', '.join(vs)}]")
    if kind == f"{base}[2]" and base in ("int", "SymInt", "float", "bool"):
        return st.one_of(
            LITERALS[base],
            st.lists(LITERALS[base], min_size=2, max_size=2).map(lambda vs: f"[{', '.join(vs)}]"),
        )
    if kind.endswith("?"):
        inside = kind[:-1]
        exact = inside in LITERALS and inside not in ("float", "complex", "Device")
        return st.one_of(st.just("None"), LITERALS[inside]) if exact else st.just("None")
    return None


@st.composite
def schemas(draw):
    """The text of a valid schema."""
    kinds = draw(st.lists(st.one_of(argument_types(), st.sampled_from(DEFAULTED)), max_size=5))
    names = draw(st.lists(NAMES, min_size=len(kinds), max_size=len(kinds), unique=True))
    star = draw(st.integers(0, 8))
    parts = []
    seen_default = False
    for position, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        if position == star:
            parts.append("*")
        default = literals(kind)
        if default is not None and draw(st.booleans()):
            seen_default = True
            parts.append(f"{kind} {name}={draw(default)}")
        elif position < star and seen_default:
            parts.append(f"int? {name}=None")
        else:
            parts.append(f"{kind} {name}")
    if not any("=" in p for p in parts):
        parts += draw(st.sampled_from([[], [], [], ["..."]]))
    returns = draw(st.lists(argument_types(), max_size=3))
    returns = [f"{kind}{draw(st.sampled_from(['', ' y']))}" for kind in returns]
    returns += draw(st.sampled_from([[], [], [], ["..."]]))
    head = draw(st.sampled_from(["f", "aten::f", "f.o", "ns::op_1.out"]))
    return f"{head}({', '.join(parts)}) -> ({', '.join(returns)})"


@EXAMPLES
@given(schemas())
def test_valid_schemas(text):
    ours = parse_schema(text)
    compare(ours, pt._C.parse_schema(text))
    again = parse_schema(str(ours))
    assert again == ours
    assert str(again) == str(ours)


# ---- broken schemas -------------------------------------------------------------------------------

TOKENS = re.compile(r"\w+|->|\.\.\.|\"[^\"]*\"|'[^']*'|\s|.")
OTHERS = st.sampled_from(
    [
        "(",
        ")",
        "[",
        "]",
        "?",
        "!",
        ",",
        "*",
        "|",
        "=",
        "->",
        ".",
        ":",
        "...",
        "-",
        "1",
        "2.5",
        "1e3",
        "None",
        "True",
        "a",
        "b",
        "int",
        "Tensor",
        "float",
        "str",
        "x",
        "Mean",
        '"s"',
        "[]",
        "[2]",
        "(a)",
        "(a!)",
        "?",
        "#",
        "in",
        "Dict",
        "Future",
        "Union",
        "Foo",
        ";",
        "$",
        "t",
    ]
)


@st.composite
def changed(draw):
    """A valid schema with one or two tokens taken out, doubled, exchanged or replaced."""
    tokens = TOKENS.findall(draw(schemas()))
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(tokens) - 1))
        change = draw(st.sampled_from(["drop", "double", "swap", "replace", "insert"]))
        if change == "drop":
            tokens[at] = ""
        elif change == "double":
            tokens[at] += " " + tokens[at]
        elif change == "swap":
            other = draw(st.integers(0, len(tokens) - 1))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif change == "replace":
            tokens[at] = draw(OTHERS)
        else:
            tokens[at] += " " + draw(OTHERS)
    return "".join(tokens)


# What is refused here and not by PyTorch, by what the error says.
STRICTER = re.compile(
    "is taken|a type (such as|\\()|as default of type|has no literals|the length of the list|"
    "inside another type|of which none includes"
)


def read_only_here(argument):
    """Whether PyTorch has no reader for an argument's default, or one that misreads."""
    spelling = argument.real_type.text.rstrip("?")
    return argument.has_default and (
        isinstance(argument.default, tuple)
        or spelling in ("Device", "complex", "Any", "SymBool", "number", "double", "int64")
    )


@settings(EXAMPLES)
@given(changed())
def test_broken_schemas(text):
    theirs = refused_by(pt._C.parse_schema, text)
    ours = refused_by(parse_schema, text)
    if theirs is None and ours is None:
        expected = pt._C.parse_schema(text)
        # PyTorch makes a union of one type out of `Scalar??`, and does not print some others.
        printed = "Union(Scalar)" not in str(expected)
        if printed and refused_by(pt._C.parse_schema, str(expected)) is None:
            assert canonical(str(parse_schema(text))) == canonical(str(expected))
    elif theirs is None:
        assert isinstance(ours, torch.SchemaError)
        assert STRICTER.search(str(ours).partition("but found")[0]), ours
    elif ours is None:
        assert any(map(read_only_here, parse_schema(text).arguments)), (text, theirs)


@EXAMPLES
@given(st.text("f(int x=1, *) -> Tensor[2]?!|.'\"\\#\n:", max_size=40))
def test_noise_is_refused_in_an_orderly_way(text):
    error = refused_by(parse_schema, text)
    if error is not None:
        assert isinstance(error, torch.SchemaError)
        assert "^ here" in str(error)


# ---- versions of a schema -------------------------------------------------------------------------

PARTS = [
    "Tensor x", "Tensor? x", "Tensor(a) x", "int y", "int? y", "int y=1", "int y=2", "SymInt y=1",
    "Scalar y=1", "Scalar y=1.0", "Scalar? y=1", "Any y", "int[] z", "int[2] z", "int[] z=[1]",
    "int[]? z=None", "(int, float) v", "(int?, Scalar) v", "Future(int) v", "Future(int?) v",
    "Union(int, str) v", "Union(int, float, str) v", "Union(int?, str) v", "str v", "bool v=True",
]  # fmt: skip
OUTS = ["Tensor(a!) out", "Tensor(b!) out", "Tensor(b!) out2"]


@st.composite
def versions(draw):
    chosen = draw(
        st.lists(st.sampled_from(PARTS), max_size=4, unique_by=lambda p: p.split()[-1][0])
    )
    required = [p for p in chosen if "=" not in p]
    defaulted = [p for p in chosen if "=" in p]
    positional = required + defaulted if draw(st.booleans()) else []
    keywords = [] if positional else chosen
    keywords = keywords + draw(st.sampled_from([[], [], OUTS[:1], OUTS[1:2], [OUTS[0], OUTS[2]]]))
    parts = positional + (["*", *keywords] if keywords else [])
    head = draw(st.sampled_from(["f"] * 6 + ["f.o", "g"]))
    returns = draw(
        st.sampled_from(
            ["Tensor"] * 6 + ["Tensor?", "Tensor y", "int", "Scalar", "(Tensor, int)", "..."]
        )
    )
    return f"{head}({', '.join(parts)}) -> {returns}"


@settings(EXAMPLES)
@given(versions(), versions())
@example("f(Tensor x, int y=1) -> Tensor", "f(Tensor x) -> Tensor")
@example("f(Tensor x, int y) -> Tensor", "f(Tensor x) -> Tensor")
@example("f(Tensor x, int[] y=[1]) -> Tensor", "f(Tensor x) -> Tensor")
@example(
    "f(Tensor x, int y=1, *, Tensor(a!) out) -> Tensor", "f(Tensor x, *, Tensor(a!) out) -> Tensor"
)
def test_compatibility_of_versions(new, old):
    ours, theirs = parse_schema(new), pt._C.parse_schema(new)
    before, their_before = parse_schema(old), pt._C.parse_schema(old)
    # PyTorch looks for arguments that are gone and answers IndexError: no verdict.
    expected = verdict(lambda: theirs.is_backward_compatible_with(their_before))
    assert expected is None or ours.is_backward_compatible_with(before) == expected
    expected = verdict(lambda: theirs.check_forward_compatible_with(their_before))
    if expected is None:
        return
    compatible, reason = ours.check_forward_compatible_with(before)
    assert compatible == expected[0]
    if expected[1].startswith("Out argument"):  # with a stray quote
        assert reason.startswith("Out argument")
    else:
        assert reason == expected[1] or (not expected[1] and "differ in name" in reason)


def verdict(check):
    try:
        return check()
    except IndexError:
        return None


TYPE_PAIRS = [
    "Tensor", "int", "SymInt", "float", "Scalar", "complex", "bool", "str", "ScalarType", "Device", "Any",
    "t", "NoneType", "Tensor?", "int?", "int[]", "SymInt[]", "int?[]", "int[]?", "Any?", "(int, float)",
    "(int?, Scalar)", "Dict(str, int)", "Dict(str, int?)", "Future(int)", "Future(int?)", "RRef(int)",
    "RRef(int?)", "Await(int)", "Union(int, str)", "Union(int, float, str)", "Union(int?, str)", "Scalar?",
    "AnyClassType", "__torch__.torch.classes.quantized.LinearPackedParamsBase",
    "(int, SymInt)", "(SymInt, float)", "(SymInt, SymInt, int)", "(SymInt?, Scalar)", "(ScalarType, Layout)",
    "(SymInt[], str)", "((int, SymInt), str)", "(SymInt, int)[]", "SymInt?", "SymInt[2]", "SymInt[]?",
    "Dict(str, SymInt)", "Future(SymInt)", "Union(SymInt, str)", "(bool, float)", "(int, float, str)",
]  # fmt: skip


def test_subtypes():
    ours = [parse_schema(f"f({t} x) -> ()").arguments[0].real_type for t in TYPE_PAIRS]
    theirs = [pt._C.parse_schema(f"f({t} x) -> ()").arguments[0].type for t in TYPE_PAIRS]
    expected = [[a.isSubtypeOf(b) for b in theirs] for a in theirs]
    assert [[a.isSubtypeOf(b) for b in ours] for a in ours] == expected


def structure(kind):
    """A type with everything that it is made of; of PyTorch's class only that it is one."""
    made = hasattr(kind, "containedTypes") and kind.kind() != "ClassType"
    inside = kind.containedTypes() if made else []
    return (str(kind), kind.kind(), [structure(each) for each in inside])


@pytest.mark.parametrize("text", TYPE_PAIRS)
def test_what_types_are_made_of(text):
    ours = parse_schema(f"f({text} x) -> ({text}, {text})")
    theirs = pt._C.parse_schema(f"f({text} x) -> ({text}, {text})")
    assert str(ours) == str(theirs)
    for one, other in zip(
        (*ours.arguments, *ours.returns), (*theirs.arguments, *theirs.returns), strict=True
    ):
        assert structure(one.real_type) == structure(other.real_type)


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("SymInt", "int"),
        ("SymInt?", "int"),
        ("SymInt[2]", "int"),
        ("double", "float"),
        ("double?[]", "float"),
        ("number", "Scalar"),
        ("SymBool", "bool"),
        ("(SymInt, double)", "(int, double)"),
        ("(SymInt, int)[]", "(int, int)"),
    ],
)
def test_which_values_an_argument_takes(text, flat):
    assert parse_schema(f"f({text} x) -> ()").arguments[0].type == flat
