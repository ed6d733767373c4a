"""What a function as backend of ``torch.compile`` is given, may do with it, and may do wrong."""

import operator

import pytest
from graph_backends import Backend, looks

import mindtorch_core as mt

torch = mt


def test_a_backend_may_rewrite_the_graph():
    def rewritten(graph, inputs):
        for node in graph.graph.nodes:
            if node.target == torch.sin:
                node.target = torch.cos
        graph.recompile()
        return graph

    assert torch.compile(lambda x: torch.sin(x), backend=rewritten)(torch.zeros(2)).tolist() == [
        1,
        1,
    ]


def test_a_result_that_the_backend_keeps_is_not_shared():
    """What becomes of the program's tensor is its own: in-place ops on it are no change of the other."""
    kept = []

    def keeping(graph, inputs):
        def run(*values):
            kept[:] = graph(*values)
            return kept

        return run

    x = torch.ones(2, requires_grad=True)
    y = torch.compile(lambda x: x * 2, backend=keeping)(x)
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]
    assert type(kept[0].grad_fn).__name__ == "MulBackward0"


def test_an_input_may_be_what_the_backend_returns():
    x = torch.ones(2, requires_grad=True)
    compiled = torch.compile(lambda x: x + 0, backend=lambda graph, inputs: lambda *values: values)
    y = compiled(x)
    assert y is not x
    assert not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("backend", "told"),
    [
        (lambda graph, inputs: 1 / 0, "backend='<lambda>' raised:\nZeroDivisionError"),
        (lambda graph, inputs: 3, "did not return callable"),
    ],
)
def test_a_backend_that_fails(backend, told):
    compiled = torch.compile(lambda x: x + 1, backend=backend)
    x = torch.ones(2)
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as raised:
        compiled(x)
    assert told in str(raised.value)
    assert raised.value.inner_exception is raised.value.__cause__
    with torch._dynamo.config.patch(suppress_errors=True):
        assert compiled(x).tolist() == [2, 2]


@pytest.mark.parametrize("given", [(), (1,), (mt.ones(2), mt.ones(2))])
def test_what_a_compiled_graph_returns_is_looked_at(given):
    kept = []

    def fn(x):
        kept.append(x + 1)
        return kept[-1]

    with pytest.raises(RuntimeError, match="returns 1 tensors; what its backend made of it gave"):
        torch.compile(fn, backend=lambda graph, inputs: lambda *values: given)(torch.ones(2))
    with pytest.raises(RuntimeError, match="a compiled graph that has failed"):
        kept[0].tolist()


def test_one_graph_or_an_error():
    compiled = torch.compile(looks, backend=Backend(), fullgraph=True)
    with pytest.raises(
        torch._dynamo.exc.Unsupported, match=r"looks .*bool\(\) at .*graph_backends\.py:\d+"
    ):
        compiled(torch.ones(2))


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, GeneratorExit])
def test_what_came_before_an_error_is_done(error):
    def fn(x):
        x.add_(1)
        raise error

    x = torch.ones(2)
    with pytest.raises(error):
        torch.compile(fn, backend=Backend())(x)
    assert x.tolist() == [2, 2]
    assert torch.compile(lambda x: x + 1, backend=Backend())(x).tolist() == [3, 3]


def test_graphs_are_broken_by_hand():
    @torch.compiler.disable
    def apart(x):
        return x.cos() + 1

    def fn(x):
        y = apart(x.sin()).relu()
        torch._dynamo.graph_break()
        return y * 2

    backend, x = Backend(), torch.linspace(-1, 1, 3)
    assert torch.compile(fn, backend=backend)(x).equal(fn(x))
    targets = [[n.target for n in g.graph.nodes if "call" in n.op] for g in backend.graphs]
    assert targets == [["sin"], ["relu"], [operator.mul]]
    with pytest.raises(torch._dynamo.exc.Unsupported, match="apart"):
        torch.compile(fn, backend=backend, fullgraph=True)(x)
    torch._dynamo.graph_break()  # where there is none


