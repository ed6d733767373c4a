"""What programs do with the values that `torch.fx` traces, and what tracers are asked."""

import copy
import operator
import pickle
from collections import namedtuple
from dataclasses import dataclass

import pytest
from two_libraries import agree, part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

for _lib in (mt, pt):
    part(_lib, "fx")

Pair = namedtuple("Pair", "a b")


@dataclass
class Record:
    a: object
    b: int = 2


class Own:
    """Says itself what stands in a graph for it."""

    def __fx_create_arg__(self, tracer):
        return ("own", 5)


def shown(graph):
    return [
        (n.op, n.name, n.target if isinstance(n.target, str) else n.target.__name__, str(n.args), str(n.kwargs))
        for n in graph.nodes
    ]  # fmt: skip


def recorded(function, **options):
    return lambda lib: shown(lib.fx.symbolic_trace(function, **options).graph)


def apply(f, *args, **kwargs):
    """A function that tracing enters."""
    return f


def _give(value):
    """Has a graph call a function with a value beside a proxy."""

    def program(lib):
        tracer = lib.fx.Tracer()
        tracer.root, tracer.graph = lib.nn.Module(), lib.fx.Graph()
        x = tracer.create_proxy("placeholder", "x", (), {})
        made = value(x) if callable(value) and not isinstance(value, type) else value
        tracer.create_proxy("call_function", apply, (made,), {})
        return shown(tracer.graph)

    return program


def _unpacked(x):
    a, b = x.split(1)
    (c, *_), d = (x, 1), x.T
    return a + b, c, d


def _branch_in_asserting(lib):
    class Asserting(lib.fx.Tracer):
        trace_asserts = True

    Asserting().trace(lambda x: x if x else -x)


def _keywords(lib):
    lib.fx.symbolic_trace(lambda x: dict(**x))


def _keys_known(lib):
    class Keyed(lib.fx.Tracer):
        def keys(self, obj):
            return ["a", "b"]

    return shown(Keyed().trace(lambda x: dict(**x)))


def _iterated_known(lib):
    class Counted(lib.fx.Tracer):
        def iter(self, obj):
            return (obj[i] for i in range(2))

        def to_bool(self, obj):
            return False

    return shown(Counted().trace(lambda x: [each for each in x] + [1 if x else 2]))  # noqa: C416


def _two_tracers(lib):
    one, two = lib.fx.Graph(), lib.fx.Graph()
    x, y = (lib.fx.Proxy(g.placeholder("x")) for g in (one, two))
    return said(outcome(lambda: lib.add(x, y)))[1].partition(" [")[0]


def _by_hand(lib):
    graph = lib.fx.Graph()
    x = lib.fx.Proxy(graph.placeholder("x"))
    y = x(1, k=2)
    z = abs(y).attribute
    lib.relu(z.deeper(3))
    return shown(graph), repr(x), repr(z)


def _proxy_copies(lib):
    graph = lib.fx.Graph()
    x = lib.fx.Proxy(graph.placeholder("x"))
    twin = copy.deepcopy(x)
    shallow = copy.copy(x)
    return (
        type(twin).__name__, twin.node.name, twin.node is not x.node, shallow.node is x.node,
        sorted(x.__getstate__()) == sorted(x.__dict__),
    )  # fmt: skip


def _operators(lib):
    def program(x, y):
        return [
            x + 1, 1 + x, x - y, 2 - x, x * y, 2 * x, x / 2, 2 / x, x // 2, 2 // x, x % 2, 2 % x,
            x ** 2, 2 ** x, x @ y, x & 1, 1 & x, x | 1, 1 | x, x ^ 1, 1 ^ x, x << 1, 1 << x, x >> 1, 1 >> x,
            -x, +x, ~x, x < 1, x <= 1, x > 1, x >= 1, x == 1, x != 1, x[0], abs(x), divmod, hash(x) != 0,
        ][:-2]  # fmt: skip

    return shown(lib.fx.symbolic_trace(program).graph)


PROXIES = {
    "unpacked": recorded(_unpacked),
    "a branch where asserts are recorded": _branch_in_asserting,
    "as keywords": _keywords,
    "keys that are known": _keys_known,
    "elements that are known": _iterated_known,
    "two tracers": _two_tracers,
    "by hand": _by_hand,
    "copies": _proxy_copies,
    "operators": _operators,
    "a function as an argument": _give(lambda x: lambda: 1),
    "what says so itself": _give(lambda x: Own()),
    "a record": _give(lambda x: Record(x, 3)),
    "a pair": _give(lambda x: Pair(x, [1, (x, None, ...)])),
    "a slice and a range": _give(lambda x: [slice(x, None, 2), range(3)]),
    "a dict": _give(lambda x: {"a": x, 3: [x], (1, 2): 0}),
    "a dict by a proxy": _give(lambda x: {(x, 1): 2}),
    "a set": _give(lambda x: {1}),
    "an object": _give(lambda x: object()),
}


