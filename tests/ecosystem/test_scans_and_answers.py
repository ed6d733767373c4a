"""Scans of nested tensors, passes in their order, what replacements bring, and small answers."""

import operator
from collections import namedtuple

import pytest
from two_libraries import agree, part, pt, said, table

import mindtorch_core as mt
from mindtorch_core.testing.comparison import outcome

for _lib in (mt, pt):
    part(_lib, "fx.passes.infra.pass_manager")

Pair = namedtuple("Pair", "a b")
X = mt.arange(1.0, 8.0)


def scan(*args, **options):
    return part(mt, "_higher_order_ops.associative_scan").associative_scan(*args, **options)


# ---- scans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(8))
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_are_sums_and_products(size, reverse):
    x = X[:size].reshape(1, size, 1) + mt.zeros(2, 1, 3)
    ways = (lambda t: t.flip([1])) if reverse else (lambda t: t)
    for dim in (1, -2):
        found = scan(operator.add, x, dim, reverse=reverse)
        assert found.tolist() == ways(ways(x).cumsum(1)).tolist()


def test_scans_of_nested_tensors():
    given = {"a": X, "b": [X * 2, (X * 3,)]}

    def added(one, two):
        return {
            "a": one["a"] + two["a"],
            "b": [one["b"][0] * two["b"][0], (mt.maximum(one["b"][1][0], two["b"][1][0]),)],
        }

    found = scan(added, given, 0, combine_mode="generic")
    assert found["a"].tolist() == X.cumsum(0).tolist()
    assert found["b"][0].tolist() == (X * 2).cumprod(0).tolist()
    assert type(found["b"][1]) is tuple
    assert found["b"][1][0].tolist() == (X * 3).tolist()


def test_scans_of_named_tuples():
    found = scan(lambda p, q: Pair(p.a + q.a, p.b * q.b), Pair(X, X), 0)
    assert type(found) is Pair
    assert found.a.tolist() == X.cumsum(0).tolist()
    assert found.b.tolist() == X.cumprod(0).tolist()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((3, X, 0), "Combine_fn must be a callable, but got 3"),
        ((operator.add, X, 0, False, "fast"), "'pointwise' or 'generic', but got fast"),
        ((operator.add, [], 0), "at least 1 xs leaf"),
        ((operator.add, [X, 3], 0), "tensors only"),
    ],
)
def test_scans_that_are_refused(args, words):
    with pytest.raises(ValueError, match=words):
        scan(*args)


@pytest.mark.parametrize("given", [(3, lambda x: x), (lambda x: x, 3)])
def test_loops_of_what_cannot_be_called(given):
    loop = part(mt, "_higher_order_ops").while_loop
    with pytest.raises(RuntimeError, match="Expect cond_fn and body_fn to be callable"):
        loop(*given, (X,))


# ---- passes ---------------------------------------------------------------------------------------


def first(gm):
    gm.told.append("first")


def second(gm):
    gm.told.append("second")
    return gm


class Third:
    def __call__(self, gm):
        gm.told.append("third")
        raise ZeroDivisionError


def manager(lib, *passes, **options):
    infra = part(lib, "fx.passes.infra.pass_manager")
    made = infra.PassManager([infra.pass_result_wrapper(each) for each in passes], **options)
    gm = lib.fx.symbolic_trace(lambda x: x + 1)
    gm.told = []
    return infra, made, gm


def _ordered(lib):
    infra, made, gm = manager(lib, first)
    made.add_pass(infra.pass_result_wrapper(second))
    one, two = made.passes
    made.add_constraint(infra.this_before_that_pass_constraint(two, one))
    wrong = said(outcome(made.validate_constraints))[0]
    modified = made(gm).modified
    made.validate_constraints()
    return wrong, modified, gm.told, [p.__name__ for p in made.passes]


def _right_order(lib):
    infra, made, gm = manager(lib, first, second, steps=2)
    made.add_constraint(infra.this_before_that_pass_constraint(*made.passes))
    made.validate_constraints()
    made(gm)
    return gm.told


