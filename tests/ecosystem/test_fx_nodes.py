"""Nodes, hooks and refusals of `torch.fx.Graph` and `GraphModule` that programs seldom meet."""

import copy
import operator
import pickle
import warnings

import pytest
from two_libraries import agree, part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

for _lib in (mt, pt):
    part(_lib, "fx")


def chain(lib):
    """The nodes of ``neg(x + y)``, with its graph."""
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=2)
    total = graph.call_function(operator.add, (x, y), {})
    out = graph.output(graph.call_function(lib.neg, (total,)))
    return graph, x, y, total, out


def module(lib):
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("act", (x,)))
    made = lib.fx.GraphModule({"act": lib.nn.ReLU()}, graph)
    made.inner = lib.nn.Sequential(lib.nn.Linear(2, 2))
    made.word = "a word"
    return made


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [(w.category.__name__, str(w.message)) for w in found]


# ---- nodes ----------------------------------------------------------------------------------------


def _order(lib):
    _, x, y, total, _ = chain(lib)
    return [[a < b, a <= b, a > b, a >= b] for a, b in [(x, y), (total, y), (x, x), (total, x)]] + [
        [total.prev.name, x.next.name, x.prev.op]
    ]


def _arguments(lib):
    _, x, y, total, _ = chain(lib)
    told = []
    total.kwargs = {"other": y}
    told.append((str(total.args), str(total.kwargs), len(y.users)))
    total.insert_arg(0, 5)
    total.insert_arg(3, x)
    total.update_kwarg("other", 7)
    told.append((str(total.args), str(total.kwargs), len(x.users), len(y.users)))
    total.update_arg(1, y)
    told.append((str(total.args), [n.name for n in total.all_input_nodes]))
    return told


def _meta_goes_on(lib):
    graph, _, _, total, _ = chain(lib)
    total.meta["note"] = 1
    with graph.inserting_after(total):
        other = graph.call_function(operator.mul, (1, 2))
    changed = total.replace_all_uses_with(other, propagate_meta=True)
    return [n.name for n in changed], other.meta, len(total.users)


def _meta_is_there(lib):
    _, x, _, total, _ = chain(lib)
    x.meta["note"] = 1
    total.replace_all_uses_with(x, propagate_meta=True)


def _normalized(lib):
    root = lib.nn.Sequential(lib.nn.Linear(2, 2))
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_module("0", (x,))
    found = node.normalized_arguments(root, normalize_to_only_use_kwargs=True)
    missing = graph.call_module("7", (x,))
    try:
        missing.normalized_arguments(root)
    except RuntimeError as error:
        told = said(error)
    return (
        str(found.args),
        str(found.kwargs),
        graph.call_method("neg", (x,)).normalized_arguments(root),
        told,
    )


def _renamed(lib):
    graph, x, y, total, _ = chain(lib)
    total._rename("total")
    y._rename("y")
    x._rename("total")
    return [n.name for n in graph.nodes], total._pretty_print_target(operator.add)


def _impure(lib):
    F = lib.nn.functional
    graph = lib.fx.Graph()
    x = graph.placeholder("x")
    aten = lib.ops.aten
    targets = [
        operator.setitem,
        operator.add,
        lib._assert,
        lib.rand,
        lib.relu,
        aten.relu_.default,
        aten.relu.default,
        aten.add,
        aten.bernoulli.default,
        aten.native_dropout.default,
        F.relu,
    ]
    nodes = [graph.call_function(target, (x,)) for target in targets]
    return [(n.is_impure(), n.is_impure(False)) for n in nodes]


def _impure_module(lib):
    graph = lib.fx.Graph()
    return graph.call_module("act").is_impure()


NODES = {
    "order": _order,
    "arguments": _arguments,
    "insert_arg behind the end": lambda lib: chain(lib)[3].insert_arg(3, 1),
    "insert_arg before the start": lambda lib: chain(lib)[3].insert_arg(-1, 1),
    "update_arg behind the end": lambda lib: chain(lib)[3].update_arg(2, 1),
    "meta goes on": _meta_goes_on,
    "meta is there": _meta_is_there,
    "normalized arguments": _normalized,
    "renamed": _renamed,
    "what has an effect": _impure,
    "an effect of a module that is not there": _impure_module,
    "before one of another graph": lambda lib: chain(lib)[1].prepend(chain(lib)[1]),
    "before itself": lambda lib: warned(lambda: (lambda x: x.prepend(x))(chain(lib)[1])),
    "arguments in a list": lambda lib: lib.fx.Graph().create_node("call_method", "f", [1]),
    "keywords in a list": lambda lib: lib.fx.Graph().create_node("call_method", "f", (), [1]),
    "a function by its name": lambda lib: lib.fx.Graph().call_function("relu"),
}


@table(NODES)
def test_nodes(program):
    agree(program)


# ---- graphs ---------------------------------------------------------------------------------------