@table(PROXIES)
def test_values_that_are_traced(program):
    agree(program)


def test_assertions_are_recorded_where_a_tracer_wants_them():
    """Which PyTorch does for none but old versions of Python."""
    names = {}
    # Pytest writes the assertions of its own files anew.
    exec("def program(x):\n assert x.sum() > 0\n assert x.shape[0] == 3, 'three'\n return x", names)

    class Asserting(mt.fx.Tracer):
        trace_asserts = True

    steps = shown(Asserting().trace(names["program"]))
    assert [step[2] for step in steps] == [
        "x", "sum", "gt", "assert_fn", "getattr", "getitem", "eq", "assert_fn", "output",
    ]  # fmt: skip
    assert [step[3] for step in steps if step[2] == "assert_fn"] == ["(gt,)", "(eq,)"]


# ---- tracers --------------------------------------------------------------------------------------


def net(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2, 3))
            self.register_buffer("shift", lib.ones(3))
            self.plain = lib.ones(3)
            self.act = lib.nn.ReLU()
            self.twice = lib.nn.Sequential(self.act, lib.nn.Linear(3, 3))

        def forward(self, x):
            x = x @ self.weight.t() if self.weight.shape[0] == 3 else x * self.weight.size()[1]
            return self.twice(x) + self.shift - self.plain - lib.ones(3) + self.weight.dim()

        def other(self, x):
            return self.act(x)

        def sizes(self, x):
            w = self.weight
            assert repr(w) == "ParameterProxy(weight)"
            return x.reshape(w.numel(), w.nelement(), w.ndim, *w.shape)

    return Net()


def _shapes_known(lib):
    traced = lib.fx.Tracer(param_shapes_constant=True).trace(net(lib))
    return shown(traced)


def _sizes_known(lib):
    class Sizes(lib.fx.Tracer):
        traced_func_name = "sizes"

    return shown(Sizes(param_shapes_constant=True).trace(net(lib)))


