"""`torch.fx`: graphs made and changed by hand, modules of them, and what runs them, beside PyTorch."""

import copy
import importlib
import inspect
import operator
import pickle
import sys

import pytest

import mindtorch_core as mt
import mindtorch_core.fx
from mindtorch_core.fx.experimental.optimization import fuse, remove_dropout
from mindtorch_core.fx.passes.infra.pass_base import PassResult
from mindtorch_core.fx.passes.infra.pass_manager import (
    PassManager,
    this_before_that_pass_constraint,
)
from mindtorch_core.fx.passes.shape_prop import ShapeProp

pt = pytest.importorskip("torch")
for _name in ("fx", "fx.passes.shape_prop"):
    importlib.import_module(f"torch.{_name}")

BOTH = pytest.mark.parametrize("lib", [mt, pt], ids=["mindtorch", "pytorch"])


def by_hand(lib):
    """A graph with a node of each kind."""
    graph = lib.fx.Graph()
    x = graph.placeholder("x", type_expr=int)
    y = graph.placeholder("y", default_value=2)
    a = graph.get_attr("block.weight")
    b = graph.call_function(operator.add, (x, y))
    c = graph.call_method("mul", (b, a))
    d = graph.call_module("block.act", (c,))
    graph.call_function(lib.neg, (x,))
    graph.output({"out": (d, [b]), "none": None})
    return graph


def holder(lib):
    """A module with what the graph uses."""
    root = lib.nn.Module()
    root.block = lib.nn.Module()
    root.block.act = lib.nn.ReLU()
    root.block.weight = lib.nn.Parameter(lib.tensor([-1.0, 1.0]))
    return root


def both(program):
    return program(mt), program(pt)


def same(program):
    """What a program gives is the same with both libraries."""
    ours, theirs = both(program)
    assert ours == theirs
    return ours


def test_a_graph_by_hand():
    same(lambda lib: str(by_hand(lib)))
    same(lambda lib: by_hand(lib).python_code("self").src)
    same(lambda lib: lib.fx.GraphModule(holder(lib), by_hand(lib)).code)
    out = mt.fx.GraphModule(holder(mt), by_hand(mt))(mt.tensor([1.0, 2.0]))
    assert out["out"][0].tolist() == [0.0, 4.0]
    assert out["none"] is None


@BOTH
def test_users_and_order(lib):
    graph = by_hand(lib)
    nodes = {node.name: node for node in graph.nodes}
    x, add = nodes["x"], nodes["add"]
    assert [*x.users] == [add, nodes["neg"]]
    assert add.all_input_nodes == [x, nodes["y"]]
    assert x < add < graph.output_node()
    assert x.next is nodes["y"]
    nodes["neg"].prepend(add)
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        graph.lint()
    nodes["mul"].prepend(add)
    graph.lint()
    assert next(n.name for n in reversed(graph.nodes)) == "output"


@BOTH
def test_replacing_and_erasing(lib):
    graph = lib.fx.GraphModule(holder(lib), by_hand(lib)).graph
    nodes = {node.name: node for node in graph.nodes}
    with pytest.raises(RuntimeError, match="Tried to erase Node add but it still had 2 users"):
        graph.erase_node(nodes["add"])
    with graph.inserting_after(nodes["add"]):
        new = graph.call_function(lib.relu, (nodes["add"],))
    assert nodes["add"].replace_all_uses_with(new, lambda user: user is not new) == [
        nodes["mul"],
        graph.output_node(),
    ]
    assert nodes["mul"].args[0] is new
    assert graph.eliminate_dead_code() is True
    assert "neg" not in [n.name for n in graph.nodes]
    assert graph.eliminate_dead_code() is False
    assert len(graph.nodes) == 8
    graph.lint()


@BOTH
def test_arguments_cannot_be_changed_in_place(lib):
    graph = by_hand(lib)
    node = graph.output_node()
    with pytest.raises(TypeError, match="'immutable_dict' object does not support mutation"):
        node.args[0]["out"] = 1
    with pytest.raises(TypeError, match="'immutable_list' object does not support mutation"):
        node.args[0]["out"][1].append(1)
    node.update_arg(0, 3)
    assert node.args == (3,)
    assert not node.all_input_nodes


def test_names():
    def program(lib):
        graph = lib.fx.Graph()
        names = [
            "x",
            "x",
            "x_1",
            "for",
            "len",
            "3d",
            "a.b",
            "inf",
            "CamelCase",
            "x_1",
            "getattr",
            "torch",
        ]
        return [graph.placeholder(name).name for name in names]

    same(program)


def test_copies():
    module = mt.fx.GraphModule(holder(mt), by_hand(mt), "Named")
    x = mt.tensor([1.0, 2.0])
    for other in (copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module))):
        assert other.code == module.code
        assert other(x)["out"][0].tolist() == [0.0, 4.0]
        assert {*other.state_dict()} == {"block.weight"}
    assert type(module).__name__ == "Named"
    assert copy.deepcopy(module).block.weight is not module.block.weight
    graph = copy.deepcopy(module.graph)
    assert str(graph) == str(module.graph)
    assert graph.owning_module is None


