"""Looking at the graph: nodes, edges, saved values, versions, hooks on several tensors."""

import pytest
from collecting import Scenarios, leaf

import mindtorch_core as torch
from mindtorch_core.autograd import graph

scenario = Scenarios()


# ---- nodes --------------------------------------------------------------------------------------


@scenario
def names_along_a_graph(lib):
    node = (leaf(lib) * 2).exp().sum().grad_fn
    names = []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return names


@scenario
def the_leaf_at_the_end(lib):
    x = leaf(lib)
    end = (x * 2).grad_fn.next_functions[0][0]
    return end.variable is x, isinstance(end, lib.autograd.graph.Node)


@scenario
def notes_on_a_node(lib):
    node = (leaf(lib) * 2).grad_fn
    node.metadata["note"] = 1
    later = (leaf(lib) * 2).grad_fn
    return node.metadata, node._sequence_nr() < later._sequence_nr()


@scenario
def saved_values(lib):
    x = leaf(lib)
    y = x * x
    z = y.exp()
    raw = y.grad_fn._raw_saved_self.data
    return (
        y.grad_fn._saved_self is x,
        raw,
        z.grad_fn._saved_result,
        z.grad_fn._saved_result.grad_fn is z.grad_fn,
    )


@scenario
def saved_values_that_were_freed(lib):
    y = leaf(lib) * leaf(lib)
    y.sum().backward()
    return y.grad_fn._saved_self


@scenario
def no_such_saved_value(lib):
    return (leaf(lib) * 2).grad_fn._saved_colour


# ---- edges --------------------------------------------------------------------------------------


@scenario
def edges_as_inputs_and_outputs(lib):
    x = leaf(lib)
    y = x * x
    edge = lib.autograd.graph.get_gradient_edge
    first = lib.autograd.grad(y.sum(), edge(x), retain_graph=True)
    middle = lib.autograd.grad(y.sum(), edge(y), retain_graph=True)
    last = lib.autograd.grad(edge(y), x, lib.ones(2))
    return first, middle, last, edge(y).output_nr, edge(x).node.name()


@scenario
def backward_from_an_edge(lib):
    x = leaf(lib)
    parts = (x * 3).chunk(2)
    edge = lib.autograd.graph.get_gradient_edge(parts[1])
    lib.autograd.backward(edge, lib.ones(1))
    return edge.output_nr, x.grad


@scenario
def no_edge(lib):
    return lib.autograd.graph.get_gradient_edge(lib.ones(2))


@scenario
def no_edge_of_what_no_longer_requires_grad(lib):
    return lib.autograd.graph.get_gradient_edge(leaf(lib).requires_grad_(False))


@scenario
def unused_edges_have_no_zeros(lib):
    x, z = leaf(lib), leaf(lib)
    edge = lib.autograd.graph.get_gradient_edge(z)
    return lib.autograd.grad(x.sum(), [edge], materialize_grads=True)


def test_an_edge_as_output_needs_a_gradient():
    x = leaf(torch)
    with pytest.raises(RuntimeError, match="output 0 is a GradientEdge"):
        torch.autograd.grad(graph.get_gradient_edge(x.sum()), x)


# ---- versions -----------------------------------------------------------------------------------


@scenario
def versions_counted_by_hand(lib):
    x = leaf(lib)
    y = x * 1
    z = y * y
    lib.autograd.graph.increment_version(y)
    counted = y._version
    lib.autograd.graph.increment_version([x, x])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    return counted, x._version


@scenario
def versions_of_inference_tensors(lib):
    with lib.inference_mode():
        x = lib.ones(2)
    return lib.autograd.graph.increment_version(x)


@scenario
def nodes_called_outside_of_walks(lib):
    x, y = leaf(lib, 1, 2), leaf(lib, 3, 4)
    g, sine = lib.full((2,), 5.0), x.sin()
    of_x, of_y = (x * y).grad_fn(g)
    first, second = sine.grad_fn(g), sine.grad_fn(g)
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        sine.grad_fn(g, g)
    return [t.detach() for t in (of_x, of_y, first, second)], first.requires_grad


@scenario
def versions_of_something_else(lib):
    lib.autograd.graph.increment_version([lib.ones(2), 3])


# ---- hooks on several tensors -------------------------------------------------------------------


@scenario
def all_of_several(lib):
    a, b, c = leaf(lib), leaf(lib), leaf(lib)
    log = []
    handle = lib.autograd.graph.register_multi_grad_hook((a, b, c), log.append)
    (a * b).sum().backward()
    (a * b * c).sum().backward()
    c.sum().backward()
    handle.remove()
    (a * b).sum().backward()
    return log


@scenario
def all_of_several_results(lib):
    a = leaf(lib)
    m, n, o = a * 2, a * 3, a * 4
    log = []
    lib.autograd.graph.register_multi_grad_hook((m, n, o), log.append)
    lib.autograd.grad((m * n).sum(), a)
    return log


@scenario
def any_of_several(lib):
    a, b, c = leaf(lib), leaf(lib), leaf(lib)
    log = []
    with lib.autograd.graph.register_multi_grad_hook((a, b, c), log.append, mode="any"):
        (a * b).sum().backward()
        (c * b).sum().backward()
    (c * b).sum().backward()
    return log


@scenario
def all_of_several_results_where_the_walk_ends(lib):
    a, b = leaf(lib), leaf(lib)
    m = a * 2
    n = m * b
    log = []
    for several in ((m,), (n, m), (n,), (m, a)):
        with lib.autograd.graph.register_multi_grad_hook(several, log.append):
            lib.autograd.grad(n.sum(), m, retain_graph=True)
    return log


@scenario
def another_mode(lib):
    lib.autograd.graph.register_multi_grad_hook([leaf(lib)], print, mode="some")


@pytest.mark.parametrize(("inputs", "told"), [("a", [4, None]), ("ab", [4, 3]), ("c", None)])
def test_leaves_among_several_when_gradients_are_collected(inputs, told):
    """PyTorch refuses the first two."""
    places = {name: torch.tensor(n, requires_grad=True) for name, n in (("a", 3.0), ("b", 4.0))}
    a, b = places.values()
    product = a * b
    places["c"] = product * 1
    log = []
    with graph.register_multi_grad_hook((a, b), log.append):
        torch.autograd.grad(places["c"], [places[name] for name in inputs])
    gradients = [[None if g is None else g.item() for g in grads] for grads in log]
    assert gradients == ([] if told is None else [told])


def test_hooks_on_tensors_without_gradient():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        graph.register_multi_grad_hook([torch.ones(2)], print)


@pytest.mark.parametrize("call", scenario, ids=lambda f: f.__name__)
def test_as_in_pytorch(same, call):
    same(call)
