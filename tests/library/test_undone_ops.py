"""An op that was taken back is gone: nothing that was made for it keeps it alive."""

import gc
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import op


def use(fn, *args):
    """Call an op in the ways that make something of it."""
    fn(*args)
    with torch.pipeline():
        fn(*args)
    with torch.inference_mode():
        fn(*args)


def refs(*names):
    return [weakref.ref(registry.entry(name)) for name in names]


def by_schema():
    lib = torch.library.Library("undone", "DEF")
    lib.define("of(Tensor x, int n=1) -> Tensor")
    lib.define("of.two(Tensor x, Tensor y) -> Tensor")
    lib.impl("of", lambda x, n=1: x + n, "CPU")
    lib.impl("of", lambda x, n=1: torch.empty_like(x), "Meta")
    lib.impl("of.two", lambda x, y: x + y, "CPU")
    use(torch.ops.undone.of, torch.ones(2), 2)
    torch.ops.undone.of.default(torch.ones(2))
    torch.ops.undone.of(torch.ones(2), torch.ones(2))
    return refs("undone::of", "undone::of.two")


def by_function():
    @torch.library.custom_op("undone::made", mutates_args=())
    def made(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return x * by

    made.register_fake(lambda x, by=2.0: torch.empty_like(x))
    made.register_autograd(lambda ctx, g: (g, None))
    use(made, torch.ones(2))
    made(torch.ones(2, requires_grad=True)).sum().backward()
    return refs("undone::made")


def by_row():
    rows = {"namespaces": ("torch", "Tensor"), "rule": lambda x, y: x, "inplace": True}
    op(
        "undone_row(Tensor self, Tensor other) -> Tensor",
        doc="Add.",
        decomposition=lambda x, y: x + y,
        grad={"self": lambda g: g, "other": lambda g: g},
        operators=("__undone__",),
        **rows,
    )
    x = torch.ones(2, requires_grad=True)
    (x * 1).undone_row_(torch.undone_row(x, x)).sum().backward()
    use(torch.undone_row, torch.ones(2), torch.ones(2))
    use(torch.ones(2).undone_row, torch.ones(2))
    use(torch.ones(2).undone_row_, torch.ones(2))
    use(torch.ones(2).__undone__, torch.ones(2))
    use(torch.ops.aten.undone_row, torch.ones(2), torch.ones(2))
    return refs("aten::undone_row", "aten::undone_row_")


def by_rows_of_one_name():
    shown = {"namespaces": ("torch", "Tensor"), "doc": "Add."}
    op("undone_rows(Tensor self) -> Tensor", decomposition=lambda x: x + 1, **shown)
    op(
        "undone_rows.of(Tensor self, Tensor other) -> Tensor",
        decomposition=lambda x, y: x + y,
        **shown,
    )
    use(torch.undone_rows, torch.ones(2))
    use(torch.undone_rows, torch.ones(2), torch.ones(2))
    use(torch.ones(2).undone_rows, torch.ones(2))
    return refs("aten::undone_rows", "aten::undone_rows.of")


@pytest.mark.parametrize("define", [by_schema, by_function, by_row, by_rows_of_one_name])
def test_nothing_keeps_an_op_that_was_undone(define):
    with registry.scope():
        made = define()
    gc.collect()
    assert [each() for each in made] == [None] * len(made)
    assert not hasattr(torch.Tensor, "undone_row")
    assert not hasattr(torch.Tensor, "__undone__")
    assert not hasattr(torch, "undone_row")


def test_a_new_schema_has_a_function_of_its_own():
    for schema, args in (("of(Tensor x) -> Tensor", ()), ("of(Tensor x, int n) -> Tensor", (3,))):
        with registry.scope():
            lib = torch.library.Library("undone", "FRAGMENT")
            lib.define(schema)
            lib.impl("of", lambda x, n=1: x + n, "CPU")
            assert torch.ops.undone.of(torch.zeros(1), *args).item() == (args or (1,))[0]


def test_an_overload_that_is_held_stays_the_same_when_its_op_comes_back():
    held = []
    for _ in range(2):
        with registry.scope():
            lib = torch.library.Library("undone", "FRAGMENT")
            lib.define("of(Tensor x) -> Tensor")
            held.append((torch.ops.undone.of, torch.ops.undone.of.default))
    assert held[0] == held[1]
    with pytest.raises(AttributeError, match="was taken back"):
        held[0][1](torch.ones(1))