def _beginning_and_end(lib):
    graph, x, _, total, _ = chain(lib)
    with graph.inserting_before():
        graph.call_function(operator.sub, (1, 2))
    graph.inserting_before(total)
    graph.call_function(operator.mul, (x, 2))
    with graph.inserting_after():
        graph.call_function(operator.neg, (x,))
    return [n.name for n in graph.nodes]


def _erased_twice(lib):
    graph, *_ = chain(lib)
    with graph.inserting_before():
        node = graph.call_function(operator.neg, (1,))
    graph.erase_node(node)
    before = len(graph.nodes)
    return warned(lambda: graph.erase_node(node)), len(graph.nodes) == before


def _erased_of_another(lib):
    graph, *_ = chain(lib)
    other = lib.fx.Graph()
    graph.erase_node(other.placeholder("x"))


def _missing_targets(lib):
    made = module(lib)
    return [
        warned(lambda: made.graph.get_attr("nothing")),
        warned(lambda: made.graph.get_attr("inner.0.weight")),
        warned(lambda: made.graph.get_attr("inner.nothing.weight"))[-1:],
        warned(lambda: made.graph.get_attr("word")),
        warned(lambda: made.graph.get_attr("inner")),
        said(outcome(lambda: made.graph.call_module("inner.1"))),
        said(outcome(lambda: made.graph.call_module("word"))),
        warned(lambda: made.graph.call_module("inner.0")),
        [n.target for n in made.graph.nodes],
    ]


def _copied(lib):
    graph, *_ = chain(lib)
    other = lib.fx.Graph()
    x = next(iter(graph.nodes))
    x.meta["note"] = [1]
    copied = other.node_copy(x)
    half = lib.fx.Graph()
    half.placeholder("z")
    return copied.name, copied.meta, copied is not x, other.graph_copy(half, {})


def _linted(change):
    def program(lib):
        graph, x, y, total, out = chain(lib)
        change(lib, graph, x, y, total, out)
        graph.lint()

    return program


def _foreign_argument(lib, graph, x, y, total, out):
    total.args = (x, chain(lib)[2])


def _twice(lib, graph, x, y, total, out):
    x.name = "y"


def _later(lib, graph, x, y, total, out):
    out.append(total)


def _other_graph(lib, graph, x, y, total, out):
    total.graph = lib.fx.Graph()


def _linted_targets(target, op="call_module"):
    def program(lib):
        made = module(lib)
        with made.graph.inserting_before():
            made.graph.create_node(op, target)
        made.graph.lint()

    return program


def _target_of_a_number(lib):
    made = module(lib)
    next(iter(reversed(made.graph.nodes))).prev.target = 5
    made.graph.lint()


GRAPHS = {
    "beginning and end": _beginning_and_end,
    "before one of another graph": lambda lib: chain(lib)[0].inserting_before(chain(lib)[1]),
    "after one of another graph": lambda lib: chain(lib)[0].inserting_after(chain(lib)[1]),
    "erased twice": _erased_twice,
    "erased of another graph": _erased_of_another,
    "erased though it is used": lambda lib: (lambda g, x, *_: g.erase_node(x))(*chain(lib)),
    "targets that are not there": _missing_targets,
    "copied": _copied,
    "a foreign argument": _linted(_foreign_argument),
    "a name twice": _linted(_twice),
    "used before it is there": _linted(_later),
    "of another graph": _linted(_other_graph),
    "all is well": _linted(lambda *a: None),
    "a module that is not there": _linted_targets("nothing"),
    "below one that is not there": _linted_targets("inner.5.act"),
    "a word as a module": _linted_targets("word"),
    "a parameter as a module": _linted_targets("inner.0.weight"),
    "an attribute that is not there": _linted_targets("inner.0.heavy", "get_attr"),
    "a target of a number": _target_of_a_number,
    "no output": lambda lib: lib.fx.Graph().output_node(),
}


@table(GRAPHS)
def test_graphs(program):
    agree(program)


# ---- hooks ----------------------------------------------------------------------------------------


def _hooks(lib):
    made, told = module(lib), []

    def created(node):
        told.append(("made", node.name))

    def erased(node):
        told.append(("gone", node.name))

    made._register_create_node_hook(created)
    made._register_erase_node_hook(erased)
    act = next(iter(made.graph.nodes)).next
    with (
        made.graph.inserting_after(act),
        made._set_replace_hook(lambda old, new, user: told.append((old.name, new, user.name))),
    ):
        new = made.graph.call_function(lib.neg, (act,))
        act.replace_all_uses_with(new, lambda user: user is not new)
        new.name = "other"
    act.replace_all_uses_with(new, lambda user: False)
    new.name = "another"
    made._unregister_create_node_hook(created)
    with made.graph.inserting_after(act):
        spare = made.graph.call_function(lib.neg, (act,))
    made.graph.erase_node(spare)
    made._unregister_erase_node_hook(erased)
    with made.graph.inserting_after(act):
        made.graph.erase_node(made.graph.call_function(lib.neg, (act,)))
    return told


