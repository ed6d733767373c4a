"""`torch.utils._pytree` against PyTorch's."""

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from enum import Enum

import pytest

from mindtorch_core.utils import _pytree as ours

pytest.importorskip("torch")
from torch.utils import _pytree as theirs

Pair = namedtuple("Pair", "a b")
TREES = [
    1, [], [1, (2, 3)], {"x": [1], "y": {}}, Pair(1, [2]), OrderedDict(z=1, a=2), deque([1, 2], maxlen=3),
    defaultdict(list, k=[1, 2]), (None, [None]), {"a": Pair([1], {"b": 2})},
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_trees(tree):
    found = []
    for lib in (ours, theirs):
        leaves, spec = lib.tree_flatten(tree)
        assert lib.tree_unflatten(leaves, spec) == tree
        assert spec == lib.tree_structure(tree)
        found.append((
            leaves, spec.num_leaves, spec.num_nodes, spec.num_children, lib.tree_leaves(tree),
            lib.tree_map(lambda x: (x, x), tree), lib.tree_map_only(int, str, tree),
            lib.tree_map(lambda x, y: [x, y], tree, tree), lib.tree_any(lambda x: x == 2, tree),
            [(lib.keystr(path), leaf) for path, leaf in lib.tree_leaves_with_path(tree)],
            [lib.key_get(tree, path) for path, _ in lib.tree_leaves_with_path(tree)],
            lib.tree_map(lambda x: x, tree, is_leaf=lambda x: isinstance(x, tuple)),
            lib._broadcast_to_and_flatten(7, spec),
        ))  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.parametrize("lib", [ours, theirs])
def test_a_named_tuple_by_the_functions_of_its_own(lib):
    assert lib._namedtuple_flatten(Pair(1, [2])) == ([1, [2]], Pair)
    assert lib._namedtuple_unflatten([3, 4], Pair) == Pair(3, 4)


def test_a_registered_class():
    for lib in (ours, theirs):

        class Box:
            def __init__(self, inner):
                self.inner = inner

        lib.register_pytree_node(Box, lambda b: ([b.inner], None), lambda v, _: Box(next(iter(v))))
        assert lib.tree_map(lambda x: x + 1, [Box(1), 2])[0].inner == 2
        with pytest.raises(ValueError, match="already registered"):
            lib.register_pytree_node(Box, lambda b: ([], None), lambda v, _: Box(0))
        lib._deregister_pytree_node(Box)


def test_keys_of_a_registered_class():
    for lib in (ours, theirs):

        class Kept:
            def __init__(self, inner):
                self.inner = inner

        def keyed(b, lib=lib):
            return [(lib.GetAttrKey("inner"), b.inner)], None

        made = lambda v, _, Kept=Kept: Kept(next(iter(v)))  # noqa: E731
        lib.register_pytree_node(
            Kept, lambda b: ([b.inner], None), made, flatten_with_keys_fn=keyed
        )
        ((path, leaf),) = lib.tree_leaves_with_path({"k": Kept(3)})
        assert (lib.keystr(path), leaf, lib.key_get({"k": Kept(3)}, path)) == ("['k'].inner", 3, 3)
        lib._deregister_pytree_node(Kept)
        lib.register_pytree_node(Kept, lambda b: ([b.inner], None), made)
        with pytest.raises(
            ValueError, match=r"Did not find a flatten_with_keys_fn for type: .*Kept"
        ):
            lib.tree_leaves_with_path({"k": Kept(3)})
        lib._deregister_pytree_node(Kept)


def test_trees_that_do_not_fit():
    for lib in (ours, theirs):
        with pytest.raises(ValueError, match=r"mismatch|length|arity"):
            lib.tree_map(lambda x, y: x, [1, 2], [1])
        with pytest.raises(ValueError, match="length"):
            lib.tree_unflatten([1], lib.tree_structure([1, 2]))
        with pytest.raises(TypeError):
            lib.tree_unflatten([1], None)
        assert lib._broadcast_to_and_flatten([0, 1], lib.tree_structure([1, [2, 3]])) == [0, 1, 1]
        assert lib._broadcast_to_and_flatten([0], lib.tree_structure([1, 2])) is None


class Colour(Enum):
    RED = 1


class Box:
    def __init__(self, inner, colour):
        self.inner, self.colour = inner, colour

    def __repr__(self):
        return f"Box({self.inner})"


@pytest.fixture
def kinds():
    for lib in (ours, theirs):
        lib._register_namedtuple(Pair, serialized_type_name="test.Pair")
        lib.register_pytree_node(
            Box,
            lambda b: ([b.inner], b.colour),
            lambda v, colour: Box(next(iter(v)), colour),
            serialized_type_name="test.Box",
        )
    yield
    for lib in (ours, theirs):
        for cls in (Pair, Box):
            lib._deregister_pytree_node(cls)


def test_structures_as_text(kinds):
    for tree in [*TREES, [Box(1, Colour.RED)]]:
        spec, expected = ours.tree_structure(tree), theirs.tree_structure(tree)
        text = ours.treespec_dumps(spec)
        assert text == theirs.treespec_dumps(expected)
        assert ours.treespec_loads(text) == spec
        assert repr(spec) == repr(expected)
        assert ours.treespec_pprint(spec) == theirs.treespec_pprint(expected)
        assert spec.type is expected.type


def test_structures_that_are_no_text(kinds):
    for lib in (ours, theirs):

        class Odd:
            pass

        spec = lib.tree_structure([1])
        with pytest.raises(TypeError, match="to be an instance of PyTreeSpec but got item of type"):
            lib.treespec_dumps("text")
        with pytest.raises(ValueError, match="Unknown protocol -1"):
            lib.treespec_dumps(spec, -1)
        with pytest.raises(ValueError, match="Unknown protocol 7"):
            lib.treespec_loads(json.dumps((7, None)))
        lib._deregister_pytree_node(Pair)
        with pytest.raises(NotImplementedError, match="didn't register a serializated_type_name"):
            lib.treespec_dumps(lib.tree_structure(Pair(1, 2)))
        lib._register_namedtuple(Pair, serialized_type_name="test.Pair")
        with pytest.raises(TypeError, match="Unable to serialize context"):
            lib.treespec_dumps(lib.tree_structure(Box(1, object())))
        lib.register_pytree_node(Odd, lambda o: ([], None), lambda v, _: Odd())
        with pytest.raises(NotImplementedError, match="No registered serialization name"):
            lib.treespec_dumps(lib.tree_structure(Odd()))
        lib._deregister_pytree_node(Odd)
        with pytest.raises(ValueError, match="must be None or registered"):
            lib.register_pytree_node(
                Odd, lambda o: ([], None), lambda v, _: Odd(), to_dumpable_context=str
            )
        lib.SUPPORTED_NODES.pop(Odd, None)  # which PyTorch registers before it refuses
        unknown = json.dumps((1, {"type": "test.None", "context": None, "children_spec": []}))
        with pytest.raises(NotImplementedError, match=r"Deserializing test.None"):
            lib.treespec_loads(unknown)


def test_structures_by_hand():
    for lib in (ours, theirs):
        leaf = lib.treespec_leaf()
        assert lib.treespec_tuple([leaf, leaf]) == lib.tree_structure((1, 2))
        assert lib.treespec_dict({"a": leaf}, b=lib.treespec_tuple()) == lib.tree_structure(
            {"a": 1, "b": ()}
        )
        with pytest.raises(ValueError, match="Expected a tuple of TreeSpec values"):
            lib.treespec_tuple([1])
        with pytest.raises(ValueError, match="Expected a dictionary of TreeSpec values"):
            lib.treespec_dict(a=1)


def test_leaves_of_a_calls_arguments():
    for lib in (ours, theirs):
        assert lib.arg_tree_leaves(1, [2, (3,)], a={"x": 4}, b=None) == [1, 2, 3, 4, None]
        assert lib.arg_tree_leaves() == []