def test_the_source_is_found():
    module = mt.fx.GraphModule(holder(mt), by_hand(mt))
    assert inspect.getsource(module.forward).strip() == module.code.strip()


def test_a_failing_line_is_shown(capsys):
    graph = mt.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(operator.truediv, (x, 0)))
    with pytest.raises(ZeroDivisionError):
        mt.fx.GraphModule({}, graph)(1)
    said = capsys.readouterr().err
    assert "Call using an FX-traced Module, line 5 of the traced Module's generated forward" in said
    assert "truediv = x / 0;  x = None\n" in said
    assert "~~~ <--- HERE" in said


def test_a_folder(tmp_path, monkeypatch):
    model = mt.nn.Sequential(mt.nn.Linear(2, 3), mt.nn.Tanh())
    traced = mt.fx.symbolic_trace(model)
    with pytest.warns(UserWarning, match="saved as pickled files instead: "):
        traced.to_folder(tmp_path / "kept_module", "Kept")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = importlib.import_module("kept_module").Kept()
    sys.modules.pop("kept_module")
    x = mt.rand(4, 2)
    assert mt.equal(made(x), traced(x))


@BOTH
def test_submodules(lib):
    module = lib.fx.GraphModule(holder(lib), by_hand(lib))
    assert module.add_submodule("a.b.c", lib.nn.ReLU())
    assert not module.add_submodule("block.weight.c", lib.nn.ReLU())
    assert {n for n, _ in module.named_modules()} == {"", "block", "block.act", "a", "a.b", "a.b.c"}
    assert module.delete_submodule("a.b.c")
    assert not module.delete_submodule("a.none")
    module.delete_all_unused_submodules()
    assert {n for n, _ in module.named_modules()} == {"", "block", "block.act"}


@BOTH
def test_what_is_missing_is_said(lib):
    graph = by_hand(lib)
    with pytest.raises(
        RuntimeError, match=r"target block.weight but that target was not provided in"
    ):
        lib.fx.GraphModule({}, graph)
    with pytest.raises(RuntimeError, match="Unsupported type 3 passed for root!"):
        lib.fx.GraphModule(3, graph)
    with pytest.raises(ValueError, match="but a Callable is expected"):
        graph.call_function("neg", ())
    module = lib.fx.GraphModule(holder(lib), graph)
    del module.block.weight
    with pytest.raises(RuntimeError, match="references nonexistent attribute weight of block"):
        module.graph.lint()


def test_transformed_code():
    module = mt.fx.GraphModule(holder(mt), by_hand(mt))
    with module.graph.on_generate_code(lambda before: lambda body: ["y = 3\n", *body]):
        module.recompile()
    assert module(mt.tensor([1.0, 2.0]))["out"][0].tolist() == [0.0, 5.0]
    module.recompile()
    assert module(mt.tensor([1.0, 2.0]))["out"][0].tolist() == [0.0, 4.0]


def test_interpreter():
    def program(lib):
        seen = []

        class Show(lib.fx.Interpreter):
            def run_node(self, n):
                seen.append(n.name)
                return super().run_node(n)

        module = lib.fx.GraphModule(holder(lib), by_hand(lib))
        return Show(module).run(lib.tensor([1.0, 2.0]))["out"][0].tolist(), seen

    same(program)


@BOTH
def test_interpreter_says_where_it_failed(lib):
    traced = lib.fx.symbolic_trace(lambda x: lib.relu(x).view(7))
    with pytest.raises(RuntimeError, match=r"(?s)While executing %view : .*Original traceback:"):
        lib.fx.Interpreter(traced).run(lib.ones(2))
    with pytest.raises(
        RuntimeError, match="Expected positional argument for parameter x, but one was not"
    ):
        lib.fx.Interpreter(traced).run()


def test_transformer():
    def program(lib):
        class Swap(lib.fx.Transformer):
            def call_function(self, target, args, kwargs):
                return super().call_function({lib.sin: lib.cos}.get(target, target), args, kwargs)

        return Swap(lib.fx.symbolic_trace(lambda x, y=1: lib.sin(x) + y)).transform().code

    same(program)


def test_patterns():
    def program(lib):
        def f(x, w1, w2):
            m1 = lib.cat([w1, w2]).sum()
            m2 = lib.cat([w1, w2]).sum()
            return x + lib.max(m1) + lib.max(m2)

        traced = lib.fx.symbolic_trace(f)
        found = lib.fx.replace_pattern(
            traced, lambda w1, w2: lib.cat([w1, w2]).sum(), lambda w1, w2: lib.stack([w1, w2])
        )
        none = lib.fx.replace_pattern(traced, lambda x: lib.exp(x), lambda x: x)
        return traced.code, len(found), len(none), [n.name for n in found[0].nodes_map.values()]

    assert same(program)[1] == 2


