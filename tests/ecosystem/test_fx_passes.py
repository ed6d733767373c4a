"""What changes graphs, or says how their calls are written, does what PyTorch's does."""

import importlib
import operator

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")


def part(lib, path):
    """A module of ``torch.fx``."""
    return importlib.import_module(f"{lib.__name__}.fx.{path}")


def agree(play, *args):
    found, expected = outcome(play, torch, *args), outcome(play, pt, *args)
    if isinstance(expected, Exception):
        assert type(found) is type(expected), (found, expected)
    else:
        assert found == expected


def nodes(graph):
    return [(n.op, n.name, str(n.args), str(n.kwargs)) for n in graph.nodes]


# ---- patterns -------------------------------------------------------------------------------------

CHOICES = {
    "no filter": {},
    "none is wanted": {"match_filters": [lambda match, graph, pattern: False]},
    "one by its name": {
        "match_filters": [lambda match, graph, pattern: match.returning_nodes[0].name == "add_1"]
    },
    "both must agree": {
        "match_filters": [lambda *a: True, lambda match, *a: "add" in str(match.returning_nodes)]
    },
    "literals do not count": {"ignore_literals": True},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_places_that_are_wanted_are_replaced(choice):
    def play(lib):
        module = lib.fx.symbolic_trace(lambda x: (x + 1) * (x.neg() + 1) + (x + 2))
        replaced = part(lib, "subgraph_rewriter").replace_pattern_with_filters(
            module, lambda x: x + 1, lambda x: lib.exp(x) - 1, **CHOICES[choice]
        )
        found = [(r.anchor.name, [n.name for n in r.replacements]) for r in replaced]
        return found, nodes(module.graph), round(module(lib.ones(1)).item(), 4)

    agree(play)


@pytest.mark.parametrize("given", ["a callback", "neither"])
def test_what_is_put_there_may_be_made_for_each_place(given):
    def play(lib):
        def made(match, graph, pattern):
            new = lib.fx.Graph()
            x = new.placeholder("x")
            number = 10 if match.returning_nodes[0].name == "add" else 20
            new.output(new.call_function(operator.mul, (x, number)))
            return new

        module = lib.fx.symbolic_trace(lambda x: (x + 1).neg() + 1)
        callback = {"replacement_callback": made} if given == "a callback" else {}
        part(lib, "subgraph_rewriter").replace_pattern_with_filters(
            module, lambda x: x + 1, **callback
        )
        return nodes(module.graph), module(lib.ones(1)).tolist()

    agree(play)


# ---- arguments ------------------------------------------------------------------------------------


def plain(a, b=2, *, c=3):
    return a


FUNCTIONS = {
    "by position": (lambda lib: plain, (1,), {}),
    "by name": (lambda lib: plain, (), {"a": 1, "b": 5}),
    "both": (lambda lib: plain, (1, 4), {"c": 5}),
    "too few": (lambda lib: plain, (), {}),
    "too many": (lambda lib: plain, (1, 2, 3), {}),
    "relu": (lambda lib: lib.nn.functional.relu, (1,), {}),
    "softmax": (lambda lib: lib.nn.functional.softmax, (1, 2), {"dtype": None}),
    "an overload": (lambda lib: lib.ops.aten.add.Tensor, (1, 2), {}),
    "an overload by name": (lambda lib: lib.ops.aten.sum.dim_IntList, (1,), {"dim": [0]}),
    "of any arguments": (lambda lib: lambda *args, **kwargs: args, (1, 2), {}),
}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("case", FUNCTIONS)
def test_arguments_of_functions(case, named):
    def play(lib):
        function, args, kwargs = FUNCTIONS[case]
        found = part(lib, "operator_schemas").normalize_function(
            function(lib), args, kwargs, normalize_to_only_use_kwargs=named
        )
        return found if found is None else (tuple(found.args), dict(found.kwargs))

    agree(play)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("args", [((1,), {}), ((), {"input": 2}), ((1, 2), {}), ((), {})], ids=str)
def test_arguments_of_modules(args, named):
    def play(lib):
        root = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Dropout(0.5))
        found = [
            part(lib, "operator_schemas").normalize_module(root, name, *args, named)
            for name in ("0", "1")
        ]
        return [f if f is None else (tuple(f.args), dict(f.kwargs)) for f in found]

    agree(play)


