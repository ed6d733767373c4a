"""What holds itself has no end: all that goes through trees says so, and of what class it is."""

import pytest

import mindtorch_core as torch
from mindtorch_core.utils import _pytree as pytree


def held_list():
    found = [torch.ones(1)]
    found.append((1, found))
    return found


def held_dict():
    found = {"x": torch.ones(1)}
    found["again"] = [found]
    return found


CALLS = {
    "flatten": pytree.tree_flatten,
    "leaves": pytree.tree_leaves,
    "map": lambda tree: pytree.tree_map(lambda leaf: leaf, tree),
    "with paths": pytree.tree_flatten_with_path,
    "vmap": torch.func.vmap(lambda tree: tree[0]),
    "grad": torch.func.grad(lambda tree: tree[0].sum()),
    "vjp": lambda tree: torch.func.vjp(lambda tree: tree[0].sum(), tree),
    "compile": torch.compile(lambda tree: tree),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("make", [held_list, held_dict])
def test_the_class_is_named(call, make):
    kind = type(make()).__name__
    with pytest.raises(
        RecursionError, match=f"^a ({kind}|tuple|list) that holds itself is no tree"
    ):
        call(make())


def test_what_counts_as_a_leaf_may_hold_itself():
    tree = held_list()
    assert pytree.tree_leaves([tree], is_leaf=lambda t: t is tree) == [tree]


def test_what_is_only_deep_fails_as_before():
    tree = shared = []
    for _ in range(5_000):
        tree = [tree, shared]
    with pytest.raises(RecursionError, match="maximum recursion depth"):
        pytree.tree_flatten(tree)
    while tree:  # taken apart from above: its end would be as deep
        tree = tree.pop(0)