def _failing(lib):
    _, made, gm = manager(lib, first, Third())
    error = outcome(made, gm)
    return type(error).__name__, "'Third' pass" in str(error), "first" in str(error), gm.told


def _checked(lib):
    _, made, gm = manager(lib, first, run_checks_after_each_pass=True)
    made.add_checks(lambda module: module.told.append("checked"))
    made(gm)
    return (
        gm.told,
        said(outcome(made.add_checks, lambda: 0)),
        said(outcome(made.add_checks, lambda a, b: 0)),
    )


def _unwrapped(lib):
    _, made, gm = manager(lib)
    made.add_pass(second)
    return type(outcome(made, gm)).__name__


PASSES = {
    "put in order": _ordered, "in order": _right_order, "failing": _failing, "checked": _checked,
    "no result of a pass": _unwrapped,
}  # fmt: skip


@table(PASSES)
def test_passes(program):
    agree(program)


# ---- replacements ---------------------------------------------------------------------------------


def _with_modules(attribute):
    def program(lib):
        class Replacement(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.act = lib.nn.ReLU()
                self.weight = lib.nn.Parameter(lib.tensor([2.0]))

            def forward(self, x):
                return self.act(x) * self.weight

        module = lib.fx.symbolic_trace(lambda x: lib.neg(x) + 1)
        given = lib.fx.symbolic_trace(Replacement())
        if attribute:
            delattr(given, attribute)
        part(lib, "fx.subgraph_rewriter").replace_pattern(module, lambda x: lib.neg(x), given)
        own = dict(module.named_modules()).get("act")
        return (
            module(lib.tensor([-3.0, 3.0])).tolist(), sorted(n for n, _ in module.named_parameters()),
            type(own).__name__, own is not given.act,
        )  # fmt: skip

    return program


@pytest.mark.parametrize("missing", [None, "weight", "act"])
def test_replacements_bring_what_they_use(missing):
    if missing is None:
        agree(_with_modules(None))
        return
    for lib in (mt, pt):  # PyTorch says less
        with pytest.raises(RuntimeError, match=f"target {missing}"):
            _with_modules(missing)(lib)


def _extracted(lib):
    class Two(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = lib.nn.ReLU()

        def forward(self, x):
            return self.act(x + 1) * 2

    module = lib.fx.symbolic_trace(Two())
    _, total, act, product, _ = module.graph.nodes
    made = part(lib, "fx.experimental.optimization").extract_subgraph(
        module, [act, product], [total], [act, product]
    )
    return [each.tolist() for each in made(lib.tensor([-1.0, 2.0]))], made.code


@pytest.mark.filterwarnings("ignore")
def test_parts_of_graphs():
    agree(_extracted)


# ---- small answers --------------------------------------------------------------------------------


def test_what_is_asked_of_the_compiled_part():
    inner = part(mt, "_C")
    x = mt.ones(4)
    assert inner._is_alias_of(x, x[1:])
    assert not inner._is_alias_of(x, mt.ones(4))
    meta = mt.empty(2, device="meta")
    assert inner._is_alias_of(meta, meta)
    assert not inner._is_tracing()
    assert inner._get_default_device() == "cpu"


def test_classes_that_are_not_loaded():
    with pytest.raises(AttributeError, match=r"torch\.classes\.own has no class 'Thing'"):
        _ = mt.classes.own.Thing
    with pytest.raises(AttributeError, match="has no attribute '__nothing__'"):
        _ = mt.classes.__nothing__


def test_what_is_said_of_the_build():
    config = part(mt, "__config__")
    assert config.show().startswith("mindtorch ")
    assert f"{mt.__version__}: Python" in config.show()
    assert config.parallel_info() == f"torch.get_num_threads() : {mt.get_num_threads()}\n"


def test_errors_of_cuda():
    assert str(mt.cuda.CudaError(3)) == "CUDA's error 3"
    assert issubclass(mt.cuda.CudaError, RuntimeError)
