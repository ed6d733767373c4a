"""Each function of `torch.utils._pytree`, with each of its options, beside PyTorch's."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field

import pytest

from mindtorch_core.utils import _pytree as ours

pytest.importorskip("torch")
from torch.utils import _pytree as theirs

Pair = namedtuple("Pair", "a b")
TREE = {"x": [1, (2, "three")], "y": Pair(4.0, [None, ()]), "z": OrderedDict(b=5, a=[])}
LEAVES = (
    None,
    lambda x: isinstance(x, tuple),
    lambda x: x is TREE,
    lambda x: x is None,
    lambda x: False,
)


def played(call):
    """What both libraries give, or which error."""
    found = []
    for lib in (ours, theirs):
        try:
            found.append(call(lib))
        except Exception as error:  # noqa: BLE001  (whatever PyTorch raises)
            found.append(type(error))
    return found


@pytest.mark.parametrize("is_leaf", range(len(LEAVES)))
@pytest.mark.parametrize("tree", [TREE, [1, 2], (), 3, None, Pair(1, (2, 3))], ids=repr)
def test_what_is_a_leaf(tree, is_leaf):
    says = LEAVES[is_leaf]

    def run(lib):
        touched, keyed = [], []
        back = lib.tree_map_(touched.append, tree, is_leaf=says)
        lib.tree_map_with_path(
            lambda path, x: keyed.append((lib.keystr(path), x)), tree, is_leaf=says
        )
        return [
            lib.tree_is_leaf(tree, is_leaf=says), lib.tree_leaves(tree, is_leaf=says),
            list(lib.tree_iter(tree, is_leaf=says)), lib.tree_flatten(tree, is_leaf=says)[0],
            lib.tree_structure(tree, is_leaf=says).num_leaves, touched, back is tree, keyed,
            lib.tree_map(repr, tree, is_leaf=says), lib.tree_map_only((tuple, int), repr, tree, is_leaf=says),
            [lib.keystr(p) for p, _ in lib.tree_leaves_with_path(tree, is_leaf=says)],
            [lib.keystr(p) for p, _ in lib.tree_flatten_with_path(tree, is_leaf=says)[0]],
            lib.tree_all(lambda x: x is not None, tree, is_leaf=says),
            lib.tree_any(lambda x: isinstance(x, tuple), tree, is_leaf=says),
            lib.tree_all_only(int, lambda x: x > 1, tree, is_leaf=says),
            lib.tree_any_only(int, lambda x: x > 4, tree, is_leaf=says),
        ]  # fmt: skip

    mine, wanted = played(run)
    assert mine == wanted


@pytest.mark.parametrize(
    "kinds", [int, str, (int, str), int | float, lambda x: x == 2, type(None), list], ids=repr
)
def test_what_is_changed_is_said_by_types_or_by_a_predicate(kinds):
    def run(lib):
        seen = []
        back = lib.tree_map_only_(kinds, seen.append, TREE)
        return [lib.tree_map_only(kinds, repr, TREE), seen, back is TREE]

    mine, wanted = played(run)
    assert mine == wanted


@pytest.mark.parametrize(
    ("rest", "fits"),
    [(TREE, True), ({"x": [7, 8], "y": Pair(1, 2), "z": OrderedDict(b=5, a=[])}, False), (3, False),
     ({**TREE, "w": 1}, False), ({"x": TREE["x"], "y": (1, [2, ()]), "z": TREE["z"]}, False)],
)  # fmt: skip
def test_other_trees_must_have_the_structure(rest, fits):
    mine, wanted = played(lambda lib: lib.tree_map(lambda a, b: (a, b), TREE, rest))
    assert mine == wanted
    assert isinstance(mine, type) is not fits
    mine, wanted = played(lambda lib: lib.tree_map_(lambda a, b: None, TREE, rest) is TREE)
    assert mine == wanted


def test_leaves_of_a_call():
    for lib in (ours, theirs):
        assert lib.arg_tree_leaves(1, [2, (3,)], b={"c": 4}, a=5) == [1, 2, 3, 4, 5]
        assert lib.arg_tree_leaves() == []


@pytest.mark.parametrize("tree", [TREE, 1, [1], (), {"k": (1, [2])}, Pair(1, 2)], ids=repr)
def test_structures_are_written_and_read(tree):
    def run(lib):
        spec = lib.tree_structure(tree)
        return [
            lib.treespec_pprint(spec), lib.treespec_loads(lib.treespec_dumps(lib.tree_structure([1, {"a": (2,)}])))
            == lib.tree_structure([1, {"a": (2,)}]), spec.is_leaf(), spec.num_nodes, spec.num_children,
            spec == lib.tree_structure(tree), spec == lib.tree_structure([tree]), repr(spec),
        ]  # fmt: skip

    mine, wanted = played(run)
    assert mine == wanted


@pytest.mark.parametrize("spec", [3, None, [1], "leaf"])
def test_what_is_no_structure_is_refused(spec):
    mine, wanted = played(lambda lib: lib.tree_unflatten([1], spec))
    assert mine is wanted is TypeError


@pytest.mark.parametrize("number", [0, 1, 2, 4, 9])
def test_another_number_of_leaves_is_refused(number):
    mine, wanted = played(
        lambda lib: lib.tree_unflatten(range(number), lib.tree_structure([1, (2, 3, 4)]))
    )
    assert mine == wanted


FIELDS = [
    None,
    [],
    ["a", "c"],
    ["c", "a"],
    ["a", "b", "c"],
    ["c", "b", "a"],
    ["a", "b", "c", "d"],
    ["a", "b", "z"],
]


@pytest.mark.parametrize(
    "dropped", [None, [], ["b"], ["b", "z"], ["b", "d"], ["a", "b", "c"]], ids=repr
)
@pytest.mark.parametrize("names", FIELDS, ids=repr)
@pytest.mark.parametrize("of", ["dataclass", "plain"])
def test_a_dataclass_is_a_container_of_its_fields(of, names, dropped):
    def run(lib):
        @dataclass
        class Data:
            a: int = 1
            b: int = 2
            c: list = field(default_factory=lambda: [3])
            d: int = field(default=4, init=False)

        class Plain:
            def __init__(self, a=1, b=2, c=3, d=4):
                self.a, self.b, self.c, self.d = a, b, c, d

        cls = {"dataclass": Data, "plain": Plain}[of]
        lib.register_dataclass(cls, field_names=names, drop_field_names=dropped)
        try:
            made = cls(5, 6, [7, 8])
            paths = [lib.keystr(p) for p, _ in lib.tree_leaves_with_path(made)]
            return [lib.tree_leaves(made), vars(lib.tree_map(lambda x: x * 10, made)), paths]
        finally:
            lib._deregister_pytree_node(cls)

    mine, wanted = played(run)
    assert mine == wanted


@pytest.mark.parametrize(
    ("names", "dropped", "text"),
    [(["a"], None, "field_names of Data do not name b: give every field"), (["a", "b", "z"], None, "dropped: z:"),
     (["a", "b"], ["b"], "dropped: b:"), ([], None, "do not name a, b:")],
)  # fmt: skip
def test_fields_that_do_not_fit_are_named(names, dropped, text):
    @dataclass
    class Data:
        a: int
        b: int

    with pytest.raises(ValueError, match=text):
        ours.register_dataclass(Data, field_names=names, drop_field_names=dropped)
    with pytest.raises(ValueError, match="int is no dataclass: field_names must say"):
        ours.register_dataclass(int)


def test_an_error_of_depth_is_handed_on():
    """A tree that is too deep for the interpreter, and holds itself nowhere, has Python's own error."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError) as caught:
        ours.tree_flatten(deep)
    assert "holds itself" not in str(caught.value)
    while deep:  # or its end would recurse as well
        deep = deep.pop()
