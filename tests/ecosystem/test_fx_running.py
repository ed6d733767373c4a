"""How `torch.fx` runs graphs: the interpreter, containers of arguments, boxes."""

import operator
from collections import namedtuple

from two_libraries import agree, numbers, part, pt, said, table, traced

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

for _lib in (mt, pt):
    part(_lib, "fx")

Pair = namedtuple("Pair", "a b")


def shown(graph):
    return [(n.op, n.name, str(n.args), str(n.kwargs)) for n in graph.nodes]


# ---- the interpreter ------------------------------------------------------------------------------


def doubled(lib):
    return traced(lib, lambda x, y=3: (x * 2).add(y))


def _environment(lib):
    made = doubled(lib)
    nodes = [*made.graph.nodes]
    return lib.fx.Interpreter(made).run(10, initial_env={nodes[2]: lib.tensor(7)}).item()


def _no_output(lib):
    made = doubled(lib)
    graph = lib.fx.Graph()
    graph.placeholder("x")
    return lib.fx.Interpreter(made, graph=graph).run(1)


def _stars(lib):
    graph = lib.fx.Graph()
    x, rest = graph.placeholder("x"), graph.placeholder("*rest")
    graph.output((x, rest))
    return lib.fx.Interpreter(lib.fx.GraphModule({}, graph)).run(1, 2, 3)


def _boxed(lib):
    values = [lib.tensor(1), 2]
    found = lib.fx.Interpreter(doubled(lib)).boxed_run(values)
    return found.item(), values


def _kept(lib):
    """Values are let go after their last use, unless they are to stay."""
    told = []
    for collect in (True, False):
        run = lib.fx.Interpreter(doubled(lib), garbage_collect_values=collect)
        run.run(lib.tensor(1))
        told.append(sorted(str(node) for node in run.env))
    return told


def _key_error(lib):
    lib.fx.Interpreter(traced(lib, lambda x: x["a"])).run({})


def _value_error(lib):
    run = lib.fx.Interpreter(traced(lib, lambda x: x.index(5)))
    run.extra_traceback = False
    run.run([1])


def _said_where(lib):
    error = outcome(lib.fx.Interpreter(traced(lib, lambda x: x.index(5))).run, [1])
    return type(error).__name__, error.args[0].splitlines()[:3], len(error.args)


def _nothing_said(lib):
    class Silent(Exception):
        pass

    def fail(x):
        raise Silent

    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(fail, (x,)))
    error = outcome(lib.fx.Interpreter(lib.fx.GraphModule({}, graph)).run, 1)
    return type(error).__name__, error.args[0].split("=")[0]


def _missing_attribute(lib):
    graph = lib.fx.Graph()
    graph.output(graph.get_attr("a.b"))
    run = lib.fx.Interpreter(lib.nn.Module(), graph=graph)
    run.extra_traceback = False
    run.run()


def _missing_value(lib):
    made = doubled(lib)
    run = lib.fx.Interpreter(made)
    run.env = {}
    run.fetch_args_kwargs_from_env([*made.graph.nodes][2])


def _transformed(lib):
    root = lib.nn.Module()
    root.weight = lib.nn.Parameter(lib.ones(2))
    root.act = lib.nn.ReLU()
    graph = lib.fx.Graph()
    x = graph.placeholder("x", default_value=1)
    total = graph.call_function(operator.mul, (x, graph.get_attr("weight")))
    graph.output({"out": graph.call_module("act", (total,))})
    made = lib.fx.Transformer(lib.fx.GraphModule(root, graph)).transform()
    return shown(made.graph), numbers(made(lib.tensor([-1.0, 2.0])))


def _transformed_without_output(lib):
    graph = lib.fx.Graph()
    graph.call_function(operator.neg, (graph.placeholder("x"),))
    return shown(lib.fx.Transformer(lib.fx.GraphModule({}, graph)).transform().graph)


INTERPRETED = {
    "values that are there": _environment,
    "no output": _no_output,
    "stars": _stars,
    "a default": lambda lib: lib.fx.Interpreter(doubled(lib)).run(lib.tensor(1)).item(),
    "a missing argument": lambda lib: said(outcome(lib.fx.Interpreter(doubled(lib)).run))[1].split(
        "While"
    )[0],
    "boxed": _boxed,
    "boxed, too many": lambda lib: lib.fx.Interpreter(doubled(lib)).boxed_run([1, 2, 3]),
    "boxed, too few": lambda lib: lib.fx.Interpreter(doubled(lib)).boxed_run([1]),
    "values let go": _kept,
    "a missing key": lambda lib: type(outcome(_key_error, lib)).__name__,
    "an error as it is": _value_error,
    "an error with the step": _said_where,
    "an error without words": _nothing_said,
    "a missing attribute": _missing_attribute,
    "a missing value": _missing_value,
    "transformed": _transformed,
    "transformed without output": _transformed_without_output,
}


