"""Code, texts, files and copies of `torch.fx`'s graphs."""

import copy
import enum
import math
import operator
import pickle
import typing
from collections import namedtuple

from two_libraries import agree, numbers, part, pt, table, traced

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

for _lib in (mt, pt):
    part(_lib, "fx")

Pair = namedtuple("Pair", "a b")


class Kind(enum.Enum):
    SMALL = 1
    LARGE = 2


def kind_of(x, kind=None):
    return x + kind.value


# ---- code -----------------------------------------------------------------------------------------


def _values(lib):
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    parts = [
        graph.call_function(kind_of, (x, Kind.LARGE)),
        graph.call_function(operator.getitem, (x, slice(None, 2, None))),
        graph.call_function(operator.getitem, (x, (slice(1, None), None, ...))),
        graph.call_function(max, (Pair(x, 1),)),
        graph.call_function(getattr, (x, "not a name"), {}),
        graph.call_function(getattr, (x, "shape", None)),
        graph.call_function(math.floor, (x,)),
        graph.call_function(operator.iadd, (x, 1)),
        graph.call_function(operator.setitem, (x, 0, 1)),
        graph.call_function(operator.contains, (x, 0)),
        graph.call_method("a method", (x,)),
        graph.call_function(lib.ops.aten.relu.default, (x,)),
        graph.call_function(lib.zeros, ([2],), {"dtype": lib.float64, "device": lib.device("cpu")}),
    ]
    graph.output((parts[0],))
    return graph.python_code("self").src


def _types(lib):
    kinds = {
        "a": list[int], "b": dict[str, lib.Tensor], "c": typing.Optional[int],  # noqa: UP045
        "d": typing.Union[int, str], "e": int | None, "f": tuple[int, ...], "g": tuple[()],  # noqa: UP007
        "h": typing.List[lib.Tensor], "i": typing.Callable[[int], str], "j": Kind, "k": typing.Any,  # noqa: UP006
        "l": lib.nn.Module, "m": lib.Size, "n": lib.dtype,
    }  # fmt: skip
    graph = lib.fx.Graph()
    for name, kind in kinds.items():
        graph.placeholder(name, type_expr=kind)
    graph.output(None, type_expr=typing.Tuple[int, str])  # noqa: UP006
    return [
        line.replace("mindtorch_core", "torch") for line in graph.python_code("self").src.split(",")
    ]


def _typed_lines(lib):
    graph = lib.fx.Graph()
    x = graph.placeholder("x", type_expr=int)
    y = graph.call_function(operator.neg, (x,), type_expr=int)
    graph.output(y, type_expr=int)
    names, returns = ["self"], [""]
    lines = [node.format_node(names, returns) for node in graph.nodes]
    return lines, names[1][-5:], returns, str(graph)


def _dtypes(lib):
    text = part(lib, "fx.graph").dtype_abbrs if lib is pt else None
    names = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"]
    names += [
        "float64",
        "complex64",
        "complex128",
        "float8_e4m3fn",
        "float8_e5m2",
        "uint16",
        "uint32",
    ]
    if text is not None:
        return {name: text[getattr(lib, name)] for name in names}
    own = part(lib, "fx.formatting").dtype_text
    return {name: own(getattr(lib, name)) for name in names}


def _readable(lib):
    made = traced(lib, lambda x: (x + 1).relu())
    part(lib, "fx.passes.shape_prop").ShapeProp(made).propagate(lib.ones(2, 3))
    for node in made.graph.nodes:
        node.meta["val"] = lib.ones(2, 3)
        node.meta["custom"] = {"note": "n" * 50}
        node.meta["more"] = 5
        node.meta["desc"] = "a value"
    return [
        made.print_readable(
            print_output=False, include_stride=True, include_device=True, expanded_def=expanded,
            additional_meta=more, colored=colored,
        )
        for expanded, more, colored in [(False, None, False), (True, ["more", "less"], False), (False, None, True)]
    ]  # fmt: skip


def _readable_below(lib):
    inner = traced(lib, lambda x: x + 1)
    graph = lib.fx.Graph()
    graph.output(graph.call_module("inner", (graph.placeholder("x"),)))
    return lib.fx.GraphModule({"inner": inner}, graph).print_readable(print_output=False)


def _where(lib):
    made = traced(lib, lambda x: x + 1)
    node = [*made.graph.nodes][1]
    node.meta["stack_trace"] = 'File "a.py", line 3, in forward\n    return x + 1\n'
    text = made.print_readable(print_output=False)
    return [line.strip() for line in text.splitlines() if "#" in line]


def _long(lib):
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(max, ([x] * 30, (1,), {"a": {"b": x}}))
    shown_here = part(lib, "fx.node")._format_arg
    return str(node.format_node()), shown_here([1, 2, 3], 2), shown_here((1, 2), 2)


class Shown:
    def _custom_fx_repr_fn(self):
        return "<shown so>"


CODE = {
    "values": _values,
    "types": _types,
    "lines with types": _typed_lines,
    "dtypes": _dtypes,
    "readable": _readable,
    "readable below": _readable_below,
    "where it comes from": _where,
    "long lists": _long,
    "a text of its own": lambda lib: part(lib, "fx.node")._format_arg(Shown()),
    "a lambda": lambda lib: lib.fx.GraphModule({}, _of_functions(lib, lambda x: x)).code[:5],
    "no module": lambda lib: lib.fx.GraphModule({}, _of_functions(lib, _homeless())).code,
    "an empty graph": lambda lib: lib.fx.Graph().python_code("self").src,
}


def _homeless():
    def found(x):
        return x

    found.__module__ = None
    return found


def _of_functions(lib, *functions):
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    for function in functions:
        x = graph.call_function(function, (x,))
    graph.output(x)
    return graph


@table(CODE)
def test_code(program):
    agree(program)


# ---- pickles --------------------------------------------------------------------------------------


def _pickled(lib):
    made = traced(lib, Weighted(lib))
    loaded = pickle.loads(pickle.dumps(made))
    return loaded.code == made.code, numbers(loaded(lib.ones(2))), type(loaded).__name__


def Weighted(lib):
    class Weighted(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))
            self.register_buffer("shift", lib.ones(2))

        def forward(self, x):
            return x * self.weight + self.shift

    return Weighted()


def _of_a_function_within(lib):
    def inner(x):
        return x

    made = lib.fx.GraphModule({}, _of_functions(lib, inner))
    return str(outcome(pickle.dumps, made)).count("inner") > 0


def _folder(lib):
    import tempfile
    from pathlib import Path

    made = traced(lib, Weighted(lib))
    with tempfile.TemporaryDirectory() as folder:
        made.to_folder(folder, "Made")
        text = Path(folder, "module.py").read_text()
    return sorted(line.strip() for line in text.splitlines() if "torch.empty" in line)


def _copied(lib):
    made = traced(lib, Weighted(lib))
    made.meta["a"] = [1]
    twin, deep = copy.copy(made), copy.deepcopy(made)
    return (
        twin.meta is made.meta,
        deep.meta == made.meta,
        deep.meta is made.meta,
        deep.code == made.code,
    )


PICKLES = {
    "pickled": _pickled,
    "a function that cannot be imported": _of_a_function_within,
    "a folder": _folder,
    "copies": _copied,
}


@table(PICKLES)
def test_files_and_copies(program):
    agree(program)