def _copy_hooks(lib):
    made, told = module(lib), []
    hook = lambda copied: told.append(type(copied).__name__)  # noqa: E731
    made._register_deepcopy_hook(hook)
    made.meta["_user_preserved_attributes"] = {"kept": 3}
    first = copy.deepcopy(made)
    made._unregister_deepcopy_hook(hook)
    copy.deepcopy(made)
    return told, first.kept


def _replica(lib):
    made = module(lib)
    found = made._replicate_for_data_parallel()
    return (
        found is not made,
        found._is_replica,
        hasattr(made, "_is_replica"),
        found.code == made.code,
    )


def _dead_below(lib):
    inner = module(lib)
    with inner.graph.inserting_before(next(iter(reversed(inner.graph.nodes)))):
        inner.graph.call_function(lib.neg, (next(iter(inner.graph.nodes)),))
    inner.recompile()
    graph = lib.fx.Graph()
    graph.output(graph.call_function(operator.pos, (graph.get_attr("inner"),)))
    outer = lib.fx.GraphModule({"inner": inner}, graph)
    before = inner.code
    return before, outer.graph.eliminate_dead_code(), inner.code, outer.graph.eliminate_dead_code()


def _cleared(lib):
    made = module(lib)
    made.graph._clear_nodes()
    return len(made.graph.nodes), [*made.graph.nodes]


def _class_of_a_graph(lib):
    made = module(lib)
    return made._boxed_call, str(made).splitlines()[-1], said(outcome(lambda: made(1)))


def _graph_of_a_word(lib):
    module(lib).graph = "a word"


HOOKS = {
    "of making, taking and replacing": _hooks,
    "of copies": _copy_hooks,
    "of replicas": _replica,
    "what nobody uses below": _dead_below,
    "cleared": _cleared,
    "an error of a module": _class_of_a_graph,
    "a word for a graph": _graph_of_a_word,
    "a word for a module": lambda lib: lib.fx.GraphModule("a word", lib.fx.Graph()),
    "a dict that lacks a module": lambda lib: lib.fx.GraphModule({}, module(lib).graph),
}


@table(HOOKS)
def test_modules_of_graphs(program):
    agree(program)


def _table_of_nodes(lib):
    graph, *_ = chain(lib)
    graph.print_tabular()


def test_a_table_of_nodes(capsys):
    pytest.importorskip("tabulate")
    _table_of_nodes(mt)
    ours = capsys.readouterr().out
    _table_of_nodes(pt)
    assert ours.replace("mindtorch_core", "torch") == capsys.readouterr().out
    assert ours.startswith("opcode")


def test_a_table_of_nodes_needs_a_package(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "tabulate", None)
    outs = []
    for lib in (mt, pt):
        with pytest.raises(ImportError):
            _table_of_nodes(lib)
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]
    assert "pip install tabulate" in outs[0]


# ---- containers that do not change ----------------------------------------------------------------


def _containers(lib):
    kinds = part(lib, "fx.immutable_collections")
    a, b = kinds.immutable_list([1, 2]), kinds.immutable_dict({"a": 1})
    pytree = part(lib, "utils._pytree")
    out = [hash(a) == hash((1, 2)), hash(b) == hash(kinds.immutable_dict({"a": 1}))]
    for value in (a, b):
        copied, loaded = copy.deepcopy(value), pickle.loads(pickle.dumps(value))
        doubled = pytree.tree_map(lambda n: 2 * n, value)
        out += [(type(c) is type(value), c == value) for c in (copied, loaded)]
        out.append((type(doubled) is type(value), doubled))
        out.append([str(path) for path, _ in pytree.tree_flatten_with_path(value)[0]])
    for change in (
        lambda: a.append(3), lambda: a.sort(), lambda: operator.setitem(a, 0, 1), lambda: b.pop("a"),
        lambda: operator.delitem(b, "a"), lambda: b.update(c=1), lambda: operator.iadd(a, [1]),
    ):  # fmt: skip
        out.append(said(outcome(change)))
    return out, list(a), dict(b)


def test_containers_that_do_not_change():
    agree(_containers)


# ---- types and annotations ------------------------------------------------------------------------


def annotate(lib):
    return part(lib, "fx.annotate").annotate


def _annotated(lib):
    def program(x):
        y = annotate(lib)(x + 1, int)
        assert annotate(lib)(3, str) == 3
        return y

    graph = lib.fx.symbolic_trace(program).graph
    return [(n.name, n.type) for n in graph.nodes], str(graph)


def _annotated_twice(lib):
    lib.fx.symbolic_trace(lambda x: annotate(lib)(annotate(lib)(x + 1, int), float))


@table({"once": _annotated, "twice": _annotated_twice})
def test_annotations_of_values(program):
    agree(program)