@table(INTERPRETED)
def test_running_graphs(program):
    agree(program)


# ---- containers -----------------------------------------------------------------------------------


def _flattened(lib, function, args, concrete):
    made = traced(lib, function, concrete_args=concrete(lib.fx.PH))
    run = lib.fx.Interpreter(made)
    return made.code, numbers(made(*args)), numbers(run.run(*args))


def _in_containers(lib):
    return _flattened(
        lib,
        lambda a, b: {"sum": a[0] + a[1]["k"], "pair": (b, a[0])},
        ([lib.tensor(1), {"k": lib.tensor(2)}], lib.tensor(3)),
        lambda PH: {"a": [PH, {"k": PH}], "b": PH},
    )


def _boxed_code(lib):
    graph = doubled(lib).graph
    graph.set_codegen(part(lib, "fx.graph")._BoxedCodeGen())
    made = lib.fx.GraphModule({}, graph)
    values = [lib.tensor(2), 5]
    return made.code, made._boxed_call, made(values).item(), values


def _boxed_code_of_nothing(lib):
    graph = lib.fx.Graph()
    graph.output(3)
    graph.set_codegen(part(lib, "fx.graph")._BoxedCodeGen())
    made = lib.fx.GraphModule({}, graph)
    return made.code, made([])


def _other_structure(lib):
    made = traced(lib, lambda a: a[0] + a[1], concrete_args={"a": (lib.fx.PH, lib.fx.PH)})
    return said(outcome(made, (1,)))[0]


def _spec(lib):
    tree, own = part(lib, "utils._pytree"), part(lib, "fx._pytree")
    spec = tree.tree_flatten({"a": [1, 2], "b": (3,)})[1]
    pair = tree.tree_flatten(Pair(1, 2))[1]
    return [
        own.tree_flatten_spec({"b": (5,), "a": [6, 7], "c": 8}, spec),
        own.tree_flatten_spec(Pair(3, 4), pair),
        own.tree_flatten_spec(9, tree.tree_flatten(0)[1]),
        said(outcome(own.tree_flatten_spec, {"a": [1, 2]}, spec))[0],
    ]


def _other_kind(lib):
    from collections import deque

    tree, own = part(lib, "utils._pytree"), part(lib, "fx._pytree")
    spec = tree.tree_flatten(deque([1, 2]))[1]
    told = [own.tree_flatten_spec(deque([3, 4]), spec)]
    return [*told, said(outcome(own.tree_flatten_spec, deque([3]), spec))[0]]


def _values_with_names(lib):
    symbolic = part(lib, "fx._symbolic_trace")
    holder = symbolic.PHWithMeta(ph_key="key")
    made = traced(lib, lambda a: a[0] + 1, concrete_args={"a": [holder]})
    node = next(iter(made.graph.nodes))
    return repr(lib.fx.PH), node.ph_key, shown(made.graph)


CONTAINERS = {
    "in containers": _in_containers,
    "boxed code": _boxed_code,
    "boxed code of nothing": _boxed_code_of_nothing,
    "another structure": _other_structure,
    "by a structure": _spec,
    "a structure of another kind": _other_kind,
    "what is kept of an argument": _values_with_names,
    "a tuple of values": lambda lib: shown(
        traced(lib, lambda a, b: a + b, concrete_args=(lib.fx.PH, 3)).graph
    ),
    "a tuple that is too short": lambda lib: traced(
        lib, lambda a, b: a + b, concrete_args=(lib.fx.PH,)
    ),
    "a tuple for stars": lambda lib: shown(
        traced(lib, StarsOnly(lib), concrete_args=(lib.fx.PH, lib.fx.PH)).graph
    ),
    "self among stars": lambda lib: traced(lib, NoSelf(lib)),
}


def StarsOnly(lib):
    class Stars(lib.nn.Module):
        def forward(self, *args):
            return args[0] + args[1]

    return Stars()


def NoSelf(lib):
    class None_(lib.nn.Module):
        def forward(*args):
            return args[1]

    return None_()


@table(CONTAINERS)
def test_containers_of_arguments(program):
    agree(program)