# ---- modules --------------------------------------------------------------------------------------


def net(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = lib.nn.Conv2d(1, 2, 2), lib.nn.BatchNorm2d(2)
            self.drop, self.last = lib.nn.Dropout(0.5), lib.nn.Linear(2, 1)
            with lib.no_grad():
                for i, p in enumerate(self.parameters()):
                    p.copy_(lib.arange(1.0, 1 + p.numel()).reshape(p.shape) / (i + 2))
                self.norm.running_mean.copy_(lib.tensor([0.5, -1.0]))
                self.norm.running_var.copy_(lib.tensor([2.0, 3.0]))

        def forward(self, x):
            return self.last(self.drop(self.norm(self.conv(x)).mean((2, 3)).relu()))

    return Net().eval()


def value(lib, module):
    out = module(lib.arange(9.0).reshape(1, 1, 3, 3))
    return [round(float(v), 4) for v in out.flatten().tolist()]


@pytest.mark.filterwarnings("ignore:.torch.jit.script")  # PyTorch's import
@pytest.mark.parametrize("change", ["fuse", "remove_dropout"])
def test_modules_are_joined_and_left_out(change):
    def play(lib):
        module = net(lib)
        made = getattr(part(lib, "experimental.optimization"), change)(module)
        calls = [n.target for n in made.graph.nodes if n.op == "call_module"]
        return calls, value(lib, made), value(lib, module)

    agree(play)


@pytest.mark.parametrize("of", [lambda at: at % 2, lambda at: at // 2, lambda at: 0, lambda at: at])
def test_parts_of_a_program(of):
    def play(lib):
        module = lib.fx.symbolic_trace(lambda x, y: ((x + y).relu() * 2 + y).exp())
        order = {n: at for at, n in enumerate(module.graph.nodes)}
        split = part(lib, "passes.split_module").split_module
        made = split(module, module, lambda n: of(order[n]))
        inner = {name: nodes(child.graph) for name, child in made.named_children()}
        x = lib.tensor([0.25, -3.0])
        same = made(x, x).tolist() == module(x, x).tolist()
        return nodes(made.graph), inner, same

    agree(play)


def test_shapes_of_a_program():
    def play(lib):
        module = lib.fx.symbolic_trace(lambda x: (x.t() @ x, x.sum(0, keepdim=True).to(lib.int64)))
        part(lib, "passes.shape_prop").ShapeProp(module).propagate(lib.ones(3, 2))
        found = [(n.name, n.meta.get("tensor_meta")) for n in module.graph.nodes]
        return [
            (name, tuple(m.shape), str(m.dtype), m.stride, m.requires_grad)
            for name, m in found
            if hasattr(m, "shape")
        ]

    agree(play)


@pytest.mark.parametrize(
    "order", [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"], ["a", "c", "b"]], ids="".join
)
def test_passes_in_their_order(order):
    def play(lib):
        infra = part(lib, "passes.infra.pass_manager")
        done, passes = [], {}
        for name in "abc":

            def change(module, name=name):
                done.append(name)
                return (
                    None
                    if name == "a"
                    else part(lib, "passes.infra.pass_base").PassResult(
                        module, name == "b" and len(done) < 6
                    )
                )

            change.__name__ = name
            passes[name] = change if name != "a" else infra.pass_result_wrapper(change)
        before = infra.this_before_that_pass_constraint
        manager = infra.PassManager(
            [passes[n] for n in order],
            constraints=[before(passes["a"], passes["b"])],
            steps=3,
        )
        result = manager(lib.fx.symbolic_trace(lambda x: x + 1))
        return done, result.modified

    agree(play)


def test_passes_that_wait_for_each_other():
    def play(lib):
        infra = part(lib, "passes.infra.pass_manager")
        passes = [lambda module: None, lambda module: None]
        before = infra.this_before_that_pass_constraint
        return infra.PassManager(passes, [before(*passes), before(*reversed(passes))])(
            lib.fx.symbolic_trace(lambda x: x)
        )

    agree(play)
