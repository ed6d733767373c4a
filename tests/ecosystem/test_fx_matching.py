"""Places of a pattern in a graph, and what is put there, as PyTorch's matcher finds them."""

import operator

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")


def matcher_of(lib):
    if lib is torch:
        from mindtorch_core.fx.passes.utils.matcher_utils import SubgraphMatcher
    else:
        from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
    return SubgraphMatcher


def places(lib, pattern, program, **options):
    """The matches, each with the names of its nodes by the pattern's."""
    graphs = [lib.fx.symbolic_trace(f(lib)).graph for f in (pattern, program)]
    name = options.pop("node_name_match", "")
    matches = matcher_of(lib)(graphs[0], **options).match(graphs[1], node_name_match=name)
    return [
        (
            {p.name: getattr(n, "name", n) for p, n in m.nodes_map.items()},
            [getattr(n, "name", n) for n in m.placeholder_nodes],
            [n.name for n in m.returning_nodes],
            [n.name for n in m.anchors],
        )
        for m in matches
    ]


def holder(value, forward):
    """Makes a module with an attribute."""

    def made(lib):
        class Holder(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.held = value(lib)

        Holder.forward = forward
        return Holder()

    return made


def weight(lib):
    return lib.nn.Parameter(lib.ones(2))


def with_held(self, x):
    return x + self.held


PAIRS = {
    "a chain": (lambda lib: lambda x: lib.relu(x).neg(), lambda lib: lambda x: lib.relu(x).neg().exp()),
    "twice": (lambda lib: lambda x: lib.relu(x), lambda lib: lambda x: lib.relu(lib.relu(x)) * 2),
    "overlapping": (
        lambda lib: lambda x: lib.relu(lib.relu(x)), lambda lib: lambda x: lib.relu(lib.relu(lib.relu(lib.relu(x)))),
    ),
    "used outside": (lambda lib: lambda x: lib.relu(x).neg(), lambda lib: lambda x: (lambda y: (y.neg(), y))(lib.relu(x))),
    "returned inside": (
        lambda lib: lambda x: (lambda y: (y.neg(), y))(lib.relu(x)),
        lambda lib: lambda x: (lambda y: (y.neg(), y))(lib.relu(x)),
    ),
    "two arguments": (lambda lib: lambda x, y: x + y, lambda lib: lambda a, b: (a + b) + (b + a)),
    "one argument twice": (lambda lib: lambda x: x + x, lambda lib: lambda a, b: (a + a) * (a + b)),
    "a number for an argument": (lambda lib: lambda x, y: x + y, lambda lib: lambda a: a + 3),
    "a number": (lambda lib: lambda x: x + 3, lambda lib: lambda a: (a + 3) * (a + 4)),
    "a number of another type": (lambda lib: lambda x: x + 3, lambda lib: lambda a: (a + 3.0) * (a + True)),
    "a list": (lambda lib: lambda x, y: lib.cat([x, y], 1), lambda lib: lambda a, b: lib.cat([a, b], 1) + lib.cat([a], 1)),
    "keywords": (lambda lib: lambda x: lib.sum(x, dim=1), lambda lib: lambda a: lib.sum(a, dim=1) + lib.sum(a, 1)),
    "other keywords": (
        lambda lib: lambda x: lib.sum(x, dim=1, keepdim=True), lambda lib: lambda a: lib.sum(a, keepdim=True, dim=1),
    ),
    "two ends": (lambda lib: lambda x: (x.neg(), x.exp()), lambda lib: lambda a: a.neg() * a.exp() + a.exp()),
    "around what is between": (
        lambda lib: lambda x, y: (x.neg(), y.exp()), lambda lib: lambda a: a.neg().relu().exp(),
    ),
    "a circle": (
        lambda lib: lambda x, y: (lambda n: (n, n + y))(x.neg()), lambda lib: lambda a: (lambda n: n + n.relu())(a.neg()),
    ),
    "parameters": (holder(weight, with_held), holder(weight, with_held)),
    "a parameter and a tensor": (holder(weight, with_held), holder(lambda lib: lib.ones(2), with_held)),
    "tensors": (holder(lambda lib: lib.ones(2), with_held), holder(lambda lib: lib.zeros(3), with_held)),
    "modules": (
        holder(lambda lib: lib.nn.ReLU(), lambda self, x: self.held(x)),
        holder(lambda lib: lib.nn.ReLU(), lambda self, x: self.held(x).neg()),
    ),
    "methods": (lambda lib: lambda x: x.neg(), lambda lib: lambda x: lib.neg(x) + x.neg()),
    "nothing alike": (lambda lib: lambda x: x.neg(), lambda lib: lambda x: x.exp()),
}  # fmt: skip
OPTIONS = [
    {}, {"match_output": True}, {"match_placeholder": True}, {"remove_overlapping_matches": False},
    {"ignore_literals": True}, {"match_output": True, "ignore_literals": True}, {"node_name_match": "neg"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(o) or "as it is")
@pytest.mark.parametrize("pair", PAIRS)
def test_places(pair, options):
    found, expected = (outcome(places, lib, *PAIRS[pair], **options) for lib in (torch, pt))
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
    else:
        assert found == expected


def bad(lib, case):
    graph = lib.fx.Graph()
    if case != "empty":
        x = graph.placeholder("x")
        graph.call_function(operator.neg, (x,))
        graph.output(x)
    return matcher_of(lib)(graph)


@pytest.mark.parametrize("case", ["empty", "with what nobody uses"])
def test_patterns_that_are_refused(case):
    found, expected = (outcome(bad, lib, case) for lib in (torch, pt))
    assert (type(found), str(found)) == (type(expected), str(expected))


@pytest.mark.parametrize("pair", PAIRS)
def test_what_is_put_there(pair):
    def replaced(lib):
        pattern, program = (lib.fx.symbolic_trace(f(lib)) for f in PAIRS[pair])
        graph = lib.fx.Graph()
        given = [graph.placeholder(n.name) for n in pattern.graph.nodes if n.op == "placeholder"]
        ends = [
            graph.call_function(operator.invert, (given[0],))
            for _ in pattern.graph.output_node().all_input_nodes
        ]
        graph.output(ends[0] if len(ends) == 1 else tuple(ends))
        matches = lib.fx.replace_pattern(program, pattern.graph, graph)
        nodes = [(n.op, n.name, str(n.args)) for n in program.graph.nodes]
        return len(matches), nodes

    found, expected = outcome(replaced, torch), outcome(replaced, pt)
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
    else:
        assert found == expected
