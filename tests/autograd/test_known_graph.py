"""The guards of a backward pass that comes again: whatever is another one, the engine walks."""

import pytest

import mindtorch_core as torch
from mindtorch_core.gradients.known_graph import KnownGraph, KnownNode
from mindtorch_core.gradients.saved import Packed


@pytest.fixture(autouse=True)
def block():
    with torch.pipeline():
        yield


class Graph:
    """A graph of which each place is the tensor's at the same position."""

    def __init__(self):
        self.a, self.b = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        self.product = self.a * self.b
        self.tanh = self.product.tanh()
        self.both = torch.stack([self.tanh, self.b])
        self.square = self.both * self.both
        self.at = torch.tensor([1, 0])
        self.sum = self.square[self.at].sum()
        picked = self.sum.grad_fn.edges[0]
        tensors = [self.a, self.b, self.product, self.tanh, self.both, self.square, self.sum]
        self.metas = [*[t._autograd for t in tensors], picked, None]
        made = range(2, len(tensors) + 1)
        nodes = [(at, self.metas[at].node) for at in made]
        self.known = KnownGraph(
            [
                KnownNode.of(node, at, [self.metas.index(e) for e in node.edges])
                for at, node in nodes
            ],
            [0, 1],
            empty=True,
        )
        self.nodes = [node for _, node in nodes]

    def nodes_now(self):
        return self.known.nodes_of(self.metas)


def test_the_same_graph_gives_its_nodes():
    graph = Graph()
    assert graph.nodes_now() == graph.nodes
    assert [node.name() for node in graph.nodes][:3] == [
        "MulBackward0",
        "TanhBackward0",
        "StackBackward0",
    ]


def put(node, at, value):
    node.saved = (*node.saved[:at], value, *node.saved[at + 1 :])


def written(t):
    t._own_storage().version += 1


CHANGES = {
    "a hook": lambda g: g.tanh.grad_fn.register_hook(lambda *_: None),
    "freed": lambda g: g.product.grad_fn.release(),
    "an operand that was written": lambda g: written(g.both),
    "a result that was written": lambda g: written(g.tanh),
    "an index that was written": lambda g: written(g.at),
    "an index of another class": lambda g: g.nodes[-1].saved[1].__setitem__(0, None),
    "hooks on what was saved": lambda g: put(
        g.product.grad_fn, 0, Packed(1, lambda v: g.a, None, None)
    ),
    "an edge to another place": lambda g: setattr(
        g.product.grad_fn, "edges", (g.b._autograd, g.a._autograd)
    ),
    "an edge to none": lambda g: setattr(g.product.grad_fn, "edges", (g.a._autograd, None)),
    "hooks on a result that was saved": lambda g: put(
        g.tanh.grad_fn, 0, Packed(1, lambda v: g.tanh, None, 0)
    ),
    "a node of another kind": lambda g: setattr(
        g.product._autograd, "node", torch.maximum(g.a, g.b).grad_fn
    ),
    "no place": lambda g: g.metas.__setitem__(4, None),
    "a gradient": lambda g: setattr(g.b, "grad", torch.ones(2)),
    "a hook of a leaf": lambda g: g.a.register_hook(lambda _: None),
    "a leaf that needs none": lambda g: g.a.requires_grad_(False),
    "a leaf that is gone": lambda g: (delattr(g, "a"), g.product.grad_fn.release()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_one_gives_none(change):
    graph = Graph()
    change(graph)
    assert graph.nodes_now() is None