def test_backends_have_names():
    told = []

    def named(graph, inputs, **options):
        told.append(options)
        return graph.forward

    torch._dynamo.register_backend(named, name="test_named")
    try:
        x = torch.ones(1)
        for options in ({}, {"options": {"a": 1}}, {"mode": "fast"}, {"mode": "default"}):
            assert torch.compile(lambda x: x + 1, backend="test_named", **options)(x).item() == 2
        assert told == [{}, {"options": {"a": 1}}, {"mode": "fast"}, {}]
        assert "test_named" in torch._dynamo.list_backends()
        assert torch._dynamo.lookup_backend("test_named") is named
        with pytest.raises(AssertionError, match="duplicate name"):
            torch._dynamo.register_backend(named, name="test_named")
    finally:
        from mindtorch_core.ecosystem import compiler_backends

        del compiler_backends._FUNCTIONS["test_named"], compiler_backends._TAGS["test_named"]
    assert (
        torch._dynamo.lookup_backend("eager")(torch.fx.symbolic_trace(looks_not), [])(x).item() == 2
    )


def looks_not(x):
    return x + 1


def test_counters_of_tests():
    counter = torch._dynamo.testing.CompileCounterWithBackend("eager")
    compiled = torch.compile(lambda x: x.sin() + 1, backend=counter)
    for n in (2, 2, 3):
        compiled(torch.ones(n))
    assert (counter.frame_count, counter.op_count, len(counter.graphs)) == (2, 4, 2)
    counter.clear()
    assert (counter.frame_count, counter.op_count, counter.graphs) == (0, 0, [])
    torch.compiler.reset()
    compiled(torch.ones(2))
    assert counter.frame_count == 1


def programs(torch):
    """Functions of which PyTorch makes one graph, and what they are called with."""
    F = torch.nn.functional
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    shift = torch.ones(3)

    def one(x, n, parts, by_name):
        return x * n + parts[0] - by_name["k"] + shift

    def two(x):
        y = x.relu()
        y.add_(1)
        return (y[0] @ x.T).softmax(-1).sum(), -y, 2 - y, x.T

    def three(x):
        return torch.cat([F.gelu(x), torch.sin(x)], 1).view(x.size(0), -1).mean(dim=1, keepdim=True)

    def four(x):
        return F.cross_entropy(net(x), x.argmax(1) % 2)

    x = torch.ones(2, 3)
    return [(one, (x, 2.5, [x], {"k": x})), (two, (x,)), (three, (x,)), (four, (x,))]


def told_of(torch, fn, args):
    """A graph's inputs and calls, as a backend finds them."""
    found = []

    def backend(graph, inputs):
        for node in graph.graph.nodes:
            name = getattr(node.target, "__name__", node.target)
            at = [str(a) for a in node.args if not hasattr(a, "op")] if "call" in node.op else []
            found.append((node.op, name, at))
        return graph.forward

    torch.compile(fn, backend=backend, fullgraph=True)(*args)
    inputs = sorted(name for op, name, _ in found if op == "placeholder")
    return inputs, [each for each in found if each[0] != "placeholder"]


@pytest.mark.parametrize("n", range(4))
def test_graphs_are_those_of_pytorch(n, monkeypatch):
    pt = pytest.importorskip("torch")
    kind = pt.distributions.Distribution  # PyTorch's compiler has none check its arguments any more
    monkeypatch.setattr(kind, "_validate_args", kind._validate_args)
    pytest.importorskip("torch._dynamo")
    assert told_of(mt, *programs(mt)[n]) == told_of(pt, *programs(pt)[n])


def test_operators_are_told_from_methods():
    backend = Backend()
    torch.compile(lambda x: (x + 1).add(1) - torch.sub(x, 1), backend=backend)(torch.ones(2))
    targets = [n.target for n in backend.graphs[0].graph.nodes if n.op.startswith("call")]
    assert targets == [operator.add, "add", torch.sub, operator.sub]


def test_a_module_is_explained_by_its_names():
    found = torch._dynamo.explain(torch.nn.Linear(2, 3))(torch.ones(1, 2))
    names = [n.target for n in found.graphs[0].graph.find_nodes(op="placeholder")]
    assert names == ["L_input_", "L_self_parameters_weight_", "L_self_parameters_bias_"]


def test_leaves_are_not_written_within_a_graph_and_others_are():
    def program(x):
        return x.mul_(2).sum()

    leaf, backend = torch.ones(2, requires_grad=True), Backend()
    compiled = torch.compile(program, backend=backend)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        compiled(leaf)
    assert backend.graphs == []
    assert leaf.tolist() == [1, 1]
    assert compiled(leaf * 1).item() == 4
    assert [[n.target for n in g.graph.find_nodes(op="call_method")] for g in backend.graphs] == [
        ["mul_", "sum"]
    ]