def _buffers(lib):
    class Buffers(lib.fx.Tracer):
        proxy_buffer_attributes = True

    class Reading(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("shift", lib.ones(3))

        def forward(self, x):
            return self.shift.view(3) + x

    return [shown(kind().trace(Reading())) for kind in (lib.fx.Tracer, Buffers)]


def _of_another_name(name):
    def program(lib):
        class Other(lib.fx.Tracer):
            traced_func_name = name

        return shown(Other().trace(net(lib)))

    return program


def _foreign_parameter(lib):
    given = lib.nn.Parameter(lib.ones(2))
    lib.fx.symbolic_trace(lambda x: x + given)


def _foreign_module(lib):
    given = lib.nn.ReLU()

    class Using(lib.nn.Module):
        def forward(self, x):
            return given(x)

    lib.fx.symbolic_trace(Using())


def _modules_as_values(lib):
    class Tracer(lib.fx.Tracer):
        def is_leaf_module(self, m, name):
            return True

    class Using(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = lib.nn.ReLU()

        def forward(self, x):
            return apply(self.act), x

    tracer = Tracer()
    root = Using()
    graph = tracer.trace(root)
    return (
        shown(graph),
        tracer.path_of_module(root.act),
        said(outcome(tracer.path_of_module, lib.nn.ReLU())),
    )


def _leaves(lib):
    tracer, found = lib.fx.Tracer(), net(lib)
    kinds = [found, found.act, found.twice, lib.nn.Sequential()]
    return [tracer.is_leaf_module(each, "a") for each in kinds]


def _fresh_names(lib):
    tracer = lib.fx.Tracer()
    tracer.root = lib.nn.Module()
    tracer.root.a0 = tracer.root.a1 = 3
    return tracer.get_fresh_qualname("a"), tracer.get_fresh_qualname("b")


def _constants(lib):
    given = lib.ones(2)

    class Using(lib.nn.Module):
        def forward(self, x):
            return x + given - lib.zeros(2) + given

    root = Using()
    graph = lib.fx.Tracer().trace(root)
    return shown(graph), sorted(n for n in vars(root) if n.startswith("_tensor"))


def _constructed(lib):
    class Made(metaclass=lib.fx.ProxyableClassMeta):
        def __init__(self, a, b=1):
            self.a, self.b = a, b

    constant = Made(1)

    def use(x, made):
        return made

    tracer = lib.fx.Tracer(autowrap_functions=(use,))

    def program(x):
        made = Made(x, b=2)
        return made.a + Made(1, 2).b

    graph = tracer.trace(program)
    tracer.create_proxy("call_function", apply, (constant,), {})
    return shown(graph), Made(3).b


def _tracer_copies(lib):
    tracer = lib.fx.Tracer(param_shapes_constant=True)
    tracer.trace(net(lib))
    twin = copy.deepcopy(tracer)
    same = twin._autowrap_search == tracer._autowrap_search
    return (
        same,
        twin._autowrap_search is not tracer._autowrap_search,
        twin.param_shapes_constant,
        twin.root is not tracer.root,
    )


def _module_stack(lib):
    graph = lib.fx.Tracer().trace(net(lib))
    return [
        [(key, path, kind.__name__) for key, (path, kind) in n.meta.get("nn_module_stack", {}).items()]
        for n in graph.nodes
    ]  # fmt: skip


def _no_function(lib):
    lib.fx.symbolic_trace(len)


def _traced_now(lib):
    symbolic, told = part(lib, "fx._symbolic_trace"), []

    def program(x):
        told.append(symbolic.is_fx_tracing())
        return x

    lib.fx.symbolic_trace(program)
    return told, symbolic.is_fx_tracing()


TRACERS = {
    "shapes that are known": _shapes_known,
    "sizes that are known": _sizes_known,
    "buffers": _buffers,
    "another method": _of_another_name("other"),
    "a method that is not there": _of_another_name("nothing"),
    "a parameter of nobody": _foreign_parameter,
    "a module of nobody": _foreign_module,
    "modules as values": _modules_as_values,
    "leaves": _leaves,
    "fresh names": _fresh_names,
    "constants": _constants,
    "objects that are made": _constructed,
    "copies": _tracer_copies,
    "where in the module": _module_stack,
    "no function": _no_function,
    "whether it traces": _traced_now,
    "wrap of a number": lambda lib: lib.fx.wrap(3),
}


@table(TRACERS)
def test_tracers(program):
    agree(program)


# ---- what is known of where nodes come from -------------------------------------------------------


def _kept_meta(lib):
    kept = part(lib, "fx.traceback")
    graph = lib.fx.Graph()
    node = graph.placeholder("x")
    node.meta.update(stack_trace="a line", custom={"a": 1})
    told = [kept.has_preserved_node_meta(), kept.get_current_meta()]
    kept.set_stack_trace(["nowhere"])
    told.append(kept.get_current_meta())
    with kept.set_current_meta(node):
        told.append(kept.get_current_meta())
    with kept.preserve_node_meta():
        kept.set_stack_trace(["one ", "two"])
        told += [kept.has_preserved_node_meta(), {**kept.get_current_meta()}, kept.format_stack()]
        kept.set_stack_trace([])
        told.append(kept.format_stack())
        with kept.set_current_meta(node):
            told.append(kept.get_current_meta()["stack_trace"])
            told.append(kept.get_current_meta()["custom"])
        told.append(kept.format_stack())
    told += [kept.has_preserved_node_meta(), "format_stack" in kept.format_stack()[-1]]
    return told


def _annotated(lib):
    kept = part(lib, "fx.traceback")

    @kept.annotate_fn({"part": "inner"})
    def inner(x):
        """Something."""
        return x + 1

    def program(x):
        with kept.annotate({"part": "outer", "other": 1}):
            x = inner(x) * 2
        return -x

    with kept.preserve_node_meta():
        graph = lib.fx.symbolic_trace(program).graph
    return [n.meta.get("custom") for n in graph.nodes], inner.__doc__, inner.__name__


@table({"kept": _kept_meta, "annotated": _annotated})
def test_where_nodes_come_from(program):
    agree(program)


def test_what_is_kept_is_let_go_after_an_error():
    kept = part(mt, "fx.traceback")
    for block in (kept.preserve_node_meta, lambda: kept.annotate({"a": 1})):
        with pytest.raises(ZeroDivisionError), block():
            raise ZeroDivisionError
        assert not kept.has_preserved_node_meta()
        assert kept.get_current_meta() == {}


def test_pickled_graphs_of_operators():
    def program(lib):
        made = lib.fx.symbolic_trace(lambda x: operator.add(x, 2))
        return pickle.loads(pickle.dumps(made))(3)

    assert agree(program) == 5
