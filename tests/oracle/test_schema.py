"""Operator schemas: the texts, the structure and the refusals of PyTorch's parser."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.schema import parse_schema
from schema_texts import compare, compare_arguments, refused_by

pt = pytest.importorskip("torch")


DTYPES = [name for name, d in vars(pt).items() if isinstance(d, pt.dtype)]


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_by_all_their_names(name):
    text = f"f(ScalarType x={name}) -> ()"
    (theirs,) = pt._C.parse_schema(text).arguments
    (own,) = parse_schema(text).arguments
    assert own.default_value == theirs.default_value


def test_every_schema_of_pytorch():
    """In an interpreter of its own: other tests define ops in PyTorch and take them back, after
    which its table of schemas refers to memory that is gone.
    """
    program = "import schema_texts; print(schema_texts.compare_every_schema())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3000


ELEMENTS = r"""
f() -> ()
  f  (  int a  ,int b=1)->int
aten :: f . o (Tensor x) -> Tensor
ns::f.o_1(Tensor x) -> Tensor
__f__(Tensor x) -> Tensor
f.from(Tensor self, int from, int lambda) -> ()
f(Tensor a, int b, float d, bool e, str f, complex g, Scalar h) -> ()
f(SymInt a, SymInt[] b, SymInt? c, SymInt[2]? d, SymBool e) -> SymInt
f(ScalarType a, Layout b, Device c, MemoryFormat d, QScheme e) -> ()
f(Generator a, Storage b, Stream c, DeviceIndex d, Any e, Capsule f, NoneType g, None h) -> ()
f(ScalarType[] a, Layout? b, MemoryFormat?[] c, ConstQuantizerPtr d, Quantizer e) -> ()
f(t a, t1 b, tVal c, t[] d, t?[] e) -> t?
f(AnyEnumType a, AnyClassType? b) -> ()
f(Dict(str, Tensor) a, Dict(int, t)[] b, Dict(complex, Dict(str, Tensor[]))? c) -> Dict(int, t)[]
f((int, str) a, (int, (str, Tensor))[] b, () c, (int) d, (int, int)? e, (int, int)[2] f) -> ()
f((int, SymInt) a, (ScalarType?, Layout)[] b, Dict(SymInt, MemoryFormat) c, (SymBool, SymInt[]) d) -> ()
f(Future(Tensor) a, RRef(int?)?[]? b, Await(t)[] c, Future(SymInt) d) -> Future(t)
f(Union(int, str) a, Union(str, int)? b, Union(Tensor, int, None)[] c, Union(None, int) d) -> ()
f(Union(Tensor[], int[], bool, Device) a, Union(Union(int, str), Tensor) b, Union(str?, int?) c) -> ()
f(Union((int, int), Tensor, Generator) a, Union(t, Tensor) b, Union(float, int) c, Union(SymInt, Tensor) d) -> ()
f(__torch__.torch.classes.quantized.LinearPackedParamsBase a) -> __torch__.torch.classes.quantized.LinearPackedParamsBase?
f(Tensor? a, Tensor[] b, Tensor?[] c, Tensor[]? d, Tensor?[]? e, Tensor[][] f, Tensor?[][]?[] g) -> ()
f(int[2] a, int[2]? b, int?[2] c, int[][2] d, int[][2]? e, int[]?? f, int?? g, Tensor[2] h, int[0] i) -> ()
f(int a=1, int b=-1, int c=- 1, int d=9223372036854775807, int e=-9223372036854775808, int f=Mean) -> ()
f(float a=1, float b=1., float c=.5, float d=-.5, float e=1e-5, float f=1E5, float g=1e19, float h=-0.) -> ()
f(float a=0.1, float b=123456789012345678, float c=1e18, float d=1.5e-7, float e=12345678901234567890.5) -> ()
f(float? a=1, float? b=1.0, float? c=None, Scalar? d=1.0, Scalar? e=None, int? f=3, bool? g=None) -> ()
f(Scalar a=1, Scalar b=1.5, Scalar c=-1, Scalar d=True, Scalar e=1j, complex f=1.5j, complex g=-1.5j) -> ()
f(bool a=True, bool b=False, bool? c=True) -> ()
f(str a="a", str b='a', str c="", str? d='"', str? e=None, str f='''x'y''', str g="a b") -> ()
f(str a="\n\t\a\b\f\v\\\'\"", str b="\101\001\177", str c="#", str d="//") -> ()
f(ScalarType a=float, ScalarType b=long, ScalarType? c=bfloat16, ScalarType? d=None, ScalarType e=6) -> ()
f(ScalarType a=quint8, ScalarType b=float8_e5m2, ScalarType c=complex, ScalarType d=uint64, ScalarType[] e=[float]) -> ()
f(Layout a=strided, MemoryFormat b=contiguous_format, MemoryFormat? c=contiguous_format, Layout? d=0) -> ()
f(Tensor? a=None, Generator? b=None, Device? c=None, Device d="cuda:0", t? e=None, (int, int)? f=None) -> ()
f(int[] a=[], int[] b=[1, -2], int[2] c=1, int[2] d=[1,1], int[1] e=1, int[3] f=[0,1,0], int[2] g=[]) -> ()
f(int[2]? a=1, int[1]? b=1, int[]? c=None, SymInt[2] d=1, SymInt[2]? e=1, SymInt[] f=[1, 2]) -> ()
f(int[1] a=[-2, -1], bool[3] b=True, bool[] c=[True, False], float[2] d=1, float[] e=[1, 2.5], complex[] f=[1j]) -> ()
f(int a, *, int b) -> ()
f(int a=1, *, int b, int c=2, int d) -> ()
f(*, int a) -> ()
f(*) -> ()
f(int a, *, *, int b) -> ()
f(...) -> ...
f(int a, *, int b, ...) -> (int, ...)
f(*, ...) -> (...)
f() -> (int)
f() -> (int x)
f() -> ((int, int))
f() -> ((int, int)[] a, int b)
f() -> (Tensor y, Tensor z)
f() -> int[2]? x
f(Tensor(a) x) -> Tensor(a)
f(Tensor(a!) x, *, Tensor(b!) out) -> Tensor ( a ! )
f(Tensor(a|b) x, Tensor(c|a|b!) y, Tensor(a|*) z) -> Tensor(b|a)
f(Tensor(*) x, Tensor(*!) y) -> Tensor(*)
f(Tensor(a -> *) x, Tensor(b!->*) y, Tensor(c! -> c|d) z, Tensor(* -> a) v, Tensor(a -> a) w) -> ()
f(Tensor(a!)[] x, Tensor(b)[]? y, Tensor[](c!) z, Tensor(d)[](e) v, Tensor(f!)[2] w) -> Tensor(a!)[]
f(Tensor(a!)? x, Tensor[2](b!)? y, Tensor(c -> *)[] z, Tensor[][](d) v) -> Tensor(a!)?
f(int(a) x, t[](b!) y, Dict(str, Tensor)(c!)[] z, Union(int, str)(d) v, Scalar(e) w, (int, int)[](f) u) -> ()
""".strip().splitlines()

# A comment, line breaks inside brackets, tabs, triple quotes around a line break.
SEVERAL_LINES = [
    "# comment\nf(int x) -> int # comment\n\n",
    "f(\n    int x,  # comment\n\tint y\n) -> (\n    int)",
    "f(str x=\"\"\"a\n'b'\"\"\", str y='a\tb', str z='\\\n') -> ()",
]


@pytest.mark.parametrize("text", [*ELEMENTS, *SEVERAL_LINES])
def test_elements_of_the_grammar(text):
    ours = parse_schema(text)
    compare(ours, pt._C.parse_schema(text))
    assert parse_schema(str(ours)) == ours


# ---- what differs ---------------------------------------------------------------------------------

# PyTorch reads these texts: the sort of mistake, and a part of the text that says so here.
REFUSED_HERE = {
    # A call by keyword could not say which of the two it means.
    "f(int a, int a) -> ()": "taken",
    # To PyTorch any name in lower case is a type variable, a misspelt type too.
    "f(tensor x) -> ()": "did you mean Tensor?",
    "f(flaot x) -> ()": "did you mean float",
    "f(string x) -> ()": "string is written 'str'",
    "f(list x) -> ()": r"list is written 'T\[\]'",
    # The default does not fit the type.
    "f(int x=1.5) -> ()": "an integer as default of type 'int' but found '1.5'",
    "f(int x=1E3) -> ()": "an integer",
    "f(int x=1j) -> ()": "an integer",
    "f(int x=True) -> ()": "an integer",
    'f(int x="a") -> ()': "an integer",
    "f(int x=float) -> ()": "an integer",
    "f(int x=None) -> ()": r"may be None is of type 'int\?'",
    "f(int? x=True) -> ()": "None or an integer",
    "f(SymInt x=1.5) -> ()": "an integer as default of type 'SymInt'",
    "f(float x=True) -> ()": "a number that is not complex",
    "f(float x=None) -> ()": "a number",
    "f(float? x=1j) -> ()": "a number that is not complex",
    "f(Scalar x=None) -> ()": "a number",
    'f(Scalar x="a") -> ()': "a number",
    "f(bool x=1) -> ()": "True or False",
    "f(bool x=2) -> ()": "True or False",
    "f(bool? x=0) -> ()": "None or True or False",
    "f(str x=1) -> ()": "a string in quotes",
    "f(str x=None) -> ()": "a string in quotes",
    "f(ScalarType x=Mean) -> ()": "the name of a dtype",
    "f(ScalarType x=None) -> ()": "the name of a dtype",
    "f(Tensor x=None) -> ()": r"None needs type 'Tensor\?'",
    "f(Tensor? x=1) -> ()": "expected None",
    "f(Generator x=None) -> ()": "None needs type",
    "f(int[]? x=1) -> ()": "None or a list",
    # PyTorch reads a part of the number: 0, 1, 1.
    "f(int x=0x10) -> ()": "found 'x10'",
    "f(int[1.5] x) -> ()": "the length of the list",
    "f(int[1e3] x) -> ()": "the length of the list",
    # PyTorch drops the annotation, and with it that x is written.
    "f((Tensor(a!), int) x) -> ()": "no alias annotation inside another type",
    "f(Dict(str, Tensor(a!)) x) -> ()": "no alias annotation inside another type",
    # What is left is a union of one type.
    "f(Union(Scalar, int) x) -> ()": "of which none includes the others",
    # PyTorch's own text for this default is not valid UTF-8.
    r'f(str x="\200") -> ()': "an escape that exists",
}


@pytest.mark.parametrize("text", REFUSED_HERE)
def test_mistakes_that_pytorch_does_not_notice(text):
    assert refused_by(pt._C.parse_schema, text) is None
    with pytest.raises(torch.SchemaError, match=REFUSED_HERE[text]):
        parse_schema(text)


# PyTorch refuses these texts; here they mean what they say. The canonical text stands behind.
ACCEPTED_HERE = {
    # PyTorch prints devices and complex numbers in a way that it does not read.
    "f(Device x=cuda:0, Device? y=cpu) -> ()": "f(Device x=cuda:0, Device? y=cpu) -> ()",
    "f(complex x=0.+1.5j) -> ()": "f(complex x=0.+1.5j) -> ()",
    "f(complex x=1-2j, complex y=1) -> ()": "f(complex x=1.-2.j, complex y=1.+0.j) -> ()",
    r'f(str x="\r") -> ()': r'f(str x="\r") -> ()',
    # Lists that PyTorch has no reader for.
    "f(int[]? x=[1], int[2]? y=[1,2]) -> ()": "f(int[]? x=[1], int[2]? y=[1, 2]) -> ()",
    "f(str[] x=['a'], Scalar[2] y=1) -> ()": 'f(str[] x=["a"], Scalar[2] y=[1, 1]) -> ()',
    "f(int?[] x=[None, 1], int[][] y=[[1]]) -> ()": "f(int?[] x=[None, 1], int[][] y=[[1]]) -> ()",
    "f(Tensor[] x=[], t[] y=[]) -> ()": "f(Tensor[] x=[], t[] y=[]) -> ()",
    "f(int[2] x=Mean) -> ()": "f(int[2] x=1) -> ()",
    # Types that PyTorch has no literals for.
    "f(Any x=None, Any y='a') -> ()": 'f(Any x=None, Any y="a") -> ()',
    "f(SymBool x=True) -> ()": "f(SymBool x=True) -> ()",
    "f(double x=1, number y=2, int64 z=3) -> ()": "f(double x=1., number y=2, int64 z=3) -> ()",
    # Which classes are registered is not known here.
    "f(__torch__.torch.classes.a.B x) -> ()": "f(__torch__.torch.classes.a.B x) -> ()",
    # PyTorch has ops of this type, and makes their schemas without the parser.
    "f(PyObject x) -> PyObject": "f(PyObject x) -> PyObject",
    # A line break outside brackets.
    "f(int x)\n  -> int": "f(int x) -> int",
    # Older PyTorch has names of dimensions, which are strings.
    "f(Dimname x) -> ()": "f(str x) -> ()",
}


@pytest.mark.parametrize("text", ACCEPTED_HERE)
def test_texts_that_pytorch_cannot_read(text):
    assert refused_by(pt._C.parse_schema, text) is not None
    assert str(parse_schema(text)) == ACCEPTED_HERE[text]
    assert str(parse_schema(ACCEPTED_HERE[text])) == ACCEPTED_HERE[text]


# Both read these texts, and what PyTorch prints says something else.
PRINTED_OTHERWISE = {
    "f(Tensor(a!)?[] x) -> ()": "f(Tensor?(a!)[] x) -> ()",
    "f(Tensor(a!)[][](b) x) -> ()": "f(Tensor[](!)[](b) x) -> ()",
    "f(int[2] x=[1, 1, 1]) -> ()": "f(int[2] x=1) -> ()",
    "f(int[] x=[1, 1]) -> ()": "f(int[] x=1) -> ()",
    "f(complex x=1.+0.j) -> ()": None,
    "f(Union(Scalar, str) x) -> ()": "f(Union(, str, Scalar) x) -> ()",
    "f(Union(float, complex, int) x) -> ()": "f(Union(Scalar) x) -> ()",
    "f(Tensor! x, Tensor![] y, Tensor[]! z) -> Tensor!": "f(Tensor($0! -> ) x, Tensor($1! -> )[] y, "
    "Tensor[]($2! -> ) z) -> Tensor($3! -> )",
    'f(str x="é") -> ()': 'f(str x="\\0)+\\/.)") -> ()',
}


@pytest.mark.parametrize("text", PRINTED_OTHERWISE)
def test_texts_that_pytorch_does_not_print_as_they_are(text):
    assert str(parse_schema(text)) == text
    if PRINTED_OTHERWISE[text] is not None:
        assert str(pt._C.parse_schema(text)) == PRINTED_OTHERWISE[text]


def test_a_written_value_in_a_set_without_name():
    text = "f(Tensor! x, Tensor![] y) -> Tensor!"
    ours, theirs = parse_schema(text), pt._C.parse_schema(text)
    assert ours.is_mutable
    for mine, other in zip(
        ours.arguments + ours.returns, theirs.arguments + theirs.returns, strict=True
    ):
        compare_arguments(mine, other)


def test_an_element_that_is_written_makes_the_argument_written():
    text = "f(Tensor(a!)[](b) x) -> ()"
    assert not pt._C.parse_schema(text).is_mutable
    assert parse_schema(text).is_mutable


# ---- errors ---------------------------------------------------------------------------------------

# A text that nobody can read, what is expected there, and what is found.
BROKEN = {
    "": ("an operator name", "the end"),
    "f": (r"'\('", "the end"),
    "f.o": (r"'\('", "the end"),
    "(int x) -> int": ("an operator name", r"'\('"),
    "1f() -> ()": ("an operator name", "'1'"),
    "a:f() -> ()": ("'::'", "'f'"),
    "a::b::f() -> ()": (r"'\('", "':'"),
    "f.o.p() -> ()": (r"'\('", r"'\.'"),
    "f.default() -> ()": ("an overload name", "'default'"),
    "f.__o() -> ()": ("an overload name", "'__o'"),
    "in() -> ()": ("an operator name, not a reserved word,", "'in'"),
    "f(int x": (r"',' or '\)'", "the end"),
    "f(int x -> int": (r"',' or '\)'", "'->'"),
    "f(int x, ) -> int": ("a type", r"'\)'"),
    "f(int x int y) -> int": (r"',' or '\)'", "'int'"),
    "f(, int x) -> int": ("a type", "','"),
    "f(*, ) -> int": ("a type", r"'\)'"),
    "f(int) -> ()": ("an argument name", r"'\)'"),
    "f(int in) -> ()": ("an argument name, not a reserved word,", "'in'"),
    "f(int 1) -> ()": ("an argument name", "'1'"),
    "f(int x.y) -> ()": (r"',' or '\)'", r"'\.'"),
    "f(..., int x) -> ()": (r"'\)', for nothing may follow '...',", "','"),
    "f(int x=1, ...) -> ()": (r"no '\.\.\.' behind arguments with defaults", r"'\.\.\.'"),
    "f(int x)": ("'->'", "the end"),
    "f(int x) int": ("'->'", "'int'"),
    "f(int x) - > int": ("'->'", "'-'"),
    "f(int x) ->": ("a type", "the end"),
    "f(int x) -> (int": (r"',' or '\)'", "the end"),
    "f(int x) -> (int, )": ("a type", r"'\)'"),
    "f(int x) -> int y z": ("the end", "'z'"),
    "f(int x) -> int;": ("the end", "';'"),
    "f(int x) -> ()()": ("the end", r"'\('"),
    "f() -> (int, int)[]": ("the end", r"'\['"),
    "f() -> int x=1": ("the end", "'='"),
    "f(Foo x) -> ()": ("a type such as Tensor, int or Scalar", "'Foo'"),
    "f(Tensr x) -> ()": (r"a type \(did you mean Tensor\?\)", "'Tensr'"),
    "f(SymFloat x) -> ()": (r"a type \(did you mean .*float.*\)", "'SymFloat'"),
    "f(List[int] x) -> ()": (r"a type \(List is written 'T\[\]'\)", "'List'"),
    "f(Optional[int] x) -> ()": (r"a type \(Optional is written 'T\?'\)", "'Optional'"),
    "f(Dict[str, int] x) -> ()": (r"'\('", r"'\['"),
    "f(Dict(str) x) -> ()": ("','", r"'\)'"),
    "f(Dict(str, int, int) x) -> ()": (r"'\)'", "','"),
    "f(Dict(t, int) x) -> ()": (r"a type of keys \(one of Any, Device, .*, not t\)", "'t'"),
    "f(Future(int, int) x) -> ()": (r"'\)'", "','"),
    "f(Union(int, int) x) -> ()": ("a union of types of which none includes the others", "'Union'"),
    "f((int, ) x) -> ()": ("a type", r"'\)'"),
    "f((int[2], int) x) -> ()": (r"'\]'", "'2'"),
    "f(int[2][] x) -> ()": ("an argument name", r"'\['"),
    "f(int[-1] x) -> ()": ("the length of the list", "'-'"),
    "f(int[99999999999999999999] x) -> ()": ("the length of the list", "'9+'"),
    "f(Tensor[2 x) -> ()": (r"'\]'", "'x'"),
    "f(None? x) -> ()": (r"no '\?' behind NoneType", r"'\?'"),
    "f(__torch__.foo x) -> ()": ("'torch', as in '__torch__", "'foo'"),
    "f(__torch__.torch.classes.c10d x) -> ()": (r"'\.' and the rest", "'x'"),
    "f(Tensor() x) -> ()": ("an alias set", r"'\)'"),
    "f(Tensor(a!|b) x) -> ()": (r"'\)' behind the alias annotation", r"'\|'"),
    "f(Tensor(*|a) x) -> ()": (r"'\)' behind the alias annotation", r"'\|'"),
    "f(Tensor(a -> b!) x) -> ()": (r"'\)' behind the alias annotation", "'!'"),
    "f(Tensor?(a!) x) -> ()": ("an argument name", r"'\('"),
    "f((int, int)(a) x) -> ()": ("an argument name", r"'\('"),
    "f(int x=) -> ()": ("an integer", r"'\)'"),
    "f(int x==1) -> ()": ("an integer", "'='"),
    "f(int x=+1) -> ()": ("an integer", r"'\+'"),
    "f(int x=--1) -> ()": ("an integer", "'-'"),
    "f(int x=1.2.3) -> ()": (r"an integer", r"'1\.2'"),
    "f(int x=9223372036854775808) -> ()": ("a number in the range of 64 bits", "'9223372036854775808'"),
    f"f(int x={'9' * 5000}) -> ()": ("a number in the range of 64 bits", "'9+'"),
    f"f(int[{'9' * 5000}] x) -> ()": ("the length of the list", "'9+'"),
    "f(int x=²) -> ()": ("an integer", "'²'"),
    "f(int[٣] x) -> ()": ("the length of the list", "'٣'"),
    "f(é x) -> ()": ("a type", "'é'"),
    "f(int é) -> ()": ("an argument name", "'é'"),
    "f(float x=1e400) -> ()": ("a number in the range", "'1e400'"),
    "f(float x=1e-400) -> ()": ("a number in the range", "'1e-400'"),
    "f(float x=inf) -> ()": ("a number", "'inf'"),
    "f(bool x=true) -> ()": ("True or False", "'true'"),
    "f(str x=a) -> ()": ("a string in quotes", "'a'"),
    'f(str x="a) -> ()': ("a string in quotes", "'\"'"),
    'f(str x="a" "b") -> ()': (r"',' or '\)'", "'\"b\"'"),
    r'f(str x="\q") -> ()': (r"an escape that exists \(\\q does not", r"'\"\\q\"'"),
    r'f(str x="\x41") -> ()': (r"an escape that exists \(\\x does not", r"'\"\\x41\"'"),
    "f(ScalarType x=Float) -> ()": ("the name of a dtype", "'Float'"),
    "f(Layout x=dense) -> ()": ("strided", "'dense'"),
    "f(Device x=1) -> ()": ("a device such as cpu", "'1'"),
    "f(Tensor x=1) -> ()": ("no default, as type 'Tensor' has no literals", "'1'"),
    "f(int[] x=1) -> ()": (r"a list in '\[\]'", "'1'"),
    "f(int[] x=[1, 2, ]) -> ()": ("an integer", r"'\]'"),
    "f(int[] x=[1 2]) -> ()": (r"',' or '\]' in a list", "'2'"),
    "f(int[] x=[1.5]) -> ()": ("an integer", r"'1\.5'"),
    "f(bool[] x=[1]) -> ()": ("True or False", "'1'"),
    "f(int x=1, int y) -> ()": ("'=' and a default for 'y'", r"'\)'"),
    "f(int x=1, int y, int z=2) -> ()": ("'=' and a default for 'y'", "','"),
}  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:40])
def test_broken_texts(text):
    assert refused_by(pt._C.parse_schema, text) is not None
    expected, found = BROKEN[text]
    with pytest.raises(
        torch.SchemaError, match=f"^expected .*{expected}.* but found {found} here:"
    ) as info:
        parse_schema(text)
    lines = str(info.value).split("\n")
    assert lines[1] == text
    assert lines[2] == " " * info.value.position + "^ here"
    assert info.value.schema == text


def test_the_mark_stands_under_the_place_in_a_text_of_several_lines():
    with pytest.raises(torch.SchemaError) as info:
        parse_schema("f(  # one ( two\n\tTensor x,\n\tint y=1.5\n) -> ()")
    assert str(info.value).split("\n")[1:] == [
        "f(  # one ( two",
        "\tTensor x,",
        "\tint y=1.5",
        "\t      ^ here",
        ") -> ()",
    ]


def test_types_inside_each_other_without_end():
    with pytest.raises(torch.SchemaError, match="expected fewer types inside each other"):
        parse_schema("f(" + "(" * 100_000)


@pytest.mark.parametrize("value", [None, 3, b"f() -> ()", ["f() -> ()"]])
def test_only_strings_are_parsed(value):
    with pytest.raises(TypeError, match=f"a schema must be a str .*, not {type(value).__name__}"):
        parse_schema(value)


# ---- objects --------------------------------------------------------------------------------------


def test_attributes_of_arguments_and_schemas():
    schema = parse_schema(
        "ns::f.o(Tensor(a!)[] x, SymInt[2]? y=1, *, ScalarType z=double, Tensor(b!) out) -> (t w, ...)"
    )
    x, y, z, _ = schema.arguments
    assert (schema.namespace, schema.name, schema.overload) == ("ns", "f", "o")
    assert (schema.qualified_name, schema.overload_name) == ("ns::f", "o")
    assert (schema.is_vararg, schema.is_varret, schema.is_mutable) == (False, True, True)
    assert [a.name for a in schema.positional] == ["x", "y"]
    assert [a.name for a in schema.keyword_only] == ["z", "out"]
    assert (x.type, x.is_list, x.size, x.optional, x.alias.sets) == (
        "Tensor",
        True,
        None,
        False,
        ("a",),
    )
    assert (y.type, y.is_list, y.size, y.optional, y.type_text) == (
        "int",
        True,
        2,
        True,
        "SymInt[2]?",
    )
    assert (z.type, z.default, z.default_value) == ("ScalarType", torch.float64, 7)
    assert [a.is_out for a in schema.arguments] == [False, False, False, True]
    assert repr(schema) == str(schema)
    assert repr(x) == "<Argument Tensor(a!)[] x>"


def test_nested_types_keep_their_structure():
    (a,) = parse_schema("f(Dict(str, (int, Tensor?)[])?[] a) -> ()").arguments
    assert (a.type, a.is_list, a.element_optional) == ("Dict(str, (int, Tensor?)[])", True, True)
    mapping = a.real_type.getElementType().getElementType()
    key, value = mapping.containedTypes()
    assert (mapping.kind(), key.kind(), value.kind()) == ("DictType", "StringType", "ListType")
    pair = value.getElementType()
    assert [t.kind() for t in pair.containedTypes()] == ["IntType", "OptionalType"]
    with pytest.raises(RuntimeError, match="has no element type"):
        pair.getElementType()


def test_schemas_are_equal_when_their_texts_are():
    one = parse_schema("f(int[2] x=[1,1], *, str y='a') -> Tensor(a|b)")
    same = parse_schema('f( int[2] x=1, *, str y="a")->Tensor(b|a)')
    assert one == same
    assert hash(one) == hash(same)
    assert one.arguments == same.arguments
    assert one.returns[0].alias == same.returns[0].alias
    for other in (
        "f(int[2] x=1, str y='a') -> Tensor(a|b)",
        "f(int[2] x=1, *, str y) -> Tensor(a|b)",
    ):
        assert parse_schema(other) != one
    assert parse_schema("f(Scalar x=1) -> ()") != parse_schema("f(Scalar x=True) -> ()")
    assert parse_schema("f(Scalar x=1) -> ()") != parse_schema("f(Scalar x=1.0) -> ()")
    assert one != str(one)


def test_copies_and_pickles_are_equal():
    schema = parse_schema(next(t for t in ELEMENTS if "Union(Tensor[]" in t))
    for other in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert other == schema
        assert other.arguments[0].real_type is schema.arguments[0].real_type