def test_a_pattern_whose_inner_values_are_used_elsewhere_stays():
    def f(x):
        y = mt.neg(x)
        return mt.relu(y) + y

    traced = mt.fx.symbolic_trace(f)
    assert not mt.fx.replace_pattern(traced, lambda x: mt.relu(mt.neg(x)), lambda x: x)


def test_shapes():
    def program(lib):
        traced = lib.fx.symbolic_trace(lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.ReLU()))
        prop = sys.modules[f"{lib.__name__}.fx.passes.shape_prop"].ShapeProp
        prop(traced).propagate(lib.ones(4, 2))
        meta = [n.meta["tensor_meta"] for n in traced.graph.nodes]
        return (
            [
                (tuple(m.shape), str(m.dtype), m.stride, str(m.memory_format), m.requires_grad)
                for m in meta
            ],
            traced.print_readable(print_output=False),
        )

    assert ShapeProp is sys.modules["mindtorch_core.fx.passes.shape_prop"].ShapeProp
    same(program)


def test_normalization_becomes_part_of_the_layer():
    mt.manual_seed(0)
    nn = mt.nn
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(), nn.Flatten(), nn.Linear(4, 2),
                          nn.BatchNorm1d(2))  # fmt: skip
    model(mt.rand(5, 3, 3, 3))
    model.eval()
    fused = fuse(model)
    kinds = [type(m).__name__ for m in fused.children() if not isinstance(m, nn.BatchNorm2d)]
    assert [n.target for n in fused.graph.find_nodes(op="call_module")] == ["0", "2", "3", "4"], (
        kinds
    )
    x = mt.rand(2, 3, 3, 3)
    mt.testing.assert_close(fused(x), model(x))
    assert "2" not in [n.target for n in remove_dropout(model).graph.find_nodes(op="call_module")]


def test_passes_run_until_nothing_changes():
    ran = []

    def first(module):
        ran.append("first")
        return PassResult(module, len(ran) < 3)

    def second(module):
        ran.append("second")
        return PassResult(module, False)

    manager = PassManager(
        [second, first], [this_before_that_pass_constraint(first, second)], steps=5
    )
    result = manager(mt.fx.symbolic_trace(lambda x: x + 1))
    assert ran == ["first", "second", "first", "second"]
    assert result.modified
    manager.add_constraint(this_before_that_pass_constraint(second, first))
    with pytest.raises(RuntimeError, match="Circular dependency"):
        manager(result.graph_module)


def test_nodes_keep_what_is_known_of_those_they_are_made_of():
    traced = mt.fx.symbolic_trace(lambda x: mt.relu(x))
    with mt.fx.traceback.annotate({"stage": 1}):
        again = mt.fx.symbolic_trace(lambda x: mt.relu(x))
    node = again.graph.find_nodes(op="call_function", target=mt.relu)[0]
    assert node.meta["custom"] == {"stage": 1}
    assert not traced.graph.find_nodes(op="call_function", target=mt.relu)[0].meta
    moved = (
        mt.fx.Transformer(again).transform().graph.find_nodes(op="call_function", target=mt.relu)[0]
    )
    assert moved.meta["custom"] == {"stage": 1}


def test_normalized_arguments():
    def program(lib):
        def call(x):
            return lib.nn.functional.interpolate(x, None, 2.0)

        node = lib.fx.symbolic_trace(call).graph.find_nodes(
            op="call_function", target=lib.nn.functional.interpolate
        )[0]
        return node.normalized_arguments(None, normalize_to_only_use_kwargs=True).kwargs.keys()

    same(program)


def test_a_tracer_may_refuse_what_changes_its_arguments():
    def program(lib):
        class Checks(lib.fx.Tracer):
            check_mutable_operations = True

        with pytest.raises(RuntimeError) as error:
            Checks().trace(lambda x: lib.sigmoid(x, out=x))
        return str(error.value).partition("(")[0].partition(". FX")[0]

    assert "aten::sigmoid.out" in same(program)


def test_a_graph_is_cut_into_modules():
    def program(lib):
        class Two(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.param = lib.nn.Parameter(lib.ones(3, 4))
                self.inner = lib.nn.Sequential(lib.nn.Linear(4, 5))

            def forward(self, x, y):
                z = self.inner(x + self.param).clamp(min=0.0, max=1.0)
                return z + self.inner(y).clamp(min=0.0, max=1.0)

        traced = lib.fx.symbolic_trace(Two())
        split = importlib.import_module(f"{lib.__name__}.fx.passes.split_module").split_module
        stages = {"add": 0, "inner_0": 0, "clamp": 1}
        paths = {}
        cut = split(traced, None, lambda node: stages.get(node.name, 2), paths)
        x, y = lib.rand(3, 4), lib.rand(3, 4)
        lib.testing.assert_close(cut(x, y), traced(x, y))
        with pytest.raises(RuntimeError, match="cycle exists between partitions!"):
            split(traced, None, lambda node: int(node.name == "clamp"))
        return cut.code, {name: child.code for name, child in cut.named_children()}, paths

    same(program)
