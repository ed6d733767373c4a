"""Structures of trees as objects: compared, hashed, asked for their parts, written as text, refused."""

import collections

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


class Constant:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)


class Registered:
    pass


class Unregistered(dict):
    pass


Named = collections.namedtuple("Named", "a b")


@pytest.fixture(scope="module", autouse=True)
def registered():
    for lib in (torch, pt):
        tree = lib.utils._pytree
        tree.register_constant(Constant)
        tree.register_pytree_node(Registered, lambda _: ([1], None), lambda *_: Registered())
        tree._register_namedtuple(Named, serialized_type_name="tests.Named")


@pytest.fixture(params=["mindtorch", "pytorch"])
def tree(request):
    return (torch if request.param == "mindtorch" else pt).utils._pytree


@pytest.mark.filterwarnings("ignore:`treespec.children_specs` is deprecated")
def test_parts(tree):
    spec = tree.tree_structure([1, {"a": (2, 3)}])
    inner = tree.tree_structure({"a": (2, 3)})
    assert spec.child(1) == inner
    assert spec.children() == spec.children_specs == [tree.tree_structure(0), inner]
    spec.children().clear()
    assert (spec.num_children, spec.num_leaves, spec.num_nodes) == (2, 3, 6)


def test_equal_structures_are_one_key(tree):
    spec = tree.tree_structure([1, {"a": 2}])
    assert {spec: "found"}[tree.tree_structure([3, {"a": 4}])] == "found"
    assert hash(spec) == hash(tree.tree_structure(["x", {"a": None}]))
    assert spec.__eq__(3) is NotImplemented
    others = "x", tree.tree_structure([1, {"b": 2}]), tree.tree_structure((1, {"a": 2}))
    assert [spec == other for other in others] == [False] * 3


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([1, 2], [1, 2, 2]),
        ([1, [2, 3]], [1, 2, 3]),
        ([1, [2]], None),
        ([1, (2, 3)], None),
        (7, [7] * 3),
    ],
)
def test_leaves_for_a_larger_tree(tree, given, found):
    assert tree._broadcast_to_and_flatten(given, tree.tree_structure([0, [0, 0]])) == found


def test_constants_are_structure(tree):
    one = Constant(3)
    leaves, spec = tree.tree_flatten([1, one])
    assert leaves == [1]
    assert tree.tree_unflatten([9], spec)[1] is one
    assert spec == tree.tree_structure([2, Constant(3)])
    assert spec != tree.tree_structure([2, Constant(4)])
    assert [leaf for _, leaf in tree.tree_flatten_with_path([5, one])[0]] == [5]


def test_the_keys_of_a_dict(tree):
    pairs, names = tree._dict_flatten_with_keys({"a": 1, "b": 2})
    assert [(repr(key), value) for key, value in pairs] == [
        ("MappingKey(key='a')", 1), ("MappingKey(key='b')", 2),
    ]  # fmt: skip
    assert names == ["a", "b"]


def test_text_of_named_tuples(tree):
    spec = tree.tree_structure([Named(1, 2), collections.deque([3], maxlen=4)])
    text = tree.treespec_dumps(spec)
    assert "tests.Named" in text
    assert tree.treespec_loads(text) == spec


NAMELESS = '[1, {"type": "%s", "context": "no.such", "children_spec": []}]'


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda p: p.treespec_dumps(p.tree_structure([Registered()])), NotImplementedError,
            "No registered serialization name for <class '.*Registered'> found. Please update your",
        ),
        (
            lambda p: p.treespec_dumps(p.TreeSpec(Unregistered, None, [])), NotImplementedError,
            "Serializing <class '.*Unregistered'> in pytree is not registered.",
        ),
        (
            lambda p: p.treespec_loads(NAMELESS % "collections.namedtuple"), NotImplementedError,
            "Can't deserialize TreeSpec of namedtuple class no.such because we couldn't find a",
        ),
        (
            lambda p: p.treespec_loads(NAMELESS % "no.such"), NotImplementedError,
            "Deserializing no.such in pytree is not registered.",
        ),
        (lambda p: p.treespec_loads("[7, {}]"), ValueError, "Unknown protocol 7. Available protocols"),
    ],
)  # fmt: skip
def test_refused_texts(tree, call, error, words):
    with pytest.raises(error, match=words):
        call(tree)


def test_named_tuples_have_one_name():
    with pytest.raises(ValueError, match=r"Named'> is already registered as pytree node\."):
        torch.utils._pytree._register_namedtuple(Named, serialized_type_name="another")
    text = torch.utils._pytree.treespec_dumps(torch.utils._pytree.tree_structure(Named(1, 2)))
    assert "tests.Named" in text
